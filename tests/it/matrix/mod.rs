//! The matrix game: the vectors of the literature, the example strategies, and guests that mean no good.

mod admission;
mod blindness;
mod cli;
mod endings;
pub(crate) mod guest;
mod hostile;
mod strategies;
mod vectors;

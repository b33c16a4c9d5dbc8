//! The sandbox under attack: hostile guests, hostile components, a hostile machine.

mod admission;
mod cache;
mod fuel;
mod guest;
pub(crate) mod hostile;
mod isolation;
mod machine;
mod mutations;
mod wasi;
mod worst;

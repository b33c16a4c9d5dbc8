//! States of which many versions are there at once: a copy shares everything with its original, and a change copies
//! only what it touches. So a decision can be tried on a copy, and readers keep the version they have while the next
//! one is made.
//!
//! Everything here is equal, ordered and shown by its content alone; who shares what is nobody's business.

mod map;
mod set;
mod shared;

pub use map::{CowMap, Iter};
pub use set::CowSet;
pub use shared::Shared;

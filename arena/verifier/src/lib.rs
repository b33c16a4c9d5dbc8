//! The verification of replays, as a module that a web page runs.
//!
//! A page hands over a pack and a log and gets the answer of `POST /api/v1/replays/verify`, byte for byte, because
//! both ask [`arena_engine::campus::check`]. There is no rule of a game here, no file, no clock, and no import: the
//! module can do nothing but compute.
//!
//! [`answer`] is the whole of it. [`module`] is how something that is not Rust calls it.

mod answer;
pub mod module;

pub use answer::{LOG_BYTES_MAX, PACK_BYTES_MAX, TURNS_MAX, answer};

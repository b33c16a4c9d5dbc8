//! The games: deterministic, turn-based, stepped by whoever plays.
//!
//! Pure: no clock, no file, no thread, no luck of its own, and no idea whether a person, a
//! component or a replay is acting.

pub mod campus;
mod competitor;
mod excerpt;
pub mod limits;
pub mod matrix;

pub use competitor::{Blame, During, Forfeit, ForfeitRecord, Frame, FuelScope, HostFault, TrapKind, Turn};
pub use excerpt::Excerpt;

/// Version of the rules of play. A log names it; a change in any result is a new version.
pub const ENGINE_VERSION: &str = "1";

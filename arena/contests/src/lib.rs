//! Contests and the producer sprint: windows, evidence, scoring, citations, leaks, leaderboard, rewards.
//!
//! Nothing here has a clock, a file, a thread or luck: the time of a command comes in with it. All
//! arithmetic is in whole numbers.
#![cfg_attr(not(test), deny(clippy::float_arithmetic))]

mod base64url;
pub mod cite;
pub mod contest;
pub mod document;
pub mod leak;
mod moment;
pub mod overlap;
pub mod sprint;
pub mod text;
mod words;

pub use moment::{Moment, ParseMomentError};

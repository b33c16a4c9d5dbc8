//! Claims: anybody lists a result; drawn runners, sealed challengers and panels settle whether it reproduces.
//!
//! Everything is a value: records are compared exactly, money is integers, time and luck come in with
//! the command. Nothing here runs a program, reads a file or a clock, or knows what an episode is.
#![cfg_attr(not(test), deny(clippy::float_arithmetic, clippy::arithmetic_side_effects))]

mod base64;
pub mod commitment;
pub mod compare;
mod decimal;
mod document;
pub mod envelope;
mod fault;
pub mod founding;
pub mod life;
pub mod log;
pub mod luck;
pub mod manifest;
pub mod params;
pub mod record;
pub mod schema;
pub mod settle;
pub mod simulate;

pub use decimal::{DECIMAL_BYTES_MAX, Decimal, EXPONENT_MAX, ParseDecimalError};
pub use fault::{Faults, Finding};

pub(crate) use compare::is_metric_name as compare_name;

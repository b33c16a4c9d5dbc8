//! Draws as JSON documents: a request before the draw, a transcript after it. This is the only place that
//! knows the members' names; numbers that may exceed 2^53 are decimal strings, bytes are lower-case
//! hexadecimal.

mod fault;
mod fields;
mod reader;
mod request;
mod transcript;
mod written;

pub use fault::{Fault, Faults};
pub use request::{Log, Refusal, Request};
pub use transcript::{Difference, Transcript, VerifyError, verify};

/// Most bytes of a document.
pub const DOCUMENT_BYTES_MAX: usize = 16 << 20;
/// Most seats of one draw.
pub const SEATS_MAX: u32 = crate::ENTRIES_MAX as u32;
/// Bytes of a salt.
const SALT_BYTES: std::ops::RangeInclusive<usize> = 16..=64;
/// Most bytes of an instance's name.
const NAME_BYTES_MAX: usize = 128;
/// Most bytes of a checkpoint of the log.
const CHECKPOINT_BYTES_MAX: usize = 16 << 10;
/// Most neighbours of an inclusion proof: a log of 2^64 events has no more.
const INCLUSION_MAX: usize = 64;

/// The JSON Schema of a transcript. What it refuses, the reader refuses.
pub const TRANSCRIPT_SCHEMA: &str = include_str!("../schema/transcript.v1.schema.json");

/// The version of both documents.
const VERSION: &str = "draw/v1";

#[cfg(test)]
mod tests;

//! The log of an instance's events as others can hold it against the instance: a Merkle tree of RFC 6962 over the
//! events, checkpoints of it as signed notes of C2SP with the time of the signature, and receipts.
//!
//! Whoever has a checkpoint can show that what it covers was left out or written anew. Nothing here reads a journal or
//! keeps one.

mod checkpoint;
mod leaf;
mod receipt;
mod tree;

pub use checkpoint::{Checkpoint, CheckpointError, NOTE_BYTES_MAX, origin, verifier};
pub use leaf::{DrawOrigin, Logged, leaf, opening, sealed};
pub use receipt::{LogFault, LoggedDraw, RECEIPT_VERSION, Receipt, check_transcript, in_time};
pub use tree::{Head, Tree, is_consistent};

#[cfg(test)]
mod tests;

//! Verifiable draws: who is picked follows from what was fixed before the beacon spoke, for anybody.
//!
//! Nothing here reads a clock, a file or the network, and nothing decides who is eligible: a draw comes in
//! with its entries, its beacon's round and the proof of it.

pub mod beacon;
mod draw;
mod eligible;
mod hex;
pub mod merkle;
mod purpose;
mod wire;
mod words;

pub use beacon::chain_hash;
pub use draw::{Draw, Pick, Resolution};
pub use eligible::{
    ENTRIES_MAX, Eligible, EligibleError, Entry, EntryFault, ID_BYTES_MAX, TICKETS_MAX, includes,
};
pub use purpose::{Purpose, UnknownPurpose};
pub use wire::{
    DOCUMENT_BYTES_MAX, Difference, Fault, Faults, Log, Refusal, Request, SEATS_MAX, TRANSCRIPT_SCHEMA,
    Transcript, VerifyError, verify,
};
pub use words::Words;

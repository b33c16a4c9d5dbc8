//! A row of the journal, before it has a place in it.

use arena_canon::json::Value;
use arena_contests::Moment;

/// Something that is to be remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// When.
    pub at: Moment,
    /// What it is about, as a path: `contest/…`.
    pub topic: String,
    /// What happened.
    pub kind: String,
    /// The shape of the body.
    pub version: u32,
    /// What is known of it.
    pub body: Value,
    /// Whether only the platform may see it.
    pub is_sealed: bool,
}

impl Row {
    /// What the fold reads, and nobody else sees.
    pub fn fact(at: Moment, topic: impl Into<String>, kind: &str, body: Value) -> Self {
        Self { at, topic: topic.into(), kind: kind.to_owned(), version: 1, body, is_sealed: true }
    }

    /// What everybody may see, and the fold does not read.
    pub fn announcement(at: Moment, topic: impl Into<String>, kind: &str, body: Value) -> Self {
        Self { at, topic: topic.into(), kind: kind.to_owned(), version: 1, body, is_sealed: false }
    }
}

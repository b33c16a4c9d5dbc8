//! A row of the journal, before it has a place in it and as the fold reads it.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;

/// What an artifact of the Locker is booked as. Anybody can upload the bytes of something else there, so whatever else
/// has the same bytes is booked as that, and is not taken away with an artifact.
pub(crate) const UPLOAD: &str = "application/octet-stream";
/// What a piece of a finished run is booked as.
pub(crate) const PIECE: &str = "application/octet-stream; of=run";
/// What material of a claim is booked as.
pub(crate) const MATERIAL: &str = "application/octet-stream; of=claim";

/// Something that is to be remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// When.
    pub at: Moment,
    /// Its place in the journal, from 1; 0 before it has one.
    pub place: u64,
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
    /// Texts of users that the body names, as blobs that are written and booked with it.
    pub texts: Vec<(Digest, Vec<u8>)>,
    /// Blobs that the body names, which are booked with it: digest, bytes, media type.
    pub blobs: Vec<(Digest, u64, &'static str)>,
    /// Blobs that are taken away with it for good, as what they are booked, and why.
    pub withholds: Vec<(Digest, &'static str, String)>,
}

impl Row {
    /// What the fold reads, and nobody else sees.
    pub fn fact(at: Moment, topic: impl Into<String>, kind: &str, body: Value) -> Self {
        Self { is_sealed: true, ..Self::announcement(at, topic, kind, body) }
    }

    /// What everybody may see, and the fold does not read.
    pub fn announcement(at: Moment, topic: impl Into<String>, kind: &str, body: Value) -> Self {
        let (topic, kind) = (topic.into(), kind.to_owned());
        Self {
            at,
            place: 0,
            topic,
            kind,
            version: 1,
            body,
            is_sealed: false,
            texts: Vec::new(),
            blobs: Vec::new(),
            withholds: Vec::new(),
        }
    }

    /// The same, and a blob is booked with it. Its file has to be there already.
    #[must_use]
    pub fn with_blob(mut self, sha256: Digest, bytes: u64, media_type: &'static str) -> Self {
        self.blobs.push((sha256, bytes, media_type));
        self
    }

    /// The same, and a blob is taken away with it, unless it is booked as something else than `media_type`. Nobody can
    /// put it back.
    #[must_use]
    pub fn withholding(mut self, sha256: Digest, media_type: &'static str, reason: &str) -> Self {
        let mut end = reason.len().min(arena_store::REASON_BYTES_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        self.withholds.push((sha256, media_type, reason[..end].to_owned()));
        self
    }
}

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of a body. Longer texts are blobs.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a topic.
pub const TOPIC_BYTES_MAX: usize = 128;
/// Bytes of a kind.
pub const KIND_BYTES_MAX: usize = 64;
/// The latest time: every number of an export is exact in binary64.
pub const AT_MS_MAX: u64 = (1 << 53) - 1;

/// What a stub has for a kind. No event has it.
pub(crate) const SEALED: &str = "sealed";

/// Random bytes that keep the digest of a sealed event from being guessed. They come from the caller.
pub type Salt = [u8; 32];

/// An event that is to be appended.
#[derive(Debug, Clone)]
pub struct Draft {
    pub(crate) at_ms: u64,
    pub(crate) topic: String,
    pub(crate) kind: String,
    pub(crate) version: u32,
    pub(crate) body: Vec<u8>,
    pub(crate) salt: Option<Salt>,
}

/// Why an event may not be appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftFault {
    /// A topic or a kind that is not a plain word.
    #[error("the {what} {given:?} is not 1 to {limit} of a-z 0-9 . _ - / :, or is reserved")]
    Name {
        /// `topic` or `kind`.
        what: &'static str,
        /// Its start.
        given: String,
        /// Bytes allowed.
        limit: usize,
    },
    /// A body that is too long.
    #[error("the body has {bytes} bytes; the limit is {limit}: a longer text is a blob")]
    Body {
        /// Bytes given.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// A time that no export could hold.
    #[error("the time {at_ms} ms is beyond {limit} ms")]
    Time {
        /// Milliseconds given.
        at_ms: u64,
        /// Milliseconds allowed.
        limit: u64,
    },
}

impl Draft {
    /// An event that everybody may see.
    ///
    /// `at_ms` is in milliseconds since 1970; `topic` says what it is about (`claims/7`), `kind` what
    /// happened (`run.revealed`), `version` the shape of `body`, which is written as canonical JSON.
    ///
    /// # Panics
    /// If `body` has a key that is no text, or a number that is not finite.
    pub fn new(at_ms: u64, topic: &str, kind: &str, version: u32, body: &impl Serialize) -> Self {
        let (topic, kind) = (topic.to_owned(), kind.to_owned());
        Self { at_ms, topic, kind, version, body: json::canonical_of(body), salt: None }
    }

    /// The same, but served as a stub: its topic, kind, time and body are known to no one who is not
    /// shown it in full. Disclosing it is a new event.
    #[must_use]
    pub fn sealed(mut self, salt: Salt) -> Self {
        self.salt = Some(salt);
        self
    }

    /// Bytes of the body as it is written.
    pub fn body_bytes(&self) -> usize {
        self.body.len()
    }

    pub(crate) fn check(&self) -> Result<(), DraftFault> {
        check_name("topic", &self.topic, TOPIC_BYTES_MAX)?;
        check_name("kind", &self.kind, KIND_BYTES_MAX)?;
        if self.body.len() > BODY_BYTES_MAX {
            return Err(DraftFault::Body { bytes: self.body.len(), limit: BODY_BYTES_MAX });
        }
        if self.at_ms > AT_MS_MAX {
            return Err(DraftFault::Time { at_ms: self.at_ms, limit: AT_MS_MAX });
        }
        Ok(())
    }
}

/// Names are written into exports as they are, so nothing in them needs an escape.
fn check_name(what: &'static str, name: &str, limit: usize) -> Result<(), DraftFault> {
    if is_name(name, limit) && name != SEALED {
        return Ok(());
    }
    let given = name.chars().take(limit).collect();
    Err(DraftFault::Name { what, given, limit })
}

pub(crate) fn is_name(name: &str, limit: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/:".contains(&byte);
    (1..=limit).contains(&name.len()) && name.bytes().all(plain)
}

/// Something that happened, as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place: 1, 2, 3 and so on, without a gap.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970, as its command said.
    pub at_ms: u64,
    /// What it is about.
    pub topic: String,
    /// What happened.
    pub kind: String,
    /// The shape of the body.
    pub version: u32,
    /// Canonical JSON.
    pub body: Vec<u8>,
    /// Present if the event is sealed.
    pub salt: Option<Salt>,
    /// The digest of everything above but the place; see [`crate::content_sha256`].
    pub content_sha256: Digest,
    /// The hash of the event before it; of the first, [`crate::GENESIS`].
    pub prev: Digest,
    /// The digest of place, `prev` and content; see [`crate::link`].
    pub hash: Digest,
}

impl Event {
    /// Whether others are shown a stub.
    pub fn is_sealed(&self) -> bool {
        self.salt.is_some()
    }

    /// The body as a document.
    pub fn json(&self) -> Result<Value, json::ReadError> {
        json::read(&self.body, BODY_BYTES_MAX)
    }

    /// The body as what it was written from.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.body)
    }
}

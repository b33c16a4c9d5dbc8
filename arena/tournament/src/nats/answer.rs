//! What a worker tells of a job, as one message: a head in JSON, then the bytes of the record and of the
//! guest file, unless they are in the object store.

use arena_canon::{Digest, json};
use arena_engine::Excerpt;
use serde::{Deserialize, Serialize};

use crate::names::MatchId;
use crate::table::Violation;

/// Largest record that travels in its message.
pub(super) const RECORD_INLINE_MAX: usize = 512 << 10;
/// Largest guest file that does.
pub(super) const GUEST_INLINE_MAX: usize = 128 << 10;
/// Largest guest file: twice the texts of a seat, each letter escaped.
pub(super) const GUEST_BYTES_MAX: usize = 32 << 20;
/// Largest head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Most letters of a worker's name and of its reasons.
const NAME_MAX: usize = 128;
const WHY_MAX: usize = 400;

/// What a worker tells of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// Of which run.
    pub(super) frozen_sha256: Digest,
    /// Of which job.
    pub(super) id: MatchId,
    /// Who tells.
    pub(super) worker: String,
    /// What.
    pub(super) told: Told,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Told {
    /// A record. What it counts for budgets follows from it.
    Match {
        /// The digest it bears.
        digest: Digest,
        record: Carried,
        guest: Option<Carried>,
    },
    /// An action that the protocol does not let pass.
    Violation { violation: Violation },
    /// The host failed.
    Fault { why: String },
}

/// Bytes, and where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Carried {
    pub(super) bytes: u64,
    pub(super) sha256: Digest,
    /// Whether they are in the object store, under their digest.
    pub(super) stored: bool,
}

/// A message, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer<'m> {
    pub(super) head: Head,
    /// The record, if it is in the message.
    pub(super) record: &'m [u8],
    /// The guest file, if it is.
    pub(super) guest: &'m [u8],
}

impl Carried {
    pub(super) fn of(bytes: &[u8], stored: bool) -> Self {
        Self { bytes: bytes.len() as u64, sha256: Digest::of(bytes), stored }
    }

    fn inline(&self) -> usize {
        if self.stored { 0 } else { usize::try_from(self.bytes).unwrap_or(usize::MAX) }
    }
}

/// The bytes of the message.
pub(super) fn write(head: &Head, record: &[u8], guest: &[u8]) -> Vec<u8> {
    let head = json::canonical_of(head);
    let mut message = Vec::with_capacity(4 + head.len() + record.len() + guest.len());
    message.extend_from_slice(&(head.len() as u32).to_be_bytes());
    for part in [&head, record, guest] {
        message.extend_from_slice(part);
    }
    message
}

/// Reads what came. Texts are cut; what bytes hold is for the caller to check.
pub(super) fn read(message: &[u8]) -> Result<Answer<'_>, String> {
    let (length, rest) = message.split_first_chunk::<4>().ok_or("it is too short")?;
    let length = u32::from_be_bytes(*length) as usize;
    if length > HEAD_BYTES_MAX {
        return Err(format!("its head has {length} bytes; the limit is {HEAD_BYTES_MAX}"));
    }
    let (head, rest) = rest.split_at_checked(length).ok_or("its head is cut off")?;
    let head = json::read(head, HEAD_BYTES_MAX).map_err(|why| why.to_string())?;
    let mut head: Head = serde_json::from_value(head).map_err(|why| why.to_string())?;
    head.worker = cut(&head.worker, NAME_MAX);
    let mut inline = [0, 0];
    match &mut head.told {
        Told::Match { record, guest, .. } => {
            inline = [record.inline(), guest.as_ref().map_or(0, Carried::inline)];
        }
        Told::Fault { why } => *why = cut(why, WHY_MAX),
        Told::Violation { .. } => {}
    }
    let whole = rest.split_at_checked(inline[0]).filter(|(_, guest)| guest.len() == inline[1]);
    let (record, guest) = whole.ok_or("its bytes are not as many as its head says")?;
    Ok(Answer { head, record, guest })
}

fn cut(text: &str, max: usize) -> String {
    Excerpt { text, max }.to_string()
}

/// A worker's name, as it is told.
pub(super) fn name(text: &str) -> String {
    cut(text, NAME_MAX - 64)
}

/// A worker's reason, as it is told.
pub(super) fn reason(text: &str) -> String {
    cut(text, WHY_MAX - 64)
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;

    use super::{Carried, Head, Told, read, write};
    use crate::names::MatchId;

    fn head(told: Told) -> Head {
        Head { frozen_sha256: Digest::of(b"frozen"), id: MatchId(3), worker: "w1".to_owned(), told }
    }

    fn record(record: &[u8], guest: &[u8]) -> Head {
        let (record, guest) = (Carried::of(record, false), Some(Carried::of(guest, false)));
        head(Told::Match { digest: Digest::of(b"digest"), record, guest })
    }

    #[test]
    fn answers_come_back() {
        let message = write(&record(b"record", b"guest"), b"record", b"guest");
        let answer = read(&message).expect("an answer");
        assert_eq!((answer.record, answer.guest), (&b"record"[..], &b"guest"[..]));
        assert_eq!(answer.head, record(b"record", b"guest"));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let whole = write(&record(b"record", b"guest"), b"record", b"guest");
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "cut at {end}");
        }
        let longer = [&whole[..], b"x"].concat();
        assert!(read(&longer).is_err());
        let huge = [&u32::MAX.to_be_bytes()[..], &[b' '; 64]].concat();
        assert!(read(&huge).is_err());
        for head in [r#"{"a":1,"a":1}"#, r#"{"id":"m00001"}"#, "[]", "{}"] {
            let message = [&(head.len() as u32).to_be_bytes()[..], head.as_bytes()].concat();
            assert!(read(&message).is_err(), "{head}");
        }
    }

    #[test]
    fn sizes_that_no_message_has_are_refused() {
        let mut wrong = record(b"record", b"guest");
        if let Told::Match { record, .. } = &mut wrong.told {
            record.bytes = u64::MAX;
        }
        assert!(read(&write(&wrong, b"record", b"guest")).is_err());
    }

    #[test]
    fn texts_are_cut_and_escaped() {
        let mut long = head(Told::Fault { why: "x\u{1b}".repeat(1000) });
        long.worker = "\n".repeat(500);
        let message = write(&long, b"", b"");
        let answer = read(&message).expect("an answer");
        let Told::Fault { why } = answer.head.told else { panic!("another answer") };
        assert!(why.contains(r"x\u{1b}") && why.len() < 4_000, "{why}");
        assert!(answer.head.worker.starts_with(r"\n\n") && answer.head.worker.contains("372 more"));
    }
}

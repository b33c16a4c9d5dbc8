//! The instance in the store: requests become rows of the journal, and rows become the instance.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_contests::Moment;
use arena_store::{Append, Domain, Draft, Event, Kept, KeptBody, Recall, Salt, Slot, Stop, Unfit};

use crate::instance::episodes::{self, Seats};
use crate::instance::{Answer, Instance, Known, Request, Row, UPLOAD, rounds, snapshot};
use crate::problem::Problem;
use crate::texts;

/// Bytes of a row's body; what is longer is a blob.
const ROW_BYTES_MAX: usize = arena_store::BODY_BYTES_MAX;

/// The rules of the server for its store.
pub struct Keeper {
    known: Arc<Known>,
}

/// A request on its way, and where its answer is kept if it is sent again.
pub struct Sent {
    /// What is wanted.
    pub request: Request,
    /// Where the answer is kept; nowhere without a key.
    pub slot: Option<Slot>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What.
    pub answer: Answer,
    /// Whether it is what an earlier request of the same key was answered.
    pub is_replay: bool,
}

impl Keeper {
    /// With what is known of the world outside.
    pub fn new(known: Arc<Known>) -> Self {
        Self { known }
    }

    fn take_in(&self, state: &mut Instance, event: &Event, seats: Seats) -> Result<(), Unfit> {
        let at = moment(event);
        if episodes::is_fact(&event.kind) {
            // The most frequent ones by far, so they are read without a document in between.
            episodes::read(state, at, event, &self.known, seats).map_err(Unfit)?;
        } else if Instance::folds(&event.kind) {
            state.refold(&row(at, event)?, &self.known).map_err(Unfit)?;
        }
        state.pass(at);
        Ok(())
    }
}

impl Domain for Keeper {
    type State = Instance;
    type Command = Sent;
    type Answer = Answered;
    type Refusal = Problem;

    fn initial(&self) -> Instance {
        Instance::default()
    }

    /// Announcements are not folded, so all of them are known.
    fn knows(&self, kind: &str, version: u32) -> bool {
        match Instance::FACTS.iter().find(|(fact, _)| *fact == kind) {
            Some((_, newest)) => (1..=*newest).contains(&version),
            None => version == 1,
        }
    }

    fn decide(
        &self,
        state: &Instance,
        Sent { request, slot }: Sent,
        tx: &mut Append<'_>,
    ) -> Result<Answered, Stop<Problem>> {
        let now_ms = milliseconds(request.at);
        if let Some(slot) = &slot {
            match tx.recall(now_ms, slot)? {
                Recall::Fresh => {}
                Recall::Other => {
                    let problem =
                        Problem::new("idempotency_key_reused", "the key is that of another request");
                    return Err(Stop::Refused(problem));
                }
                Recall::Same(kept) => return Ok(replayed(&kept)),
            }
        }
        let decision = state.decide(&request, &self.known).map_err(Stop::Refused)?;
        let luck = Digest::of(&request.luck);
        for (place, row) in decision.rows.iter().enumerate() {
            for (_, text) in &row.texts {
                tx.keep_blob(text, texts::MEDIA_TYPE)?;
            }
            tx.append(draft(row, luck, place).map_err(Stop::Refused)?)?;
            for (sha256, bytes, media_type) in &row.blobs {
                if *media_type == UPLOAD {
                    tx.book_blob(*sha256, *bytes, media_type)?;
                } else {
                    tx.book_blob_over((*sha256, *bytes), UPLOAD, media_type)?;
                }
            }
            for (sha256, media_type, reason) in &row.withholds {
                // The same bytes may be something else as well, which is not its to take away.
                if tx.blob(*sha256)?.is_none_or(|meta| meta.media_type == *media_type) {
                    tx.withhold_blob(*sha256, reason)?;
                }
            }
        }
        if let Some(slot) = &slot {
            let texts = decision.rows.iter().flat_map(|row| row.texts.iter().map(|(sha256, _)| *sha256));
            tx.remember(now_ms, slot, &kept(&decision.answer, texts))?;
        }
        Ok(Answered { answer: decision.answer, is_replay: false })
    }

    fn evolve(&self, state: &mut Instance, event: &Event) -> Result<(), Unfit> {
        self.take_in(state, event, Seats::Kept)
    }

    /// A thousand seats would be stepped for every one that is played on: whoever acts first has it made.
    fn catch_up(&self, state: &mut Instance, event: &Event) -> Result<(), Unfit> {
        self.take_in(state, event, Seats::Left)
    }

    fn discriminator(&self) -> String {
        snapshot::discriminator()
    }

    fn is_in_snapshot(&self, kind: &str) -> bool {
        snapshot::holds(kind)
    }

    fn refold(&self, state: &mut Instance, event: &Event) -> Result<(), Unfit> {
        state.refold(&row(moment(event), event)?, &self.known).map_err(Unfit)
    }

    fn snapshot(&self, state: &Instance) -> Option<Vec<u8>> {
        snapshot::write(state)
    }

    fn restore(&self, bytes: &[u8]) -> Option<Instance> {
        snapshot::read(bytes)
    }
}

/// The blobs that an event names, as far as they are texts or artifacts of rounds: each has to be booked.
pub fn named_blobs(event: &Event) -> Vec<Digest> {
    match event.kind.as_str() {
        rounds::FACT => event.json().map(|body| rounds::named_blobs(&body)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn moment(event: &Event) -> Moment {
    Moment::from_unix_ms(i64::try_from(event.at_ms).unwrap_or(i64::MAX))
}

/// A row of the journal, at its place.
fn row(at: Moment, event: &Event) -> Result<Row, Unfit> {
    Ok(Row {
        at,
        place: event.seq,
        topic: event.topic.clone(),
        kind: event.kind.clone(),
        version: event.version,
        // What was written here is read as it was written.
        body: event.read().map_err(|why| Unfit(why.to_string()))?,
        is_sealed: event.is_sealed(),
        texts: Vec::new(),
        blobs: Vec::new(),
        withholds: Vec::new(),
    })
}

fn milliseconds(at: Moment) -> u64 {
    u64::try_from(at.unix_ms()).unwrap_or_default()
}

fn draft(row: &Row, luck: Digest, place: usize) -> Result<Draft, Problem> {
    let draft = Draft::new(milliseconds(row.at), &row.topic, &row.kind, row.version, &row.body);
    let bytes = draft.body_bytes();
    if bytes > ROW_BYTES_MAX {
        let detail = format_args!("what would be kept has {bytes} bytes; the limit is {ROW_BYTES_MAX}");
        return Err(Problem::new("body_too_large", detail));
    }
    Ok(if row.is_sealed { draft.sealed(salt(luck, place)) } else { draft })
}

/// Every sealed row has a salt of its own, from the luck that came with the request.
fn salt(luck: Digest, place: usize) -> Salt {
    let place = (place as u64).to_be_bytes();
    *Digest::of_parts(&[b"arena row salt", luck.as_bytes(), &place]).as_bytes()
}

/// Bytes of an answer's body that are kept; the rest of the room is its headers'.
const ANSWER_BYTES_MAX: usize = arena_store::KEPT_BYTES_MAX - 8_192;

/// The header of an answer that is kept which names the blob of a text of its request.
const TEXT_HEADER: &str = "arena-text";

/// An answer as it is kept. What is shown once is not, and no text of a user is: it names those of its request. That something is done must not hang on whether its answer can
/// be given twice: of one that is too long only its status is kept.
fn kept(answer: &Answer, texts: impl Iterator<Item = Digest>) -> Kept {
    let location = answer.location.iter().map(|location| ("location".to_owned(), location.clone()));
    let texts = texts.map(|sha256| (TEXT_HEADER.to_owned(), sha256.to_string()));
    let headers = location.chain(texts).collect();
    let body = match &answer.once {
        Some(_) => {
            let key_id = answer.body.get("key_id").and_then(Value::as_str).unwrap_or("none").to_owned();
            KeptBody::KeyShown { key_id }
        }
        None => {
            let bytes = json::canonical(&answer.body);
            let is_short = bytes.len() <= ANSWER_BYTES_MAX;
            let told = || json::canonical(&serde_json::json!({ "code": "answer_too_long_to_keep" }));
            KeptBody::Bytes(if is_short { bytes } else { told() })
        }
    };
    Kept { status: answer.status, headers, body }
}

fn replayed(kept: &Kept) -> Answered {
    let location = kept.headers.iter().find(|(name, _)| name == "location").map(|(_, value)| value.clone());
    let (status, body) = match &kept.body {
        KeptBody::Bytes(bytes) => {
            (kept.status, json::read(bytes, arena_store::KEPT_BYTES_MAX).unwrap_or_default())
        }
        KeptBody::KeyShown { key_id } => {
            (200, serde_json::json!({ "code": "key_already_shown", "key_id": key_id }))
        }
    };
    Answered { answer: Answer { status, location, body, once: None }, is_replay: true }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, KeptBody, kept};

    /// An answer is kept whatever its length: a command that failed over it could not be done at all.
    #[test]
    fn every_answer_can_be_kept() {
        for bytes in [0, 1, 500_000, 516_094, 516_095, 516_096, 600_000, 5_000_000] {
            let kept = kept(&Answer::created("/somewhere", json!("x".repeat(bytes))), std::iter::empty());
            let KeptBody::Bytes(body) = &kept.body else { panic!("{:?}", kept.body) };
            assert_eq!(kept.status, 201);
            assert!(body.len() + 8_192 <= arena_store::KEPT_BYTES_MAX, "{bytes}");
            let is_whole = body.len() == bytes + 2;
            assert_eq!(is_whole, bytes + 2 + 8_192 <= arena_store::KEPT_BYTES_MAX, "{bytes}");
        }
    }
}

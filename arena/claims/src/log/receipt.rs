//! Receipts: an event with its way to a signed checkpoint. A transcript that carries its log is one as well.

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use arena_draw::{Purpose, Transcript, merkle};
use serde_json::json;

use super::checkpoint::{Checkpoint, CheckpointError, origin};
use super::leaf::{DrawOrigin, Logged, leaf_of, plain_leaf, sealed};
use crate::document::{Object, number_of};
use crate::envelope::PublicKey;
use crate::fault::{Faults, Findings};
use crate::life::Event;

/// The format of a receipt.
pub const RECEIPT_VERSION: &str = "arena-receipt/v1";
const INCLUSION_MAX: usize = 64;

/// That an event is in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// SHA-256 of the instance's name.
    pub instance: Digest,
    /// The event's number, from 1.
    pub seq: u64,
    /// What the event was, for a message.
    pub event: String,
    /// What its leaf rests on beside the event, where it commits a draw.
    pub draw: Option<DrawOrigin>,
    /// Its hashed leaf.
    pub leaf: Digest,
    /// The way from the leaf to the root.
    pub inclusion: Vec<Digest>,
    /// The signed note.
    pub checkpoint: String,
}

/// What is wrong with a receipt or with the log of a transcript, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {why}")]
pub struct LogFault {
    /// The member, as a JSON pointer.
    pub at: &'static str,
    /// Why.
    pub why: String,
}

fn fault(at: &'static str, why: impl ToString) -> LogFault {
    LogFault { at, why: why.to_string() }
}

/// The log of a transcript that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedDraw {
    /// The number of the event that committed the draw.
    pub seq: u64,
    /// How many events the checkpoint covers.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
    /// When it was signed; nothing where no key was given to check that by.
    pub signed_at: Option<u64>,
}

impl Receipt {
    /// A receipt for an event; `genesis` is the digest of what the instance is. It is what [`Receipt::read`] reads.
    pub fn document(&self, genesis: Digest, logged: &Logged<'_>) -> Value {
        json!({
            "v": RECEIPT_VERSION, "instance": self.instance, "genesis": genesis, "seq": self.seq.to_string(),
            "at": logged.at.to_string(), "by": logged.by, "event": logged.written,
            "draw": self.draw.map(|draw| {
                json!({ "subject": draw.subject, "params_sha256": draw.params, "chain": draw.chain })
            }),
            "leaf": self.leaf, "inclusion": self.inclusion, "checkpoint": self.checkpoint,
        })
    }

    /// Reads a receipt; all of its faults if there are any. One of an event that is sealed may have an `opening` beside
    /// it: then it shows that event and no other.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        const MEMBERS: [&str; 12] = [
            "v",
            "instance",
            "genesis",
            "seq",
            "at",
            "by",
            "event",
            "draw",
            "leaf",
            "inclusion",
            "checkpoint",
            "opening",
        ];
        let mut findings = Findings::default();
        let Some(object) = Object::of(value, Pointer::default(), &mut findings) else {
            return findings.or_none(None);
        };
        object.only(&MEMBERS, &mut findings);
        object.constant("v", RECEIPT_VERSION, &mut findings);
        let instance = object.digest("instance", &mut findings);
        let genesis = object.digest("genesis", &mut findings);
        let leaf = object.digest("leaf", &mut findings);
        let number = |key: &str, findings: &mut Findings| {
            object.read(key, "a number in decimal digits", findings, |value| {
                value.as_str().and_then(|_| number_of(value))
            })
        };
        let (seq, at) = (number("seq", &mut findings), number("at", &mut findings));
        let by = object.read("by", "a name or null", &mut findings, |value| match value {
            Value::Null => Some(None),
            other => other.as_str().map(Some),
        });
        let event = object.read("event", "an event", &mut findings, |value| value.as_object().map(|_| value));
        let draw = object.read("draw", "what a commitment rests on, or null", &mut findings, draw_origin);
        let inclusion = object.read("inclusion", "at most 64 digests", &mut findings, digests);
        let checkpoint = object.read("checkpoint", "a signed note", &mut findings, Value::as_str);
        let opening = value.get("opening");
        if opening.zip(event).is_some_and(|(opening, event)| sealed(opening) != *event) {
            findings.add(&object.place("opening"), "does not open the event");
        }
        let shown = |event| opening.map_or(event, |opening| &opening["event"]);
        let name = |event: &Value| event.get("event").and_then(Value::as_str).unwrap_or("sealed").to_owned();
        let whole = || {
            let (seq, at, written) = (seq?, at?, event?);
            let logged = Logged { seq, at, by: by?, written };
            let receipt = Self {
                instance: instance?,
                seq,
                event: name(shown(written)),
                draw: draw?,
                leaf: leaf?,
                inclusion: inclusion?,
                checkpoint: checkpoint?.to_owned(),
            };
            let follows = leaf_shown(&receipt, genesis?, &logged) == Some(receipt.leaf);
            Some((receipt, follows))
        };
        let receipt = match whole() {
            Some((_, false)) => {
                findings.add(&object.place("leaf"), "does not follow from the event");
                None
            }
            other => other.map(|(receipt, _)| receipt),
        };
        findings.or_none(receipt)
    }

    /// The receipt that a transcript with its log is.
    pub fn of(transcript: &Transcript) -> Result<Self, LogFault> {
        let request = &transcript.request;
        let log = request.log.as_ref().ok_or_else(|| fault("/log", "the transcript carries none"))?;
        let leaf = leaf_of(transcript).ok_or_else(|| {
            let why = "a commitment in a log has a number, a time and the latest round, and is not sealed";
            fault("/committed_seq", why)
        })?;
        Ok(Self {
            instance: request.instance,
            seq: request.committed_seq.unwrap_or_default(),
            event: format!("draw_committed of the {} draw", request.purpose),
            draw: None,
            leaf,
            inclusion: log.inclusion.clone(),
            checkpoint: log.checkpoint.clone(),
        })
    }

    /// The checkpoint, if the event is under its root; signatures are not looked at.
    pub fn held(&self) -> Result<Checkpoint, LogFault> {
        let checkpoint = Checkpoint::read(&self.checkpoint).map_err(|why| fault("/log/checkpoint", why))?;
        let need = origin(self.instance);
        if checkpoint.origin != need {
            let have = checkpoint.origin.clone();
            return Err(fault("/log/checkpoint", CheckpointError::OtherOrigin { have, need }));
        }
        let index = self.seq.checked_sub(1).filter(|index| *index < checkpoint.size);
        let index = index.ok_or_else(|| {
            let size = checkpoint.size;
            fault(
                "/committed_seq",
                format_args!("event {} is not among the {size} of the checkpoint", self.seq),
            )
        })?;
        match merkle::root_of_path(checkpoint.size, index, self.leaf, &self.inclusion) {
            Some(root) if root == checkpoint.root => Ok(checkpoint),
            _ => {
                Err(fault("/log/inclusion", "it does not lead from the event to the root of the checkpoint"))
            }
        }
    }

    /// The same, and when it was signed by this key.
    pub fn signed(&self, key: PublicKey) -> Result<(Checkpoint, u64), LogFault> {
        let checkpoint = self.held()?;
        let at = checkpoint.verify(&origin(self.instance), key);
        at.map(|at| (checkpoint, at)).map_err(|why| fault("/log/checkpoint", why))
    }
}

/// The leaf of what a receipt shows. Of the commitment of a draw, who committed it and the claim's name are not in its
/// leaf, since a transcript does not tell them: they are held against the journal.
fn leaf_shown(receipt: &Receipt, genesis: Digest, logged: &Logged<'_>) -> Option<Digest> {
    let Some(origin) = receipt.draw else { return Some(plain_leaf(genesis, logged)) };
    let event: Event = serde_json::from_value(logged.written.clone()).ok()?;
    // What the event is read from says nothing more than what was read.
    let is_whole = serde_json::to_value(&event).is_ok_and(|value| value == *logged.written);
    let at = logged.at;
    let is_then = matches!(&event, Event::DrawCommitted(draw) if draw.committed_at == at);
    origin.leaf(receipt.instance, &event, logged.seq).filter(|_| is_whole && is_then)
}

fn draw_origin(value: &Value) -> Option<Option<DrawOrigin>> {
    if value.is_null() {
        return Some(None);
    }
    let members = value.as_object().filter(|members| members.len() == 3)?;
    let digest = |key: &str| members.get(key)?.as_str()?.parse().ok();
    let (subject, params) = (digest("subject")?, digest("params_sha256")?);
    Some(Some(DrawOrigin { subject, params, chain: digest("chain")? }))
}

fn digests(value: &Value) -> Option<Vec<Digest>> {
    let list = value.as_array().filter(|list| list.len() <= INCLUSION_MAX)?;
    list.iter().map(|digest| digest.as_str()?.parse().ok()).collect()
}

/// Checks the log of a transcript that verifies: the commitment is in it, and with a key, that the checkpoint is signed
/// and was signed after the commitment and before the round was due. Nothing if the transcript carries no log: with a
/// key that is so for auditors drawn again alone, whose commitments are sealed.
pub fn check_transcript(
    transcript: &Transcript,
    key: Option<PublicKey>,
) -> Result<Option<LoggedDraw>, LogFault> {
    let request = &transcript.request;
    if request.log.is_none() {
        let is_sealed = request.purpose == Purpose::Audit && request.attempt > 0;
        return match key {
            Some(_) if !is_sealed => Err(fault("/log", "there is none, and a key to check it by was given")),
            _ => Ok(None),
        };
    }
    let receipt = Receipt::of(transcript)?;
    let (checkpoint, signed_at) = match key {
        Some(key) => receipt.signed(key).map(|(checkpoint, at)| (checkpoint, Some(at)))?,
        None => (receipt.held()?, None),
    };
    let beacon = request.source.beacon(request.instance, request.instance_name.as_deref());
    let beacon = beacon.map_err(|why| fault("/instance_name", why))?;
    in_time(signed_at, request.committed_at, beacon.time_of(request.round))?;
    Ok(Some(LoggedDraw { seq: receipt.seq, size: checkpoint.size, root: checkpoint.root, signed_at }))
}

/// A checkpoint of a commitment is signed after it and before its round is due, where rounds have times.
pub fn in_time(signed_at: Option<u64>, committed: Option<u64>, due: Option<u64>) -> Result<(), LogFault> {
    let Some(at) = signed_at else { return Ok(()) };
    if let Some(committed) = committed.filter(|committed| at < *committed) {
        let why = format!("signed at {at}, before the commitment of {committed} that it covers");
        return Err(fault("/log/checkpoint", why));
    }
    match due.filter(|due| at >= *due) {
        Some(due) => Err(fault(
            "/log/checkpoint",
            format_args!("signed at {at}, when the round had been due at {due}"),
        )),
        None => Ok(()),
    }
}

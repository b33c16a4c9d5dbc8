//! Receipts: an event with its way to a signed checkpoint. A transcript that carries its log is one as well.

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use arena_draw::{Transcript, merkle};
use serde_json::json;

use super::checkpoint::{Checkpoint, CheckpointError, origin};
use super::leaf::{Logged, leaf_of, plain_leaf};
use crate::document::{Object, number_of};
use crate::envelope::PublicKey;
use crate::fault::{Faults, Findings};

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
            "at": logged.at.to_string(), "by": logged.by, "event": logged.written, "leaf": self.leaf,
            "inclusion": self.inclusion, "checkpoint": self.checkpoint,
        })
    }

    /// Reads a receipt; all of its faults if there are any.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        const MEMBERS: [&str; 10] =
            ["v", "instance", "genesis", "seq", "at", "by", "event", "leaf", "inclusion", "checkpoint"];
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
        let inclusion = object.read("inclusion", "at most 64 digests", &mut findings, digests);
        let checkpoint = object.read("checkpoint", "a signed note", &mut findings, Value::as_str);
        let name = |event: &Value| event.get("event").and_then(Value::as_str).unwrap_or("sealed").to_owned();
        let whole = || {
            let (seq, at, written) = (seq?, at?, event?);
            let logged = Logged { seq, at, by: by?, written };
            let receipt = Self {
                instance: instance?,
                seq,
                event: name(written),
                leaf: leaf?,
                inclusion: inclusion?,
                checkpoint: checkpoint?.to_owned(),
            };
            // The leaf of a draw follows from its transcript; that of anything else from what stands here.
            let follows = receipt.event == "draw_committed" || plain_leaf(genesis?, &logged) == receipt.leaf;
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

fn digests(value: &Value) -> Option<Vec<Digest>> {
    let list = value.as_array().filter(|list| list.len() <= INCLUSION_MAX)?;
    list.iter().map(|digest| digest.as_str()?.parse().ok()).collect()
}

/// Checks the log of a transcript that verifies: the commitment is in it, and with a key, that the checkpoint is signed
/// and was signed after the commitment and before the round was due. Nothing if the transcript carries no log.
pub fn check_transcript(
    transcript: &Transcript,
    key: Option<PublicKey>,
) -> Result<Option<LoggedDraw>, LogFault> {
    let request = &transcript.request;
    if request.log.is_none() {
        return Ok(None);
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

//! What everybody can do with a log alone: replay it, and lay the replay beside what is stored.
//!
//! A server, a page and a program give the same answer, because they all ask here. Which packs there are is
//! for whoever asks to say.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, ReadError, Value};
use serde_json::json;

use super::action::{RawAction, read_actions};
use super::fault::Finding;
use super::log::{EpisodeLog, NonFiniteValue};
use super::pack::Pack;
use super::verify::verify;
use crate::Excerpt;

/// Faults that are told of one log.
const FAULTS_MAX: usize = 50;

/// Which pack a log says it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackName<'a> {
    /// The pack's name.
    pub id: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Its digest, where the log pins one; then nothing else counts.
    pub sha256: Option<Digest>,
}

impl<'a> PackName<'a> {
    fn of(log: &'a Value) -> Self {
        let text = |pointer: &str| log.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let sha256 = text("/pins/pack_sha256").parse().ok();
        Self { id: text("/pack_id"), version: text("/pack_version"), sha256 }
    }

    /// Whether `pack` is the one that is meant.
    pub fn means(&self, pack: &Pack) -> bool {
        let document = pack.document();
        match self.sha256 {
            Some(sha256) => pack.sha256() == sha256,
            None => document.pack_id == self.id && document.pack_version == self.version,
        }
    }
}

/// Why a log was not replayed at all.
#[derive(Debug, thiserror::Error)]
pub enum Unchecked {
    /// Not JSON.
    #[error("{0}")]
    NotJson(#[from] ReadError),
    /// Of a pack that is not here.
    #[error("no pack here is the one of this log, `{0}`")]
    NoPack(String),
}

impl Unchecked {
    /// A stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "not_json",
            Self::NoPack(_) => "unknown_reference",
        }
    }
}

/// A log beside its replay.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Name and version of the pack.
    pub pack: String,
    /// Its digest.
    pub pack_sha256: Digest,
    /// The digest of the log as it came.
    pub log_sha256: Digest,
    /// The digest of the log that a replay writes; only where no sandbox took part, since a replay has none.
    pub replayed_log_sha256: Option<Digest>,
    /// The settlement as it is stored, and the digest of turns and settlement.
    pub stored: (Value, Digest),
    /// The same of the replay; nothing if the actions cannot be read.
    pub replayed: Option<(Value, Digest)>,
    /// Where the log departs from its replay.
    pub faults: Vec<Finding>,
}

impl Checked {
    /// Whether the log is what its own actions come to.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// The first turn that a fault is about.
    pub fn first_turn(&self) -> Option<usize> {
        let turn = |fault: &Finding| fault.pointer.strip_prefix("/turns/")?.split('/').next()?.parse().ok();
        self.faults.iter().filter_map(turn).min()
    }

    /// As it is told to programs.
    pub fn to_json(&self) -> Value {
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|fault| json!({ "pointer": format!("#{}", fault.pointer), "detail": fault.message }))
            .collect();
        json!({
            "verdict": if self.is_sound() { "verified" } else { "departs" },
            "pack": self.pack,
            "pack_sha256": self.pack_sha256,
            "log_sha256": self.log_sha256,
            "replayed_log_sha256": self.replayed_log_sha256,
            "stored": { "settlement": self.stored.0, "sha256": self.stored.1 },
            "replayed": self.replayed.as_ref().map(|(settlement, sha256)| {
                json!({ "settlement": settlement, "sha256": sha256 })
            }),
            "first_turn": self.first_turn(),
            "faults": faults,
        })
    }
}

/// The outcome of an episode in one digest: its turns and its settlement.
fn outcome(log: &Value) -> (Value, Digest) {
    let part = json!({ "turns": log.get("turns"), "settlement": log.get("settlement") });
    (log.get("settlement").cloned().unwrap_or_default(), Digest::of(&json::canonical(&part)))
}

/// Replays a log against its pack, which `find` looks up. The work is bounded by the bytes of the log and by
/// the turns of the pack.
pub fn check(
    bytes: &[u8],
    find: impl FnOnce(&PackName<'_>) -> Option<Arc<Pack>>,
) -> Result<Checked, Unchecked> {
    let log = json::read(bytes, bytes.len())?;
    let name = PackName::of(&log);
    let pack = find(&name).ok_or_else(|| {
        Unchecked::NoPack(Excerpt::line(&format!("{} {}", name.id, name.version)).to_string())
    })?;
    let mut faults = verify(bytes, &pack).err().map_or_else(Vec::new, |faults| faults.0);
    faults.truncate(FAULTS_MAX);
    let replay =
        read_moves(&log, pack.turns()).map(|(actions, lost)| EpisodeLog::replay(&pack, &actions, &lost));
    let is_bare = log.get("run").is_none();
    Ok(Checked {
        pack: pack.to_string(),
        pack_sha256: pack.sha256(),
        log_sha256: Digest::of(bytes),
        replayed_log_sha256: replay.as_ref().filter(|_| is_bare).map(|replay| Digest::of(&replay.to_bytes())),
        stored: outcome(&log),
        replayed: replay.as_ref().and_then(|replay| serde_json::to_value(replay).ok()).as_ref().map(outcome),
        faults,
    })
}

/// The actions of a log, with the values that JSON cannot hold; nothing if they cannot be read, or are more
/// than `turns`.
pub fn read_moves(log: &Value, turns: u32) -> Option<(Vec<RawAction>, Vec<NonFiniteValue>)> {
    let told = log.get("turns")?.as_array()?;
    if told.len() > turns as usize {
        return None;
    }
    let actions: Option<Vec<Value>> = told.iter().map(|turn| turn.get("action").cloned()).collect();
    let actions = read_actions(&Value::Array(actions?), turns).ok()?;
    let lost = match log.get("nonfinite") {
        None => Vec::new(),
        Some(lost) => serde_json::from_value(lost.clone()).ok()?,
    };
    Some((actions, lost))
}

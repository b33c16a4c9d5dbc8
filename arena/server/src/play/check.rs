//! Whether a log is what its own actions come to, on the server, with the engine that everybody has.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_engine::Excerpt;
use arena_engine::campus::{EpisodeLog, NonFiniteValue, RawAction, read_actions, verify};
use serde_json::json;

use super::shelf::Shelf;
use crate::problem::Problem;

/// Faults that are told of one log.
const FAULTS_MAX: usize = 50;

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) pack: String,
    pub(crate) pack_sha256: Digest,
    /// The digest of the log as it came.
    pub(crate) log_sha256: Digest,
    /// The digest of the log that a replay writes; only where no sandbox took part, since a replay has none.
    pub(crate) replayed_log_sha256: Option<Digest>,
    /// The outcome as it is stored, and its digest.
    pub(crate) stored: (Value, Digest),
    /// The outcome of the replay; nothing if its actions cannot be read.
    pub(crate) replayed: Option<(Value, Digest)>,
    /// Where the log departs from its replay.
    pub(crate) faults: Vec<(String, String)>,
}

impl Checked {
    pub(crate) fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    pub(crate) fn to_json(&self) -> Value {
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|(pointer, message)| json!({ "pointer": format!("#{pointer}"), "detail": message }))
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
            "faults": faults,
        })
    }
}

/// The outcome of an episode in one digest: its turns and its settlement.
fn outcome(log: &Value) -> (Value, Digest) {
    let part = json!({ "turns": log.get("turns"), "settlement": log.get("settlement") });
    (log.get("settlement").cloned().unwrap_or_default(), Digest::of(&json::canonical(&part)))
}

/// Replays a log against its pack, which has to be one of the shelf. The work is bounded by the bytes of the
/// log and by the turns of the pack.
pub(crate) fn check(bytes: &[u8], shelf: &Shelf) -> Result<Checked, Problem> {
    let log = json::read(bytes, bytes.len()).map_err(|why| Problem::new("not_json", why))?;
    let text = |pointer: &str| log.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let pinned = text("/pins/pack_sha256").parse::<Digest>().ok();
    let published = match pinned {
        Some(sha256) => shelf.with_digest(sha256),
        None => shelf.find(text("/pack_id"), text("/pack_version")),
    };
    let published = published.ok_or_else(|| {
        let named = format!("{} {}", text("/pack_id"), text("/pack_version"));
        let detail = format_args!("no pack here is the one of this log, `{}`", Excerpt::line(&named));
        Problem::new("unknown_reference", detail)
    })?;
    let pack = &published.pack;
    let mut faults: Vec<(String, String)> = match verify(bytes, pack) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.0.into_iter().map(|it| (it.pointer, it.message)).collect(),
    };
    faults.truncate(FAULTS_MAX);
    let replay =
        read_moves(&log, pack.turns()).map(|(actions, lost)| EpisodeLog::replay(pack, &actions, &lost));
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

/// The actions of a log, with the values that JSON cannot hold.
pub(super) fn read_moves(log: &Value, turns: u32) -> Option<(Vec<RawAction>, Vec<NonFiniteValue>)> {
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

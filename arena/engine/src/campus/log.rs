//! The episode log: what is written, and the only thing a score is ever derived from.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{NonFinite, RawAction};
use super::clamp::Field;
use super::pack::Pack;
use super::play::{Recorder, replay};
use super::record::TurnRecord;
use super::settlement::Settlement;
use crate::ENGINE_VERSION;
use crate::competitor::ForfeitRecord;

pub(super) const SCHEMA: &str = "episode.v0";

/// A finished episode (`episode.v0`).
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Episode")]
pub struct EpisodeLog {
    /// The format of this file.
    #[schemars(extend("const" = "episode.v0"))]
    pub schema: String,
    /// The pack's name.
    pub pack_id: String,
    /// The pack's version.
    pub pack_version: String,
    /// Version of the rules of play.
    pub engine_version: String,
    /// Version of the scoring, as the pack declares it.
    pub score_version: String,
    /// Every turn, in order.
    pub turns: Vec<TurnRecord>,
    /// The outcome.
    pub settlement: Settlement,
    /// What the episode was created from; immutable against later edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Pins", default)]
    pub pins: Option<Pins>,
    /// How the sandbox ran the strategy; absent for bare replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Run", default)]
    pub run: Option<Run>,
    /// Values of actions that JSON cannot hold, in turn order; a replay puts them back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub nonfinite: Vec<NonFiniteValue>,
}

/// Versions and digests that decide an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pins {
    /// SHA-256 of the pack's canonical JSON, hexadecimal.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    pub pack_sha256: Digest,
    /// Version of the rules of play.
    pub engine_version: String,
    /// Version of the scoring.
    pub score_version: String,
    /// Row of the limits table; `null` for bare replays.
    pub limits_version: Option<u32>,
    /// Version of the runtime whose fuel is counted; `null` for bare replays.
    pub wasmtime: Option<String>,
}

/// How the sandbox ran a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// SHA-256 of the component, hexadecimal.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    pub strategy_sha256: Digest,
    /// The world it was played in.
    pub world: String,
    /// Seed of the guest's randomness: 32 bytes, hexadecimal.
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    pub seed: Digest,
    /// `lean`, or `wasi` for a component that imports WASI.
    #[schemars(extend("enum" = ["lean", "wasi"]))]
    pub linker: String,
    /// Fuel used by the brief, instantiation not included.
    pub brief_fuel: u64,
    /// Fuel used by each turn; 0 for turns after a forfeit.
    pub fuel: Vec<u64>,
    /// How the strategy lost the ability to act, or `null`.
    pub forfeit: Option<ForfeitRecord>,
    /// What the guest logged and was kept. Lines of the brief bear turn 0.
    pub log: Vec<LogLine>,
    /// Bytes of log text that were dropped.
    pub log_dropped_bytes: u64,
}

/// A line of a guest's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// The turn on which it was logged.
    pub turn: u32,
    /// How much it matters.
    pub level: LogLevel,
    /// The text, as the guest wrote it.
    pub text: String,
}

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For the author while developing.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

/// A value of an action that JSON cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NonFiniteValue {
    /// The turn.
    pub turn: u32,
    /// The member of the action, which shows `null`.
    pub field: Field,
    /// The value.
    pub value: NonFinite,
}

impl EpisodeLog {
    /// The log of what `recorder` kept of a finished episode of `pack`.
    pub fn new(
        pack: &Pack,
        recorder: Recorder,
        settlement: Settlement,
        pins: Pins,
        run: Option<Run>,
    ) -> Self {
        let (turns, nonfinite) = recorder.into_parts();
        let document = pack.document();
        Self {
            schema: SCHEMA.to_owned(),
            pack_id: document.pack_id.clone(),
            pack_version: document.pack_version.clone(),
            engine_version: ENGINE_VERSION.to_owned(),
            score_version: document.score_version.clone(),
            turns,
            settlement,
            pins: Some(pins),
            run,
            nonfinite: nonfinite.into_iter().map(NonFiniteValue::from).collect(),
        }
    }

    /// Replays `actions`, padded with empty ones, without a sandbox.
    pub fn replay(pack: &Arc<Pack>, actions: &[RawAction], nonfinite: &[NonFiniteValue]) -> Self {
        let nonfinite: Vec<_> = nonfinite.iter().map(|lost| (lost.turn, lost.field, lost.value)).collect();
        let (episode, recorder) = replay(pack, actions, &nonfinite);
        let settlement = episode.settle().expect("a replay runs to the end");
        Self::new(pack, recorder, settlement, Pins::of_replay(pack), None)
    }

    /// The file's bytes: canonical JSON on one line, sealed with a digest of itself in
    /// `content_sha256`, so that any change to the file shows.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).expect("a log has string keys");
        seal(&mut value);
        let mut bytes = json::canonical(&value);
        bytes.push(b'\n');
        bytes
    }
}

/// The member that holds the digest of the rest.
pub const SEAL: &str = "content_sha256";

/// Every member of a log this engine writes.
pub const MEMBERS: [&str; 11] = [
    "schema",
    "pack_id",
    "pack_version",
    "engine_version",
    "score_version",
    "turns",
    "settlement",
    "pins",
    "run",
    "nonfinite",
    SEAL,
];

fn seal(log: &mut Value) {
    let digest = Digest::of(&json::canonical(log));
    log[SEAL] = Value::String(digest.to_string());
}

impl Pins {
    /// The pins of an episode that no sandbox took part in.
    pub fn of_replay(pack: &Pack) -> Self {
        Self {
            pack_sha256: pack.sha256(),
            engine_version: ENGINE_VERSION.to_owned(),
            score_version: pack.document().score_version.clone(),
            limits_version: None,
            wasmtime: None,
        }
    }

    /// The pins of an episode in a sandbox.
    pub fn of_run(pack: &Pack, limits_version: u32, wasmtime: &str) -> Self {
        Self {
            limits_version: Some(limits_version),
            wasmtime: Some(wasmtime.to_owned()),
            ..Self::of_replay(pack)
        }
    }
}

impl From<(u32, Field, NonFinite)> for NonFiniteValue {
    fn from((turn, field, value): (u32, Field, NonFinite)) -> Self {
        Self { turn, field, value }
    }
}

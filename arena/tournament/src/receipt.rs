//! The receipt: how a run ended, what it was made of, and the digest of every file it left. The only
//! file with times in it.

use std::collections::BTreeMap;
use std::io::Read;

use arena_canon::{Digest, json};
use serde::{Deserialize, Serialize};

use crate::beside::side_by_side;
use crate::canonical::Text;
use crate::ending::{Class, Ending};
use crate::fault::RunFault;
use crate::folder::{self, Folder, JOURNAL, RECEIPT, SCORECARD};
use crate::frozen::{Budget, Frozen, Protocol, StrategyPin};
use crate::journal;
use crate::names::{MATCHUPS_MAX, MatchId};
use crate::record::Used;
use crate::run::State;
use crate::standings::Standing;

/// The format of a receipt.
const RECEIPT_SCHEMA: &str = "tournament.receipt.v1";
/// Largest receipt that is read.
pub(crate) const BYTES_MAX: u64 = 256 << 20;

/// Room for one file of the list.
const FILE_BYTES: usize = 128;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The format.
    pub schema: String,
    /// The tournament.
    pub slug: String,
    /// The run.
    pub run_id: String,
    /// How it ended: exactly one class.
    pub terminal: Class,
    /// Why.
    pub reason: String,
    /// The matchup it ended at, if it ended at one.
    pub matchup: Option<MatchId>,
    /// Digest of the frozen file.
    pub frozen_sha256: Digest,
    /// How it was played.
    pub protocol: Protocol,
    /// The strategies, as frozen.
    pub strategies: Vec<StrategyPin>,
    /// What it was played with.
    pub versions: Versions,
    /// When it began, UTC.
    pub started_at: String,
    /// When it ended, UTC.
    pub finished_at: String,
    /// What was played.
    pub matchups: MatchupCount,
    /// What was spent.
    pub budget: Spent,
    /// The scorecard; of a success only.
    pub scorecard: Option<FileDigest>,
    /// What came of the hidden identities.
    pub identities: IdentityCheck,
    /// Every file of the run, by name.
    pub files: Vec<FileSize>,
    /// Digest of the journal's last line, or of the frozen file.
    pub journal_head: Digest,
    /// SHA-256 of this receipt without its times, the run's id and this member.
    pub record_digest: Digest,
}

/// Versions that decide a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// The product.
    pub arena: String,
    /// The rules of play.
    pub engine: String,
    /// What the scorecard counts.
    pub score: String,
    /// Row of the limits table.
    pub limits: u32,
    /// The runtime.
    pub wasmtime: String,
}

/// What was played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchupCount {
    /// Matchups of the matrix.
    pub planned: u64,
    /// Matchups with a recorded outcome.
    pub completed: u64,
    /// The others.
    pub remaining: Vec<MatchId>,
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// What might be.
    pub limit: Budget,
    /// What was: the sum over the matchups that count.
    pub used: UsedBudget,
    /// Seconds on the clock, over all attempts.
    pub wall_seconds: u64,
}

/// The deterministic part of what was spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsedBudget {
    /// Fuel of all seats.
    pub fuel: u64,
    /// Matchups.
    pub matchups: u64,
    /// Turns.
    pub turns: u64,
}

/// A file by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// Its name in the run's folder.
    pub path: String,
    /// Its digest.
    pub sha256: Digest,
}

/// A file by its digest and size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSize {
    /// Its name in the run's folder.
    pub path: String,
    /// Its digest.
    pub sha256: Digest,
    /// Its size.
    pub bytes: u64,
}

/// What came of the hidden identities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityCheck {
    /// Whether strategies played under aliases.
    pub hidden: bool,
    /// Whether every one was verified.
    pub verified: bool,
    /// Those that were not, each by name.
    pub mismatches: Vec<String>,
    /// Where the seating's randomness came from, and what that is worth.
    pub seating: String,
}

/// What was found out about a folder already, so that it need not be read again.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Digest and size of files, by name.
    pub(crate) files: BTreeMap<String, (Digest, u64)>,
    /// The journal.
    pub(crate) chain: Option<Chain>,
    /// The standings of a success.
    pub(crate) standings: Vec<Standing>,
}

/// What a receipt says of the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    pub(crate) completed: usize,
    pub(crate) used: Used,
    pub(crate) head: Digest,
}

impl Chain {
    fn read(folder: &Folder, root: Digest) -> Result<Self, RunFault> {
        let journal = folder.read(JOURNAL, MATCHUPS_MAX as u64 * 1_024)?.unwrap_or_default();
        let (entries, head, _) = journal::read(&journal, root).unwrap_or((Vec::new(), root, 0));
        let used = entries.iter().fold(Used::default(), |sum, entry| sum.plus(entry.used));
        Ok(Self { completed: entries.len(), used, head })
    }
}

/// Writes the receipt of a run that has ended.
pub(crate) fn write(
    folder: &Folder,
    receipt: &mut Receipt,
    state: &State,
    now_ms: u64,
) -> Result<(), RunFault> {
    receipt.run_id.clone_from(&state.run_id);
    receipt.started_at = timestamp(state.started_at_ms);
    receipt.finished_at = timestamp(now_ms);
    receipt.budget.wall_seconds = state.elapsed_ms.div_ceil(1_000);
    receipt.record_digest = receipt.own_digest();
    let mut bytes = serde_json::to_vec_pretty(&receipt).expect("a receipt has string keys");
    bytes.push(b'\n');
    folder.write(RECEIPT, &bytes, 0o644)
}

/// What a receipt of this folder says, its times and the run's id aside.
pub(crate) fn assemble(
    folder: &Folder,
    (frozen, root): (&Frozen, Digest),
    ending: &Ending,
    known: &Known,
) -> Result<Receipt, RunFault> {
    let Chain { completed, used, head } = known.chain.map_or_else(|| Chain::read(folder, root), Ok)?;
    let planned = frozen.matchups.len();
    let completed = completed.min(planned);
    let files = files(folder, known)?;
    let scorecard = files.iter().find(|file| file.path == SCORECARD && ending.class == Class::Success);
    let protocol = frozen.protocol.clone();
    Ok(Receipt {
        schema: RECEIPT_SCHEMA.to_owned(),
        slug: frozen.slug.clone(),
        run_id: String::new(),
        terminal: ending.class,
        reason: ending.reason.clone(),
        matchup: ending.matchup,
        frozen_sha256: root,
        strategies: frozen.strategies.clone(),
        versions: Versions {
            arena: env!("CARGO_PKG_VERSION").to_owned(),
            engine: arena_engine::ENGINE_VERSION.to_owned(),
            score: protocol.score_version.clone(),
            limits: protocol.limits_version,
            wasmtime: protocol.wasmtime.clone(),
        },
        started_at: String::new(),
        finished_at: String::new(),
        matchups: MatchupCount {
            planned: planned as u64,
            completed: completed as u64,
            remaining: frozen.matchups[completed..].iter().map(|matchup| matchup.id).collect(),
        },
        budget: Spent {
            limit: frozen.budget,
            used: UsedBudget { fuel: used.fuel, matchups: completed as u64, turns: used.turns },
            wall_seconds: 0,
        },
        scorecard: scorecard.map(|file| FileDigest { path: file.path.clone(), sha256: file.sha256 }),
        identities: IdentityCheck {
            hidden: protocol.identity.hidden,
            verified: ending.class == Class::Success,
            mismatches: ending.mismatches.clone(),
            seating: seating_of(frozen),
        },
        protocol,
        files,
        journal_head: head,
        record_digest: root,
    })
}

/// Where the seating's randomness came from, in words.
fn seating_of(frozen: &Frozen) -> String {
    match &frozen.seating.beacon {
        None => "secret alone: recomputable, but not safe from an operator who tries many secrets".to_owned(),
        Some(beacon) => format!("drand quicknet round {} and the secret", beacon.round),
    }
}

/// Every file of the run. The scorecard is the longest of those that nobody has read.
fn files(folder: &Folder, known: &Known) -> Result<Vec<FileSize>, RunFault> {
    let (scorecard, files) = side_by_side(
        || folder.at(SCORECARD).exists().then(|| file(folder, SCORECARD.to_owned())).transpose(),
        || -> Result<Vec<FileSize>, RunFault> {
            let names = folder.files()?.into_iter().filter(|name| name != SCORECARD);
            let known_or_read = |name: String| match known.files.get(&name) {
                Some((sha256, bytes)) => Ok(FileSize { path: name, sha256: *sha256, bytes: *bytes }),
                None => file(folder, name),
            };
            names.map(known_or_read).collect()
        },
    );
    let mut files = files?;
    if let Some(scorecard) = scorecard? {
        files.insert(files.partition_point(|other| other.path < scorecard.path), scorecard);
    }
    Ok(files)
}

fn file(folder: &Folder, name: String) -> Result<FileSize, RunFault> {
    let path = folder.at(&name);
    let mut file = folder::open_regular(&path).map_err(RunFault::io("open", &path))?;
    let mut hasher = arena_canon::Hasher::new();
    let (mut buffer, mut bytes) = (vec![0; 64 << 10], 0);
    loop {
        match file.read(&mut buffer).map_err(RunFault::io("read", &path))? {
            0 => break,
            read => {
                hasher.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
    Ok(FileSize { path: name, sha256: hasher.digest(), bytes })
}

impl Receipt {
    /// Its digest without what differs between two runs of the same tournament.
    pub(crate) fn own_digest(&self) -> Digest {
        let Spent { limit, used, wall_seconds: _ } = &self.budget;
        // Member by member: there may be a hundred thousand files.
        let members = BTreeMap::from([
            ("schema", json::canonical_of(&self.schema)),
            ("slug", json::canonical_of(&self.slug)),
            ("terminal", json::canonical_of(&self.terminal)),
            ("reason", json::canonical_of(&self.reason)),
            ("matchup", json::canonical_of(&self.matchup)),
            ("frozen_sha256", json::canonical_of(&self.frozen_sha256)),
            ("protocol", json::canonical_of(&self.protocol)),
            ("strategies", json::canonical_of(&self.strategies)),
            ("versions", json::canonical_of(&self.versions)),
            ("matchups", json::canonical_of(&self.matchups)),
            ("budget", json::canonical_of(&serde_json::json!({ "limit": limit, "used": used }))),
            ("scorecard", json::canonical_of(&self.scorecard)),
            ("identities", json::canonical_of(&self.identities)),
            ("files", files_text(&self.files)),
            ("journal_head", json::canonical_of(&self.journal_head)),
        ]);
        let mut text = Vec::new();
        for (name, value) in &members {
            text.push(if text.is_empty() { b'{' } else { b',' });
            text.extend_from_slice(format!("\"{name}\":").as_bytes());
            text.extend_from_slice(value);
        }
        text.push(b'}');
        Digest::of(&text)
    }

    /// How the run ended, as the receipt tells it.
    pub(crate) fn ending(&self) -> Ending {
        Ending {
            class: self.terminal,
            reason: self.reason.clone(),
            matchup: self.matchup,
            mismatches: self.identities.mismatches.clone(),
        }
    }
}

/// The list of files in canonical JSON.
fn files_text(files: &[FileSize]) -> Vec<u8> {
    let mut text = Text(Vec::with_capacity(FILE_BYTES * files.len() + 2));
    text.raw("[");
    for (at, FileSize { path, sha256, bytes }) in files.iter().enumerate() {
        text.raw(if at > 0 { ",{\"bytes\":" } else { "{\"bytes\":" }).count(*bytes);
        text.key("path").text(path).key("sha256").digest(sha256).raw("}");
    }
    text.raw("]");
    text.0
}

/// Reads a receipt.
pub(crate) fn read(bytes: &[u8]) -> Result<Receipt, String> {
    serde_json::from_slice(bytes).map_err(|why| why.to_string())
}

/// What a run that ended before is taken up with.
pub(crate) fn state(bytes: &[u8]) -> Option<State> {
    let receipt = read(bytes).ok()?;
    let started: jiff::Timestamp = receipt.started_at.parse().ok()?;
    Some(State {
        run_id: receipt.run_id,
        started_at_ms: u64::try_from(started.as_millisecond()).ok()?,
        elapsed_ms: receipt.budget.wall_seconds.saturating_mul(1_000),
    })
}

/// A time as receipts tell it: UTC, whole seconds.
pub(crate) fn timestamp(unix_ms: u64) -> String {
    let seconds = i64::try_from(unix_ms / 1_000).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "unknown".to_owned(), |at| at.to_string())
}

#[cfg(test)]
mod tests;

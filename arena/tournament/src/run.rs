//! One run of a frozen tournament, from its folder to exactly one terminal class.

mod matrix;
mod scan;

pub(crate) use matrix::WALL;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arena_canon::{Digest, json};
use arena_engine::campus::{DOCUMENT_BYTES_MAX, Pack};
use serde::{Deserialize, Serialize};

use crate::beside::side_by_side;
use crate::ending::{Class, Ending};
use crate::executor::Executor;
use crate::fault::RunFault;
use crate::finish;
use crate::folder::{
    COMMITMENTS, COMPONENT_BYTES_MAX, FROZEN, Folder, IDENTITIES, IDENTITIES_BYTES_MAX, NewFile, RECEIPT,
    SCORECARD, SCORECARD_MD, SECRET, STATE, component_name, pack_name,
};
use crate::freeze::{self, Pins};
use crate::frozen::{FROZEN_BYTES_MAX, Frozen, FrozenFile};
use crate::identities::{self, Disclosure};
use crate::job::Jobs;
use crate::journal::Journal;
use crate::names::MatchId;
use crate::receipt::{self, Known, Receipt};
use crate::record::Used;
use crate::seating::Seating;
use crate::secret::Secret;
use crate::standings::Standing;

/// The time, for whoever needs it; only a receipt and a wall-clock budget do.
pub trait Clock {
    /// Milliseconds since 1970.
    fn unix_ms(&self) -> u64;
    /// Time since some moment in the past that stays the same.
    fn monotonic(&self) -> Duration;
}

/// Who watches a run.
pub trait Watch {
    /// That many of the matchups have lasted, with this use so far.
    fn progress(&mut self, completed: usize, planned: usize, used: Used);
    /// Something that a person should know.
    fn talk(&mut self, line: &str);
}

/// A run that is set up.
pub struct Run {
    folder: Folder,
    frozen: Frozen,
    jobs: Jobs,
    packs: BTreeMap<Digest, Arc<Pack>>,
    state: State,
    pins: Pins,
}

/// A run that can only end.
pub struct Halted {
    folder: Folder,
    frozen: Frozen,
    state: State,
    pins: Pins,
    ending: Ending,
}

/// When a run began, and how long it has taken so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) run_id: String,
    pub(crate) started_at_ms: u64,
    pub(crate) elapsed_ms: u64,
}

/// Whether a component may be missing. What a stranger is given of a run has none, and can be checked all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Components {
    Needed,
    MayBeAbsent,
}

/// The bytes that a frozen file pins.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Components, by digest.
    pub components: BTreeMap<Digest, Vec<u8>>,
    /// Packs, by the digest of their canonical JSON.
    pub packs: BTreeMap<Digest, Vec<u8>>,
    /// What could not be found, or was not what was frozen: each ends the run as blocked.
    pub violations: Vec<String>,
}

/// What a run came to.
#[derive(Debug)]
pub struct Ended {
    /// How it ended, and why.
    pub ending: Ending,
    /// What was written last.
    pub receipt: Receipt,
    /// The standings, as they are in the scorecard; of a success only.
    pub standings: Vec<Standing>,
}

/// The id of a run that starts now: UTC time and the first digits of the frozen digest.
pub fn run_id(frozen: Digest, clock: &dyn Clock) -> String {
    let stamp = receipt::timestamp(clock.unix_ms());
    let compact: String = stamp.chars().filter(|letter| !"-:".contains(*letter)).collect();
    format!("{compact}-{}", frozen.short())
}

impl Run {
    /// Sets up a new run in an empty folder. What is pinned is checked, and the identities are committed
    /// to, before anything is played.
    pub fn create(
        root: &Path,
        frozen: impl Into<FrozenFile>,
        secret: &Secret,
        inputs: &Inputs,
        pins: &Pins,
        clock: &dyn Clock,
    ) -> Result<Result<Self, Halted>, RunFault> {
        let was_there = root.exists();
        let folder = Folder::create(root)?;
        let frozen = frozen.into();
        match set_up(&folder, &frozen, secret, inputs, clock) {
            Ok(SetUp { seating: Ok(seating), state }) => {
                let jobs = Jobs::new(frozen.sha256, seating, secret.clone());
                Self::checked(folder, frozen.document, jobs, (state, pins), Components::Needed)
            }
            Ok(SetUp { seating: Err(reason), state }) => {
                let (ending, frozen) = (Ending::blocked(None, reason), frozen.document);
                Ok(Err(Halted { folder, frozen, state, pins: pins.clone(), ending }))
            }
            Err(fault) => {
                // Nothing was played; what was written of the set-up would only be in the way.
                folder.forget().ok();
                if !was_there {
                    std::fs::remove_dir(root).ok();
                }
                Err(fault)
            }
        }
    }

    /// Takes up a run where it was left.
    pub fn resume(root: &Path, pins: &Pins) -> Result<Result<Self, Halted>, RunFault> {
        let folder = Folder::open(root)?;
        let none = |why: String| RunFault::NoRun { path: root.to_owned(), why };
        // To end it as blocked would cost the result of a run that may have succeeded.
        if folder.was_fetched() {
            let why = "it was fetched, so it has no components and cannot go on; `arena verify` checks it, and \
                `arena tournament fetch` completes it";
            return Err(none(why.to_owned()));
        }
        let state = read_state(&folder)?
            .ok_or_else(|| none(format!("it has no {STATE}, and no {RECEIPT} that can be read")))?;
        folder.make_missing_folders()?;
        folder.clean()?;
        let root = folder.root().to_owned();
        let read = Self::read(folder, (state, pins), Components::Needed);
        if matches!(read, Err(RunFault::Damaged { .. })) {
            // It is blocked, so there is no scorecard of it.
            for name in [SCORECARD, SCORECARD_MD] {
                std::fs::remove_file(root.join(name)).ok();
            }
        }
        read
    }

    /// Reads a run that has ended without changing anything. Its components need not be there.
    pub(crate) fn open(root: &Path, pins: &Pins) -> Result<Result<Self, Halted>, RunFault> {
        let unknown = State { run_id: String::new(), started_at_ms: 0, elapsed_ms: 0 };
        Self::read(Folder::open_to_read(root)?, (unknown, pins), Components::MayBeAbsent)
    }

    fn read(
        folder: Folder,
        (state, pins): (State, &Pins),
        components: Components,
    ) -> Result<Result<Self, Halted>, RunFault> {
        let damaged =
            |folder: &Folder, why: String| RunFault::Damaged { path: folder.root().to_owned(), why };
        let bytes = folder.read(FROZEN, FROZEN_BYTES_MAX as u64)?.unwrap_or_default();
        let frozen =
            Frozen::parse(&bytes).map_err(|faults| damaged(&folder, format!("{FROZEN}: {faults}")))?;
        let secret = read_secret(&folder)?.ok_or_else(|| {
            damaged(&folder, format!("it has no {SECRET}, and no {IDENTITIES} that can be read"))
        })?;
        match find_seating(&frozen, &secret) {
            // A frozen file that is read is canonical.
            Ok(seating) => {
                let jobs = Jobs::new(Digest::of(&bytes), seating, secret);
                Self::checked(folder, frozen, jobs, (state, pins), components)
            }
            Err(why) => {
                let ending = Ending::blocked(None, why);
                Ok(Err(Halted { folder, frozen, state, pins: pins.clone(), ending }))
            }
        }
    }

    /// Checks what is pinned against what is in the folder, and against this host.
    fn checked(
        folder: Folder,
        frozen: Frozen,
        jobs: Jobs,
        (state, pins): (State, &Pins),
        components: Components,
    ) -> Result<Result<Self, Halted>, RunFault> {
        let commitments = folder.read(COMMITMENTS, IDENTITIES_BYTES_MAX)?.unwrap_or_default();
        let pins = pins.clone();
        let (mismatches, pinned) = side_by_side(
            || {
                let pinned = (&frozen, jobs.frozen_sha256());
                identities::validate(pinned, jobs.seating(), jobs.secret(), &commitments)
            },
            || check_pins(&folder, &frozen, &pins, components),
        );
        if !mismatches.is_empty() {
            let ending = Ending::mismatch(mismatches);
            return Ok(Err(Halted { folder, frozen, state, pins, ending }));
        }
        Ok(match pinned? {
            Ok(packs) => Ok(Self { folder, frozen, jobs, packs, state, pins }),
            Err(reason) => {
                let ending = Ending::blocked(None, reason);
                Err(Halted { folder, frozen, state, pins, ending })
            }
        })
    }

    /// The frozen tournament.
    pub fn frozen(&self) -> &Frozen {
        &self.frozen
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        self.folder.root()
    }

    /// The jobs, for an executor that wants to know them.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Plays what is not played yet, and ends.
    pub fn play(
        mut self,
        executor: &mut dyn Executor,
        watch: &mut dyn Watch,
        clock: &dyn Clock,
    ) -> Result<Ended, RunFault> {
        // The state comes first: of a run that has ended it is known from its receipt alone.
        self.folder.write(STATE, &json::canonical_of(&self.state), 0o600)?;
        // An earlier attempt's result is none until this one is over.
        for name in [RECEIPT, SCORECARD, SCORECARD_MD] {
            self.folder.remove(name)?;
        }
        let started = clock.monotonic();
        let before = self.state.elapsed_ms;
        let elapsed = |clock: &dyn Clock| {
            before.saturating_add(clock.monotonic().saturating_sub(started).as_millis() as u64)
        };
        let played = self.play_matrix(executor, watch, &|| elapsed(clock));
        for complaint in executor.complaints() {
            watch.talk(&complaint);
        }
        let ending = match played {
            Ok(ending) => ending,
            // A machine that fails costs nobody anything, and the run goes on when it is well again.
            Err(fault) => self.stalled(&fault)?,
        };
        self.state.elapsed_ms = elapsed(clock);
        let ending = match ending {
            Some(ending) if ending.class == Class::Stalled => self.blocked_instead(ending)?,
            ending => ending.unwrap_or_else(Ending::success),
        };
        self.end(ending, executor.workers(), watch, clock)
    }

    fn play_matrix(
        &mut self,
        executor: &mut dyn Executor,
        watch: &mut dyn Watch,
        elapsed_ms: &dyn Fn() -> u64,
    ) -> Result<Option<Ending>, RunFault> {
        let journal = match Journal::open(&self.folder, self.jobs.frozen_sha256())? {
            Ok(journal) => journal,
            Err(broken) => return Ok(Some(Ending::blocked(Some(broken.id), &broken))),
        };
        let scanned = match scan::scan(self, &journal)? {
            Ok(scanned) => scanned,
            Err(ending) => return Ok(Some(ending)),
        };
        matrix::play(self, journal, scanned, executor, watch, elapsed_ms)
    }

    /// The run stops at the first matchup that has not lasted.
    fn stalled(&self, fault: &RunFault) -> Result<Option<Ending>, RunFault> {
        let journal = Journal::open(&self.folder, self.jobs.frozen_sha256())?;
        let lasted = journal.map_or(0, |journal| journal.entries().len());
        let next = MatchId(lasted.saturating_add(1).min(self.frozen.matchups.len()) as u32);
        Ok(Some(Ending::stalled(next, fault)))
    }

    /// What a host cannot play may be what is pinned and has changed: then it is not the host that failed.
    fn blocked_instead(&self, stalled: Ending) -> Result<Ending, RunFault> {
        let pinned = check_pins(&self.folder, &self.frozen, &self.pins, Components::Needed)?;
        Ok(pinned.err().map_or(stalled, |reason| Ending::blocked(None, reason)))
    }

    /// Writes what is left to write. A success is one only if everything holds.
    fn end(
        self,
        ending: Ending,
        threads: usize,
        watch: &mut dyn Watch,
        clock: &dyn Clock,
    ) -> Result<Ended, RunFault> {
        let planned = finish::Plan {
            folder: &self.folder,
            frozen: &self.frozen,
            jobs: &self.jobs,
            packs: &self.packs,
            threads,
        };
        let (ending, known) = match finish::finish(&planned, ending, watch) {
            Ok(finished) => finished,
            Err(fault) => {
                finish::withdraw(&self.folder)?;
                (Ending::stalled(MatchId(self.frozen.matchups.len() as u32), fault), Known::default())
            }
        };
        let frozen = (&self.frozen, self.jobs.frozen_sha256());
        conclude(&self.folder, frozen, &self.state, &self.pins, (ending, known), clock)
    }

    /// What the records of this run are read with.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn packs(&self) -> &BTreeMap<Digest, Arc<Pack>> {
        &self.packs
    }

    /// Notes how long the run has taken, so that a crash does not forget it.
    fn note_elapsed(&mut self, elapsed_ms: u64) -> Result<(), RunFault> {
        self.state.elapsed_ms = elapsed_ms;
        self.folder.write(STATE, &json::canonical_of(&self.state), 0o600)
    }
}

impl Halted {
    /// Writes the receipt of a run that could not begin.
    pub fn end(self, clock: &dyn Clock) -> Result<Ended, RunFault> {
        for name in [SCORECARD, SCORECARD_MD] {
            self.folder.remove(name)?;
        }
        let (none, frozen) = (Known::default(), (&self.frozen, self.frozen.digest()));
        conclude(&self.folder, frozen, &self.state, &self.pins, (self.ending, none), clock)
    }

    /// Why it can only end.
    pub(crate) fn reason(&self) -> String {
        self.ending.mismatches.first().unwrap_or(&self.ending.reason).clone()
    }

    /// Where its receipt will be.
    pub fn root(&self) -> &Path {
        self.folder.root()
    }
}

/// What a set-up comes to.
struct SetUp {
    /// Who is seated where, or why nobody can be.
    seating: Result<Seating, String>,
    state: State,
}

/// Writes what a run starts from.
fn set_up(
    folder: &Folder,
    FrozenFile { document: frozen, bytes: frozen_bytes, sha256 }: &FrozenFile,
    secret: &Secret,
    inputs: &Inputs,
    clock: &dyn Clock,
) -> Result<SetUp, RunFault> {
    let digest = *sha256;
    let state = State { run_id: run_id(digest, clock), started_at_ms: clock.unix_ms(), elapsed_ms: 0 };
    folder.write(STATE, &json::canonical_of(&state), 0o600)?;
    folder.make_folders()?;
    let file = |name: &str, bytes, mode| NewFile { name: name.to_owned(), bytes, mode };
    let mut files = vec![file(SECRET, secret.as_bytes(), 0o600)];
    let components = inputs.components.iter().map(|(sha256, bytes)| (component_name(*sha256), bytes));
    let packs = inputs.packs.iter().map(|(sha256, bytes)| (pack_name(*sha256), bytes));
    files.extend(components.chain(packs).map(|(name, bytes)| file(&name, bytes, 0o644)));
    let seating = find_seating(frozen, secret);
    let commitments = seating.as_ref().ok().map(|seating| {
        let identities = identities::identities((frozen, digest), seating, secret);
        identities::commitments_file(digest, &identities)
    });
    files.extend(commitments.iter().map(|commitments| file(COMMITMENTS, commitments, 0o644)));
    folder.write_all(&files)?;
    // Last, so that a folder with a frozen file has everything else.
    folder.write(FROZEN, frozen_bytes, 0o644)?;
    let violated = inputs.violations.first().cloned();
    let seating = seating.and_then(|seating| violated.map_or(Ok(seating), Err));
    Ok(SetUp { seating, state })
}

fn conclude(
    folder: &Folder,
    frozen: (&Frozen, Digest),
    state: &State,
    pins: &Pins,
    (ending, known): (Ending, Known),
    clock: &dyn Clock,
) -> Result<Ended, RunFault> {
    let mut receipt = receipt::assemble(folder, frozen, &ending, &known)?;
    receipt.versions.wasmtime.clone_from(&pins.wasmtime);
    receipt::write(folder, &mut receipt, state, clock.unix_ms())?;
    folder.remove(STATE)?;
    Ok(Ended { ending, receipt, standings: known.standings })
}

fn find_seating(frozen: &Frozen, secret: &Secret) -> Result<Seating, String> {
    if secret.commitment() != frozen.secret_commit {
        return Err("the secret does not open the commitment of frozen.json".to_owned());
    }
    freeze::seating(frozen, secret).map_err(|why| why.to_string())
}

fn read_state(folder: &Folder) -> Result<Option<State>, RunFault> {
    if let Some(bytes) = folder.read(STATE, 1 << 16)?
        && let Ok(state) = serde_json::from_slice(&bytes)
    {
        return Ok(Some(state));
    }
    let receipt = folder.read(RECEIPT, receipt::BYTES_MAX)?;
    Ok(receipt.and_then(|bytes| receipt::state(&bytes)))
}

fn read_secret(folder: &Folder) -> Result<Option<Secret>, RunFault> {
    if let Some(bytes) = folder.read(SECRET, 32)?
        && let Ok(bytes) = bytes.try_into()
    {
        return Ok(Some(Secret::from_bytes(bytes)));
    }
    let disclosed = folder.read(IDENTITIES, IDENTITIES_BYTES_MAX)?;
    let disclosed = disclosed.and_then(|bytes| serde_json::from_slice::<Disclosure>(&bytes).ok());
    Ok(disclosed.map(|disclosed| Secret::from_bytes(*disclosed.secret.as_bytes())))
}

/// The packs, if everything that is pinned is what it was.
fn check_pins(
    folder: &Folder,
    frozen: &Frozen,
    pins: &Pins,
    components: Components,
) -> Result<Result<BTreeMap<Digest, Arc<Pack>>, String>, RunFault> {
    let protocol = &frozen.protocol;
    for (what, frozen, here) in [
        ("engine", protocol.engine_version.as_str(), arena_engine::ENGINE_VERSION),
        ("wasmtime", protocol.wasmtime.as_str(), pins.wasmtime.as_str()),
        ("limits", &protocol.limits_version.to_string(), &pins.limits_version.to_string()),
    ] {
        if frozen != here {
            return Ok(Err(format!("frozen for {what} {frozen}; this host has {what} {here}")));
        }
    }
    for strategy in &frozen.strategies {
        let bytes = folder.read(&component_name(strategy.sha256), COMPONENT_BYTES_MAX)?;
        let name = arena_engine::Excerpt { text: &strategy.name, max: 64 };
        match bytes {
            None if components == Components::MayBeAbsent => {}
            None => {
                return Ok(Err(format!("the component of strategy {} `{name}` is missing", strategy.index)));
            }
            Some(bytes) if Digest::of(&bytes) != strategy.sha256 => {
                let why =
                    format!("the component of strategy {} `{name}` is not what was frozen", strategy.index);
                return Ok(Err(why));
            }
            Some(_) => {}
        }
    }
    let mut packs = BTreeMap::new();
    for sha256 in frozen.packs() {
        let bytes = folder.read(&pack_name(sha256), DOCUMENT_BYTES_MAX as u64)?.unwrap_or_default();
        match Pack::parse(&bytes) {
            Ok(pack) if pack.sha256() == sha256 => {
                packs.insert(sha256, pack);
            }
            _ => return Ok(Err(format!("pack {} is missing or not what was frozen", sha256.short()))),
        }
    }
    Ok(Ok(packs))
}

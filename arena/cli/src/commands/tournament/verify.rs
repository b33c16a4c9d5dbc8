//! Verification of a run's folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::limits::V1;
use arena_sandbox::Seats;
use arena_tournament::{Executor, FolderShelf, InProcess, Shelf, StrategyPin, Verification, Verified};

use super::{failed, pins};
use crate::failure::Failure;
use crate::files;
use crate::io::Io;
use crate::luck;
use crate::roster::SandboxRoster;
use crate::strategies;

/// Matches that are played again unless all are asked for.
const SAMPLE: usize = 64;
/// Names that are told one by one.
const NAMES_MAX: usize = 8;

/// How much of a run is played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// A sample that nobody could foresee.
    Sample,
    /// Every match.
    All,
}

/// What a run was found to be.
pub(crate) struct Checked {
    pub(crate) verified: Verified,
    /// Strategies whose components are not there.
    pub(crate) absent: Vec<StrategyPin>,
    /// Records that cannot be played again without them.
    pub(crate) unplayable: usize,
}

/// Components that are given beside a run's folder, found by their digests.
#[derive(Default)]
pub(crate) struct Given(BTreeMap<Digest, (PathBuf, u64)>);

impl Given {
    /// Those in these files, and in `.wasm` files of these folders.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut given = BTreeMap::new();
        for path in paths {
            let files = if path.is_dir() { strategies::in_folder(path, "wasm")? } else { vec![path.clone()] };
            for file in files {
                let bytes = files::read(&file, V1.component_bytes_max);
                let bytes = bytes.map_err(|unread| unread.reading("component", &file))?;
                given.insert(Digest::of(&bytes), (file, bytes.len() as u64));
            }
        }
        Ok(Self(given))
    }

    /// Gives a run what it misses. What it has no use for is told where it was named.
    fn lend(&self, verification: &mut Verification, io: &mut Io<'_>) -> Result<(), String> {
        let mut used = 0;
        for (sha256, (_, bytes)) in &self.0 {
            used += usize::from(verification.lend(*sha256, *bytes)?);
        }
        if used == 0 && !self.0.is_empty() && !verification.absent().is_empty() {
            let run = files::shown(verification.root());
            io.warn(format_args!("no component that is given is one that `{run}` misses"));
        }
        Ok(())
    }
}

/// The shelf of a run's folder, and what was given beside it.
struct Both {
    folder: FolderShelf,
    given: BTreeMap<Digest, PathBuf>,
}

impl Shelf for Both {
    fn component(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        let Some(path) = self.given.get(&sha256) else { return self.folder.component(sha256) };
        let fault = |why: String| HostFault { doing: "reading a component", source: why.into() };
        files::read(path, V1.component_bytes_max).map_err(|unread| fault(unread.to_string()))
    }

    fn pack(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        self.folder.pack(sha256)
    }
}

/// Recomputes the run in `root`, plays matches again, and names the first thing that differs.
pub(crate) fn verify(
    root: &Path,
    replayed: Replayed,
    given: &Given,
    io: &mut Io<'_>,
) -> Result<Result<Checked, String>, Failure> {
    let broken = |fault| failed("verify the run", fault);
    let mut verification = match arena_tournament::verify(root, &pins()).map_err(broken)? {
        Ok(verification) => verification,
        Err(difference) => return Ok(Err(difference)),
    };
    if let Err(difference) = given.lend(&mut verification, io) {
        return Ok(Err(difference));
    }
    let absent: Vec<StrategyPin> = verification.absent().into_iter().cloned().collect();
    if replayed == Replayed::All && !absent.is_empty() {
        return Err(cannot_play_all(root, &absent));
    }
    let playable = verification.choose(None, 0).len();
    let unplayable = verification.records() - playable;
    let ids = verification.choose((replayed == Replayed::Sample).then_some(SAMPLE), luck()?);
    let verified = replay(&verification, &ids, given, io)?;
    Ok(verified.map(|verified| Checked { verified, absent, unplayable }))
}

/// Plays these matches again.
fn replay(
    verification: &Verification,
    ids: &[arena_tournament::MatchId],
    given: &Given,
    io: &mut Io<'_>,
) -> Result<Result<Verified, String>, Failure> {
    let host = Arc::new(strategies::host(Seats::Pooled(4), io)?);
    let folder = FolderShelf::new(verification.root());
    let given = given.0.iter().map(|(sha256, (path, _))| (*sha256, path.clone())).collect();
    let roster = SandboxRoster::new(host, Box::new(Both { folder, given }));
    let mut executor: Box<dyn Executor> = Box::new(InProcess::new(roster));
    let bar = io.progress("verifying", ids.len() as u64);
    let mut step = |done: usize| bar.set_position(done as u64);
    let verified = verification.replay(ids, executor.as_mut(), &mut step);
    bar.finish_and_clear();
    verified.map_err(|fault| failed("verify the run", fault))
}

fn cannot_play_all(root: &Path, absent: &[StrategyPin]) -> Failure {
    let doing = format!("play every match of `{}` again", files::shown(root));
    let why = format!("everything else holds, but the components of {} are not there", names(absent));
    let hint = "name each with --component FILE; whoever uploaded one to a server has it. Without --all, what is there is checked";
    Failure::usage(doing, why).hint(hint)
}

/// Strategies for a sentence, the first of them by name.
pub(crate) fn names(strategies: &[StrategyPin]) -> String {
    let name = |pin: &StrategyPin| {
        let name = arena_engine::Excerpt { text: &pin.name, max: 64 };
        format!("{} `{name}`", pin.index)
    };
    let mut told: Vec<String> = strategies.iter().take(NAMES_MAX).map(name).collect();
    if strategies.len() > NAMES_MAX {
        told.push(format!("{} more", strategies.len() - NAMES_MAX));
    }
    let list = told.join(", ");
    if strategies.len() == 1 { format!("strategy {list}") } else { format!("strategies {list}") }
}

/// What a forger cannot have known.
fn luck() -> Result<u64, Failure> {
    let [a, b, c, d, e, f, g, h, ..] = luck::secret_bytes()?;
    Ok(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

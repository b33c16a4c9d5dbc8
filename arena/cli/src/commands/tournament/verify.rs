//! Verification of a run's folder.

use std::path::Path;
use std::sync::Arc;

use arena_sandbox::Seats;
use arena_tournament::{Executor, FolderShelf, InProcess, Verified};

use super::{failed, pins};
use crate::failure::Failure;
use crate::io::Io;
use crate::luck;
use crate::roster::SandboxRoster;
use crate::strategies;

/// Matches that are played again unless all are asked for.
const SAMPLE: usize = 64;

/// How much of a run is played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// A sample that nobody could foresee.
    Sample,
    /// Every match.
    All,
}

/// Recomputes the run in `root`, plays matches again, and names the first thing that differs.
pub(crate) fn verify(
    root: &Path,
    replayed: Replayed,
    io: &mut Io<'_>,
) -> Result<Result<Verified, String>, Failure> {
    let broken = |fault| failed("verify the run", fault);
    let verification = match arena_tournament::verify(root, &pins()).map_err(broken)? {
        Ok(verification) => verification,
        Err(difference) => return Ok(Err(difference)),
    };
    let ids = verification.choose((replayed == Replayed::Sample).then_some(SAMPLE), luck()?);
    let host = Arc::new(strategies::host(Seats::Pooled(4), io)?);
    let roster = SandboxRoster::new(host, Box::new(FolderShelf::new(root)));
    let mut executor: Box<dyn Executor> = Box::new(InProcess::new(roster));
    let bar = io.progress("verifying", ids.len() as u64);
    let mut step = |done: usize| bar.set_position(done as u64);
    let verified = verification.replay(&ids, executor.as_mut(), &mut step);
    bar.finish_and_clear();
    verified.map_err(broken)
}

/// What a forger cannot have known.
fn luck() -> Result<u64, Failure> {
    let [a, b, c, d, e, f, g, h, ..] = luck::secret_bytes()?;
    Ok(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

//! Plays what is not played yet. Jobs go out and come back in any order; they count in the order of the
//! matrix, so budgets and endings are the same for any number of workers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use arena_canon::Digest;

use super::scan::Scanned;
use super::{Run, Watch};
use crate::budget::{self, Spent};
use crate::commit::{Committer, Ready};
use crate::ending::Ending;
use crate::executor::{Body, Done, Executor, Finished};
use crate::fault::RunFault;
use crate::folder::{guest_name, match_name};
use crate::journal::Journal;
use crate::names::MatchId;
use crate::record::Used;

/// Most records of one batch.
const BATCH_MAX: usize = 256;
/// Longest time that a finished record waits for its batch.
const BATCH_AGE_MAX: Duration = Duration::from_millis(200);
/// How often the elapsed time is noted: a crash forgets no more.
const NOTE_EVERY_MS: u64 = 1_000;
/// The budget of the host's own clock.
pub(crate) const WALL: &str = "wall_seconds";

struct Matrix<'a> {
    run: &'a mut Run,
    committer: Committer,
    executor: &'a mut dyn Executor,
    watch: &'a mut dyn Watch,
    /// Matchups that count so far; also the index of the next one.
    counted: usize,
    used: Used,
    holes: BTreeMap<u32, Digest>,
    /// To be given before any other: holes, and those whose host failed.
    first: BTreeSet<u32>,
    /// The lowest that was never given, if it has not come in another way.
    next: u32,
    /// Finished, and waiting for those before them.
    finished: BTreeMap<u32, Done>,
    under_way: BTreeSet<u32>,
    retries: BTreeMap<u32, u32>,
    batch: Vec<Ready>,
    batch_since: Option<Instant>,
    noted_ms: u64,
}

/// Plays to the end of the matrix, or to the ending that comes first. Whatever happens, what has counted
/// is committed.
pub(super) fn play(
    run: &mut Run,
    journal: Journal,
    scanned: Scanned,
    executor: &mut dyn Executor,
    watch: &mut dyn Watch,
    elapsed_ms: &dyn Fn() -> u64,
) -> Result<Option<Ending>, RunFault> {
    let counted = journal.entries().len();
    let committer = Committer::start(run.folder(), journal);
    let staged =
        |(id, (digest, used)): (u32, (Digest, Used))| (id, Done::Match { digest, used, body: Body::Kept });
    let mut matrix = Matrix {
        run,
        committer,
        executor,
        watch,
        counted,
        used: scanned.used,
        first: scanned.holes.keys().copied().collect(),
        next: counted as u32 + 1,
        holes: scanned.holes,
        finished: scanned.kept.into_iter().map(staged).collect(),
        under_way: BTreeSet::new(),
        retries: BTreeMap::new(),
        batch: Vec::new(),
        batch_since: None,
        noted_ms: elapsed_ms(),
    };
    let ending = matrix.play(elapsed_ms);
    let batch = std::mem::take(&mut matrix.batch);
    let handed_over = matrix.committer.commit(batch);
    let Matrix { committer, executor, run, finished, .. } = matrix;
    let (ids, _) = committer.finish()?;
    if let Err(late) = handed_over {
        // That nothing is committed any more follows from what was told before, if anything was.
        return Err(ending.err().unwrap_or(late));
    }
    executor.committed(&ids)?;
    executor.stop();
    if matches!(ending, Ok(None)) {
        // Every job came back, so everything that was begun has its own name by now.
        return ending;
    }
    // What came back and does not count is nobody's record.
    run.folder().clean()?;
    for id in finished.into_keys().map(MatchId) {
        run.folder().remove(&match_name(id))?;
        run.folder().remove(&guest_name(id))?;
    }
    ending
}

impl Matrix<'_> {
    fn play(&mut self, elapsed_ms: &dyn Fn() -> u64) -> Result<Option<Ending>, RunFault> {
        let planned = self.run.frozen().matchups.len();
        loop {
            // What the journal knows is made whole before anything is decided.
            if self.holes.is_empty()
                && let Some(ending) = self.count()?
            {
                return Ok(Some(ending));
            }
            self.watch.progress(self.counted, planned, self.used);
            if self.counted == planned && self.holes.is_empty() {
                return Ok(None);
            }
            let elapsed = elapsed_ms();
            if let Some(seconds) = self.run.frozen().budget.wall_seconds
                && elapsed >= seconds.saturating_mul(1_000)
            {
                let spent = Spent { name: WALL, limit: seconds, used: elapsed.div_ceil(1_000) };
                return Ok(Some(Ending::exhausted(spent.reason(self.counted, planned))));
            }
            if elapsed.saturating_sub(self.noted_ms) >= NOTE_EVERY_MS {
                self.noted_ms = elapsed;
                self.run.note_elapsed(elapsed)?;
            }
            self.submit()?;
            if let Some(ending) = self.receive()? {
                return Ok(Some(ending));
            }
            self.hand_over(false)?;
            let committed = self.committer.committed()?;
            if !committed.is_empty() {
                self.executor.committed(&committed)?;
            }
        }
    }

    /// Counts what is finished, in order, until the next is not, or may not count.
    fn count(&mut self) -> Result<Option<Ending>, RunFault> {
        while self.counted < self.run.frozen().matchups.len() {
            if let Some(ending) = self.exhausted() {
                return Ok(Some(ending));
            }
            let id = MatchId(self.counted as u32 + 1);
            match self.finished.remove(&id.0) {
                None => break,
                Some(Done::Violation(violation)) => return Ok(Some(Ending::blocked(Some(id), violation))),
                Some(Done::Match { digest, used, body }) => {
                    self.used = self.used.plus(used);
                    self.counted += 1;
                    self.ready(Ready { id, digest, used, body, journaled: false })?;
                }
            }
        }
        Ok(None)
    }

    /// A budget that is spent before the matrix is complete.
    fn exhausted(&self) -> Option<Ending> {
        let spent = budget::spent(&self.run.frozen().budget, self.counted, self.used)?;
        Some(Ending::exhausted(spent.reason(self.counted, self.run.frozen().matchups.len())))
    }

    /// Gives out what is missing, then what comes next, within the window.
    fn submit(&mut self) -> Result<(), RunFault> {
        let window = self.executor.window();
        while self.under_way.len() < window {
            let Some(id) = self.first.pop_first().or_else(|| self.next()) else { break };
            let frozen = self.run.frozen();
            let Some(matchup) = frozen.matchup(MatchId(id)) else { continue };
            self.executor.submit(&self.run.jobs().job(frozen, matchup))?;
            self.under_way.insert(id);
        }
        Ok(())
    }

    /// What was not given yet and may count. While something is missing nothing counts, and there is nothing to hurry
    /// for.
    fn next(&mut self) -> Option<u32> {
        self.next = self.next.max(self.counted as u32 + 1);
        while self.finished.contains_key(&self.next) {
            self.next += 1;
        }
        let frozen = self.run.frozen();
        let budget =
            frozen.budget.matchups.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let last = frozen.matchups.len().min(budget).min(self.counted + self.executor.ahead());
        if !self.holes.is_empty() || self.next as usize > last {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// Takes what has finished. A failure of the host is tried again, with the same seed.
    fn receive(&mut self) -> Result<Option<Ending>, RunFault> {
        let mut wait = if self.batch.is_empty() { Duration::from_secs(1) } else { BATCH_AGE_MAX / 4 };
        while let Some(finished) = self.executor.next(wait)? {
            wait = Duration::ZERO;
            let id = finished.id;
            if !self.under_way.remove(&id.0) {
                if let Some(ending) = self.corrected(finished) {
                    return Ok(Some(ending));
                }
                continue;
            }
            match finished.result {
                Ok(done) => {
                    if let Some(ending) = self.arrived(id, done)? {
                        return Ok(Some(ending));
                    }
                }
                Err(why) => {
                    let tries = self.retries.entry(id.0).or_default();
                    *tries += 1;
                    let most = self.run.frozen().protocol.host_retries;
                    if *tries > most {
                        let why = format!("the host failed {tries} times; the last time: {why}");
                        return Ok(Some(Ending::stalled(id, why)));
                    }
                    self.first.insert(id.0);
                    self.watch.talk(&format!("{id} is played again: {why}"));
                }
            }
        }
        Ok(None)
    }

    /// A job that had come back, and comes back otherwise: what was told of it first was false.
    fn corrected(&mut self, finished: Finished) -> Option<Ending> {
        let done = finished.result.ok()?;
        if let Some(told_first) = self.finished.get_mut(&finished.id.0) {
            *told_first = done;
            return None;
        }
        // The journal and the budgets went on from the false one.
        let why = "a worker told a false record of it; played again, it is another, and the false one counts";
        Some(Ending::blocked(Some(finished.id), why))
    }

    /// A record that was journaled before must be the one that was journaled.
    fn arrived(&mut self, id: MatchId, done: Done) -> Result<Option<Ending>, RunFault> {
        let Some(journaled) = self.holes.remove(&id.0) else {
            self.finished.insert(id.0, done);
            return Ok(None);
        };
        match done {
            Done::Match { digest, used, body } if digest == journaled => {
                self.ready(Ready { id, digest, used, body, journaled: true })?;
                Ok(None)
            }
            _ => {
                let why = "its record was missing; played again, it is not the one that was journaled";
                Ok(Some(Ending::blocked(Some(id), why)))
            }
        }
    }

    fn ready(&mut self, ready: Ready) -> Result<(), RunFault> {
        self.batch.push(ready);
        self.batch_since.get_or_insert_with(Instant::now);
        self.hand_over(self.batch.len() >= BATCH_MAX)
    }

    fn hand_over(&mut self, full: bool) -> Result<(), RunFault> {
        let old = self.batch_since.is_some_and(|since| since.elapsed() >= BATCH_AGE_MAX);
        if full || old {
            self.batch_since = None;
            self.committer.commit(std::mem::take(&mut self.batch))?;
        }
        Ok(())
    }
}

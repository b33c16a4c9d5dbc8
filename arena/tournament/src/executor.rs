//! Where matchups are played. An executor plays jobs in any order and on any machine; what they come
//! to is the same everywhere, so nothing of it shows in a record.

use std::collections::VecDeque;
use std::time::Duration;

use arena_canon::Digest;

use crate::fault::RunFault;
use crate::job::Job;
use crate::names::MatchId;
use crate::record::Used;
use crate::roster::Roster;
use crate::table::{self, Played, Violation};

/// Plays jobs.
pub trait Executor {
    /// Cores of this machine that it was given.
    fn workers(&self) -> usize {
        1
    }

    /// Jobs that may be under way at once.
    fn window(&self) -> usize;

    /// How far a job may be ahead of the first that has not counted. What is finished before its turn waits in memory.
    fn ahead(&self) -> usize {
        self.window()
    }

    /// Takes a job. At most [`Executor::window`] are given and not yet finished.
    fn submit(&mut self, job: &Job) -> Result<(), RunFault>;

    /// A job that is finished; nothing if none is within that time. One that was told before is told again
    /// only if what was told first proved false.
    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault>;

    /// The records of these jobs will survive a crash.
    fn committed(&mut self, ids: &[MatchId]) -> Result<(), RunFault> {
        let _ = ids;
        Ok(())
    }

    /// Nothing more is wanted; after this nothing is written any more.
    fn stop(&mut self) {}

    /// Host faults that were found out beside the jobs: a worker that told a wrong digest.
    fn complaints(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A job that is no longer under way.
#[derive(Debug)]
pub struct Finished {
    /// Which one.
    pub id: MatchId,
    /// What it came to, or why the host could not play it.
    pub result: Result<Done, String>,
}

/// What a job came to.
#[derive(Debug)]
pub enum Done {
    /// A record.
    Match {
        /// The digest it bears.
        digest: Digest,
        /// What it counts for budgets.
        used: Used,
        /// Where it is.
        body: Body,
    },
    /// An action that the protocol does not let pass.
    Violation(Violation),
}

/// Where a finished record is.
#[derive(Debug)]
pub enum Body {
    /// In the run's folder, under its own name already.
    Kept,
    /// In the run's folder, under its temporary name.
    Staged {
        /// Whether the guest file is there, too.
        guest: bool,
    },
    /// Here.
    Here {
        /// The record's bytes.
        record: Vec<u8>,
        /// The guest file's, if there is one.
        guest: Option<Vec<u8>>,
    },
}

impl Done {
    /// What `played` comes to, with its bytes here.
    pub(crate) fn here(played: Played) -> Self {
        match played {
            Played::Violation(violation) => Self::Violation(violation),
            Played::Match { record, guest } => {
                let used = record.used();
                let (record, digest) = record.sealed();
                Self::Match { digest, used, body: Body::Here { record, guest } }
            }
        }
    }
}

/// Plays each job when it is asked for, on the calling thread.
pub struct InProcess<R> {
    roster: R,
    waiting: VecDeque<Job>,
}

impl<R: Roster> InProcess<R> {
    /// Plays with the strategies of `roster`.
    pub fn new(roster: R) -> Self {
        Self { roster, waiting: VecDeque::new() }
    }
}

impl<R: Roster> Executor for InProcess<R> {
    fn window(&self) -> usize {
        1
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.waiting.push_back(job.clone());
        Ok(())
    }

    fn next(&mut self, _within: Duration) -> Result<Option<Finished>, RunFault> {
        let Some(job) = self.waiting.pop_front() else { return Ok(None) };
        let result = table::play(&job, &mut self.roster).map(Done::here).map_err(|fault| fault.to_string());
        Ok(Some(Finished { id: job.matchup.id, result }))
    }
}

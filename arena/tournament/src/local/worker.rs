use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use arena_canon::Digest;
use serde::{Deserialize, Serialize};

use crate::commit::stage;
use crate::folder::{guest_name, match_name};
use crate::frames;
use crate::job::Job;
use crate::names::MatchId;
use crate::record::Used;
use crate::roster::Roster;
use crate::table::{self, Played, Violation};

/// What a worker process answers to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The record is staged in the run's folder.
    Match {
        /// Of which job.
        id: MatchId,
        /// The digest the record bears.
        digest: Digest,
        /// What it counts for budgets.
        used: Used,
        /// Whether what the guests said is staged, too.
        guest: bool,
    },
    /// An action that the protocol does not let pass.
    Violation {
        /// Of which job.
        id: MatchId,
        /// Whose, and when.
        violation: Violation,
    },
    /// The host failed.
    Fault {
        /// Of which job.
        id: MatchId,
        /// Why.
        why: String,
    },
}

impl Reply {
    pub(super) fn id(&self) -> MatchId {
        match self {
            Self::Match { id, .. } | Self::Violation { id, .. } | Self::Fault { id, .. } => *id,
        }
    }
}

/// Replies wait for each other for so long, while there are more jobs at hand: whoever is told of many at
/// once is woken once.
const COMPANY: Duration = Duration::from_millis(8);
/// Jobs are read in pieces of this size.
const JOBS_BYTES: usize = 64 << 10;

/// Plays the jobs that come in, one after the other, until there are no more, and stages each record in
/// the run's folder `root`.
pub fn serve(
    input: &mut impl Read,
    output: &mut impl Write,
    roster: &mut dyn Roster,
    root: &Path,
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(JOBS_BYTES, input);
    let mut replies = Vec::new();
    let mut first = Instant::now();
    while let Some(job) = frames::read::<Job>(&mut input)? {
        if replies.is_empty() {
            first = Instant::now();
        }
        let id = job.matchup.id;
        let reply = play(&job, roster, root).unwrap_or_else(|why| Reply::Fault { id, why });
        frames::append(&mut replies, &reply)?;
        if input.buffer().is_empty() || first.elapsed() >= COMPANY {
            output.write_all(&replies)?;
            output.flush()?;
            replies.clear();
        }
    }
    Ok(())
}

fn play(job: &Job, roster: &mut dyn Roster, root: &Path) -> Result<Reply, String> {
    let id = job.matchup.id;
    let (record, said) = match table::play(job, roster).map_err(|fault| fault.to_string())? {
        Played::Violation(violation) => return Ok(Reply::Violation { id, violation }),
        Played::Match { record, guest } => (record, guest),
    };
    let (bytes, digest) = record.sealed();
    let guest = said.is_some();
    if let Some(said) = said {
        stage(root, &guest_name(id), &said).map_err(|why| why.to_string())?;
    }
    stage(root, &match_name(id), &bytes).map_err(|why| why.to_string())?;
    Ok(Reply::Match { id, digest, used: record.used(), guest })
}

use std::io::{self, Read, Write};
use std::path::Path;

use arena_canon::Digest;
use serde::{Deserialize, Serialize};

use crate::commit::stage;
use crate::folder::{guest_name, match_name};
use crate::frames;
use crate::job::Job;
use crate::names::MatchId;
use crate::record::{Used, sealed_digest};
use crate::roster::Roster;
use crate::table::{self, Played, Violation};

/// What a worker process answers to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The record is staged in the run's folder.
    Match {
        /// Of which job.
        id: MatchId,
        /// The digest the record bears.
        digest: Digest,
        /// What it counts for budgets.
        used: Used,
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

/// Plays the jobs that come in, one after the other, until there are no more, and stages each record in
/// the run's folder `root`.
pub fn serve(
    input: &mut impl Read,
    output: &mut impl Write,
    roster: &mut dyn Roster,
    root: &Path,
) -> io::Result<()> {
    while let Some(job) = frames::read::<Job>(input)? {
        let id = job.matchup.id;
        let reply = match play(&job, roster, root) {
            Ok(reply) => reply,
            Err(why) => Reply::Fault { id, why },
        };
        frames::write(output, &reply)?;
    }
    Ok(())
}

fn play(job: &Job, roster: &mut dyn Roster, root: &Path) -> Result<Reply, String> {
    let id = job.matchup.id;
    let (record, guest) = match table::play(job, roster).map_err(|fault| fault.to_string())? {
        Played::Violation(violation) => return Ok(Reply::Violation { id, violation }),
        Played::Match { record, guest } => (record, guest),
    };
    let used = record.used();
    let bytes = record.to_bytes();
    let digest = sealed_digest(&bytes).ok_or("a record does not bear its own digest")?;
    if let Some(said) = guest {
        stage(root, &guest_name(id), &said).map_err(|why| why.to_string())?;
    }
    stage(root, &match_name(id), &bytes).map_err(|why| why.to_string())?;
    Ok(Reply::Match { id, digest, used })
}

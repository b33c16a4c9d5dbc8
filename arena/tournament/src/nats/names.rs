//! What a run is called on a server: everything bears the first 16 digits of the frozen digest.

use std::fmt;
use std::str::FromStr;

use arena_canon::Digest;

use crate::names::MatchId;

const WORK: &str = "ARENA_W_";
const RESULTS: &str = "ARENA_R_";
/// What the consumer of the jobs is called before its session.
const WORKERS: &str = "workers-";
/// What the consumer of the results is called before its session.
const COORDINATOR: &str = "coordinator-";
/// The object that says what a run is frozen for.
pub(super) const RUN_OBJECT: &str = "run";

/// A run on a server: the first 16 hexadecimal digits of its frozen digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey(String);

/// The text is no key of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run is named by the first 16 hexadecimal digits of its frozen digest, in lower case")]
pub struct RunKeyError;

impl RunKey {
    /// The key of the run of this frozen digest.
    pub fn of(frozen_sha256: Digest) -> Self {
        Self(frozen_sha256.to_string()[..16].to_owned())
    }

    /// The run whose jobs this stream holds.
    pub(super) fn of_work_stream(stream: &str) -> Option<Self> {
        stream.strip_prefix(WORK)?.parse().ok()
    }

    pub(super) fn work_stream(&self) -> String {
        format!("{WORK}{self}")
    }

    pub(super) fn results_stream(&self) -> String {
        format!("{RESULTS}{self}")
    }

    pub(super) fn bucket(&self) -> String {
        format!("arena-{self}")
    }

    pub(super) fn work_subject(&self, id: MatchId) -> String {
        format!("arena.w.{self}.{id}")
    }

    pub(super) fn result_subject(&self, id: MatchId) -> String {
        format!("arena.r.{self}.{id}")
    }

    pub(super) fn work_subjects(&self) -> String {
        format!("arena.w.{self}.*")
    }

    pub(super) fn result_subjects(&self) -> String {
        format!("arena.r.{self}.*")
    }

    /// Where a coordinator answers that it is there.
    pub(super) fn presence_subject(&self) -> String {
        format!("arena.c.{self}")
    }

    /// The id that a subject of this run is about.
    pub(super) fn id_of(&self, subject: &str) -> Option<MatchId> {
        let (front, id) = subject.rsplit_once('.')?;
        let ours = [format!("arena.w.{self}"), format!("arena.r.{self}")];
        ours.iter().any(|mine| mine == front).then(|| id.parse().ok())?
    }
}

/// The consumer of the jobs. Each session of a coordinator has its own: an acknowledgement that is
/// meant for an earlier one names its consumer, so it can never hit a job of this one.
pub(super) fn workers_consumer(session: &str) -> String {
    format!("{WORKERS}{session}")
}

pub(super) fn is_workers_consumer(name: &str) -> bool {
    name.starts_with(WORKERS)
}

/// The consumer of the results.
pub(super) fn coordinator_consumer(session: &str) -> String {
    format!("{COORDINATOR}{session}")
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunKey {
    type Err = RunKeyError;

    fn from_str(text: &str) -> Result<Self, RunKeyError> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let plain = text.len() == 16 && text.bytes().all(digit);
        if plain { Ok(Self(text.to_owned())) } else { Err(RunKeyError) }
    }
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;

    use super::RunKey;
    use crate::names::MatchId;

    #[test]
    fn everything_of_a_run_is_told_from_another_runs() {
        let (key, other) = (RunKey::of(Digest::of(b"one")), RunKey::of(Digest::of(b"another")));
        assert_eq!(RunKey::of_work_stream(&key.work_stream()), Some(key.clone()));
        for subject in [key.work_subject(MatchId(7)), key.result_subject(MatchId(7))] {
            assert_eq!(key.id_of(&subject), Some(MatchId(7)));
            assert_eq!(other.id_of(&subject), None);
        }
    }

    #[test]
    fn what_is_no_run_has_no_key() {
        let key = RunKey::of(Digest::of(b"one"));
        let streams =
            ["", "ARENA_W_", "ARENA_W_0123", "ARENA_W_0123456789ABCDEF", "ARENA_R_0123456789abcdef", "arena"];
        for stream in streams {
            assert_eq!(RunKey::of_work_stream(stream), None, "{stream}");
        }
        for subject in ["", "arena.w", "m00001", "arena.w.m00001", "arena.c.0123456789abcdef.m00001"] {
            assert_eq!(key.id_of(subject), None, "{subject}");
        }
    }
}

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a job ended, as far as money goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The claim holds; nobody disagreed.
    Reproduced,
    /// It does not; nobody disagreed.
    NotReproduced,
    /// Disputed, and the runner was right.
    RunnerRight,
    /// Disputed, and the runner was wrong.
    RunnerWrong,
    /// The manifest cannot be run as it is written.
    SpecIssue,
    /// A pinned input is not what it is said to be.
    InputMismatch,
    /// The runner did not publish in time; the job is drawn again.
    NoShow,
    /// The runner committed and did not reveal.
    Withheld,
}

impl Ending {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Reproduced,
        Self::NotReproduced,
        Self::RunnerRight,
        Self::RunnerWrong,
        Self::SpecIssue,
        Self::InputMismatch,
        Self::NoShow,
        Self::Withheld,
    ];

    /// The word in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not_reproduced",
            Self::RunnerRight => "runner_right",
            Self::RunnerWrong => "runner_wrong",
            Self::SpecIssue => "spec_issue",
            Self::InputMismatch => "input_mismatch",
            Self::NoShow => "no_show",
            Self::Withheld => "withheld",
        }
    }

    /// The ending of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a reviewer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vote {
    /// That it ends so.
    For(Ending),
    /// Nothing, openly.
    Abstain,
    /// Nothing at all.
    NoShow,
}

impl Vote {
    /// The word in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::For(ending) => ending.name(),
            Self::Abstain => "abstain",
            Self::NoShow => "no_show",
        }
    }

    /// The vote of this name; `no_show` is never a vote for that ending.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "abstain" => Some(Self::Abstain),
            "no_show" => Some(Self::NoShow),
            other => Ending::named(other).map(Self::For),
        }
    }
}

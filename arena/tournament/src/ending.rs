use std::fmt;

use serde::{Deserialize, Serialize};

use crate::identities::Mismatch;
use crate::names::MatchId;

/// How a run ended: exactly one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The matrix is complete and every identity is verified.
    Success,
    /// A matchup could not finish: the host failed, again and again.
    Stalled,
    /// The protocol was violated, pinned bytes differ, a record does not replay, or an identity does not
    /// hold. There is no scorecard.
    Blocked,
    /// A budget ran out first. There is no claim of success.
    Exhausted,
}

impl Class {
    /// As receipts spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Stalled => "stalled",
            Self::Blocked => "blocked",
            Self::Exhausted => "exhausted",
        }
    }
}

/// How a run ended, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The class.
    pub class: Class,
    /// In words.
    pub reason: String,
    /// The matchup it is about, if it is about one.
    pub matchup: Option<MatchId>,
    /// Identities that do not hold, each by name.
    pub mismatches: Vec<String>,
}

impl Ending {
    pub(crate) fn success() -> Self {
        let reason = "the matrix is complete and every identity is verified".to_owned();
        Self { class: Class::Success, reason, matchup: None, mismatches: Vec::new() }
    }

    pub(crate) fn blocked(matchup: Option<MatchId>, reason: impl fmt::Display) -> Self {
        Self { class: Class::Blocked, reason: reason.to_string(), matchup, mismatches: Vec::new() }
    }

    pub(crate) fn mismatch(mismatches: Vec<Mismatch>) -> Self {
        let reason = "an identity does not hold".to_owned();
        let mismatches = mismatches.into_iter().map(|mismatch| mismatch.0).collect();
        Self { class: Class::Blocked, reason, matchup: None, mismatches }
    }

    pub(crate) fn stalled(matchup: MatchId, reason: impl fmt::Display) -> Self {
        let reason = reason.to_string();
        Self { class: Class::Stalled, reason, matchup: Some(matchup), mismatches: Vec::new() }
    }

    pub(crate) fn exhausted(reason: impl fmt::Display) -> Self {
        Self { class: Class::Exhausted, reason: reason.to_string(), matchup: None, mismatches: Vec::new() }
    }
}

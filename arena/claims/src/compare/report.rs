use std::fmt;

use arena_canon::json::Value;
use serde_json::json;

use crate::document::document;

/// Which comparison a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cmp {
    /// The runner against the claim.
    C1,
    /// A challenger against the claim.
    C2,
    /// A challenger against the runner.
    C3,
}

impl Cmp {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::C1, Self::C2, Self::C3];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::C1 => "C1",
            Self::C2 => "C2",
            Self::C3 => "C3",
        }
    }
}

impl fmt::Display for Cmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a row found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Within what is tolerated.
    Pass,
    /// Beyond it.
    Beyond,
    /// A metric that should be there is not.
    Missing,
    /// A metric that nobody asked for.
    Extra,
    /// Not a value of the metric's kind.
    KindMismatch,
    /// A NaN or an infinity where none is allowed, or another one.
    Nonfinite,
    /// Two files are not the same.
    HashMismatch,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pass,
        Self::Beyond,
        Self::Missing,
        Self::Extra,
        Self::KindMismatch,
        Self::Nonfinite,
        Self::HashMismatch,
    ];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Beyond => "beyond",
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::KindMismatch => "kind_mismatch",
            Self::Nonfinite => "nonfinite",
            Self::HashMismatch => "hash_mismatch",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One compared metric. All numbers are exact decimal texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Which comparison.
    pub cmp: Cmp,
    /// The metric, or `#fuel`, `#log`, `#output.<name>`.
    pub metric: String,
    /// What was found.
    pub status: Status,
    /// The claim, where there is one.
    pub reference: Option<String>,
    /// The value under examination; of two reruns, the runner's.
    pub a: Option<String>,
    /// Of two reruns, the challenger's.
    pub b: Option<String>,
    /// How far apart.
    pub diff: Option<String>,
    /// How far is allowed.
    pub limit: Option<String>,
    /// How far beyond.
    pub excess: Option<String>,
    /// `diff` as a part of the claim's distance from zero, 12 decimals, half to even.
    pub rel: Option<String>,
    /// How far apart in units in the last place, for binary64.
    pub ulps: Option<u64>,
    /// The first differing byte of two files, where both were at hand.
    pub offset: Option<u64>,
}

impl Row {
    pub(super) fn bare(cmp: Cmp, metric: &str, status: Status) -> Self {
        Self {
            cmp,
            metric: metric.to_owned(),
            status,
            reference: None,
            a: None,
            b: None,
            diff: None,
            limit: None,
            excess: None,
            rel: None,
            ulps: None,
            offset: None,
        }
    }

    /// Whether it is no fault.
    pub fn passes(&self) -> bool {
        self.status == Status::Pass
    }

    /// The row as a document.
    pub fn to_json(&self) -> Value {
        let text = |text: &Option<String>| Value::from(text.as_deref());
        let mut row = document([
            ("cmp", self.cmp.name().into()),
            ("metric", self.metric.as_str().into()),
            ("status", self.status.name().into()),
            ("ref", text(&self.reference)),
            ("a", text(&self.a)),
            ("b", text(&self.b)),
            ("diff", text(&self.diff)),
            ("limit", text(&self.limit)),
            ("excess", text(&self.excess)),
            ("rel", text(&self.rel)),
            ("ulps", self.ulps.map(|ulps| ulps.to_string()).into()),
        ]);
        if self.status == Status::HashMismatch {
            row["offset"] = json!(self.offset.map(|offset| offset.to_string()));
        }
        row
    }
}

//! Who takes part in which sprint, and how each window goes.

use arena_canon::json::Value;
use serde_json::json;

use crate::demo::cast::{COMPANIES, Company};

/// How a window goes.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// Everything is as it should be.
    Accepted,
    /// It is less than was wanted.
    Modest,
    /// Nobody outside uses it yet.
    Internal,
    /// Accepted, and the claim says too much.
    Penalised,
    /// With help that was told.
    Assisted,
    /// It cannot be repeated.
    Rejected,
    /// After the cut-off.
    Late,
    /// Nothing at all.
    Missing,
}

impl Work {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Internal => "internal_supporting",
            _ => "external",
        }
    }

    pub(super) const fn spent(self) -> &'static str {
        match self {
            Self::Modest => "1400",
            _ => "900",
        }
    }

    /// What those who judge say of it, if it is theirs to judge.
    pub(super) fn verdict(self) -> Option<Value> {
        let (state, [delivery, evidence, budget], penalties, rationale) = match self {
            Self::Accepted => (
                "accepted",
                [60, 20, 20],
                &[][..],
                "Installed by two operators, and verified from the artifact.",
            ),
            Self::Modest => (
                "accepted",
                [20, 20, 10],
                &[][..],
                "It works for one of the sites that were named; more was spent than planned.",
            ),
            Self::Internal => (
                "accepted",
                [40, 20, 20],
                &[][..],
                "Useful groundwork with a log that can be repeated; nobody outside uses it yet.",
            ),
            Self::Penalised => (
                "accepted_with_penalty",
                [60, 10, 20],
                &["claim_mismatch"][..],
                "It is in use, by three sites and not by the five of the claim.",
            ),
            Self::Assisted => (
                "operator_assisted",
                [60, 20, 20],
                &[][..],
                "Accepted, with an operator's restart that was told in time.",
            ),
            Self::Rejected => (
                "rejected",
                [0, 10, 20],
                &["claim_mismatch"][..],
                "The script prints other numbers than the claim.",
            ),
            Self::Late | Self::Missing => return None,
        };
        let mut verdict = json!({
            "state": state, "delivery": delivery, "evidence": evidence, "continuity": 20, "budget": budget,
            "penalties": penalties, "rationale": rationale,
        });
        if matches!(self, Self::Assisted) {
            verdict["assisted_outcome"] = json!("accepted");
        }
        Some(verdict)
    }
}

/// A company in a sprint.
pub(super) struct Entry {
    pub(super) company: &'static Company,
    pub(super) works: [Work; 3],
}

const fn entry(company: usize, works: [Work; 3]) -> Entry {
    Entry { company: &COMPANIES[company], works }
}

/// A sprint.
pub(super) struct Plan {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// Its day 0, from the present day on.
    pub(super) day: i64,
    /// How many days before it is announced.
    pub(super) notice_days: i64,
    pub(super) freezes: bool,
    pub(super) entries: &'static [Entry],
}

impl Plan {
    /// Those who take part, in another order on each day.
    pub(super) fn in_turn(&self, day: usize) -> impl Iterator<Item = &Entry> {
        let first = (day * 3) % self.entries.len().max(1);
        self.entries[first..].iter().chain(&self.entries[..first])
    }
}

use Work::{Accepted, Assisted, Internal, Late, Missing, Modest, Penalised, Rejected};

pub(super) static FIRST: Plan = Plan {
    id: "season-0-round-1",
    title: "Public Producer Sprint, season 0, round 1",
    day: -10,
    notice_days: 2,
    freezes: false,
    entries: &[
        entry(0, [Accepted, Accepted, Accepted]),
        entry(1, [Internal, Accepted, Modest]),
        entry(2, [Accepted, Modest, Accepted]),
        entry(3, [Accepted, Accepted, Penalised]),
        entry(6, [Internal, Rejected, Accepted]),
        entry(7, [Modest, Accepted, Accepted]),
        entry(5, [Accepted, Missing, Late]),
        entry(9, [Assisted, Accepted, Assisted]),
        entry(10, [Internal, Internal, Internal]),
        entry(11, [Accepted, Rejected, Missing]),
    ],
};

pub(super) static SECOND: Plan = Plan {
    id: "season-0-round-2",
    title: "Public Producer Sprint, season 0, round 2",
    day: -2,
    notice_days: 3,
    freezes: false,
    entries: &[
        entry(4, [Accepted, Accepted, Missing]),
        entry(0, [Modest, Accepted, Missing]),
        entry(8, [Accepted, Internal, Missing]),
        entry(1, [Rejected, Accepted, Missing]),
        entry(2, [Accepted, Late, Missing]),
        entry(3, [Penalised, Accepted, Missing]),
        entry(5, [Late, Accepted, Missing]),
        entry(6, [Accepted, Accepted, Missing]),
        entry(9, [Assisted, Modest, Missing]),
        entry(10, [Internal, Rejected, Missing]),
    ],
};

pub(super) static THIRD: Plan = Plan {
    id: "season-0-round-3",
    title: "Public Producer Sprint, season 0, round 3",
    day: 5,
    notice_days: 6,
    freezes: true,
    entries: &[],
};

//! The score of a window and of a round: a pure function of the records as they stand now.
//!
//! Nothing is corrected silently: every rule that takes something away names itself.

use std::collections::BTreeSet;

use super::record::{ArtifactClass, Components, Intervention, Outcome, Penalty, Record, Stamp, State};
use crate::words::words;

/// The version of everything in here; it is pinned into every round.
pub const SCORE_VERSION: &str = "sprint-v1";

/// The least a window can score: rejected or reversed, with every penalty.
pub const WINDOW_SCORE_MIN: i32 = -90;
/// The most a window can score.
pub const WINDOW_SCORE_MAX: i32 = 120;
/// Points for a round with an accepted external window, once.
pub const EXTERNAL_COMPLETION_BONUS: i32 = 20;

/// The most an internal window counts before its multiplier.
const INTERNAL_RAW_MAX: i32 = 60;

words! {
    /// A rule that took something away, in the order in which they apply.
    pub enum Cap {
        /// Nothing is delivered in this state.
        DeliveryZeroForState = "delivery_zero_for_state",
        /// The window before does not carry that much.
        ContinuityPrevWindow = "continuity_prev_window",
        /// An intervention bounds the budget.
        BudgetIntervention = "budget_intervention",
        /// Internal work counts only so much.
        InternalRawCap = "internal_raw_cap",
    }
}

/// A window's score with everything it is made of, after the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowScore {
    /// The state that was scored.
    pub state: State,
    /// The parts, after their caps.
    pub components: Components,
    /// Their sum, after its cap.
    pub raw: i32,
    /// What is left of it, in percent.
    pub multiplier_pct: i32,
    /// What is subtracted. Listed in a dispute as well, where it waits.
    pub penalties: BTreeSet<Penalty>,
    /// How much is subtracted.
    pub penalty_total: i32,
    /// Which rules took something away.
    pub caps: Vec<Cap>,
    /// The points.
    pub window_score: i32,
}

/// Scores one window after `previous`, or after the kickoff profile where there is none.
pub fn window(record: &Record, previous: Option<&Record>) -> WindowScore {
    let state = record.state;
    if matches!(state, State::Missing | State::Pending) {
        return nothing(state);
    }
    let mut caps = Vec::new();
    let components = capped(record, previous, &mut caps);
    let mut raw = sum(components);
    if record.class == ArtifactClass::InternalSupporting && raw > INTERNAL_RAW_MAX {
        raw = INTERNAL_RAW_MAX;
        caps.push(Cap::InternalRawCap);
    }
    let multiplier_pct = multiplier_pct(state);
    let mut penalties = record.penalties.clone();
    if state == State::Reversed {
        penalties.insert(Penalty::Reversal);
    }
    let is_open = state == State::Disputed;
    let penalty_total = if is_open { 0 } else { penalties.iter().map(|penalty| penalty.points()).sum() };
    // A raw score is never negative, so the division rounds down.
    let window_score = raw * multiplier_pct / 100 - penalty_total;
    WindowScore { state, components, raw, multiplier_pct, penalties, penalty_total, caps, window_score }
}

fn nothing(state: State) -> WindowScore {
    WindowScore {
        state,
        components: Components::default(),
        raw: 0,
        multiplier_pct: 0,
        penalties: BTreeSet::new(),
        penalty_total: 0,
        caps: Vec::new(),
        window_score: 0,
    }
}

fn capped(record: &Record, previous: Option<&Record>, caps: &mut Vec<Cap>) -> Components {
    let mut cap = |value: u8, most: u8, name: Cap| {
        if value > most {
            caps.push(name);
        }
        value.min(most)
    };
    let Components { delivery, evidence, continuity, budget } = record.components;
    Components {
        delivery: cap(delivery, delivery_max(record.state), Cap::DeliveryZeroForState),
        evidence,
        continuity: cap(continuity, continuity_max(previous), Cap::ContinuityPrevWindow),
        budget: cap(budget, budget_max(record), Cap::BudgetIntervention),
    }
}

fn sum(components: Components) -> i32 {
    let Components { delivery, evidence, continuity, budget } = components;
    [delivery, evidence, continuity, budget].into_iter().map(i32::from).sum()
}

/// A dispute keeps its parts for display.
const fn delivery_max(state: State) -> u8 {
    match state {
        State::Rejected | State::Late | State::Reversed | State::OperatorAssisted(Outcome::Rejected) => 0,
        State::Missing | State::Pending => 0,
        State::Accepted | State::AcceptedWithPenalty | State::Disputed => 60,
        State::OperatorAssisted(Outcome::Accepted) => 60,
    }
}

/// What a window carries into the next one, as it stands now.
fn continuity_max(previous: Option<&Record>) -> u8 {
    let Some(previous) = previous else { return 20 };
    match (previous.state, previous.before) {
        (State::Disputed, Some(before)) => carried(before).min(10),
        (state, _) => carried(state),
    }
}

const fn carried(state: State) -> u8 {
    match state {
        State::Accepted | State::AcceptedWithPenalty | State::OperatorAssisted(Outcome::Accepted) => 20,
        State::Disputed | State::Pending => 10,
        State::Rejected | State::Late | State::Reversed | State::Missing => 0,
        State::OperatorAssisted(Outcome::Rejected) => 0,
    }
}

fn budget_max(record: &Record) -> u8 {
    match record.intervention {
        Intervention::Required => 0,
        Intervention::Disclosed => 10,
        Intervention::None if record.is_intervention() => 10,
        Intervention::None => 20,
    }
}

const fn multiplier_pct(state: State) -> i32 {
    match state {
        State::Accepted => 100,
        State::AcceptedWithPenalty => 85,
        State::OperatorAssisted(Outcome::Accepted) => 75,
        State::OperatorAssisted(Outcome::Rejected) | State::Rejected | State::Late => 0,
        State::Disputed | State::Reversed | State::Missing | State::Pending => 0,
    }
}

words! {
    /// Why a company cannot be first.
    pub enum Ineligible {
        /// No external window was accepted.
        NoAcceptedExternalWindow = "no_accepted_external_window",
        /// An operator intervened in two windows or more.
        TwoOrMoreInterventions = "two_or_more_interventions",
    }
}

/// The five values that part companies with equal scores, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TieBreak {
    /// Accepted external windows; more is better.
    pub external_accepted: u32,
    /// Delivery points of accepted windows; more is better.
    pub accepted_delivery: u32,
    /// Windows with an operator's assistance; fewer is better.
    pub operator_assisted: u32,
    /// Reversed windows; fewer is better.
    pub reversals: u32,
    /// Receipt of Window 3, if it was accepted; earlier is better.
    pub w3_submitted_at: Option<Stamp>,
}

/// A company's round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundScore {
    /// The three windows.
    pub windows: [WindowScore; 3],
    /// 20 or 0.
    pub external_completion_bonus: i32,
    /// The sum.
    pub round_score: i32,
    /// What decides between equals.
    pub tie_break: TieBreak,
    /// Windows in which an operator intervened.
    pub interventions: u32,
    /// Why it cannot be first; empty if it can.
    pub ineligible_reasons: Vec<Ineligible>,
    /// Whether its evidence was in order throughout.
    pub hygiene_award: bool,
}

/// Scores three windows.
pub fn round(records: &[Record; 3]) -> RoundScore {
    let [w1, w2, w3] = records;
    let windows = [window(w1, None), window(w2, Some(w1)), window(w3, Some(w2))];
    let tie_break = TieBreak {
        external_accepted: count(records, |r| {
            r.state.is_accepted_family() && r.class == ArtifactClass::External
        }),
        accepted_delivery: accepted_delivery(&windows),
        operator_assisted: count(records, |r| matches!(r.state, State::OperatorAssisted(_))),
        reversals: count(records, |r| r.state == State::Reversed),
        w3_submitted_at: w3.submitted_at.clone().filter(|_| w3.state.is_accepted_family()),
    };
    let bonus = if tie_break.external_accepted >= 1 { EXTERNAL_COMPLETION_BONUS } else { 0 };
    let interventions = count(records, Record::is_intervention);
    let mut ineligible_reasons = Vec::new();
    if tie_break.external_accepted == 0 {
        ineligible_reasons.push(Ineligible::NoAcceptedExternalWindow);
    }
    if interventions >= 2 {
        ineligible_reasons.push(Ineligible::TwoOrMoreInterventions);
    }
    RoundScore {
        round_score: windows.iter().map(|window| window.window_score).sum::<i32>() + bonus,
        external_completion_bonus: bonus,
        tie_break,
        interventions,
        ineligible_reasons,
        hygiene_award: records.iter().all(is_clean),
        windows,
    }
}

fn count(records: &[Record; 3], which: impl Fn(&Record) -> bool) -> u32 {
    records.iter().map(|record| u32::from(which(record))).sum()
}

fn accepted_delivery(windows: &[WindowScore; 3]) -> u32 {
    let accepted = windows.iter().filter(|window| window.state.is_accepted_family());
    accepted.map(|window| u32::from(window.components.delivery)).sum()
}

fn is_clean(record: &Record) -> bool {
    let dirty = [Penalty::ClaimMismatch, Penalty::DisclosureViolation];
    record.components.evidence > 0
        && !dirty.iter().any(|penalty| record.penalties.contains(penalty))
        && !matches!(record.state, State::Missing | State::Pending | State::Late | State::Disputed)
}

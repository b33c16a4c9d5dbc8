//! Judgements and disputes: nothing of them is ever taken back, and the newest counts.

use std::collections::BTreeSet;

use arena_ledger::Amount;

use super::refusal::Refusal;
use super::{Round, command::ReceiptKind};
use crate::moment::Moment;
use crate::overlap::{self, Overlap};
use crate::sprint::Window;
use crate::sprint::record::{Components, Intervention, Outcome, Penalty, Record, State, Written};
use crate::text::Text;
use crate::words::words;

/// What an evaluator says a submission is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The state.
    pub state: State,
    /// The parts of the score.
    pub components: Components,
    /// What is subtracted.
    pub penalties: BTreeSet<Penalty>,
    /// Why.
    pub rationale: String,
    /// For an artifact that was submitted before: the materially different effect it has outside.
    pub external_effect: Option<String>,
}

/// A judgement that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The window's record from now on.
    pub record: Record,
    /// Who judged.
    pub by: String,
    /// Why.
    pub rationale: String,
    /// The effect that makes it new.
    pub external_effect: Option<String>,
    /// The public receipt.
    pub receipt: String,
    /// When.
    pub at: Moment,
}

words! {
    /// Where a dispute is.
    pub enum DisputeStatus {
        /// Somebody has to rule.
        Open = "open",
        /// The filer was right.
        Upheld = "upheld",
        /// The filer was not.
        Dismissed = "dismissed",
        /// It had no ground at all, and its stake is lost.
        Baseless = "baseless",
        /// Nobody ruled before the end.
        Lapsed = "lapsed",
    }
}

/// A dispute about a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// Whose submission.
    pub company: String,
    /// Of which window.
    pub window: Window,
    /// Who disputes it.
    pub filer: String,
    /// Why.
    pub ground: Text,
    /// What is at stake.
    pub stake: Amount,
    /// When it was filed.
    pub filed_at: Moment,
    /// What was added after the cut-off, marked as such.
    pub amendments: Vec<Amendment>,
    /// Where it is.
    pub status: DisputeStatus,
    /// The public receipt of the ruling.
    pub receipt: Option<String>,
}

/// What was added to a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amendment {
    /// What.
    pub text: Text,
    /// When.
    pub at: Moment,
}

/// How a dispute ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// The filer is right, and the window is this from now on.
    Upheld(Verdict),
    /// The filer is not, and the state before comes back.
    Dismissed,
    /// There was no ground at all.
    Baseless,
}

/// What an evaluator should know before judging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The most the evidence earns, and why.
    pub evidence_max: (u8, &'static str),
    /// The most the budget should get.
    pub budget_max: u8,
    /// Earlier submissions it resembles.
    pub resembles: Vec<Resemblance>,
    /// A receipt shows an intervention that was not declared.
    pub has_undisclosed_intervention: bool,
}

/// An earlier submission that a submission resembles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resemblance {
    /// Whose.
    pub company: String,
    /// Of which window.
    pub window: Window,
    /// It is the very same artifact.
    pub same_artifact: bool,
    /// How much the claims overlap.
    pub overlap: Overlap,
}

impl Round {
    /// What an evaluator should know before judging.
    pub fn advice(&self, company: &str, window: Window) -> Result<Advice, Refusal> {
        let entrant = self.entrant(company)?;
        let submission = entrant.submission(window).ok_or(Refusal::NoSubmission { window })?;
        let package = &submission.frozen().package;
        let declared = entrant.intent(window).map_or(0, |intent| intent.declared_posture_exo);
        let overspent = package.spent_exo > declared.min(package.declared_posture_exo);
        let by_intervention = match package.intervention {
            Intervention::Required => 0,
            Intervention::Disclosed => 10,
            Intervention::None => 20,
        };
        let has_undisclosed_intervention =
            package.intervention == Intervention::None && self.has_operator_receipt(company, window);
        Ok(Advice {
            evidence_max: submission.evidence_max(),
            budget_max: if overspent { by_intervention.min(10) } else { by_intervention },
            resembles: self.resemblances(company, window),
            has_undisclosed_intervention,
        })
    }

    fn has_operator_receipt(&self, company: &str, window: Window) -> bool {
        self.receipts.values().any(|receipt| {
            receipt.kind == ReceiptKind::Operator && receipt.company == company && receipt.window == window
        })
    }

    /// Submissions that came before and share the artifact or the claim.
    fn resemblances(&self, company: &str, window: Window) -> Vec<Resemblance> {
        let own = self.entrants.get(company).and_then(|entrant| entrant.submission(window));
        let Some(own) = own.map(|submission| submission.frozen()) else { return Vec::new() };
        let features = overlap::Features::of(&own.package.claim_summary);
        let mut found = Vec::new();
        for (other, entrant) in &self.entrants {
            for other_window in Window::ALL {
                let Some(earlier) = entrant.submission(*other_window).map(|earlier| earlier.frozen()) else {
                    continue;
                };
                let order = |at: Moment, company: &str, window: Window| (at, company.to_owned(), window);
                let is_earlier = order(earlier.at, other, *other_window) < order(own.at, company, window);
                let same_artifact = earlier.package.artifact == own.package.artifact;
                let overlap = features.compare(&overlap::Features::of(&earlier.package.claim_summary));
                if is_earlier && (same_artifact || overlap.duplicate) {
                    let company = other.clone();
                    found.push(Resemblance { company, window: *other_window, same_artifact, overlap });
                }
            }
        }
        found
    }

    /// The record a verdict makes of a window, if it keeps every rule.
    pub(super) fn judged(&self, company: &str, window: Window, verdict: &Verdict) -> Result<Record, Refusal> {
        let Verdict { state, components, penalties, .. } = verdict;
        if matches!(state, State::Late | State::Disputed | State::Missing | State::Pending) {
            return Err(Refusal::NotAJudgement { state: state.name() });
        }
        let standing = self.standing(company, window)?;
        if *state == State::Reversed && !standing.state().is_accepted_family() {
            return Err(Refusal::NotAccepted);
        }
        let advice = self.advice(company, window)?;
        let (max, because) = advice.evidence_max;
        if components.evidence > max {
            return Err(Refusal::EvidenceAbove { max, because });
        }
        let told = penalties.contains(&Penalty::UndisclosedIntervention);
        if advice.has_undisclosed_intervention && !told {
            return Err(Refusal::UndisclosedInterventionOnRecord);
        }
        let must_be_new = |earlier: &Resemblance| {
            let same_claim = earlier.overlap.duplicate && earlier.company == company;
            same_claim || (earlier.same_artifact && verdict.external_effect.is_none())
        };
        let is_duplicate = advice.resembles.iter().any(must_be_new);
        if state.is_accepted_family() && is_duplicate && !penalties.contains(&Penalty::Duplicate) {
            return Err(Refusal::DuplicateNeedsPenalty);
        }
        self.written(company, window, verdict)?.check().map_err(Refusal::Record)
    }

    fn written(&self, company: &str, window: Window, verdict: &Verdict) -> Result<Written, Refusal> {
        let submission = self.entrant(company)?.submission(window).ok_or(Refusal::NoSubmission { window })?;
        let frozen = submission.frozen();
        let Components { delivery, evidence, continuity, budget } = verdict.components;
        let outcome = match verdict.state {
            State::OperatorAssisted(Outcome::Accepted) => Some("accepted".to_owned()),
            State::OperatorAssisted(Outcome::Rejected) => Some("rejected".to_owned()),
            _ => None,
        };
        Ok(Written {
            state: verdict.state.name().to_owned(),
            assisted_outcome: outcome,
            artifact_class: frozen.package.class.name().to_owned(),
            delivery: Some(delivery.into()),
            evidence: Some(evidence.into()),
            continuity: Some(continuity.into()),
            budget: Some(budget.into()),
            penalties: verdict.penalties.iter().map(|penalty| penalty.name().to_owned()).collect(),
            operator_intervention: frozen.package.intervention.name().to_owned(),
            before: None,
            submitted_at: Some(frozen.at.into()),
        })
    }

    /// The record of an accepted window after it is invalidated.
    pub(super) fn reversed(
        &self,
        company: &str,
        window: Window,
        penalties: &BTreeSet<Penalty>,
    ) -> Result<Record, Refusal> {
        let standing = self.standing(company, window)?;
        if !standing.state().is_accepted_family() {
            return Err(Refusal::NotAccepted);
        }
        let verdict = Verdict {
            state: State::Reversed,
            components: standing.components(),
            penalties: standing.penalties().union(penalties).copied().collect(),
            rationale: String::new(),
            external_effect: None,
        };
        self.written(company, window, &verdict)?.check().map_err(Refusal::Record)
    }
}

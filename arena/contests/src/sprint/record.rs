//! The record of one window, and why one is refused.
//!
//! A record is first read as it was [`Written`]; only one that keeps every rule becomes a
//! [`Record`], so nothing that scores ever looks at a word again.

use std::collections::BTreeSet;

use crate::moment::Moment;
use crate::words::words;

words! {
    /// What a company says its artifact is.
    pub enum ArtifactClass {
        /// Somebody outside can use or verify it.
        External = "external",
        /// It supports the company's own work.
        InternalSupporting = "internal_supporting",
    }
}

words! {
    /// What is subtracted, each at most once, in the order in which they are told.
    pub enum Penalty {
        /// The submission repeats an earlier one.
        Duplicate = "duplicate",
        /// The public claim does not match what it refers to.
        ClaimMismatch = "claim_mismatch",
        /// It was accepted and later invalidated.
        Reversal = "reversal",
        /// An operator helped and the company did not say so.
        UndisclosedIntervention = "undisclosed_intervention",
        /// Something that must not be public was.
        DisclosureViolation = "disclosure_violation",
    }
}

impl Penalty {
    /// How many points it takes.
    pub const fn points(self) -> i32 {
        match self {
            Self::Duplicate => 10,
            Self::ClaimMismatch => 15,
            Self::Reversal | Self::UndisclosedIntervention => 20,
            Self::DisclosureViolation => 25,
        }
    }
}

words! {
    /// What a company declares about help by an operator.
    pub enum Intervention {
        /// There was none.
        None = "none",
        /// There was some.
        Disclosed = "disclosed",
        /// The work could not be finished without it.
        Required = "required",
    }
}

words! {
    /// How a window ended that an operator assisted.
    pub enum Outcome {
        /// The claim is supported.
        Accepted = "accepted",
        /// It is not.
        Rejected = "rejected",
    }
}

/// The state of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The evidence is complete and the claim is supported.
    Accepted,
    /// The claim is supported, with deductions.
    AcceptedWithPenalty,
    /// The evidence is insufficient or the claim is unsupported.
    Rejected,
    /// It came after the cut-off.
    Late,
    /// Zero until somebody rules.
    Disputed,
    /// Accepted once, and invalidated later.
    Reversed,
    /// Judged after an operator intervened.
    OperatorAssisted(Outcome),
    /// Nothing came.
    Missing,
    /// Frozen, and not judged yet.
    Pending,
}

impl State {
    /// Its word; the outcome of an assisted window stands in a field of its own.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AcceptedWithPenalty => "accepted_with_penalty",
            Self::Rejected => "rejected",
            Self::Late => "late",
            Self::Disputed => "disputed",
            Self::Reversed => "reversed",
            Self::OperatorAssisted(_) => "operator_assisted",
            Self::Missing => "missing",
            Self::Pending => "pending",
        }
    }

    /// The state with this word; `assisted` is the outcome for the one state that has one.
    pub(crate) fn named(word: &str, assisted: Outcome) -> Option<Self> {
        Some(match word {
            "accepted" => Self::Accepted,
            "accepted_with_penalty" => Self::AcceptedWithPenalty,
            "rejected" => Self::Rejected,
            "late" => Self::Late,
            "disputed" => Self::Disputed,
            "reversed" => Self::Reversed,
            "operator_assisted" => Self::OperatorAssisted(assisted),
            "missing" => Self::Missing,
            "pending" => Self::Pending,
            _ => return None,
        })
    }

    /// Whether the window counts as accepted.
    pub const fn is_accepted_family(self) -> bool {
        matches!(self, Self::Accepted | Self::AcceptedWithPenalty | Self::OperatorAssisted(Outcome::Accepted))
    }
}

/// A moment together with the text that named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// As it was written.
    pub text: String,
    /// What it means.
    pub moment: Moment,
}

impl From<Moment> for Stamp {
    fn from(moment: Moment) -> Self {
        Self { text: moment.to_string(), moment }
    }
}

/// A record that keeps every rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub(super) state: State,
    pub(super) class: ArtifactClass,
    pub(super) components: Components,
    pub(super) penalties: BTreeSet<Penalty>,
    pub(super) intervention: Intervention,
    pub(super) before: Option<State>,
    pub(super) submitted_at: Option<Stamp>,
}

/// The four parts of a raw score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Components {
    /// 0, 20, 40 or 60.
    pub delivery: u8,
    /// 0, 10 or 20.
    pub evidence: u8,
    /// 0, 10 or 20.
    pub continuity: u8,
    /// 0, 10 or 20.
    pub budget: u8,
}

impl Record {
    /// A window in which nothing came.
    pub fn missing() -> Self {
        Self::unjudged(State::Missing, Intervention::None, None)
    }

    /// A frozen submission that nobody has judged yet.
    pub fn pending(intervention: Intervention, submitted_at: Moment) -> Self {
        Self::unjudged(State::Pending, intervention, Some(submitted_at.into()))
    }

    /// A window that is not over yet.
    pub(super) fn upcoming() -> Self {
        Self::unjudged(State::Pending, Intervention::None, None)
    }

    /// A submission after the cut-off: a fact, never judged on its content.
    pub(super) fn late(class: ArtifactClass, intervention: Intervention, at: Moment) -> Self {
        Self { class, ..Self::unjudged(State::Late, intervention, Some(at.into())) }
    }

    /// The same window while somebody disputes it.
    pub(super) fn disputed(self) -> Self {
        Self { before: Some(self.state), state: State::Disputed, ..self }
    }

    fn unjudged(state: State, intervention: Intervention, submitted_at: Option<Stamp>) -> Self {
        Self {
            state,
            class: ArtifactClass::InternalSupporting,
            components: Components::default(),
            penalties: BTreeSet::new(),
            intervention,
            before: None,
            submitted_at,
        }
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// What is subtracted, before the rule for reversals adds to it.
    pub fn penalties(&self) -> &BTreeSet<Penalty> {
        &self.penalties
    }

    /// What the company said its artifact is.
    pub fn class(&self) -> ArtifactClass {
        self.class
    }

    /// The parts as they were judged, before any cap.
    pub fn components(&self) -> Components {
        self.components
    }

    /// The receipt time of the frozen revision, if anything was submitted.
    pub fn submitted_at(&self) -> Option<&Stamp> {
        self.submitted_at.as_ref()
    }

    /// Whether an operator took part, declared or not.
    pub fn is_intervention(&self) -> bool {
        self.intervention != Intervention::None || self.penalties.contains(&Penalty::UndisclosedIntervention)
    }
}

/// Points as they were written: a number that is no whole number is in no set.
pub type Points = Option<i64>;

/// A record as it was written, its words and numbers not looked at yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// One of the nine states.
    pub state: String,
    /// The outcome, for the one state that has one.
    pub assisted_outcome: Option<String>,
    /// One of the two classes.
    pub artifact_class: String,
    /// 0, 20, and 60 or 40.
    pub delivery: Points,
    /// 0, 10 or 20.
    pub evidence: Points,
    /// 0, 10 or 20.
    pub continuity: Points,
    /// 0, 10 or 20.
    pub budget: Points,
    /// Words of penalties.
    pub penalties: Vec<String>,
    /// What the company declared.
    pub operator_intervention: String,
    /// For a disputed window: the state the dispute put aside.
    pub before: Option<String>,
    /// Receipt of the frozen revision.
    pub submitted_at: Option<Stamp>,
}

words! {
    /// Why a record is refused. Where several rules are broken, the first in the order of the checks
    /// is named.
    pub enum RecordError {
        /// The state is none of the nine.
        UnknownState = "unknown_state",
        /// A penalty on a window that nobody judged.
        PenaltyWithoutJudgedSubmission = "penalty_without_judged_submission",
        /// The class is neither external nor internal.
        UnknownArtifactClass = "unknown_artifact_class",
        /// Delivery is not among the values of the class.
        DeliveryNotAllowedForClass = "delivery_not_allowed_for_class",
        /// Evidence is not 0, 10 or 20.
        EvidenceNotInSet = "evidence_not_in_set",
        /// Continuity is not 0, 10 or 20.
        ContinuityNotInSet = "continuity_not_in_set",
        /// Budget is not 0, 10 or 20.
        BudgetNotInSet = "budget_not_in_set",
        /// A penalty stands twice.
        PenaltyRepeated = "penalty_repeated",
        /// A penalty that is not in the table.
        UnknownPenalty = "unknown_penalty",
        /// A declaration that is not in the table.
        UnknownOperatorIntervention = "unknown_operator_intervention",
        /// An assisted window without a known outcome.
        AssistedOutcomeRequired = "assisted_outcome_required",
        /// An assisted window in which nobody intervened.
        OperatorAssistedWithoutIntervention = "operator_assisted_without_intervention",
        /// An outcome on a window that is not an assisted one.
        AssistedOutcomeOnlyForOperatorAssisted = "assisted_outcome_only_for_operator_assisted",
        /// Plainly accepted in spite of an intervention.
        InterventionRequiresOperatorAssisted = "intervention_requires_operator_assisted",
        /// An intervention that was declared cannot be undisclosed.
        UndisclosedButDeclared = "undisclosed_but_declared",
        /// Plainly accepted, with penalties.
        AcceptedCannotCarryPenalties = "accepted_cannot_carry_penalties",
        /// Accepted with penalty, without one.
        PenaltyStateNeedsAPenalty = "penalty_state_needs_a_penalty",
        /// The penalty of a reversal without one.
        ReversalOnlyForReversed = "reversal_only_for_reversed",
        /// Accepted in spite of a disclosure.
        DisclosureInvalidatesWindow = "disclosure_invalidates_window",
        /// Accepted, with nothing delivered.
        AcceptedNeedsDelivery = "accepted_needs_delivery",
        /// Accepted, with no evidence.
        AcceptedNeedsEvidence = "accepted_needs_evidence",
        /// A complete internal delivery without proof.
        Delivery40NeedsProof = "delivery_40_needs_proof",
        /// A put-aside state that is none a dispute can be about, or on a window that is not disputed.
        BeforeOnlyForDisputed = "before_only_for_disputed",
    }
}

impl std::error::Error for RecordError {}

impl Written {
    /// The record, if it keeps every rule.
    pub fn check(self) -> Result<Record, RecordError> {
        let outcome = self.assisted_outcome.as_deref().and_then(Outcome::named);
        let state = State::named(&self.state, outcome.unwrap_or(Outcome::Rejected));
        let state = state.ok_or(RecordError::UnknownState)?;
        if matches!(state, State::Missing | State::Pending) {
            if !self.penalties.is_empty() {
                return Err(RecordError::PenaltyWithoutJudgedSubmission);
            }
            let declared = Intervention::named(&self.operator_intervention).unwrap_or(Intervention::None);
            return Ok(Record::unjudged(state, declared, self.submitted_at));
        }
        let record = Record {
            state,
            class: ArtifactClass::named(&self.artifact_class).ok_or(RecordError::UnknownArtifactClass)?,
            components: Components::default(),
            penalties: BTreeSet::new(),
            intervention: Intervention::None,
            before: None,
            submitted_at: self.submitted_at.clone(),
        };
        let record = self.with_values(record)?;
        check_intervention(&record, self.assisted_outcome.is_some(), outcome)?;
        check_penalties(&record)?;
        check_acceptance(&record)?;
        self.with_before(record)
    }

    fn with_values(&self, record: Record) -> Result<Record, RecordError> {
        let delivery = match record.class {
            ArtifactClass::External => among(self.delivery, [0, 20, 60]),
            ArtifactClass::InternalSupporting => among(self.delivery, [0, 20, 40]),
        };
        let components = Components {
            delivery: delivery.ok_or(RecordError::DeliveryNotAllowedForClass)?,
            evidence: among(self.evidence, [0, 10, 20]).ok_or(RecordError::EvidenceNotInSet)?,
            continuity: among(self.continuity, [0, 10, 20]).ok_or(RecordError::ContinuityNotInSet)?,
            budget: among(self.budget, [0, 10, 20]).ok_or(RecordError::BudgetNotInSet)?,
        };
        let words: BTreeSet<&String> = self.penalties.iter().collect();
        if words.len() != self.penalties.len() {
            return Err(RecordError::PenaltyRepeated);
        }
        let penalties = words.iter().map(|word| Penalty::named(word)).collect::<Option<_>>();
        let intervention = Intervention::named(&self.operator_intervention);
        Ok(Record {
            components,
            penalties: penalties.ok_or(RecordError::UnknownPenalty)?,
            intervention: intervention.ok_or(RecordError::UnknownOperatorIntervention)?,
            ..record
        })
    }

    /// The state before a dispute may be any that a dispute can be about, and stands only there.
    fn with_before(self, record: Record) -> Result<Record, RecordError> {
        let Some(word) = self.before else { return Ok(record) };
        // Which outcome an assisted window had makes a difference of a cap of 10 or 0.
        let before = match word.as_str() {
            "operator_assisted" => Some(State::OperatorAssisted(Outcome::Accepted)),
            "operator_assisted_rejected" => Some(State::OperatorAssisted(Outcome::Rejected)),
            "missing" | "disputed" => None,
            other => State::named(other, Outcome::Rejected),
        };
        match (record.state, before) {
            (State::Disputed, Some(before)) => Ok(Record { before: Some(before), ..record }),
            _ => Err(RecordError::BeforeOnlyForDisputed),
        }
    }
}

fn among(points: Points, set: [u8; 3]) -> Option<u8> {
    set.into_iter().find(|allowed| points == Some(i64::from(*allowed)))
}

fn check_intervention(record: &Record, told: bool, outcome: Option<Outcome>) -> Result<(), RecordError> {
    let declared = record.intervention != Intervention::None;
    let undisclosed = record.penalties.contains(&Penalty::UndisclosedIntervention);
    match record.state {
        State::OperatorAssisted(_) if outcome.is_none() => return Err(RecordError::AssistedOutcomeRequired),
        State::OperatorAssisted(_) if !declared && !undisclosed => {
            return Err(RecordError::OperatorAssistedWithoutIntervention);
        }
        State::OperatorAssisted(_) => {}
        _ if told => return Err(RecordError::AssistedOutcomeOnlyForOperatorAssisted),
        State::Accepted | State::AcceptedWithPenalty if declared || undisclosed => {
            return Err(RecordError::InterventionRequiresOperatorAssisted);
        }
        _ => {}
    }
    if undisclosed && declared {
        return Err(RecordError::UndisclosedButDeclared);
    }
    Ok(())
}

fn check_penalties(record: &Record) -> Result<(), RecordError> {
    let Record { state, penalties, .. } = record;
    if *state == State::Accepted && !penalties.is_empty() {
        return Err(RecordError::AcceptedCannotCarryPenalties);
    }
    if *state == State::AcceptedWithPenalty && penalties.is_empty() {
        return Err(RecordError::PenaltyStateNeedsAPenalty);
    }
    if *state != State::Reversed && penalties.contains(&Penalty::Reversal) {
        return Err(RecordError::ReversalOnlyForReversed);
    }
    if state.is_accepted_family() && penalties.contains(&Penalty::DisclosureViolation) {
        return Err(RecordError::DisclosureInvalidatesWindow);
    }
    Ok(())
}

fn check_acceptance(record: &Record) -> Result<(), RecordError> {
    let Components { delivery, evidence, .. } = record.components;
    if !record.state.is_accepted_family() {
        return Ok(());
    }
    if delivery == 0 {
        return Err(RecordError::AcceptedNeedsDelivery);
    }
    if record.state == State::Accepted && evidence == 0 {
        return Err(RecordError::AcceptedNeedsEvidence);
    }
    if delivery == 40 && evidence == 0 {
        return Err(RecordError::Delivery40NeedsProof);
    }
    Ok(())
}

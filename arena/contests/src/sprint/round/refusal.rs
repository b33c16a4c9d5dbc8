//! Why a command is refused. Nothing of it happened.

use arena_ledger::Amount;

use super::entrant::Rail;
use crate::document::Faults;
use crate::leak::Finding;
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::clock::{Action, Phase};
use crate::sprint::record::RecordError;

/// Why a command is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The clock says no.
    #[error("{action} is not possible in phase {phase}{}", of_window(.window.as_ref()))]
    NotTheTime {
        /// What was asked.
        action: Action,
        /// The phase it is.
        phase: Phase,
        /// The window that was named.
        window: Option<Window>,
    },
    /// A command of an earlier time than the one before it.
    #[error("the command is of {at}; the one before it was of {last}")]
    TimeGoesBack {
        /// Of this command.
        at: Moment,
        /// Of the one before.
        last: Moment,
    },
    /// The round is not where this can be done.
    #[error("the round is {status}")]
    RoundIs {
        /// Where it is.
        status: &'static str,
    },
    /// It is for somebody else to do.
    #[error("this is for {who} to do")]
    WrongActor {
        /// For whom.
        who: &'static str,
    },
    /// A name that cannot be one.
    #[error("{id:?} is no name: 1 to 64 of a-z, 0-9, `-`, `_` and `.`")]
    BadId {
        /// As it was given, cut.
        id: String,
    },
    /// Nobody of this name takes part.
    #[error("no company {company:?} takes part")]
    UnknownCompany {
        /// As it was given, cut.
        company: String,
    },
    /// The company is registered.
    #[error("the company is registered already")]
    AlreadyRegistered,
    /// There are as many entrants as there may be.
    #[error("there are {limit} {what}, the limit")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Other rules than those of the round were acknowledged.
    #[error("these are not the rules of this round")]
    OtherRules,
    /// A step was left out, so the company does not take part in this.
    #[error("the company is not active: {missing} is missing")]
    NotActive {
        /// The step.
        missing: &'static str,
    },
    /// It was done once, and that is enough.
    #[error("{what} is done already")]
    AlreadyDone {
        /// What.
        what: &'static str,
    },
    /// No approval of this rail for the agent that writes.
    #[error("there is no approval of {rail} for this agent")]
    ApprovalMissing {
        /// The rail.
        rail: Rail,
    },
    /// An approval has to be for the company's own agent.
    #[error("an approval is for the company's own agent, and never for an operator")]
    ApprovalNotForOwnAgent,
    /// A text or a document that is not of its form.
    #[error("{0}")]
    Form(Faults),
    /// Something in it must not become public. What was found is not told.
    #[error("{} of the text must not become public", .0.len())]
    ForbiddenDisclosure(Vec<Finding>),
    /// The owner of a window's work reviews it.
    #[error("the owner and the reviewer of a window are two persons")]
    OwnerReviewsOwnWork,
    /// No intent stub was written in time.
    #[error("no intent stub of {window} was written before its cut-off")]
    NoIntentStub {
        /// The window.
        window: Window,
    },
    /// One scored submission for a company and a window.
    #[error("there is a submission already; before the cut-off it can be revised")]
    AlreadySubmitted,
    /// There is no submission.
    #[error("there is no submission of {window}")]
    NoSubmission {
        /// The window.
        window: Window,
    },
    /// A stake below the least.
    #[error("the stake is {have}; the least is {need}")]
    StakeBelowMinimum {
        /// What was offered.
        have: Amount,
        /// What is needed.
        need: Amount,
    },
    /// A stake that the hold does not cover.
    #[error("the stake is {need}; the free hold is {have}")]
    StakeAboveFreeHold {
        /// What is free.
        have: Amount,
        /// What was offered.
        need: Amount,
    },
    /// A revision has the stake of what it revises.
    #[error("a revision keeps the stake of {stake}")]
    StakeCannotChange {
        /// The stake.
        stake: Amount,
    },
    /// A hold that is not what the call asks.
    #[error("the hold is {have}; the call asks for {need}")]
    HoldNotOfTheCall {
        /// What was offered.
        have: Amount,
        /// What is asked.
        need: Amount,
    },
    /// The hold of the call is more than everybody gets.
    #[error("the hold of {hold} is above the budget of {budget}")]
    HoldAboveBudget {
        /// The hold.
        hold: Amount,
        /// The budget.
        budget: Amount,
    },
    /// No receipt of that name about this window.
    #[error("no receipt of an operator for this window has the name {receipt:?}")]
    UnknownReceipt {
        /// As it was given, cut.
        receipt: String,
    },
    /// Something that is referred to is not there.
    #[error("there is no {what} of this name")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
    },
    /// It belongs to another company.
    #[error("the {what} is not the company's own")]
    NotOwn {
        /// What kind of thing.
        what: &'static str,
    },
    /// A record that the rules of scoring refuse.
    #[error("the judgement breaks the rule {0}")]
    Record(RecordError),
    /// A judgement says what only the clock or a dispute can say.
    #[error("a judgement cannot make a window {state}")]
    NotAJudgement {
        /// The state.
        state: &'static str,
    },
    /// What came late is not judged on its content.
    #[error("a late submission is not judged")]
    LateIsNotJudged,
    /// More points for evidence than its own checks give.
    #[error("the evidence earns at most {max}: {because}")]
    EvidenceAbove {
        /// The most.
        max: u8,
        /// Why.
        because: &'static str,
    },
    /// A receipt shows an intervention that the company did not declare.
    #[error("a receipt shows an intervention that was not declared")]
    UndisclosedInterventionOnRecord,
    /// A repetition is accepted only with its penalty.
    #[error("it repeats an earlier submission; it is accepted only with the penalty `duplicate`")]
    DuplicateNeedsPenalty,
    /// Only what was accepted can be reversed.
    #[error("only an accepted window can be reversed")]
    NotAccepted,
    /// The filer has an open dispute about this.
    #[error("the company has an open dispute about this submission")]
    DisputeOpen,
    /// The dispute was ruled on.
    #[error("the dispute is closed")]
    DisputeClosed,
    /// A window is not over.
    #[error("{window} is not over")]
    WindowNotOver {
        /// The window.
        window: Window,
    },
    /// The round is not over.
    #[error("the round ends at {end}")]
    NotOver {
        /// Its end.
        end: Moment,
    },
    /// Somebody has to judge this first.
    #[error("{company} waits for a judgement of {window}")]
    PendingBlocksFinal {
        /// Whose.
        company: String,
        /// Which.
        window: Window,
    },
    /// The round does not begin when a day begins.
    #[error("a round starts at midnight UTC, not at {start}")]
    StartNotAtMidnight {
        /// As it was given.
        start: Moment,
    },
    /// The amounts of the terms are beyond what can be counted.
    #[error("the amounts of the terms add up to more than can be counted")]
    TooMuchMoney,
    /// The accounts do not allow it.
    #[error("{0}")]
    Money(#[from] arena_ledger::Refusal),
}

fn of_window(window: Option<&Window>) -> String {
    window.map_or_else(String::new, |window| format!(" for {window}"))
}

impl Refusal {
    /// Its stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotTheTime { .. } => "not_the_time",
            Self::TimeGoesBack { .. } => "time_goes_back",
            Self::RoundIs { .. } => "round_not_open",
            Self::WrongActor { .. } => "wrong_actor",
            Self::BadId { .. } => "bad_id",
            Self::UnknownCompany { .. } => "unknown_company",
            Self::AlreadyRegistered => "already_registered",
            Self::TooMany { .. } => "too_many",
            Self::OtherRules => "other_rules",
            Self::NotActive { .. } => "not_active",
            Self::AlreadyDone { .. } => "already_done",
            Self::ApprovalMissing { .. } => "approval_missing",
            Self::ApprovalNotForOwnAgent => "approval_not_for_own_agent",
            Self::Form(_) => "form",
            Self::ForbiddenDisclosure(_) => "forbidden_disclosure",
            Self::OwnerReviewsOwnWork => "owner_reviews_own_work",
            Self::NoIntentStub { .. } => "no_intent_stub",
            Self::AlreadySubmitted => "already_submitted",
            Self::NoSubmission { .. } => "no_submission",
            Self::StakeBelowMinimum { .. } => "stake_below_minimum",
            Self::StakeAboveFreeHold { .. } => "stake_above_free_hold",
            Self::StakeCannotChange { .. } => "stake_cannot_change",
            Self::HoldNotOfTheCall { .. } => "hold_not_of_the_call",
            Self::HoldAboveBudget { .. } => "hold_above_budget",
            Self::UnknownReceipt { .. } => "unknown_receipt",
            Self::Unknown { .. } => "unknown_reference",
            Self::NotOwn { .. } => "not_own",
            Self::Record(why) => why.name(),
            Self::NotAJudgement { .. } => "not_a_judgement",
            Self::LateIsNotJudged => "late_is_not_judged",
            Self::EvidenceAbove { .. } => "evidence_above_checks",
            Self::UndisclosedInterventionOnRecord => "undisclosed_intervention_on_record",
            Self::DuplicateNeedsPenalty => "duplicate_needs_penalty",
            Self::NotAccepted => "not_accepted",
            Self::DisputeOpen => "dispute_open",
            Self::DisputeClosed => "dispute_closed",
            Self::WindowNotOver { .. } => "window_not_over",
            Self::NotOver { .. } => "round_not_over",
            Self::PendingBlocksFinal { .. } => "pending_blocks_final",
            Self::StartNotAtMidnight { .. } => "start_not_at_midnight",
            Self::TooMuchMoney => "too_much_money",
            Self::Money(_) => "money",
        }
    }
}

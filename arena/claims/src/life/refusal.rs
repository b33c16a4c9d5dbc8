use arena_canon::Digest;
use arena_ledger::Amount;

use crate::envelope::EnvelopeRefusal;
use crate::fault::Faults;

/// Why a command is refused. Nothing happened. They stand in the order in which they are found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Refusal {
    #[error("it is {now} already; the command says {at}")]
    TimeGoesBack { at: u64, now: u64 },
    #[error("a deadline of `{claim}` has passed; what follows from it comes first")]
    DeadlinePassed { claim: String },
    #[error("there is no agent `{agent}`")]
    UnknownAgent { agent: String },
    #[error("there is an agent `{agent}` already")]
    AgentExists { agent: String },
    #[error("`{name}` cannot be a name: {why}")]
    BadName { name: String, why: String },
    #[error("the key is not one that signatures can be verified by")]
    WeakKey,
    #[error("the key is bound to `{agent}` already")]
    KeyInUse { agent: String },
    #[error("there is no claim `{claim}`")]
    UnknownClaim { claim: String },
    #[error("there is a claim `{claim}` already")]
    ClaimExists { claim: String },
    #[error("only {who} may do this")]
    NotYours { who: &'static str },
    #[error("the claim is {have}; this takes one that is {need}")]
    WrongPhase { have: &'static str, need: &'static str },
    #[error("submitter and funders have no other role")]
    FunderHoldsNoRole,
    #[error("the agent has a role on the claim already")]
    HoldsAnotherRole,
    #[error("another agent of operator `{operator}` has a role on the claim")]
    OperatorHoldsRole { operator: String },
    #[error("the agent has a market position on the claim")]
    HoldsMarketPosition,
    #[error("standing is {have}; {need} are needed")]
    StandingTooLow { have: i32, need: i32 },
    #[error("the amount is {have}; at least {need} are needed")]
    AmountTooSmall { have: Amount, need: Amount },
    #[error("the free stake is {have}; {need} are needed")]
    StakeBelowMinimum { have: Amount, need: Amount },
    #[error("the ledger refuses: {0}")]
    Ledger(#[from] arena_ledger::Refusal),
    #[error("the manifest has faults:\n{0}")]
    ManifestFaults(Faults),
    #[error("the manifest names parameters {have}; this instance settles by {need}")]
    OtherParams { have: Digest, need: Digest },
    #[error("the manifest is the one that was flagged")]
    NotCorrected,
    #[error("the claim may be relisted from {from}")]
    CoolingDown { from: u64 },
    #[error("the agent is no party of the beacon")]
    NoParty,
    #[error("round {round} is not wanted: no draw has taken a later one than {wanted}")]
    RoundNotWanted { round: u64, wanted: u64 },
    #[error("the party `{agent}` has {have} free; {need} are held while a job is open")]
    PartyUnstaked { agent: String, have: Amount, need: Amount },
    #[error("the parties' chains have {left} rounds left; the jobs that are open may need {need}")]
    RoundsSpent { left: u64, need: u64 },
    #[error("no draw is committed")]
    NoDraw,
    #[error("no draw is due")]
    NoDrawDue,
    #[error("a draw is committed already; exactly one resolution follows")]
    DrawCommitted,
    #[error("a draw is committed only with the beacon's latest round, and an audit with a fresh secret")]
    NothingSeen,
    #[error("the draw's round {round} is not due before {due}")]
    RoundNotDue { round: u64, due: u64 },
    #[error("the draw is refused: {why}")]
    DrawRefused { why: String },
    #[error("the secret is not the one that was committed")]
    OtherSalt,
    #[error("whether the run is audited is being drawn; challenges follow")]
    AuditPending,
    #[error("inputs are checked before a run is committed")]
    InputsUnchecked,
    #[error("{have} volunteers have challenged; the limit is {limit}")]
    WindowFull { have: usize, limit: u64 },
    #[error("the same commitment was made already")]
    DuplicateCommitment,
    #[error("there is a commitment of the agent already")]
    AlreadyCommitted,
    #[error("there is no commitment of the agent")]
    NotCommitted,
    #[error("it was revealed already")]
    AlreadyRevealed,
    #[error("what is revealed is not what was committed to")]
    OtherCommitment,
    #[error(transparent)]
    Envelope(#[from] EnvelopeRefusal),
    #[error("the record has faults:\n{0}")]
    RecordFaults(Faults),
    #[error("the ballot has faults:\n{0}")]
    BallotFaults(Faults),
    #[error("the agent has no seat on the panel")]
    NoSeat,
    #[error("the reference publishes {need} records, these are {have}")]
    RecordCount { have: usize, need: usize },
    #[error("the claim is no canary, or this does not open it")]
    NoCanary,
}

impl Refusal {
    /// A word for it that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TimeGoesBack { .. } => "time_goes_back",
            Self::DeadlinePassed { .. } => "deadline_passed",
            Self::UnknownAgent { .. } => "unknown_agent",
            Self::AgentExists { .. } => "agent_exists",
            Self::BadName { .. } => "bad_name",
            Self::WeakKey => "weak_key",
            Self::KeyInUse { .. } => "key_in_use",
            Self::UnknownClaim { .. } => "unknown_claim",
            Self::ClaimExists { .. } => "claim_exists",
            Self::NotYours { .. } => "not_yours",
            Self::WrongPhase { .. } => "wrong_phase",
            Self::FunderHoldsNoRole => "funder_holds_no_role",
            Self::HoldsAnotherRole => "holds_another_role",
            Self::OperatorHoldsRole { .. } => "operator_holds_role",
            Self::HoldsMarketPosition => "holds_market_position",
            Self::StandingTooLow { .. } => "standing_too_low",
            Self::AmountTooSmall { .. } => "amount_too_small",
            Self::StakeBelowMinimum { .. } => "stake_below_minimum",
            Self::Ledger(_) => "ledger_refused",
            Self::ManifestFaults(_) => "manifest_faults",
            Self::OtherParams { .. } => "other_params",
            Self::NotCorrected => "not_corrected",
            Self::CoolingDown { .. } => "cooling_down",
            Self::NoParty => "no_party",
            Self::RoundNotWanted { .. } => "round_not_wanted",
            Self::PartyUnstaked { .. } => "party_unstaked",
            Self::RoundsSpent { .. } => "rounds_spent",
            Self::NoDraw => "no_draw",
            Self::NoDrawDue => "no_draw_due",
            Self::DrawCommitted => "draw_committed",
            Self::NothingSeen => "nothing_seen",
            Self::RoundNotDue { .. } => "round_not_due",
            Self::DrawRefused { .. } => "draw_refused",
            Self::OtherSalt => "other_salt",
            Self::AuditPending => "audit_pending",
            Self::InputsUnchecked => "inputs_unchecked",
            Self::WindowFull { .. } => "window_full",
            Self::DuplicateCommitment => "duplicate_commitment",
            Self::AlreadyCommitted => "already_committed",
            Self::NotCommitted => "not_committed",
            Self::AlreadyRevealed => "already_revealed",
            Self::OtherCommitment => "other_commitment",
            Self::Envelope(_) => "envelope_refused",
            Self::RecordFaults(_) => "record_faults",
            Self::BallotFaults(_) => "ballot_faults",
            Self::NoSeat => "no_seat",
            Self::RecordCount { .. } => "record_count",
            Self::NoCanary => "no_canary",
        }
    }
}

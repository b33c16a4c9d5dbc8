use arena_canon::Digest;
use arena_canon::json::Value;
use arena_draw::{Eligible, Entry, Transcript};
use arena_ledger::{Amount, Transaction};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::envelope::PublicKey;
use crate::record::{Outcome, Record};
use crate::settle::Ending;

/// What happened. Events are facts: whatever money they move and whatever they depend on is in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the commands and of the state")]
pub enum Event {
    AgentRegistered {
        agent: String,
        operator: String,
        key: PublicKey,
        capabilities: Vec<String>,
    },
    Deposited {
        agent: String,
        amount: Amount,
        transaction: Transaction,
    },
    PaidOut {
        agent: String,
        transaction: Transaction,
    },
    PositionDeclared {
        claim: String,
        agent: String,
    },
    ClaimListed {
        claim: String,
        submitter: String,
        manifest: Value,
        job: Digest,
        canary: Option<Digest>,
    },
    ClaimFunded {
        claim: String,
        agent: String,
        amount: Amount,
        transaction: Transaction,
    },
    FundsWithdrawn {
        claim: String,
        agent: String,
        transaction: Transaction,
    },
    JobOpened {
        claim: String,
    },
    PartiesHeld {
        claim: String,
        transaction: Transaction,
    },
    RoundRevealed {
        agent: String,
        round: u64,
        preimage: Digest,
    },
    DrawCommitted(Box<CommittedDraw>),
    BeaconStalled {
        claim: String,
        round: u64,
    },
    PartySlashed {
        claim: String,
        agent: String,
        round: u64,
        transaction: Transaction,
    },
    PartiesReleased {
        claim: String,
        transaction: Transaction,
    },
    DrawResolved {
        claim: String,
        transcript: Box<Transcript>,
        picks: Vec<String>,
        transaction: Transaction,
    },
    CoinTossed {
        claim: String,
        transcript: Box<Transcript>,
        audited: bool,
        audit: Option<Box<Transcript>>,
        picks: Vec<String>,
        salt: Digest,
    },
    RoleVacated {
        claim: String,
        agent: String,
        why: Vacancy,
        transaction: Transaction,
    },
    AuditVacated {
        claim: String,
        agent: String,
        why: Vacancy,
        standing: i32,
    },
    RunAccepted {
        claim: String,
    },
    AuditAccepted {
        claim: String,
        agent: String,
        transaction: Transaction,
    },
    InputsChecked {
        claim: String,
    },
    RunCommitted {
        claim: String,
        digest: Digest,
    },
    ChallengeCommitted {
        claim: String,
        agent: String,
        digest: Digest,
        transaction: Transaction,
    },
    WindowExtended {
        claim: String,
        until: u64,
    },
    WindowClosed {
        claim: String,
        salt: Option<Digest>,
    },
    WindowReopened {
        claim: String,
    },
    RunRevealed {
        claim: String,
        record: Box<Record>,
        counter: u64,
    },
    ChallengeRevealed {
        claim: String,
        agent: String,
        record: Box<Record>,
        counter: u64,
    },
    Disputed {
        claim: String,
    },
    BoundaryFlagged {
        claim: String,
    },
    VoteCommitted {
        claim: String,
        agent: String,
        digest: Digest,
    },
    VotesOpened {
        claim: String,
    },
    VoteRevealed {
        claim: String,
        agent: String,
        ballot: Value,
    },
    VerdictReached {
        claim: String,
        level: u32,
        verdict: Ending,
    },
    Escalated {
        claim: String,
        level: u32,
    },
    Appealed {
        claim: String,
        agent: String,
        transaction: Transaction,
    },
    ReferencePublished {
        claim: String,
        records: Vec<Value>,
        verdict: Ending,
    },
    StandingChanged {
        agent: String,
        change: i32,
    },
    ValidRunCounted {
        operator: String,
        capabilities: Vec<String>,
        valid: bool,
    },
    Settled {
        claim: String,
        outcome: Outcome,
        ending: Ending,
        transaction: Transaction,
    },
    ClaimWithdrawn {
        claim: String,
        why: Withdrawal,
        transaction: Transaction,
    },
    ClaimRelisted {
        claim: String,
        manifest: Value,
        job: Digest,
    },
    CanaryOpened {
        claim: String,
        salt: Digest,
    },
}

/// A draw that is committed: everything that is fixed before the beacon speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of a draw")]
pub struct CommittedDraw {
    pub claim: String,
    pub purpose: String,
    pub attempt: u32,
    pub seats: u32,
    #[serde(with = "rows")]
    pub entries: Eligible,
    pub round: u64,
    pub last_round_seen: u64,
    pub committed_at: u64,
    pub salt_sha256: Option<Digest>,
    pub audit_ppm: u64,
}

/// Who may be drawn, as `[agent, operator, tickets]` each.
mod rows {
    use super::{Deserialize, Deserializer, Eligible, Entry, Serializer};

    pub(super) fn serialize<S: Serializer>(eligible: &Eligible, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = eligible.entries().iter();
        serializer.collect_seq(rows.map(|entry| (&entry.agent, &entry.operator, entry.tickets)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Eligible, D::Error> {
        let rows = Vec::<(String, String, u64)>::deserialize(deserializer)?;
        let entries = rows.into_iter().map(|(agent, operator, tickets)| Entry::new(agent, operator, tickets));
        Eligible::new(entries.collect()).map_err(serde::de::Error::custom)
    }
}

/// Why a role became free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vacancy {
    /// Declined with a reason.
    Declined,
    /// Declined without one.
    DeclinedUnexplained,
    /// No answer in time.
    Lapsed,
    /// Accepted, and nothing published in time.
    NoShow,
    /// Drawn, and meanwhile in another role.
    Conflicted,
}

/// Why a claim was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawal {
    /// The pool never reached its minimum.
    Unfunded,
    /// Nobody could be drawn, or nobody ran it.
    NoRunner,
    /// The runner committed and did not reveal.
    Withheld,
}

impl Withdrawal {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unfunded => "unfunded",
            Self::NoRunner => "no_runner",
            Self::Withheld => "withheld",
        }
    }
}

impl Event {
    /// Whether only the instance and those concerned may see it before the claim is settled: who audits, and
    /// what was found. Its digest may be published at once.
    pub fn is_sealed(&self) -> bool {
        match self {
            // That an auditor is drawn again tells that there is an audit.
            Self::DrawCommitted(draw) => draw.purpose == arena_draw::Purpose::Audit.name(),
            Self::CoinTossed { .. }
            | Self::AuditAccepted { .. }
            | Self::AuditVacated { .. }
            | Self::RunRevealed { .. }
            | Self::ChallengeRevealed { .. }
            | Self::VoteRevealed { .. } => true,
            _ => false,
        }
    }

    /// The claim it is about.
    pub fn claim(&self) -> Option<&str> {
        match self {
            Self::AgentRegistered { .. }
            | Self::Deposited { .. }
            | Self::PaidOut { .. }
            | Self::RoundRevealed { .. }
            | Self::StandingChanged { .. }
            | Self::ValidRunCounted { .. } => None,
            Self::DrawCommitted(draw) => Some(&draw.claim),
            Self::PositionDeclared { claim, .. }
            | Self::ClaimListed { claim, .. }
            | Self::ClaimFunded { claim, .. }
            | Self::FundsWithdrawn { claim, .. }
            | Self::JobOpened { claim }
            | Self::PartiesHeld { claim, .. }
            | Self::BeaconStalled { claim, .. }
            | Self::PartySlashed { claim, .. }
            | Self::PartiesReleased { claim, .. }
            | Self::DrawResolved { claim, .. }
            | Self::CoinTossed { claim, .. }
            | Self::RoleVacated { claim, .. }
            | Self::AuditVacated { claim, .. }
            | Self::RunAccepted { claim }
            | Self::AuditAccepted { claim, .. }
            | Self::InputsChecked { claim }
            | Self::RunCommitted { claim, .. }
            | Self::ChallengeCommitted { claim, .. }
            | Self::WindowExtended { claim, .. }
            | Self::WindowClosed { claim, .. }
            | Self::WindowReopened { claim }
            | Self::RunRevealed { claim, .. }
            | Self::ChallengeRevealed { claim, .. }
            | Self::Disputed { claim }
            | Self::BoundaryFlagged { claim }
            | Self::VoteCommitted { claim, .. }
            | Self::VotesOpened { claim }
            | Self::VoteRevealed { claim, .. }
            | Self::VerdictReached { claim, .. }
            | Self::Escalated { claim, .. }
            | Self::Appealed { claim, .. }
            | Self::ReferencePublished { claim, .. }
            | Self::Settled { claim, .. }
            | Self::ClaimWithdrawn { claim, .. }
            | Self::ClaimRelisted { claim, .. }
            | Self::CanaryOpened { claim, .. } => Some(claim),
        }
    }

    /// The event's name, as it is written.
    pub fn name(&self) -> String {
        let name = |value: Value| value.get("event").and_then(Value::as_str).map(str::to_owned);
        serde_json::to_value(self).ok().and_then(name).unwrap_or_default()
    }
}

//! The state: agents, money and claims.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_cow::{CowMap, Shared};
use arena_draw::beacon::Source;
use arena_draw::{Eligible, Purpose};
use arena_ledger::{Account, Amount, Asset, Ledger, NameError};

use super::event::Withdrawal;
use super::judging::Ballot;
use crate::compare::Comparison;
use crate::envelope::PublicKey;
use crate::manifest::Manifest;
use crate::params::Params;
use crate::record::{Outcome, Record};
use crate::settle::{Ending, Funder};

/// Standing of a new agent, and where all standing drifts to, one a day.
pub const STANDING_START: i32 = 50;
/// Below it, an agent is not drawn and may not challenge.
pub const STANDING_MIN: i32 = 20;
const STANDING_MAX: i32 = 100;
const DAY_S: u64 = 86_400;

/// What an instance is: fixed at its genesis.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Its name; its id is the SHA-256 of it.
    pub name: String,
    /// Where luck comes from.
    pub source: Source,
    /// By which parameters claims are settled.
    pub params: Arc<Params>,
    /// What money is counted in.
    pub asset: Asset,
    /// Who runs the instance, and publishes the reference's records.
    pub operator: String,
    /// Who reveals the rounds of a hash chain, in the order of its anchors, each with what it has to lose; nobody
    /// where parties have no stake.
    pub parties: Vec<Party>,
}

/// A party of a hash chain that has a stake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    /// The agent that reveals, and whose money it is.
    pub agent: String,
    /// What is held of it from the opening of a job to its end.
    pub stake: Amount,
    /// How many rounds its chain has, where that is told.
    pub rounds: Option<u64>,
}

/// What a party revealed last. It reveals all rounds before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revealed {
    /// The round.
    pub round: u64,
    /// What its chain gives in it.
    pub preimage: Digest,
}

impl Instance {
    /// SHA-256 of the name.
    pub fn id(&self) -> Digest {
        Digest::of(self.name.as_bytes())
    }
}

/// Everything an instance knows. A copy shares with it what they have in common, so what a command comes to can be
/// tried on one.
#[derive(Debug, Clone)]
pub struct World {
    /// What it is.
    pub instance: Instance,
    /// Agents by id.
    pub agents: CowMap<String, Agent>,
    /// All balances.
    pub ledger: Ledger,
    /// Claims by id.
    pub claims: CowMap<String, Claim>,
    /// Valid runs in a row, by operator and capability.
    pub valid_runs: CowMap<(String, String), u64>,
    /// What each party with a stake revealed last.
    pub revealed: BTreeMap<String, Revealed>,
    /// The latest round that any draw ever took.
    pub latest_drawn: u64,
    /// When the instance was last up again after it was away; 0 where it never was. See [`resume`](super::resume()).
    pub resumed_at: u64,
    /// When anything last happened.
    pub now: u64,
    /// How many events there were.
    pub seq: u64,
    /// SHA-256 of the instance's parameters, which every manifest names and every draw takes in.
    params_sha256: Digest,
    /// Nobody will ever look at this world from outside: records come without signatures, and transcripts of
    /// draws are not kept. Only the simulator rehearses; everything else is as it always is.
    rehearsal: bool,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Who runs it.
    pub operator: String,
    /// What its records are signed by.
    pub key: PublicKey,
    /// The last counter seen of that key.
    pub counter: u64,
    /// Capability tags.
    pub capabilities: BTreeSet<String>,
    /// Standing when it last changed.
    pub standing: i32,
    /// When that was.
    pub standing_at: u64,
    /// When it was registered.
    pub since: u64,
    /// Deposits with their times: what came in late is not at rest.
    pub arrivals: Vec<(u64, Amount)>,
    /// Claims it has a market position on.
    pub positions: BTreeSet<String>,
    /// What it may spend from.
    pub(super) avail: Account,
}

impl Agent {
    /// Standing at a time: it drifts by one a day to where it started.
    pub fn standing_on(&self, at: u64) -> i32 {
        let days = at.saturating_sub(self.standing_at).checked_div(DAY_S).unwrap_or_default();
        let days = i32::try_from(days).unwrap_or(i32::MAX);
        if self.standing > STANDING_START {
            self.standing.saturating_sub(days).max(STANDING_START)
        } else {
            self.standing.saturating_add(days).min(STANDING_START)
        }
    }

    pub(super) fn change_standing(&mut self, at: u64, change: i32) {
        self.standing = self.standing_on(at).saturating_add(change).clamp(0, STANDING_MAX);
        self.standing_at = at;
    }
}

/// A part in a claim. One agent has one, and so has all of its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Part {
    Submitter,
    Funder,
    Runner,
    FormerRunner,
    Challenger,
    Auditor,
    Reviewer,
    FormerReviewer,
}

/// Where a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Listed; the pool is below its minimum.
    Funding,
    /// A runner is to be drawn.
    Drawing,
    /// A runner is drawn and has not accepted.
    Offered,
    /// The runner runs.
    Running,
    /// The run is committed; challenges are.
    Committed,
    /// Everything that was committed is revealed.
    Revealing,
    /// A panel is to be seated.
    Seating {
        /// 1 or 2.
        level: u32,
    },
    /// The panel commits its votes.
    Voting {
        /// 1 or 2.
        level: u32,
    },
    /// The panel reveals its votes.
    Opening {
        /// 1 or 2.
        level: u32,
    },
    /// There is a verdict; a party may appeal.
    Appealable,
    /// The reference is to run it.
    Reference,
    /// Over.
    Settled(Outcome),
    /// Over without a result.
    Withdrawn(Withdrawal),
}

impl Phase {
    /// Whether nothing happens any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Settled(_) | Self::Withdrawn(_))
    }

    /// The word in refusals and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Funding => "funding",
            Self::Drawing => "drawing",
            Self::Offered => "offered",
            Self::Running => "running",
            Self::Committed => "committed",
            Self::Revealing => "revealing",
            Self::Seating { .. } => "seating",
            Self::Voting { .. } => "voting",
            Self::Opening { .. } => "opening",
            Self::Appealable => "appealable",
            Self::Reference => "reference",
            Self::Settled(_) => "settled",
            Self::Withdrawn(_) => "withdrawn",
        }
    }
}

/// A draw that waits for its round.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of a draw")]
pub struct DrawState {
    pub purpose: Purpose,
    pub attempt: u32,
    pub seats: u32,
    pub entries: Eligible,
    pub round: u64,
    pub last_round_seen: u64,
    pub committed_at: u64,
    pub committed_seq: u64,
    pub stalled: bool,
    pub salt_sha256: Option<Digest>,
    pub audit_ppm: u64,
}

/// The run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Who runs it.
    pub runner: String,
    /// Whether the inputs were checked.
    pub inputs_checked: bool,
    /// Its commitment.
    pub digest: Option<Digest>,
    /// What it turned out to be.
    pub record: Option<Record>,
}

/// A challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// Who challenges.
    pub agent: String,
    /// Its commitment.
    pub digest: Digest,
    /// What it turned out to be.
    pub record: Option<Record>,
    /// It was not revealed when it was time, and the window was re-opened since.
    pub expired: bool,
}

/// The audit of a run, as the instance knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// Whether the coin was tossed, and how it fell.
    pub coin: Option<bool>,
    /// Who was drawn.
    pub auditor: Option<String>,
    /// When it must have accepted.
    pub until: u64,
    /// Whether it accepted.
    pub accepted: bool,
    /// How many were drawn before.
    pub attempt: u32,
    /// The secret of the last draw.
    pub salt: Option<Digest>,
    /// Nobody is left to draw.
    pub exhausted: bool,
}

/// A panel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Panel {
    /// 1 or 2.
    pub level: u32,
    /// Its seats, in the order of the draw.
    pub seats: Vec<Seat>,
    /// How often it was drawn.
    pub attempt: u32,
}

/// A seat of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// Who sits there.
    pub agent: String,
    /// The commitment to its vote.
    pub digest: Option<Digest>,
    /// Its vote.
    pub ballot: Option<Ballot>,
}

/// A claim.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// Who listed it.
    pub submitter: String,
    /// What it says.
    pub manifest: Arc<Manifest>,
    /// What it is settled by, frozen at listing.
    pub params: Arc<Params>,
    /// SHA-256 of that.
    pub params_sha256: Digest,
    /// Counts its jobs.
    pub n: u64,
    /// Its job.
    pub job: Digest,
    /// Contributions, in order.
    pub funders: Vec<Funder>,
    /// Who has which part.
    pub parts: BTreeMap<String, Part>,
    /// Where it is.
    pub phase: Phase,
    /// When it leaves that by time alone.
    pub until: u64,
    /// When its job opened: stakes count as they were at rest then.
    pub opened_at: u64,
    /// Whether stakes of the beacon's parties are held for its job.
    pub parties_held: bool,
    /// The draw that waits for its round.
    pub draw: Option<DrawState>,
    /// Runners drawn so far.
    pub attempt: u32,
    /// The run.
    pub run: Option<Run>,
    /// Challenges in the order of their commitments.
    pub challenges: Vec<Challenge>,
    /// The comparisons of a disputed claim. Nothing is revealed any more, so they are made once.
    pub(super) report: Vec<(String, Comparison)>,
    /// The audit.
    pub audit: Audit,
    /// How often a late challenge extended the window.
    pub extended: u64,
    /// Whether the window was re-opened.
    pub reopened: bool,
    /// Panels.
    pub panels: Vec<Panel>,
    /// What a panel said, and which.
    pub verdict: Option<(u32, Ending)>,
    /// Who appealed.
    pub appellants: Vec<String>,
    /// The reference's records.
    pub references: Vec<Record>,
    /// Outcomes differ, and every rerun comparison passes: the tolerance is to be widened.
    pub boundary: bool,
    /// How often it was relisted.
    pub relists: u32,
    /// When it ended.
    pub ended_at: u64,
    /// What marks it as a canary.
    pub canary: Option<Digest>,
    /// Transcripts of its draws, but for secret ones before the window closed.
    pub transcripts: Shared<Vec<Value>>,
}

impl World {
    /// An instance without agents and claims.
    pub fn new(instance: Instance) -> Self {
        Self {
            params_sha256: instance.params.digest(),
            instance,
            agents: CowMap::new(),
            ledger: Ledger::new(),
            claims: CowMap::new(),
            valid_runs: CowMap::new(),
            revealed: BTreeMap::new(),
            latest_drawn: 0,
            resumed_at: 0,
            now: 0,
            seq: 0,
            rehearsal: false,
        }
    }

    /// The same, for the simulator alone: see `rehearsal`.
    pub(crate) fn rehearsed(instance: Instance) -> Self {
        Self { rehearsal: true, ..Self::new(instance) }
    }

    pub(super) fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    /// SHA-256 of the parameters that new claims are settled by.
    pub fn params_sha256(&self) -> Digest {
        self.params_sha256
    }

    /// What an agent may spend.
    pub fn avail(&self, agent: &str) -> Amount {
        self.avail_account(agent).map_or(Amount::ZERO, |account| self.ledger.balance(&account))
    }

    pub(super) fn avail_account(&self, agent: &str) -> Result<Cow<'_, Account>, NameError> {
        match self.agents.get(agent) {
            Some(about) => Ok(Cow::Borrowed(&about.avail)),
            None => Account::avail(&self.instance.asset, agent).map(Cow::Owned),
        }
    }

    pub(super) fn operator_of(&self, agent: &str) -> Option<&str> {
        self.agents.get(agent).map(|agent| agent.operator.as_str())
    }
}

impl Claim {
    /// All contributions together.
    pub fn pooled(&self) -> Amount {
        Amount::checked_sum(self.funders.iter().map(|funder| funder.amount)).unwrap_or(Amount::MAX)
    }

    /// Whether somebody said that it cannot be run as it is; it may be relisted, corrected.
    pub fn is_flagged(&self) -> bool {
        matches!(self.phase, Phase::Settled(Outcome::SpecIssue | Outcome::InputMismatch))
    }

    /// The job's name in accounts.
    pub fn job_name(&self) -> String {
        self.job.to_string()
    }

    /// The challenge of an agent.
    pub fn challenge(&self, agent: &str) -> Option<&Challenge> {
        self.challenges.iter().find(|challenge| challenge.agent == agent)
    }

    /// The panel that sat last.
    pub fn panel(&self) -> Option<&Panel> {
        self.panels.last()
    }

    /// Whether it was drawn to audit.
    pub fn is_auditor(&self, agent: &str) -> bool {
        self.audit.auditor.as_deref() == Some(agent)
    }

    /// Who runs it.
    pub fn runner(&self) -> Option<&str> {
        self.run.as_ref().map(|run| run.runner.as_str())
    }
}

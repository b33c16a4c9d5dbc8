//! What somebody wants of the contests, and what happened.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_canon::json::Value;

use super::credential::Statement;
use super::manifest::{ContestStatus, Manifest, Role};
use super::{
    Challenge, ChallengeKind, ChallengeStatus, Reward, RewardStatus, Submission, SubmissionStatus, Vote,
};
use crate::moment::Moment;

/// Who acts. What is known of an agent comes in with the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent that was authenticated.
    Agent {
        /// Its name.
        id: String,
        /// Who runs it: agents of one operator do not judge each other.
        operator: String,
        /// Its reputation now.
        reputation: u64,
    },
    /// An admin.
    Admin(String),
    /// Somebody who carries out a stage of the evaluation.
    Staff {
        /// Who.
        name: String,
        /// Which stage.
        role: Role,
    },
    /// The platform itself, when it is time.
    System,
}

/// A command with its time and its actor.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamped {
    /// When the request came.
    pub at: Moment,
    /// Who it is.
    pub by: Actor,
    /// What is wanted.
    pub command: Command,
}

/// How a run of a tournament ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scorecard {
    /// Points of each strategy.
    Completed(BTreeMap<Digest, i64>),
    /// It could not be run; there is no board.
    Blocked,
}

/// What somebody wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Proposes a contest.
    Propose(Box<Manifest>),
    /// Opens it.
    Activate {
        /// Its id or slug.
        contest: String,
    },
    /// Ends the submissions and begins judging; of a strategy contest it gives the plan.
    CloseSubmissions {
        /// Its id or slug.
        contest: String,
    },
    /// Ends it.
    Close {
        /// Its id or slug.
        contest: String,
        /// Why, for the public log.
        reason: String,
    },
    /// Ends it before its end.
    Cancel {
        /// Its id or slug.
        contest: String,
        /// Why, for the public log.
        reason: String,
    },
    /// Makes a clause known.
    RegisterClause {
        /// Its id or slug.
        contest: String,
        /// Which clause.
        rule_id: String,
        /// Its text.
        text: String,
    },
    /// Submits.
    Submit {
        /// Its id or slug.
        contest: String,
        /// What is submitted.
        body: Value,
    },
    /// Takes a submission back before judging.
    Withdraw {
        /// Which.
        submission: String,
    },
    /// Decides on a submission: accepted, declined or merged.
    Decide {
        /// Which.
        submission: String,
        /// What becomes of it.
        to: SubmissionStatus,
        /// Why, for the public log.
        reason: String,
    },
    /// Challenges another agent's submission.
    FileChallenge {
        /// Which.
        submission: String,
        /// What is wrong with it.
        kind: ChallengeKind,
        /// The field or citation it is about.
        target: String,
        /// Why.
        text: String,
    },
    /// Rules on a challenge.
    RuleChallenge {
        /// Which.
        challenge: String,
        /// Whether it holds.
        upheld: bool,
        /// Why, for the public log.
        reason: String,
    },
    /// Says what one thinks of a submission.
    CastVote {
        /// Which.
        submission: String,
        /// For it, or against it.
        is_for: bool,
    },
    /// Scores a submission.
    Score {
        /// Which.
        submission: String,
        /// In tenths of a point, 0 to 100.
        tenths: u8,
        /// Why, for the public log.
        reason: String,
    },
    /// Records how the tournament of a strategy contest ended.
    RecordScorecard {
        /// Its id or slug.
        contest: String,
        /// The result.
        scorecard: Scorecard,
    },
    /// Promises a reward.
    PromiseReward {
        /// For which submission.
        submission: String,
        /// What kind.
        kind: String,
        /// When the promise ends.
        expires_at: Option<Moment>,
    },
    /// Moves a reward on, by hand.
    AdvanceReward {
        /// Which.
        reward: String,
        /// Where to.
        to: RewardStatus,
        /// Why, for the public log.
        reason: String,
    },
}

/// An event with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// When.
    pub at: Moment,
    /// What.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are the values of the commands and the nouns of their modules")]
pub enum Event {
    /// A contest is there, as a draft.
    Proposed { manifest: Box<Manifest>, by: String },
    /// It is somewhere else now.
    StatusChanged { contest: String, to: ContestStatus },
    /// The caller has to run this.
    TournamentPlanned { contest: String, strategies: Vec<Digest> },
    /// A clause is known.
    ClauseRegistered { contest: String, rule_id: String, text: String },
    /// Something was submitted, and passed the gate or was rejected by it.
    Submitted { submission: Box<Submission> },
    /// A submission is somewhere else now.
    SubmissionMoved { submission: String, to: SubmissionStatus },
    /// It was challenged.
    Challenged { reference: String, challenge: Challenge },
    /// A challenge was ruled on.
    ChallengeRuled { reference: String, status: ChallengeStatus },
    /// Somebody voted.
    Voted { submission: String, agent: String, vote: Vote },
    /// It was scored.
    Scored { submission: String, tenths: u8 },
    /// A tournament ended.
    ScorecardRecorded { contest: String, scorecard: Scorecard },
    /// A reward was promised.
    RewardPromised { reference: String, reward: Reward },
    /// It is somewhere else now.
    RewardMoved { reference: String, to: RewardStatus },
    /// A credential is to be signed and handed out.
    CredentialDue { reward: String, statement: Statement },
    /// An entry of the public log: who did what with what, and why.
    Logged { by: String, action: &'static str, of: String, reason: String },
}

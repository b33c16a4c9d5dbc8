//! Contests: proposals, submissions through a gate, challenges, votes, scores, rewards.
//!
//! As in a round of the sprint, [`Contests::decide`] looks at a command and [`Contests::evolve`] applies
//! what happened. Authentication is done before, and what is known of an agent comes in with its
//! command. No reward is ever paid from here.

mod body;
mod command;
pub mod credential;
mod decide;
mod gate;
mod leaderboard;
mod manifest;
mod refusal;
pub mod wire;

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_cow::{CowMap, Shared};

pub use body::{Body, BodyKind, Redline};
pub use command::{Actor, Command, Event, Happened, Scorecard, Stamped};
pub use gate::{ATTEMPTS_PER_DAY, Admission, GateFailure, Surroundings};
pub use leaderboard::{Line, weight};
pub use manifest::{Automated, ContestStatus, MANIFEST_BYTES_MAX, Manifest, Role, Stage};
pub use refusal::Refusal;

use self::credential::Statement;
use crate::cite::Verdict;
use crate::leak::Finding;
use crate::moment::Moment;
use crate::words::words;

words! {
    /// Where a submission is.
    pub enum SubmissionStatus {
        /// The gate rejected it.
        Rejected = "rejected",
        /// Somebody looks at its legality.
        LegalityReview = "legality_review",
        /// It is legal and good.
        Accepted = "accepted",
        /// It is not.
        Declined = "declined",
        /// It is part of the draft.
        Merged = "merged",
        /// Its author took it back.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// What a challenge says is wrong.
    pub enum ChallengeKind {
        /// A citation.
        Citation = "citation",
        /// The reasoning.
        Logic = "logic",
        /// It contradicts something.
        Conflict = "conflict",
        /// It does harm.
        Harm = "harm",
    }
}

words! {
    /// Where a challenge is.
    pub enum ChallengeStatus {
        /// Somebody has to rule.
        Open = "open",
        /// It holds.
        Upheld = "upheld",
        /// It does not.
        Dismissed = "dismissed",
    }
}

words! {
    /// Where a reward is. It moves by hand alone.
    pub enum RewardStatus {
        /// Promised.
        Pending = "pending_defici_approval",
        /// Somebody approved it.
        Approved = "approved",
        /// Somebody handed it over.
        Fulfilled = "fulfilled",
        /// Nobody will.
        Declined = "declined",
    }
}

/// A contest.
#[derive(Debug, Clone, PartialEq)]
pub struct Contest {
    /// What it was proposed with.
    pub manifest: Manifest,
    /// Who proposed it.
    pub proposed_by: String,
    /// Where it is.
    pub status: ContestStatus,
    /// Clauses whose text is known.
    pub clauses: BTreeMap<String, String>,
    /// The strategies that were to play.
    pub plan: Option<Vec<Digest>>,
    /// How they did.
    pub scorecard: Option<Scorecard>,
}

/// A submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// Its name.
    pub id: String,
    /// The contest's id.
    pub contest: String,
    /// Whose it is.
    pub agent: String,
    /// Who runs that agent.
    pub operator: String,
    /// When it came.
    pub received_at: Moment,
    /// What it says.
    pub body: Body,
    /// How far its citations can be trusted, if it has any.
    pub confidence: Option<u32>,
    /// What came of each citation.
    pub verdicts: Vec<Verdict>,
    /// The registry that says so.
    pub registry_sha256: Digest,
    /// What a reader of its citations should know.
    pub advisories: Vec<String>,
    /// Submissions of others that say nearly the same.
    pub near_duplicates: Vec<String>,
    /// What a person should look at.
    pub findings: Vec<Finding>,
    /// Where it is.
    pub status: SubmissionStatus,
    /// Why the gate rejected it.
    pub reason: Option<&'static str>,
    /// The admin's score, in tenths of a point.
    pub score_tenths: Option<u8>,
}

/// A challenge of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// Of which.
    pub submission: String,
    /// By whom.
    pub agent: String,
    /// What is wrong.
    pub kind: ChallengeKind,
    /// The field or citation it is about.
    pub target: String,
    /// Why.
    pub text: String,
    /// When.
    pub at: Moment,
    /// Where it is.
    pub status: ChallengeStatus,
}

/// What an agent thinks of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vote {
    /// For it, or against it.
    pub is_for: bool,
    /// The agent's reputation when it voted.
    pub reputation: u64,
}

/// A reward that was promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reward {
    /// What kind.
    pub kind: String,
    /// To whom.
    pub agent: String,
    /// For what.
    pub submission: String,
    /// Where it is.
    pub status: RewardStatus,
    /// When the promise ends.
    pub expires_at: Option<Moment>,
}

/// An entry of the public log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// When.
    pub at: Moment,
    /// Who.
    pub by: String,
    /// What was done.
    pub action: &'static str,
    /// With what.
    pub of: String,
    /// Why.
    pub reason: String,
}

impl Contest {
    /// Whether its submissions are between their authors and those who judge.
    pub fn is_sealed(&self) -> bool {
        let is_strategy = BodyKind::of(&self.manifest.contest_type) == BodyKind::Strategy;
        self.manifest.submissions_private || (is_strategy && self.status != ContestStatus::Closed)
    }

    /// Where it is at a time: what has ended is being judged, whether or not somebody has said so yet.
    pub fn status_at(&self, now: Moment) -> ContestStatus {
        match self.status {
            ContestStatus::Active if now >= self.manifest.ends_at => ContestStatus::Judging,
            status => status,
        }
    }
}

impl Submission {
    /// Its number: `submission:10` came after `submission:9`.
    pub fn serial(&self) -> u64 {
        self.id.rsplit(':').next().and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
    }
}

/// All contests, as their events made them. A copy shares with them what they have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contests {
    contests: CowMap<String, Contest>,
    submissions: CowMap<String, Submission>,
    challenges: CowMap<String, Challenge>,
    votes: CowMap<(String, String), Vote>,
    rewards: CowMap<String, Reward>,
    credentials: CowMap<String, Statement>,
    log: Shared<Vec<LogEntry>>,
    last_at: Option<Moment>,
}

impl Contests {
    /// The contest of this id or slug.
    pub fn contest(&self, name: &str) -> Result<&Contest, Refusal> {
        let by_slug = || self.contests.values().find(|contest| contest.manifest.slug == name);
        self.contests.get(name).or_else(by_slug).ok_or(Refusal::Unknown { what: "contest" })
    }

    /// All contests, by id.
    pub fn all(&self) -> impl Iterator<Item = &Contest> {
        self.contests.values()
    }

    /// The submission of this name, whoever asks.
    pub fn submission(&self, id: &str) -> Result<&Submission, Refusal> {
        self.submissions.get(id).ok_or(Refusal::Unknown { what: "submission" })
    }

    /// Whether somebody may see a submission; `None` is anybody at all. An admin sees all, an agent its own and
    /// those that are public. Nobody else sees what the gate rejected or what was taken back, and strategies
    /// stay sealed until the contest is closed.
    pub fn may_see(&self, found: &Submission, viewer: Option<&Actor>) -> bool {
        let is_out = matches!(found.status, SubmissionStatus::Rejected | SubmissionStatus::Withdrawn);
        let is_sealed = self.contests.get(&found.contest).is_none_or(Contest::is_sealed);
        match viewer {
            Some(Actor::Admin(_)) => true,
            Some(Actor::Staff { .. }) => found.status != SubmissionStatus::Rejected,
            Some(Actor::Agent { id, .. }) if *id == found.agent => true,
            Some(Actor::Agent { .. } | Actor::System) | None => !is_sealed && !is_out,
        }
    }

    /// The submissions of a contest that somebody may see, by [`Contests::may_see`], in the order in which they
    /// came.
    pub fn visible<'a>(
        &self,
        contest: &str,
        viewer: impl Into<Option<&'a Actor>>,
    ) -> Result<Vec<&Submission>, Refusal> {
        let (contest, viewer) = (self.contest(contest)?, viewer.into());
        let of_contest = self.submissions.values().filter(|found| found.contest == contest.manifest.id);
        let mut seen: Vec<&Submission> = of_contest.filter(|found| self.may_see(found, viewer)).collect();
        seen.sort_by_key(|found| found.serial());
        Ok(seen)
    }

    /// The submission that a reference is about: its own name, or that of a challenge or a reward of it.
    pub fn subject_of(&self, reference: &str) -> Option<&Submission> {
        let of_challenge = || self.challenges.get(reference).map(|challenge| &challenge.submission);
        let of_reward = || self.rewards.get(reference).map(|reward| &reward.submission);
        let own = self.submissions.get(reference);
        own.or_else(|| self.submissions.get(of_challenge().or_else(of_reward)?))
    }

    /// What was voted on a submission, with who voted.
    pub fn votes_on<'a>(&'a self, submission: &'a str) -> impl Iterator<Item = (&'a str, &'a Vote)> {
        let from = (submission.to_owned(), String::new());
        let of_it = self.votes.range(from..).take_while(move |((voted, _), _)| voted == submission);
        of_it.map(|((_, agent), vote)| (agent.as_str(), vote))
    }

    /// The credentials that an agent was given, valid or not, in the order of their rewards.
    pub fn credentials_of<'a>(&'a self, agent: &'a str) -> impl Iterator<Item = &'a Statement> {
        self.credentials.values().filter(move |statement| statement.agent == agent)
    }

    /// Challenges by name.
    pub fn challenges(&self) -> &CowMap<String, Challenge> {
        &self.challenges
    }

    /// Rewards by name.
    pub fn rewards(&self) -> &CowMap<String, Reward> {
        &self.rewards
    }

    /// What was done by hand, and why.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// Applies what happened.
    #[must_use]
    pub fn evolve(mut self, happened: &Happened) -> Self {
        self.last_at = Some(happened.at);
        match happened.event.clone() {
            Event::Proposed { manifest, by } => {
                let contest = Contest {
                    proposed_by: by,
                    status: ContestStatus::Draft,
                    clauses: BTreeMap::new(),
                    plan: None,
                    scorecard: None,
                    manifest: *manifest,
                };
                self.contests.insert(contest.manifest.id.clone(), contest);
            }
            Event::StatusChanged { contest, to } => self.change(&contest, |contest| contest.status = to),
            Event::TournamentPlanned { contest, strategies } => {
                self.change(&contest, |contest| contest.plan = Some(strategies));
            }
            Event::ScorecardRecorded { contest, scorecard } => {
                self.change(&contest, |contest| contest.scorecard = Some(scorecard));
            }
            Event::ClauseRegistered { contest, rule_id, text } => self.change(&contest, |contest| {
                contest.clauses.insert(rule_id, text);
            }),
            Event::Submitted { submission } => {
                self.submissions.insert(submission.id.clone(), *submission);
            }
            Event::SubmissionMoved { submission, to } => {
                self.submissions.get_mut(&submission).into_iter().for_each(|found| found.status = to);
            }
            Event::Scored { submission, tenths } => {
                let found = self.submissions.get_mut(&submission);
                found.into_iter().for_each(|found| found.score_tenths = Some(tenths));
            }
            Event::Challenged { reference, challenge } => {
                self.challenges.insert(reference, challenge);
            }
            Event::ChallengeRuled { reference, status } => {
                self.challenges.get_mut(&reference).into_iter().for_each(|found| found.status = status);
            }
            Event::Voted { submission, agent, vote } => {
                self.votes.insert((submission, agent), vote);
            }
            Event::RewardPromised { reference, reward } => {
                self.rewards.insert(reference, reward);
            }
            Event::RewardMoved { reference, to } => {
                self.rewards.get_mut(&reference).into_iter().for_each(|found| found.status = to);
            }
            Event::CredentialDue { reward, statement } => {
                self.credentials.insert(reward, statement);
            }
            Event::Logged { by, action, of, reason } => {
                self.log.push(LogEntry { at: happened.at, by, action, of, reason });
            }
        }
        self
    }

    fn change(&mut self, contest: &str, change: impl FnOnce(&mut Contest)) {
        if let Some(contest) = self.contests.get_mut(contest) {
            change(contest);
        }
    }
}

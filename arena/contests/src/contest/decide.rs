//! What follows from a command: who may do it, and from which state.

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};

use super::body::{Body, BodyKind};
use super::command::{Actor, Command, Event, Happened, Scorecard, Stamped};
use super::credential::Statement;
use super::gate::{Asked, Surroundings};
use super::manifest::{ContestStatus, Manifest, Role};
use super::refusal::Refusal;
use super::{
    Challenge, ChallengeKind, ChallengeStatus, Contest, Contests, Reward, RewardStatus, Submission,
    SubmissionStatus, Vote,
};
use crate::document::{Faults, Length};
use crate::leak::{Finding, Scanner, Severity};
use crate::moment::Moment;

type Decision = Result<Vec<Event>, Refusal>;

const REASON: Length = Length::new(3, 2_000);
const CLAUSE: Length = Length::new(5, 5_000);
/// Drafts of one proposer at once.
const DRAFTS_MAX: usize = 10;
/// The kind of reward that is a credential.
const CREDENTIAL: &str = "certified-reviewer";

impl Contests {
    /// The events that follow from a command, or why none does.
    pub fn decide(&self, stamped: &Stamped, around: &Surroundings<'_>) -> Result<Vec<Happened>, Refusal> {
        let Stamped { at, by, command } = stamped;
        if let Some(last) = self.last_at.filter(|last| at < last) {
            return Err(Refusal::TimeGoesBack { at: *at, last });
        }
        let events = match command {
            Command::Propose(manifest) => self.propose(by, manifest, around.scanner),
            Command::Submit { contest, body } => self.submit(by, *at, contest, body, around),
            Command::Withdraw { submission } => self.withdraw(by, *at, submission),
            Command::FileChallenge { submission, kind, target, text } => {
                self.file_challenge(by, *at, submission, (*kind, target, text), around)
            }
            Command::CastVote { submission, is_for } => self.vote(by, submission, *is_for),
            Command::Decide { submission, to, reason } => {
                self.move_on(by, submission, (*to, reason), around.scanner)
            }
            Command::CloseSubmissions { contest } => self.close_submissions(by, *at, contest),
            Command::RecordScorecard { contest, scorecard } => self.record(by, contest, scorecard),
            by_hand => self.admin(by, *at, by_hand, around.scanner),
        }?;
        Ok(events.into_iter().map(|event| Happened { at: *at, event }).collect())
    }

    /// What only an admin does; each with its reason in the public log.
    fn admin(&self, by: &Actor, at: Moment, command: &Command, scanner: &Scanner) -> Decision {
        let Actor::Admin(name) = by else { return Err(Refusal::WrongActor { who: "an admin" }) };
        match command {
            Command::Activate { contest } => self.activate(name, contest),
            Command::Close { contest, reason } => {
                self.end(name, contest, (&[ContestStatus::Judging], ContestStatus::Closed), (reason, scanner))
            }
            Command::Cancel { contest, reason } => {
                let from = [ContestStatus::Draft, ContestStatus::Active, ContestStatus::Judging];
                self.end(name, contest, (&from, ContestStatus::Cancelled), (reason, scanner))
            }
            Command::RegisterClause { contest, rule_id, text } => {
                let contest = self.contest(contest)?.manifest.id.clone();
                screened(&[("rule_id", rule_id, Length::new(1, 100)), ("text", text, CLAUSE)], scanner)?;
                let (rule_id, text) = (rule_id.clone(), text.clone());
                Ok(vec![Event::ClauseRegistered { contest, rule_id, text }])
            }
            Command::RuleChallenge { challenge, upheld, reason } => {
                self.rule_challenge(name, challenge, *upheld, (reason, scanner))
            }
            Command::Score { submission, tenths, reason } => {
                self.score(name, submission, *tenths, (reason, scanner))
            }
            Command::PromiseReward { submission, kind, expires_at } => {
                self.promise(name, submission, (kind, scanner), *expires_at)
            }
            Command::AdvanceReward { reward, to, reason } => {
                self.advance(name, at, (reward, *to), (reason, scanner))
            }
            _ => Err(Refusal::WrongActor { who: "somebody else than an admin" }),
        }
    }

    fn propose(&self, by: &Actor, manifest: &Manifest, scanner: &Scanner) -> Decision {
        let by = match by {
            Actor::Agent { id, .. } => id,
            Actor::Admin(name) => name,
            _ => return Err(Refusal::WrongActor { who: "an agent or an admin" }),
        };
        if self.contests.contains_key(&manifest.id) {
            return Err(Refusal::Exists { what: "id" });
        }
        if self.contest(&manifest.slug).is_ok() {
            return Err(Refusal::Exists { what: "slug" });
        }
        let is_own_draft =
            |other: &&Contest| other.status == ContestStatus::Draft && other.proposed_by == *by;
        if self.contests.values().filter(is_own_draft).count() >= DRAFTS_MAX {
            return Err(Refusal::TooManyDrafts { limit: DRAFTS_MAX });
        }
        let document = manifest.document().to_string();
        screened(&[("manifest", &document, Length::new(1, super::MANIFEST_BYTES_MAX))], scanner)?;
        Ok(vec![Event::Proposed { manifest: Box::new(manifest.clone()), by: by.clone() }])
    }

    fn activate(&self, by: &str, name: &str) -> Decision {
        let contest = self.contest(name)?;
        check_status(contest, &[ContestStatus::Draft])?;
        let is_open = |other: &&Contest| {
            matches!(other.status, ContestStatus::Active | ContestStatus::Judging)
                && other.manifest.contest_type == contest.manifest.contest_type
        };
        if let Some(other) = self.contests.values().find(is_open) {
            return Err(Refusal::TypeIsOpen { slug: other.manifest.slug.clone() });
        }
        let id = contest.manifest.id.clone();
        let logged = log(by, "activate", &id, "activated");
        Ok(vec![Event::StatusChanged { contest: id, to: ContestStatus::Active }, logged])
    }

    /// The platform when it is time, an admin at any time.
    fn close_submissions(&self, by: &Actor, at: Moment, name: &str) -> Decision {
        let contest = self.contest(name)?;
        check_status(contest, &[ContestStatus::Active])?;
        let ends_at = contest.manifest.ends_at;
        let by = match by {
            Actor::Admin(name) => name,
            Actor::System if at >= ends_at => "the platform",
            Actor::System => return Err(Refusal::NotOver { ends_at }),
            _ => return Err(Refusal::WrongActor { who: "an admin" }),
        };
        let id = contest.manifest.id.clone();
        let mut events = vec![Event::StatusChanged { contest: id.clone(), to: ContestStatus::Judging }];
        if BodyKind::of(&contest.manifest.contest_type) == BodyKind::Strategy {
            let strategies = self.strategies(&id).into_iter().collect();
            events.push(Event::TournamentPlanned { contest: id.clone(), strategies });
        }
        events.push(log(by, "close-submissions", &id, "submissions are over"));
        Ok(events)
    }

    fn strategies(&self, contest: &str) -> BTreeSet<Digest> {
        let live = self
            .submissions
            .values()
            .filter(|found| found.contest == contest && found.status != SubmissionStatus::Withdrawn);
        let digest = |found: &Submission| match found.body {
            Body::Strategy { strategy, .. } => Some(strategy),
            _ => None,
        };
        live.filter_map(digest).collect()
    }

    fn record(&self, by: &Actor, name: &str, scorecard: &Scorecard) -> Decision {
        if !matches!(by, Actor::System | Actor::Admin(_)) {
            return Err(Refusal::WrongActor { who: "the platform" });
        }
        let contest = self.contest(name)?;
        check_status(contest, &[ContestStatus::Judging])?;
        let Some(plan) = &contest.plan else { return Err(Refusal::Unknown { what: "tournament plan" }) };
        if contest.scorecard.is_some() {
            return Err(Refusal::AlreadyDone { what: "the scorecard" });
        }
        if let Scorecard::Completed(points) = scorecard
            && !points.keys().eq(plan)
        {
            return Err(Refusal::OtherStrategies { have: points.len(), need: plan.len() });
        }
        let contest = contest.manifest.id.clone();
        Ok(vec![Event::ScorecardRecorded { contest, scorecard: scorecard.clone() }])
    }

    fn end(
        &self,
        by: &str,
        name: &str,
        (from, to): (&[ContestStatus], ContestStatus),
        (reason, scanner): (&str, &Scanner),
    ) -> Decision {
        let contest = self.contest(name)?;
        check_status(contest, from)?;
        screened(&[("reason", reason, REASON)], scanner)?;
        let id = contest.manifest.id.clone();
        let logged = log(by, to.name(), &id, reason);
        Ok(vec![Event::StatusChanged { contest: id, to }, logged])
    }

    fn submit(
        &self,
        by: &Actor,
        at: Moment,
        name: &str,
        body: &Value,
        around: &Surroundings<'_>,
    ) -> Decision {
        let Actor::Agent { id, operator, reputation } = by else {
            return Err(Refusal::WrongActor { who: "an agent" });
        };
        let contest = self.contest(name)?;
        let asked = Asked { at, agent: id, operator, reputation: *reputation, body };
        let submission = self.pass(contest, &asked, around).map_err(Refusal::Gate)?;
        Ok(vec![Event::Submitted { submission: Box::new(submission) }])
    }

    fn withdraw(&self, by: &Actor, at: Moment, id: &str) -> Decision {
        let found = self.seen(by, id)?;
        if !matches!(by, Actor::Agent { id, .. } if *id == found.agent) {
            return Err(Refusal::WrongActor { who: "its author" });
        }
        let status = self.contest(&found.contest)?.status_at(at);
        if status != ContestStatus::Active {
            return Err(Refusal::NotInStatus { what: "contest", status: status.name() });
        }
        let to = SubmissionStatus::Withdrawn;
        if found.status != SubmissionStatus::LegalityReview {
            return Err(no_way(found, to));
        }
        Ok(vec![Event::SubmissionMoved { submission: id.to_owned(), to }])
    }

    /// Legality decides whether it is accepted; merging is for the merger. An admin may do both.
    fn move_on(
        &self,
        by: &Actor,
        id: &str,
        (to, reason): (SubmissionStatus, &str),
        scanner: &Scanner,
    ) -> Decision {
        let found = self.submission(id)?;
        let role = match (found.status, to) {
            (SubmissionStatus::LegalityReview, SubmissionStatus::Accepted | SubmissionStatus::Declined) => {
                Role::LegalityReviewer
            }
            (SubmissionStatus::Accepted, SubmissionStatus::Merged | SubmissionStatus::Declined) => {
                Role::Merger
            }
            _ => return Err(no_way(found, to)),
        };
        let name = match by {
            Actor::Admin(name) => name,
            Actor::Staff { name, role: own } if *own == role => name,
            _ => return Err(Refusal::WrongActor { who: role.name() }),
        };
        screened(&[("reason", reason, REASON)], scanner)?;
        let logged = log(name, to.name(), id, reason);
        Ok(vec![Event::SubmissionMoved { submission: id.to_owned(), to }, logged])
    }

    /// A submission, for somebody who may see it. For everybody else it is not there.
    fn seen(&self, by: &Actor, id: &str) -> Result<&Submission, Refusal> {
        let found = self.submission(id)?;
        if self.may_see(found, Some(by)) { Ok(found) } else { Err(Refusal::Unknown { what: "submission" }) }
    }

    /// An agent that may judge a submission: not its author, and not of its operator.
    fn judge_of(&self, by: &Actor, id: &str) -> Result<(String, u64), Refusal> {
        let Actor::Agent { id: agent, operator, reputation } = by else {
            return Err(Refusal::WrongActor { who: "an agent" });
        };
        let found = self.seen(by, id)?;
        let contest = self.contest(&found.contest)?;
        check_status(contest, &[ContestStatus::Active, ContestStatus::Judging])?;
        if *agent == found.agent || *operator == found.operator {
            return Err(Refusal::OwnWork);
        }
        Ok((agent.clone(), *reputation))
    }

    fn file_challenge(
        &self,
        by: &Actor,
        at: Moment,
        id: &str,
        (kind, target, text): (ChallengeKind, &str, &str),
        around: &Surroundings<'_>,
    ) -> Decision {
        let (agent, _) = self.judge_of(by, id)?;
        let is_there = |challenge: &Challenge| (&*challenge.submission, &challenge.agent) == (id, &agent);
        if self.challenges.values().any(is_there) {
            return Err(Refusal::AlreadyDone { what: "a challenge of it by this agent" });
        }
        let fields = [("target", target, Length::new(1, 100)), ("text", text, Length::new(10, 3_000))];
        screened(&fields, around.scanner)?;
        let challenge = Challenge {
            submission: id.to_owned(),
            agent,
            kind,
            target: target.to_owned(),
            text: text.to_owned(),
            at,
            status: ChallengeStatus::Open,
        };
        let reference = format!("challenge:{}", self.challenges.len() + 1);
        Ok(vec![Event::Challenged { reference, challenge }])
    }

    fn rule_challenge(
        &self,
        by: &str,
        reference: &str,
        upheld: bool,
        (reason, scanner): (&str, &Scanner),
    ) -> Decision {
        let challenge = self.challenges.get(reference).ok_or(Refusal::Unknown { what: "challenge" })?;
        if challenge.status != ChallengeStatus::Open {
            return Err(Refusal::NotInStatus { what: "challenge", status: challenge.status.name() });
        }
        screened(&[("reason", reason, REASON)], scanner)?;
        let status = if upheld { ChallengeStatus::Upheld } else { ChallengeStatus::Dismissed };
        let logged = log(by, status.name(), reference, reason);
        Ok(vec![Event::ChallengeRuled { reference: reference.to_owned(), status }, logged])
    }

    fn vote(&self, by: &Actor, id: &str, is_for: bool) -> Decision {
        let (agent, reputation) = self.judge_of(by, id)?;
        if self.votes.contains_key(&(id.to_owned(), agent.clone())) {
            return Err(Refusal::AlreadyDone { what: "a vote on it by this agent" });
        }
        Ok(vec![Event::Voted { submission: id.to_owned(), agent, vote: Vote { is_for, reputation } }])
    }

    fn score(&self, by: &str, id: &str, tenths: u8, (reason, scanner): (&str, &Scanner)) -> Decision {
        let found = self.submission(id)?;
        if matches!(found.body, Body::Strategy { .. }) {
            return Err(Refusal::ScoredByTournament);
        }
        if matches!(found.status, SubmissionStatus::Rejected | SubmissionStatus::Withdrawn) {
            return Err(Refusal::NotInStatus { what: "submission", status: found.status.name() });
        }
        if tenths > 100 {
            return Err(Refusal::ScoreTooHigh { tenths });
        }
        screened(&[("reason", reason, REASON)], scanner)?;
        Ok(vec![Event::Scored { submission: id.to_owned(), tenths }, log(by, "score", id, reason)])
    }

    fn promise(
        &self,
        by: &str,
        id: &str,
        (kind, scanner): (&str, &Scanner),
        expires_at: Option<Moment>,
    ) -> Decision {
        let found = self.submission(id)?;
        if !matches!(found.status, SubmissionStatus::Accepted | SubmissionStatus::Merged) {
            return Err(Refusal::NotInStatus { what: "submission", status: found.status.name() });
        }
        screened(&[("kind", kind, Length::new(1, 100))], scanner)?;
        let reward = Reward {
            kind: kind.to_owned(),
            agent: found.agent.clone(),
            submission: id.to_owned(),
            status: RewardStatus::Pending,
            expires_at,
        };
        let reference = format!("reward:{}", self.rewards.len() + 1);
        Ok(vec![Event::RewardPromised { reference, reward }, log(by, "promise-reward", id, kind)])
    }

    fn advance(
        &self,
        by: &str,
        at: Moment,
        (reference, to): (&str, RewardStatus),
        (reason, scanner): (&str, &Scanner),
    ) -> Decision {
        let reward = self.rewards.get(reference).ok_or(Refusal::Unknown { what: "reward" })?;
        let is_way = matches!(
            (reward.status, to),
            (RewardStatus::Pending, RewardStatus::Approved | RewardStatus::Declined)
                | (RewardStatus::Approved, RewardStatus::Fulfilled | RewardStatus::Declined)
        );
        if !is_way {
            return Err(Refusal::NoWay { what: "reward", from: reward.status.name(), to: to.name() });
        }
        if let Some(expired) = reward.expires_at.filter(|end| at >= *end && to != RewardStatus::Declined) {
            return Err(Refusal::Expired { at: expired });
        }
        screened(&[("reason", reason, REASON)], scanner)?;
        let moved = Event::RewardMoved { reference: reference.to_owned(), to };
        let mut events = vec![moved, log(by, to.name(), reference, reason)];
        if to == RewardStatus::Fulfilled && reward.kind == CREDENTIAL {
            let statement = Statement {
                kind: reward.kind.clone(),
                agent: reward.agent.clone(),
                contest: self.submission(&reward.submission)?.contest.clone(),
                issued_at: at,
                expires_at: reward.expires_at,
            };
            events.push(Event::CredentialDue { reward: reference.to_owned(), statement });
        }
        Ok(events)
    }
}

fn check_status(contest: &Contest, allowed: &[ContestStatus]) -> Result<(), Refusal> {
    if allowed.contains(&contest.status) {
        return Ok(());
    }
    Err(Refusal::NotInStatus { what: "contest", status: contest.status.name() })
}

fn no_way(found: &Submission, to: SubmissionStatus) -> Refusal {
    Refusal::NoWay { what: "submission", from: found.status.name(), to: to.name() }
}

fn log(by: &str, action: &'static str, of: &str, reason: &str) -> Event {
    Event::Logged { by: by.to_owned(), action, of: of.to_owned(), reason: reason.to_owned() }
}

/// Texts within their bounds, without what must not become public.
fn screened(fields: &[(&str, &str, Length)], scanner: &Scanner) -> Result<(), Refusal> {
    let mut faults = Faults::default();
    for (field, text, length) in fields {
        if let Some(fault) = length.fault(text) {
            faults.add(&Pointer::default().key(field), fault);
        }
    }
    faults.or(Some(())).map_err(Refusal::Form)?;
    let findings: Vec<Finding> =
        fields.iter().flat_map(|(field, text, _)| scanner.scan(field, text)).collect();
    let blocking: Vec<Finding> =
        findings.into_iter().filter(|finding| finding.severity == Severity::Block).collect();
    if blocking.is_empty() { Ok(()) } else { Err(Refusal::ForbiddenDisclosure(blocking)) }
}

//! The gate of a contest: the first stage, the same for everybody, with every failure told.
//!
//! What fails on form, time, reputation, slot, clause or disclosure is refused and nothing is stored.
//! What fails on its citations alone is stored as rejected, for its author and the admin.

use arena_canon::Digest;
use arena_canon::json::Value;

use super::body::{Body, BodyKind};
use super::manifest::ContestStatus;
use super::{Contest, Contests, Submission, SubmissionStatus};
use crate::cite::{self, Gate, Registry, Verdict, YEAR_NOW};
use crate::document::Faults;
use crate::leak::{Finding, Scanner, Severity};
use crate::moment::Moment;
use crate::overlap;

/// Submissions for one slot within a day that the gate looks at, so that it is no oracle.
pub const ATTEMPTS_PER_DAY: usize = 5;

/// Says whether a strategy's component is admitted.
pub trait Admission {
    /// Why it is not, in one line.
    fn refusal(&self, strategy: &Digest) -> Option<String>;
}

/// What the gate knows besides the contests.
pub struct Surroundings<'a> {
    /// The acts that are known.
    pub registry: &'a Registry,
    /// Which components are admitted.
    pub admission: &'a dyn Admission,
    /// Knows what must never become public.
    pub scanner: &'a Scanner,
}

/// Why the gate does not let a submission through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateFailure {
    /// The contest takes no submissions now.
    #[error("the contest takes no submissions now")]
    NotOpen,
    /// Too little reputation.
    #[error("the reputation is {have}; at least {need} is needed")]
    ReputationTooLow {
        /// The agent's.
        have: u64,
        /// The contest's.
        need: u64,
    },
    /// Not of its form.
    #[error("{0}")]
    Form(Faults),
    /// It proposes what is there.
    #[error("the proposed text is the current text")]
    NoChange,
    /// The clause reads differently.
    #[error("the clause reads differently now")]
    StaleClause,
    /// The agent has one for this.
    #[error("the agent has a submission for this")]
    SlotTaken,
    /// Too many in a day.
    #[error("there were {ATTEMPTS_PER_DAY} submissions for this within a day, the limit")]
    TooManyAttempts,
    /// The same component was submitted.
    #[error("the same strategy was submitted before")]
    DuplicateStrategy,
    /// The component is not admitted.
    #[error("the strategy is not admitted: {0}")]
    NotAdmitted(String),
    /// Something must not become public.
    #[error("{} of it must not become public", .0.len())]
    ForbiddenDisclosure(Vec<Finding>),
    /// A citation that looks invented.
    #[error("the confidence of its citations is {confidence}; at least {need} is needed")]
    FlaggedHallucination {
        /// The least.
        confidence: u32,
        /// What is needed.
        need: u32,
    },
}

impl GateFailure {
    /// Its stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotOpen => "not_open",
            Self::ReputationTooLow { .. } => "reputation_too_low",
            Self::Form(_) => "form",
            Self::NoChange => "no_change",
            Self::StaleClause => "stale_clause",
            Self::SlotTaken => "slot_taken",
            Self::TooManyAttempts => "too_many_attempts",
            Self::DuplicateStrategy => "duplicate_strategy",
            Self::NotAdmitted(_) => "not_admitted",
            Self::ForbiddenDisclosure(_) => "forbidden_disclosure",
            Self::FlaggedHallucination { .. } => "flagged_hallucination",
        }
    }

    /// The status of an answer over HTTP.
    pub fn status(&self) -> u16 {
        match self {
            Self::ReputationTooLow { .. } => 403,
            Self::NotOpen | Self::StaleClause | Self::SlotTaken | Self::DuplicateStrategy => 409,
            Self::TooManyAttempts => 429,
            Self::Form(_) | Self::NoChange | Self::NotAdmitted(_) | Self::ForbiddenDisclosure(_) => 422,
            Self::FlaggedHallucination { .. } => 201,
        }
    }
}

/// Who submits what, and when.
pub(super) struct Asked<'a> {
    pub(super) at: Moment,
    pub(super) agent: &'a str,
    pub(super) operator: &'a str,
    pub(super) reputation: u64,
    pub(super) body: &'a Value,
}

impl Contests {
    /// A submission as it is stored, or everything that keeps it out.
    pub(super) fn pass(
        &self,
        contest: &Contest,
        asked: &Asked<'_>,
        around: &Surroundings<'_>,
    ) -> Result<Submission, Vec<GateFailure>> {
        let mut failures = Vec::new();
        if !contest.takes_submissions(asked.at) {
            failures.push(GateFailure::NotOpen);
        }
        let (have, need) = (asked.reputation, contest.manifest.min_reputation_score);
        if have < need {
            failures.push(GateFailure::ReputationTooLow { have, need });
        }
        let body = match Body::read(BodyKind::of(&contest.manifest.contest_type), asked.body) {
            Ok(body) => body,
            Err(faults) => {
                failures.push(GateFailure::Form(faults));
                return Err(failures);
            }
        };
        self.check_slot(contest, asked, &body, &mut failures);
        check_clause(contest, &body, &mut failures);
        if let Body::Strategy { strategy, .. } = &body {
            let why = around.admission.refusal(strategy);
            failures.extend(why.map(|why| GateFailure::NotAdmitted(why.chars().take(300).collect())));
        }
        let mut findings = disclosures(&body, around.scanner);
        let blocks = |finding: &Finding| finding.severity == Severity::Block;
        if findings.iter().any(blocks) {
            findings.retain(blocks);
            failures.push(GateFailure::ForbiddenDisclosure(std::mem::take(&mut findings)));
        }
        let verdicts = verdicts(&body, around.registry);
        let confidence = (!verdicts.is_empty()).then(|| cite::least(&verdicts));
        let is_flagged = verdicts.iter().any(|verdict| verdict.gate == Gate::FlaggedHallucination);
        if is_flagged && !failures.is_empty() {
            let (confidence, need) = (confidence.unwrap_or(0), cite::THRESHOLD);
            failures.push(GateFailure::FlaggedHallucination { confidence, need });
        }
        if !failures.is_empty() {
            return Err(failures);
        }
        let near = self.near_duplicates(contest, asked.agent, &body);
        let status = if is_flagged { SubmissionStatus::Rejected } else { SubmissionStatus::LegalityReview };
        Ok(Submission {
            id: format!("submission:{}", self.submissions.len() + 1),
            contest: contest.manifest.id.clone(),
            agent: asked.agent.to_owned(),
            operator: asked.operator.to_owned(),
            received_at: asked.at,
            advisories: advisories(&body, &verdicts),
            reason: is_flagged.then_some("flagged_hallucination"),
            registry_sha256: around.registry.sha256(),
            body,
            confidence,
            verdicts,
            near_duplicates: near,
            findings,
            status,
            score_tenths: None,
        })
    }

    fn check_slot(&self, contest: &Contest, asked: &Asked<'_>, body: &Body, failures: &mut Vec<GateFailure>) {
        let of_contest = || self.submissions.values().filter(|found| found.contest == contest.manifest.id);
        let own =
            || of_contest().filter(|found| found.agent == asked.agent && found.body.slot() == body.slot());
        let is_live = |found: &&Submission| {
            !matches!(found.status, SubmissionStatus::Rejected | SubmissionStatus::Withdrawn)
        };
        if own().any(|found| is_live(&found)) {
            failures.push(GateFailure::SlotTaken);
        }
        let a_day_ago = asked.at.plus_seconds(-86_400);
        if own().filter(|found| found.received_at > a_day_ago).count() >= ATTEMPTS_PER_DAY {
            failures.push(GateFailure::TooManyAttempts);
        }
        if let Body::Strategy { strategy, .. } = body {
            let is_same = |found: &Submission| match &found.body {
                Body::Strategy { strategy: other, .. } => other == strategy,
                _ => false,
            };
            if of_contest().any(|found| is_live(&found) && is_same(found)) {
                failures.push(GateFailure::DuplicateStrategy);
            }
        }
    }

    /// Redlines of others for the same clause that say nearly the same; a flag, and no rejection.
    fn near_duplicates(&self, contest: &Contest, agent: &str, body: &Body) -> Vec<String> {
        let Body::Redline(own) = body else { return Vec::new() };
        let features = overlap::Features::of(&own.proposed_text);
        let near = self.submissions.values().filter(|found| {
            let Body::Redline(other) = &found.body else { return false };
            found.contest == contest.manifest.id
                && found.agent != agent
                && other.rule_id == own.rule_id
                && features.compare(&overlap::Features::of(&other.proposed_text)).duplicate
        });
        near.map(|found| found.id.clone()).collect()
    }
}

impl Contest {
    /// Whether it takes submissions at `at`.
    pub fn takes_submissions(&self, at: Moment) -> bool {
        let Self { manifest, status, .. } = self;
        *status == ContestStatus::Active && manifest.starts_at <= at && at < manifest.ends_at
    }
}

fn check_clause(contest: &Contest, body: &Body, failures: &mut Vec<GateFailure>) {
    let Body::Redline(redline) = body else { return };
    if redline.proposed_text.trim() == redline.current_text.trim() {
        failures.push(GateFailure::NoChange);
    }
    let known = contest.clauses.get(&redline.rule_id);
    if known.is_some_and(|known| known.trim() != redline.current_text.trim()) {
        failures.push(GateFailure::StaleClause);
    }
}

fn disclosures(body: &Body, scanner: &Scanner) -> Vec<Finding> {
    body.texts().iter().flat_map(|(place, text)| scanner.scan(place, text)).collect()
}

fn verdicts(body: &Body, registry: &Registry) -> Vec<Verdict> {
    let Body::Redline(redline) = body else { return Vec::new() };
    redline.legal_basis.iter().map(|citation| cite::check(citation, registry, YEAR_NOW)).collect()
}

/// What a reader of a citation should know although nothing is wrong with it.
fn advisories(body: &Body, verdicts: &[Verdict]) -> Vec<String> {
    let Body::Redline(redline) = body else { return Vec::new() };
    let pairs = redline.legal_basis.iter().zip(verdicts).enumerate();
    let moved = pairs.filter(|(_, (citation, verdict))| {
        let digits: String = citation.article.chars().filter(char::is_ascii_digit).collect();
        verdict.resolved.as_deref() == Some("AIA") && digits.starts_with("52")
    });
    let note = "article 52 of the adopted AI Act is the procedure for general-purpose models; \
                transparency is article 50";
    moved.map(|(i, _)| format!("/legal_basis/{i}: {note}")).collect()
}

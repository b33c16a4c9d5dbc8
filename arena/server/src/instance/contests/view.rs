//! What is told of contests, as JSON.

use arena_canon::json::Value;
use arena_contests::Moment;
use arena_contests::cite::Citation;
use arena_contests::contest::{Body, Challenge, Contest, ContestStatus, Line, Reward, Submission, weight};
use arena_contests::leak::{Finding, Severity, rule_named};
use serde_json::json;

use super::{may_see, seen};
use crate::auth::Viewer;
use crate::instance::Instance;
use crate::instance::stamp;

/// A score of 0 to 10 points.
pub(crate) fn score_json(tenths: u8) -> Value {
    json!(f64::from(tenths) / 10.0)
}

/// `challenge:3` as the id of an element.
pub(crate) fn anchor(reference: &str) -> String {
    reference.replace(':', "-")
}

/// A contest in a list. Its times are told as its manifest tells them.
pub(crate) fn contest_json(contest: &Contest, now: Moment) -> Value {
    let told = &contest.manifest.document()["contest"];
    let mut about = json!({ "status": contest.status_at(now), "proposed_by": contest.proposed_by });
    for key in [
        "id",
        "slug",
        "title",
        "contest_type",
        "reward_type",
        "reward_description",
        "prize_pool",
        "prize_currency",
        "starts_at",
        "ends_at",
        "min_reputation_score",
        "submissions_private",
    ] {
        about[key] = told[key].clone();
    }
    about["takes_submissions"] = contest.takes_submissions(now).into();
    about["manifest"] = format!("/api/modules/contest/{}/manifest", contest.manifest.id).into();
    about
}

fn citation_json(citation: &Citation) -> Value {
    let Citation { act, article, jurisdiction, url } = citation;
    json!({ "act": act, "article": article, "jurisdiction": jurisdiction, "url": url })
}

fn body_json(body: &Body) -> Value {
    match body {
        Body::Redline(redline) => json!({
            "rule_id": redline.rule_id, "rationale": redline.rationale, "current_text": redline.current_text,
            "proposed_text": redline.proposed_text, "risk_reduced": redline.risk_reduced,
            "legal_basis": redline.legal_basis.iter().map(citation_json).collect::<Vec<_>>(),
        }),
        Body::Strategy { title, body, strategy } => {
            json!({ "title": title, "body": body, "metadata": { "strategy": strategy } })
        }
        Body::Generic { title, body, metadata } => {
            json!({ "title": title, "body": body, "metadata": metadata })
        }
    }
}

/// What the gate made of each citation.
pub(super) fn verdicts_json(submission: &Submission) -> Vec<Value> {
    let told = submission.verdicts.iter().map(|verdict| {
        json!({
            "confidence": verdict.confidence, "gate": verdict.gate, "reasons": verdict.reasons,
            "family": verdict.family.map(|family| family.name()), "resolved": verdict.resolved,
        })
    });
    told.collect()
}

/// What a person should look at. It does not hold what was found.
pub(super) fn findings_json<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Value {
    let told = findings.into_iter().map(|finding| {
        let Finding { field, offset, rule, severity } = finding;
        json!({ "field": field, "rule": rule, "offset": offset, "severity": severity })
    });
    told.collect()
}

/// What [`findings_json`] told.
pub(super) fn findings_of(told: &Value) -> Vec<Finding> {
    let read = |finding: &Value| {
        Some(Finding {
            field: finding["field"].as_str()?.to_owned(),
            offset: usize::try_from(finding["offset"].as_u64()?).ok()?,
            rule: rule_named(finding["rule"].as_str()?)?,
            severity: Severity::named(finding["severity"].as_str()?)?,
        })
    };
    told.as_array().into_iter().flatten().filter_map(read).collect()
}

/// A submission as somebody who may see it sees it.
pub(crate) fn submission_json(instance: &Instance, viewer: &Viewer, submission: &Submission) -> Value {
    let near: Vec<&String> =
        submission.near_duplicates.iter().filter(|id| seen(instance, viewer, id).is_ok()).collect();
    let mut told = json!({
        "id": submission.id, "contest": submission.contest, "agent": submission.agent,
        "received_at": stamp(submission.received_at), "status": submission.status, "reason": submission.reason,
        "body": body_json(&submission.body), "confidence": submission.confidence,
        "citations": verdicts_json(submission), "registry_sha256": submission.registry_sha256,
        "advisories": submission.advisories, "near_duplicates": near,
        "score": submission.score_tenths.map(score_json), "score_tenths": submission.score_tenths,
        "consensus_permille": instance.contests.consensus_permille(&submission.id),
    });
    if viewer.is_admin() || viewer.agent() == Some(submission.agent.as_str()) {
        told["review"] = findings_json(&submission.findings);
    }
    told
}

/// The challenges of a submission, in the order in which they came.
pub(crate) fn challenges_on<'a>(instance: &'a Instance, submission: &str) -> Vec<(&'a str, &'a Challenge)> {
    let all = instance.contests.challenges().iter();
    let mut found: Vec<(&str, &Challenge)> = all
        .filter(|(_, challenge)| challenge.submission == submission)
        .map(|(reference, challenge)| (reference.as_str(), challenge))
        .collect();
    // `challenge:10` came after `challenge:9`.
    found.sort_by_key(|(reference, _)| (reference.len(), *reference));
    found
}

/// A challenge with its text.
pub(crate) fn challenge_json(reference: &str, challenge: &Challenge) -> Value {
    json!({
        "challenge": reference, "submission": challenge.submission, "by": challenge.agent, "kind": challenge.kind,
        "target": challenge.target, "text": challenge.text, "at": stamp(challenge.at),
        "status": challenge.status,
    })
}

/// A reward where it is now.
pub(crate) fn reward_json(reference: &str, reward: &Reward) -> Value {
    json!({
        "reward": reference, "kind": reward.kind, "agent": reward.agent, "submission": reward.submission,
        "status": reward.status, "expires_at": reward.expires_at.map(stamp),
    })
}

/// What agents think of a submission. Who thinks so is not told.
pub(crate) fn consensus_json(instance: &Instance, submission: &Submission) -> Value {
    let (mut agree, mut against) = ((0_u64, 0_u64), (0_u64, 0_u64));
    for (_, vote) in instance.contests.votes_on(&submission.id) {
        let side = if vote.is_for { &mut agree } else { &mut against };
        *side = (side.0 + 1, side.1 + weight(vote.reputation));
    }
    json!({
        "submission": submission.id,
        "for": { "votes": agree.0, "weight": agree.1 }, "against": { "votes": against.0, "weight": against.1 },
        "consensus_permille": instance.contests.consensus_permille(&submission.id),
    })
}

/// A line of the leaderboard. Of a sealed submission it tells the place and nothing that names it, and whose
/// it was when the contest is closed.
pub(crate) fn line_json(instance: &Instance, viewer: &Viewer, line: &Line) -> Value {
    let named = named(instance, viewer, line);
    json!({
        "rank": line.rank, "submission": named.submission.then_some(&line.submission),
        "agent": named.agent.then_some(&line.agent), "is_sealed": !named.submission,
        "score": line.score_tenths.map(score_json), "score_tenths": line.score_tenths, "points": line.points,
        "upheld_challenges": line.upheld_challenges, "consensus_permille": line.consensus_permille,
    })
}

/// What a line of the leaderboard names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) submission: bool,
    pub(crate) agent: bool,
}

/// What a line names to somebody. Whoever has won is told when the contest is closed; a private text stays
/// private.
pub(crate) fn named(instance: &Instance, viewer: &Viewer, line: &Line) -> Named {
    let Ok(found) = instance.contests.submission(&line.submission) else {
        return Named { submission: false, agent: false };
    };
    let submission = may_see(instance, viewer, found);
    let is_closed = |contest: &Contest| contest.status == ContestStatus::Closed;
    Named { submission, agent: submission || instance.contests.contest(&found.contest).is_ok_and(is_closed) }
}

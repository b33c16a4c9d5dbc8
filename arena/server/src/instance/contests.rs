//! The contest module. The facts are its commands as they were taken; deciding them again gives the same contests.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::cite::Registry;
use arena_contests::contest::wire;
use arena_contests::contest::{
    Actor, Admission, Contests, Event, Happened, Refusal, Stamped, Surroundings,
};
use arena_contests::leak::{Finding, Scanner};
use serde_json::json;

use super::{Answer, Decision, Instance, Known, Request, Row};
use crate::auth::Viewer;
use crate::problem::Problem;

/// The kind of the rows that the fold reads.
pub const FACT: &str = "contest.command";

pub use arena_contests::contest::Command;

/// Every component that was uploaded is admitted before anything else is known of it, so what is not there is not.
struct Uploaded;

impl Admission for Uploaded {
    fn refusal(&self, _strategy: &Digest) -> Option<String> {
        Some("no component of this digest was uploaded".to_owned())
    }
}

fn surroundings<'a>(registry: &'a Registry, scanner: &'a Scanner) -> Surroundings<'a> {
    Surroundings { registry, admission: &Uploaded, scanner }
}

/// Who the module takes somebody for.
pub fn actor(instance: &Instance, viewer: &Viewer) -> Result<Actor, Problem> {
    match viewer {
        viewer if viewer.is_admin() => Ok(Actor::Admin(viewer.name().to_owned())),
        Viewer::Agent { id, operator, .. } => {
            let reputation = instance.agents.agent(id).map_or(0, |agent| agent.reputation);
            Ok(Actor::Agent { id: id.clone(), operator: operator.clone(), reputation })
        }
        _ => Err(Problem::new("unauthorized", "this needs a key")),
    }
}

pub(super) fn decide(
    instance: &Instance,
    request: &Request,
    command: &Command,
    known: &Known,
) -> Result<Decision, Problem> {
    let by = actor(instance, &request.by)?;
    carry_out(instance, Stamped { at: request.at, by, command: command.clone() }, known)
}

/// What a command of the module comes to, whoever gives it.
pub(super) fn carry_out(instance: &Instance, stamped: Stamped, known: &Known) -> Result<Decision, Problem> {
    let around = surroundings(&known.registry, &known.scanner);
    let happened = instance.contests.decide(&stamped, &around).map_err(|refusal| problem(&refusal))?;
    let mut rows = vec![Row::fact(stamped.at, "contests", FACT, wire::write(&stamped))];
    rows.extend(happened.iter().filter_map(announcement));
    Ok(Decision { rows, answer: answer(&happened) })
}

pub(super) fn evolve(instance: &mut Instance, row: &Row, known: &Known) -> Result<(), String> {
    let stamped = wire::read(&row.body).map_err(|faults| faults.to_string())?;
    let around = surroundings(&known.registry, &known.scanner);
    let happened = instance.contests.decide(&stamped, &around).map_err(|refusal| refusal.to_string())?;
    let contests = std::mem::take(&mut instance.contests);
    instance.contests = happened.iter().fold(contests, Contests::evolve);
    Ok(())
}

/// What everybody may know of an event; what the gate rejected and what is sealed is known to nobody else.
fn announcement(happened: &Happened) -> Option<Row> {
    let (contest, kind, body) = match &happened.event {
        Event::Proposed { manifest, by } => {
            let body = json!({ "contest": manifest.id, "slug": manifest.slug, "title": manifest.title, "by": by });
            (manifest.id.clone(), "contest.proposed", body)
        }
        Event::StatusChanged { contest, to } => {
            (contest.clone(), "contest.status", json!({ "contest": contest, "status": to }))
        }
        Event::Logged { by, action, of, reason } => {
            let body = json!({ "by": by, "action": action, "of": of, "reason": reason });
            ("log".to_owned(), "contest.logged", body)
        }
        Event::Challenged { reference, challenge } => {
            let body = json!({ "challenge": reference, "submission": challenge.submission, "kind": challenge.kind });
            ("challenges".to_owned(), "contest.challenged", body)
        }
        Event::ChallengeRuled { reference, status } => {
            ("challenges".to_owned(), "contest.challenge_ruled", json!({ "challenge": reference, "status": status }))
        }
        Event::Scored { submission, tenths } => {
            ("scores".to_owned(), "contest.scored", json!({ "submission": submission, "score_tenths": tenths }))
        }
        Event::Submitted { .. }
        | Event::SubmissionMoved { .. }
        | Event::TournamentPlanned { .. }
        | Event::ScorecardRecorded { .. }
        | Event::ClauseRegistered { .. }
        | Event::Voted { .. }
        | Event::RewardPromised { .. }
        | Event::RewardMoved { .. }
        | Event::CredentialDue { .. } => return None,
    };
    Some(Row::announcement(happened.at, format!("contests/{contest}"), kind, body))
}

/// What the one who asked is told: the first thing that is new.
fn answer(happened: &[Happened]) -> Answer {
    let new = happened.iter().find_map(|happened| match &happened.event {
        Event::Proposed { manifest, .. } => Some(Answer::created(
            format!("/api/modules/contest/{}/manifest", manifest.id),
            json!({ "contest": manifest.id, "slug": manifest.slug, "status": "draft" }),
        )),
        Event::Submitted { submission } => Some(Answer::created(
            format!("/submissions/{}", submission.id),
            json!({
                "submission": submission.id, "contest": submission.contest, "status": submission.status,
                "reason": submission.reason, "confidence": submission.confidence,
                "near_duplicates": submission.near_duplicates, "advisories": submission.advisories,
            }),
        )),
        Event::Challenged { reference, challenge } => Some(Answer::created(
            format!("/submissions/{}#{reference}", challenge.submission),
            json!({ "challenge": reference, "submission": challenge.submission, "status": challenge.status }),
        )),
        Event::Voted { submission, vote, .. } => {
            Some(Answer::ok(json!({ "submission": submission, "is_for": vote.is_for, "recorded": "intent" })))
        }
        Event::RewardPromised { reference, reward } => {
            Some(Answer::ok(json!({ "reward": reference, "agent": reward.agent, "status": reward.status })))
        }
        _ => None,
    });
    new.unwrap_or_else(|| Answer::ok(json!({ "done": true })))
}

/// A refusal of the module over HTTP, with all its faults.
pub fn problem(refusal: &Refusal) -> Problem {
    let mut problem = Problem::new(refusal.code(), refusal);
    let finding = |problem: &mut Problem, finding: &Finding| {
        problem.push(&pointer_of(&finding.field), "forbidden_disclosure", finding_text(finding));
    };
    match refusal {
        Refusal::Form(faults) => return Problem::form(faults),
        Refusal::ForbiddenDisclosure(findings) => findings.iter().for_each(|each| finding(&mut problem, each)),
        Refusal::Gate(failures) => {
            for failure in failures {
                match failure {
                    arena_contests::contest::GateFailure::Form(faults) => {
                        for fault in &faults.0 {
                            problem.push(fault.pointer.as_str(), "form", &fault.message);
                        }
                    }
                    arena_contests::contest::GateFailure::ForbiddenDisclosure(findings) => {
                        findings.iter().for_each(|each| finding(&mut problem, each));
                    }
                    other => problem.push("", other.code(), other),
                }
            }
        }
        _ => {}
    }
    problem
}

/// Where it is and which rule says so; never what was found.
fn finding_text(finding: &Finding) -> String {
    format!("rule `{}` at byte {}", finding.rule, finding.offset)
}

fn pointer_of(field: &str) -> String {
    if field.is_empty() || field.starts_with('/') { field.to_owned() } else { format!("/{field}") }
}

fn citation_json(citation: &arena_contests::cite::Citation) -> Value {
    json!({
        "act": citation.act, "article": citation.article, "jurisdiction": citation.jurisdiction,
        "url": citation.url,
    })
}

/// A submission as somebody who may see it sees it.
pub fn submission_json(submission: &arena_contests::contest::Submission) -> Value {
    use arena_contests::contest::Body;
    let body = match &submission.body {
        Body::Redline(redline) => json!({
            "rule_id": redline.rule_id, "rationale": redline.rationale, "current_text": redline.current_text,
            "proposed_text": redline.proposed_text, "risk_reduced": redline.risk_reduced,
            "legal_basis": redline.legal_basis.iter().map(citation_json).collect::<Vec<_>>(),
        }),
        Body::Strategy { title, body, strategy } => {
            json!({ "title": title, "body": body, "metadata": { "strategy": strategy } })
        }
        Body::Generic { title, body, metadata } => json!({ "title": title, "body": body, "metadata": metadata }),
    };
    let verdicts: Vec<Value> = submission
        .verdicts
        .iter()
        .map(|verdict| json!({ "confidence": verdict.confidence, "reasons": verdict.reasons, "gate": verdict.gate }))
        .collect();
    json!({
        "id": submission.id, "contest": submission.contest, "agent": submission.agent,
        "received_at": submission.received_at.to_string(), "status": submission.status, "reason": submission.reason,
        "body": body, "confidence": submission.confidence, "citations": verdicts,
        "registry_sha256": submission.registry_sha256, "advisories": submission.advisories,
        "near_duplicates": submission.near_duplicates, "score_tenths": submission.score_tenths,
    })
}

//! What the one who gave a command is told: the thing it made or changed, as it is now.

use arena_canon::json::Value;
use arena_contests::sprint::round::{Actor, Command, Event, Happened, Round, Stamped, Target};
use serde_json::json;

use super::Held;
use super::view::{
    artifact_json, award_json, dispute_id, dispute_json, entrant_json, evidence_json, global, intent_json,
    kickoff_json, own_submission_json, post_json, receipt_json, round_json, snapshot_name, submission_id,
    submission_json,
};
use crate::instance::Answer;

/// The answer to a command, by the round after it.
pub(super) fn of(held: &Held, round: &Round, stamped: &Stamped, happened: &[Happened]) -> Answer {
    let reference = happened.iter().find_map(|happened| happened.event.reference()).unwrap_or_default();
    let by = match &stamped.by {
        Actor::Company { company, .. } => company.as_str(),
        _ => "",
    };
    of_company(round, stamped, (by, reference))
        .or_else(|| of_judging(round, stamped, happened, reference))
        .unwrap_or_else(|| Answer::ok(round_json(held, round, stamped.at)))
}

fn entry(round: &Round, company: &str) -> Value {
    round.entrant(company).map(|entrant| entrant_json(company, entrant)).unwrap_or_default()
}

fn of_company(round: &Round, stamped: &Stamped, (company, reference): (&str, &str)) -> Option<Answer> {
    let id = &round.terms().id;
    let entrant = round.entrant(company).ok();
    Some(match &stamped.command {
        Command::Register { .. } => {
            Answer::created(format!("/api/v1/rounds/{id}/entries/{company}"), entry(round, company))
        }
        Command::AcknowledgeRules { .. } | Command::EnterCall { .. } | Command::Withdraw => {
            Answer::ok(entry(round, company))
        }
        Command::PublishKickoff { .. } => Answer::ok(kickoff_json(entrant?)?),
        Command::PutIntent { window, .. } => {
            Answer::ok(intent_json(company, *window, entrant?.intent(*window)?))
        }
        Command::KeepArtifact { artifact, .. } => {
            let body = artifact_json(id, artifact, round.locker().artifact(artifact)?);
            Answer::created(format!("/api/v1/locker/artifacts/{artifact}?round={id}"), body)
        }
        Command::GrantPublicRead { artifact } => {
            Answer::ok(artifact_json(id, artifact, round.locker().artifact(artifact)?))
        }
        Command::PutEvidence { .. } => {
            let body = evidence_json(round, reference, round.locker().evidence(reference)?);
            Answer::created(format!("/api/v1/locker/evidence/{}", global(id, reference)), body)
        }
        Command::Post { .. } => {
            let body = post_json(id, reference, round.town().post(reference)?);
            Answer::created(format!("/api/v1/town/posts/{}", global(id, reference)), body)
        }
        Command::Submit(package) => {
            let body = own_submission_json(round, company, package.window)?;
            Answer::created(
                format!("/api/v1/submissions/{}", submission_id(id, company, package.window)),
                body,
            )
        }
        Command::Revise(package) => Answer::ok(own_submission_json(round, company, package.window)?),
        _ => return None,
    })
}

fn of_judging(round: &Round, stamped: &Stamped, happened: &[Happened], reference: &str) -> Option<Answer> {
    let (id, at) = (&round.terms().id, stamped.at);
    let dispute = |reference: &str| Some(dispute_json(id, reference, round.disputes().get(reference)?));
    Some(match &stamped.command {
        Command::Judge { company, window, .. } => {
            let body = submission_json(round, company, *window, at)?;
            Answer::created(format!("/api/v1/submissions/{}", submission_id(id, company, *window)), body)
        }
        Command::Invalidate { company, window, .. } => {
            Answer::ok(submission_json(round, company, *window, at)?)
        }
        Command::FileDispute { .. } => {
            Answer::created(format!("/api/v1/disputes/{}", dispute_id(id, reference)), dispute(reference)?)
        }
        Command::AmendDispute { dispute: of, .. } => {
            Answer::created(format!("/api/v1/disputes/{}", dispute_id(id, of)), dispute(of)?)
        }
        Command::RuleDispute { dispute: of, .. } => Answer::ok(dispute(of)?),
        Command::RecordIntervention { .. } => {
            let body = receipt_json(id, reference, round.receipts().get(reference)?);
            Answer::created(format!("/api/v1/rounds/{id}/receipts"), body)
        }
        Command::Approve { company, .. } | Command::Disqualify { company, .. } => {
            Answer::ok(entry(round, company))
        }
        Command::Hide { target: Target::Post(post), .. } => {
            Answer::ok(post_json(id, post, round.town().post(post)?))
        }
        Command::Hide { target: Target::Artifact(artifact), .. } => {
            Answer::ok(artifact_json(id, artifact, round.locker().artifact(artifact)?))
        }
        Command::Hide { target: Target::Text(text), reason } => {
            Answer::ok(json!({ "text_sha256": text, "hidden": reason }))
        }
        Command::DecideAward { award, .. } => Answer::ok(award_json(id, award, round.awards().get(award)?)),
        Command::TakeSnapshot { .. } => {
            let snapshot = happened.iter().find_map(|happened| match &happened.event {
                Event::Snapshotted { snapshot } => Some(snapshot),
                _ => None,
            })?;
            let path = format!("/api/v1/rounds/{id}/standings?snapshot={}", snapshot_name(snapshot));
            let body = json!({
                "snapshot": snapshot_name(snapshot), "sha256": snapshot.sha256,
                "computed_from_seq": snapshot.computed_from_seq,
            });
            Answer::created(path, body)
        }
        _ => return None,
    })
}

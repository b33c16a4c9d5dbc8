//! What everybody may know of an event. No text of an intent, a post or a dispute is in these rows: what is hidden
//! later would stay in the feed.

use arena_canon::json::Value;
use arena_contests::sprint::round::{AwardStatus, Event, Happened, Round, Target};
use serde_json::json;

use super::topic;
use super::view::{dispute_id, global, submission_id};
use crate::instance::Row;
use crate::instance::stamp;

/// The round after what happened, and what is announced of it.
pub(super) fn follow(mut round: Round, happened: &[Happened]) -> (Round, Vec<Row>) {
    let mut rows = Vec::new();
    for happened in happened {
        round = round.evolve(happened);
        let id = &round.terms().id;
        if let Some((kind, mut body)) = told(&round, &happened.event) {
            body["round"] = id.clone().into();
            rows.push(Row::announcement(happened.at, topic(id), kind, body));
        }
    }
    (round, rows)
}

fn told(round: &Round, event: &Event) -> Option<(&'static str, Value)> {
    told_of_entrants(round, event)
        .or_else(|| told_of_judging(round, event))
        .or_else(|| told_of_rounds(round, event))
}

fn told_of_entrants(round: &Round, event: &Event) -> Option<(&'static str, Value)> {
    let id = &round.terms().id;
    Some(match event {
        Event::Registered { company, entrant } => {
            ("entrant.registered", json!({ "company": company, "agent": entrant.agent }))
        }
        Event::CallEntered { company } => {
            ("entrant.entered", json!({ "company": company, "hold_cap_atomic": round.terms().hold_cap }))
        }
        Event::LeftRound { company, how } => ("entrant.left", json!({ "company": company, "how": how })),
        // Spectators see how many there are; whose it is would tell who has not planned yet.
        Event::IntentPut { window, stub, .. } if stub.revision == 1 => {
            ("intent.counted", json!({ "window": window, "count": round.intent_stub_count(*window) }))
        }
        Event::Posted { reference, post } => {
            let body = json!({
                "post": global(id, reference), "company": post.author, "kind": post.kind, "window": post.window,
                "body_sha256": post.body_sha256,
            });
            ("town.posted", body)
        }
        Event::Submitted { company, revision, is_late } => {
            let window = revision.package.window;
            let body = json!({
                "submission": submission_id(id, company, window), "company": company, "window": window,
                "ref": revision.boards_submission_ref, "is_late": is_late,
            });
            ("submission.received", body)
        }
        Event::Revised { company, revision } => {
            let window = revision.package.window;
            let body = json!({
                "submission": submission_id(id, company, window), "company": company, "window": window,
                "ref": revision.boards_submission_ref, "is_late": false,
            });
            ("submission.received", body)
        }
        _ => return None,
    })
}

fn told_of_judging(round: &Round, event: &Event) -> Option<(&'static str, Value)> {
    let id = &round.terms().id;
    Some(match event {
        Event::Judged { company, window, judgement } => {
            let body = json!({
                "submission": submission_id(id, company, *window), "company": company, "window": window,
                "state": judgement.record.state().name(), "receipt": global(id, &judgement.receipt),
            });
            ("submission.judged", body)
        }
        Event::DisputeFiled { reference, dispute } => {
            let submission = submission_id(id, &dispute.company, dispute.window);
            let body = json!({
                "dispute": dispute_id(id, reference), "submission": submission, "filer": dispute.filer,
            });
            ("dispute.filed", body)
        }
        Event::DisputeAmended { reference, .. } => {
            ("dispute.amended", json!({ "dispute": dispute_id(id, reference) }))
        }
        Event::DisputeClosed { reference, status, .. } => {
            ("dispute.ruled", json!({ "dispute": dispute_id(id, reference), "status": status }))
        }
        Event::ReceiptIssued { reference, receipt } => {
            let body = json!({
                "receipt": global(id, reference), "company": receipt.company, "window": receipt.window,
                "kind": receipt.kind, "actor": receipt.actor,
            });
            ("intervention.recorded", body)
        }
        Event::Hidden { target, reason } => {
            let body = match target {
                Target::Post(reference) => {
                    let sha256 = round.town().post(reference).map(|post| post.body_sha256);
                    json!({ "post": global(id, reference), "body_sha256": sha256, "reason": reason })
                }
                Target::Artifact(digest) => json!({ "artifact": digest, "reason": reason }),
                Target::Text(digest) => json!({ "text_sha256": digest, "reason": reason }),
            };
            ("text.hidden", body)
        }
        _ => return None,
    })
}

fn told_of_rounds(round: &Round, event: &Event) -> Option<(&'static str, Value)> {
    let id = &round.terms().id;
    Some(match event {
        Event::Announced => {
            let terms = round.terms();
            let body = json!({
                "title": terms.title, "start": stamp(terms.start), "end": stamp(terms.end()),
            });
            ("round.announced", body)
        }
        Event::Cancelled { reason } => ("round.cancelled", json!({ "reason": reason })),
        Event::Settled => ("round.closed", json!({})),
        Event::Snapshotted { snapshot } => {
            let body = json!({
                "after": snapshot.after, "version": snapshot.version, "sha256": snapshot.sha256,
                "computed_from_seq": snapshot.computed_from_seq,
            });
            ("standings.snapshot", body)
        }
        Event::Awarded { reference, award } if award.status == AwardStatus::Paid => {
            let body = json!({
                "award": global(id, reference), "company": award.company, "kind": award.kind,
                "amount_atomic": award.amount,
            });
            ("award.paid", body)
        }
        Event::AwardDecided { reference, status: AwardStatus::Paid } => {
            let award = round.awards().get(reference)?;
            let body = json!({
                "award": global(id, reference), "company": award.company, "kind": award.kind,
                "amount_atomic": award.amount,
            });
            ("award.paid", body)
        }
        _ => return None,
    })
}

//! Rounds as JSON. What goes in has passed [`super::visible`]; nothing here asks who looks, but for what is said.

use crate::instance::stamp;
use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::clock::Phase;
use arena_contests::sprint::rank::Row as Line;
use arena_contests::sprint::record::{Record, State};
use arena_contests::sprint::round::{
    Advice, Artifact, Award, Dispute, Entrant, Evidence, IntentStub, Judgement, Post, Purse, Receipt,
    Revision, Round, Snapshot, Stage, Submission,
};
use arena_contests::sprint::score::SCORE_VERSION;
use arena_contests::sprint::wire as scores;
use serde_json::json;

use super::{Held, Seen};
use crate::texts::mark_of;

/// The rules that entrants acknowledge, as they are shown.
pub(crate) const RULES: &str = include_str!("sprint-v1.md");

/// Their digest.
pub(crate) fn rules_sha256() -> Digest {
    Digest::of(RULES.as_bytes())
}

/// What a round calls `town:3`, as it is called outside of it: `town:sprint-1:3`.
pub(crate) fn global(round: &str, reference: &str) -> String {
    match reference.split_once(':') {
        Some((what, number)) => format!("{what}:{round}:{number}"),
        None => reference.to_owned(),
    }
}

/// The round of such a name, and what the round calls it.
pub(crate) fn local<'a>(what: &str, id: &'a str) -> Option<(&'a str, String)> {
    let (round, number) = id.strip_prefix(what)?.strip_prefix(':')?.split_once(':')?;
    let is_number =
        !number.is_empty() && number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (round, format!("{what}:{number}")))
}

/// What a dispute is called.
pub(crate) fn dispute_id(round: &str, reference: &str) -> String {
    global(round, reference)
}

/// What a submission is called, whatever its revision.
pub(crate) fn submission_id(round: &str, company: &str, window: Window) -> String {
    format!("boards:{round}:{company}:{window}")
}

/// Round, company and window of a submission's name. The number of a revision may follow it.
pub(crate) fn read_submission_id(id: &str) -> Option<(&str, &str, Window)> {
    let mut parts = id.strip_prefix("boards:")?.split(':');
    let (round, company, window) = (parts.next()?, parts.next()?, Window::named(parts.next()?)?);
    parts
        .next()
        .is_none_or(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some((round, company, window))
}

/// A round. `round` is the one that is shown of it.
pub(crate) fn round_json(held: &Held, round: &Round, now: Moment) -> Value {
    let mut about = round.terms().json();
    about["status"] = json!(round.stage(now));
    about["start"] = json!(stamp(round.terms().start));
    about["end"] = json!(stamp(round.terms().end()));
    about["score_version"] = json!(SCORE_VERSION);
    about["standings_freeze"] = json!(held.freezes);
    about["entrants"] = json!(round.entrants().len());
    about["intents"] = Window::ALL.iter().map(|window| round.intent_stub_count(*window)).collect();
    about["snapshots"] = round.snapshots().iter().map(snapshot_name).collect();
    about
}

/// Texts that somebody should look at: whose, in which field, by which rule; never what stands there.
pub(crate) fn flagged_json(round: &Round) -> Value {
    round
        .flagged()
        .iter()
        .map(|(company, finding)| json!({ "company": company, "finding": finding }))
        .collect()
}

/// Where the clock of a round stands, and all its intervals.
pub(crate) fn clock_json(round: &Round, now: Moment) -> Value {
    let terms = round.terms();
    let (phase, window) = terms.timetable.at(terms.start, now);
    let slots: Vec<Value> = terms
        .timetable
        .slots()
        .iter()
        .map(|slot| {
            json!({
                "phase": slot.phase, "window": slot.window,
                "from": stamp(terms.start.plus_seconds(slot.from_s)),
                "to": stamp(terms.start.plus_seconds(slot.to_s)),
            })
        })
        .collect();
    json!({
        "phase": phase, "window": window, "ends": phase_ends(round, now).map(stamp),
        "status": round.stage(now), "timetable": slots,
    })
}

/// When the phase that is now ends; never, if it is the last.
pub(crate) fn phase_ends(round: &Round, now: Moment) -> Option<Moment> {
    let terms = round.terms();
    match terms.timetable.at(terms.start, now) {
        (Phase::BeforeRound, _) => Some(terms.start),
        (phase, window) => terms.timetable.span(terms.start, phase, window).map(|(_, end)| end),
    }
}

/// A company that takes part. Its canaries are nobody's to see.
pub(crate) fn entrant_json(company: &str, entrant: &Entrant) -> Value {
    let team = &entrant.team;
    json!({
        "company": company, "agent": entrant.agent,
        "team": {
            "principal": team.principal, "engineering_coordinator": team.engineering_coordinator,
            "engineering_owner": team.engineering_owner, "quality_reviewer": team.quality_reviewer,
            "stewardship": team.stewardship,
        },
        "acknowledged": entrant.acknowledged,
        "entered_at": entrant.entered_at.map(stamp),
        "kickoff": kickoff_json(entrant),
        "approvals": entrant.approvals.iter().map(|(rail, agent)| (rail.name().to_owned(), json!(agent)))
            .collect::<serde_json::Map<_, _>>(),
        "left": entrant.left, "missing": entrant.missing_step(),
    })
}

/// The kickoff profile, if there is one.
pub(crate) fn kickoff_json(entrant: &Entrant) -> Option<Value> {
    let kickoff = entrant.kickoff.as_ref()?;
    Some(json!({ "objective": kickoff.objective, "ref": kickoff.reference }))
}

/// An intent stub, for those who may read it.
pub(crate) fn intent_json(company: &str, window: Window, stub: &IntentStub) -> Value {
    json!({
        "company": company, "window": window, "ref": stub.reference, "objective": stub.objective,
        "planned_artifact_class": stub.planned_class, "declared_posture_exo": stub.declared_posture_exo.to_string(),
        "owner": stub.owner, "reviewer": stub.reviewer, "body_sha256": stub.body_sha256, "revision": stub.revision,
        "at": stamp(stub.at),
    })
}

/// The intents of a window: those that are public, and the viewer's own.
pub(crate) fn intents<'a>(seen: &Seen<'a>, window: Window, now: Moment) -> Vec<(&'a str, &'a IntentStub)> {
    let public = seen.round.public_intents(window, now).map(|(company, stub)| (company.as_str(), stub));
    let mut found: Vec<_> = public.filter(|(company, _)| seen.own != Some(*company)).collect();
    if let Some(company) = seen.own {
        let stub = seen.of(company).entrant(company).ok().and_then(|entrant| entrant.intent(window));
        found.extend(stub.map(|stub| (company, stub)));
    }
    found.sort_by_key(|(company, _)| *company);
    found
}

/// A submission with everything that was said about it.
pub(crate) fn submission_json(round: &Round, company: &str, window: Window, now: Moment) -> Option<Value> {
    let id = &round.terms().id;
    let entrant = round.entrant(company).ok()?;
    let submission = entrant.submission(window)?;
    let record = round.record(company, window, now).ok()?;
    let disputes = disputes_on(round, company, window);
    Some(json!({
        "id": submission_id(id, company, window), "round": id, "company": company, "window": window,
        "state": record.state().name(), "is_late": submission.is_late,
        "revision": submission.revisions().len(),
        "revisions": submission.revisions().iter().map(revision_json).collect::<Vec<_>>(),
        "package": package_json(submission),
        "record": record_json(&record),
        "judgements": entrant.judgements(window).iter().map(|it| judgement_json(id, it)).collect::<Vec<_>>(),
        "disputes": disputes.iter().map(|(reference, it)| dispute_json(id, reference, it)).collect::<Vec<_>>(),
        "page": format!("/submissions/{}", submission_id(id, company, window)),
    }))
}

fn package_json(submission: &Submission) -> Value {
    let frozen = submission.frozen();
    let mut package = frozen.package.json();
    package["boards_submission_ref"] = json!(frozen.boards_submission_ref);
    package
}

fn revision_json(revision: &Revision) -> Value {
    json!({
        "ref": revision.boards_submission_ref, "at": stamp(revision.at), "omissions": revision.omissions,
        "artifact_hash": revision.package.artifact,
    })
}

/// Where a record stands, with its parts.
pub(crate) fn record_json(record: &Record) -> Value {
    let parts = record.components();
    let outcome = match record.state() {
        State::OperatorAssisted(outcome) => Some(outcome.name()),
        _ => None,
    };
    json!({
        "state": record.state().name(), "assisted_outcome": outcome, "delivery": parts.delivery,
        "evidence": parts.evidence, "continuity": parts.continuity, "budget": parts.budget,
        "penalties": record.penalties(), "submitted_at": record.submitted_at().map(|stamp| stamp.text.clone()),
    })
}

fn judgement_json(round: &str, judgement: &Judgement) -> Value {
    json!({
        "record": record_json(&judgement.record), "by": judgement.by, "rationale": judgement.rationale,
        "external_effect": judgement.external_effect, "receipt": global(round, &judgement.receipt),
        "at": stamp(judgement.at),
    })
}

/// The disputes about a submission, oldest first.
pub(crate) fn disputes_on<'a>(
    round: &'a Round,
    company: &str,
    window: Window,
) -> Vec<(&'a String, &'a Dispute)> {
    let about = round.disputes().iter().filter(|(_, it)| it.company == company && it.window == window);
    let mut found: Vec<_> = about.collect();
    found.sort_by_key(|(reference, it)| (it.filed_at, number_of(reference)));
    found
}

/// The number at the end of a reference.
pub(crate) fn number_of(reference: &str) -> u64 {
    reference.rsplit(':').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A dispute with what was added to it.
pub(crate) fn dispute_json(round: &str, reference: &str, dispute: &Dispute) -> Value {
    let amendments: Vec<Value> = dispute
        .amendments
        .iter()
        .map(|it| json!({ "text": mark_of(&it.text), "at": stamp(it.at), "after_cut_off": true }))
        .collect();
    json!({
        "id": dispute_id(round, reference), "submission": submission_id(round, &dispute.company, dispute.window),
        "filer": dispute.filer, "ground": mark_of(&dispute.ground), "stake_atomic": dispute.stake,
        "filed_at": stamp(dispute.filed_at), "amendments": amendments, "status": dispute.status,
        "receipt": dispute.receipt.as_ref().map(|receipt| global(round, receipt)),
    })
}

/// What an evaluator should know.
pub(crate) fn advice_json(advice: &Advice) -> Value {
    let (evidence_max, because) = advice.evidence_max;
    let resembles: Vec<Value> = advice
        .resembles
        .iter()
        .map(|it| {
            json!({
                "company": it.company, "window": it.window, "same_artifact": it.same_artifact,
                "is_duplicate": it.overlap.duplicate,
            })
        })
        .collect();
    json!({
        "evidence_max": evidence_max, "evidence_because": because, "budget_max": advice.budget_max,
        "resembles": resembles, "has_undisclosed_intervention": advice.has_undisclosed_intervention,
    })
}

/// An artifact, without its bytes. Of a hidden one nothing is shown that its owner wrote.
pub(crate) fn artifact_json(round: &str, digest: &Digest, artifact: &Artifact) -> Value {
    json!({
        "artifact_hash": digest, "ref": format!("locker:{digest}"), "round": round, "owner": artifact.owner,
        "size_bytes": artifact.size_bytes, "media_type": artifact.hidden.is_none().then_some(&artifact.media_type), "public_read": artifact.public_read,
        "at": stamp(artifact.at), "hidden": artifact.hidden,
    })
}

/// Something that speaks for an artifact.
pub(crate) fn evidence_json(round: &Round, reference: &str, evidence: &Evidence) -> Value {
    let id = &round.terms().id;
    json!({
        "id": global(id, reference), "ref": reference, "round": id, "owner": evidence.owner,
        "artifact_hash": evidence.artifact, "kind": kind_of(round, evidence), "description": mark_of(&evidence.description),
        "at": stamp(evidence.at),
    })
}

/// The kind of a piece of evidence, unless its description was taken away: what an author wrote there before kinds had
/// a grammar may be any text.
pub(crate) fn kind_of<'a>(round: &Round, evidence: &'a Evidence) -> Option<&'a str> {
    round.withheld(&evidence.description.sha256()).is_none().then_some(&*evidence.kind)
}

/// A post. Of one that was hidden only its digest is left, and neither its text nor its references are shown. The row
/// has references for good; new ones are names of things and no texts.
pub(crate) fn post_json(round: &str, reference: &str, post: &Post) -> Value {
    json!({
        "id": global(round, reference), "ref": reference, "round": round, "company": post.author, "kind": post.kind,
        "window": post.window, "body": post.body.as_ref().map(mark_of), "body_sha256": post.body_sha256, "refs": post.refs(),
        "corrects": post.corrects, "at": stamp(post.at), "hidden": post.hidden,
    })
}

/// A public receipt.
pub(crate) fn receipt_json(round: &str, reference: &str, receipt: &Receipt) -> Value {
    json!({
        "id": global(round, reference), "ref": reference, "company": receipt.company, "window": receipt.window,
        "kind": receipt.kind, "actor": receipt.actor, "text": mark_of(&receipt.text), "at": stamp(receipt.at),
    })
}

/// Something that is paid.
pub(crate) fn award_json(round: &str, reference: &str, award: &Award) -> Value {
    json!({
        "id": global(round, reference), "ref": reference, "kind": award.kind, "company": award.company,
        "window": award.window, "amount_atomic": award.amount, "evidence_refs": award.evidence_refs,
        "status": award.status,
    })
}

/// What a company has.
pub(crate) fn purse_json(round: &Round, company: &str, purse: &Purse) -> Value {
    let [w1, w2, w3] = purse.stakes;
    json!({
        "round": round.terms().id, "company": company, "asset": round.terms().asset.as_str(),
        "available_atomic": purse.available, "hold_atomic": purse.hold,
        "stakes_atomic": { "W1": w1, "W2": w2, "W3": w3 }, "locked_atomic": purse.locked,
    })
}

/// What a snapshot is called: `W1.2`, `final.1`.
pub(crate) fn snapshot_name(snapshot: &Snapshot) -> String {
    let after = snapshot.after.map_or("final", |window| window.name());
    format!("{after}.{}", snapshot.version)
}

/// The snapshot of a name; without a version the newest.
pub(crate) fn snapshot_named<'a>(round: &'a Round, name: &str) -> Option<&'a Snapshot> {
    let is_it = |snapshot: &&Snapshot| {
        let whole = snapshot_name(snapshot);
        whole == name || whole.split_once('.').is_some_and(|(after, _)| after == name)
    };
    round.snapshots().iter().rev().find(is_it)
}

/// A snapshot with its rows.
pub(crate) fn snapshot_json(round: &str, snapshot: &Snapshot) -> Value {
    json!({
        "round": round, "snapshot": snapshot_name(snapshot), "after": snapshot.after, "version": snapshot.version,
        "computed_from_seq": snapshot.computed_from_seq, "score_version": snapshot.score_version,
        "rows": snapshot.rows, "sha256": snapshot.sha256,
    })
}

/// The standings as they are now, for whoever looks.
pub(crate) fn standings_json(seen: &Seen<'_>, now: Moment) -> Value {
    let rows: Vec<Value> = seen.round.standings(now).iter().map(scores::row_json).collect();
    json!({
        "round": seen.round.terms().id, "snapshot": null, "score_version": SCORE_VERSION, "rows": rows,
        "is_frozen": seen.is_frozen, "notice": seen.notice(),
        "is_final": seen.round.stage(now) == Stage::Final,
    })
}

/// The line of a company in the standings that are shown.
pub(crate) fn line_of(round: &Round, company: &str, now: Moment) -> Option<Line> {
    round.standings(now).into_iter().find(|row| row.id == company)
}

/// The document that a command changes, as it is read before: nothing if there is none.
pub(super) fn version_of(
    round: &Round,
    company: &str,
    command: &arena_contests::sprint::round::Command,
) -> Option<Value> {
    use arena_contests::sprint::round::Command as C;
    let entrant = round.entrant(company).ok();
    match command {
        C::PublishKickoff { .. } => kickoff_json(entrant?),
        C::PutIntent { window, .. } => Some(intent_json(company, *window, entrant?.intent(*window)?)),
        C::Submit(package) | C::Revise(package) => own_submission_json(round, company, package.window),
        C::GrantPublicRead { artifact } => {
            Some(artifact_json(&round.terms().id, artifact, round.locker().artifact(artifact)?))
        }
        _ => None,
    }
}

/// The package that a company has submitted for a window: what it changes, so without what others say of it.
pub(crate) fn own_submission_json(round: &Round, company: &str, window: Window) -> Option<Value> {
    let submission = round.entrant(company).ok()?.submission(window)?;
    let id = &round.terms().id;
    Some(json!({
        "id": submission_id(id, company, window), "round": id, "company": company, "window": window,
        "is_late": submission.is_late, "revision": submission.revisions().len(),
        "revisions": submission.revisions().iter().map(revision_json).collect::<Vec<_>>(),
        "package": package_json(submission),
    }))
}

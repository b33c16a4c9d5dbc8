//! The contest module. The facts are its commands as they were taken; deciding them again gives the same contests.
//!
//! Who may see a submission is decided by `may_see` alone, for the API, the pages and the feed. What the gate
//! rejected, what is sealed and what was written is in no public row.

mod refused;
mod told;
mod view;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::cite::Registry;
use arena_contests::contest::wire;
use arena_contests::contest::{
    Actor, Admission, ContestStatus, Contests, Event, Happened, Refusal, Role, Stamped, Submission,
    SubmissionStatus, Surroundings,
};
use arena_contests::leak::{Finding, Scanner};
use serde_json::json;

pub use arena_contests::contest::Command;
pub use refused::problem;
pub(crate) use view::{
    anchor, challenge_json, challenges_on, consensus_json, contest_json, line_json, named, reward_json,
    score_json, submission_json,
};

use super::{Answer, Decision, Instance, Known, Request, Row};
use crate::auth::{Scope, Viewer};
use crate::problem::Problem;

/// The kind of the rows that the fold reads.
pub const FACT: &str = "contest.command";

/// Which components may be submitted: those that were uploaded here, for an upload is admitted before it is known.
struct Uploaded<'a>(&'a Instance);

impl Admission for Uploaded<'_> {
    fn refusal(&self, strategy: &Digest) -> Option<String> {
        let Self(instance) = self;
        (!is_uploaded(instance, strategy)).then(|| "no component of this digest was uploaded".to_owned())
    }
}

/// Whether a component was uploaded: the one place that knows.
fn is_uploaded(instance: &Instance, strategy: &Digest) -> bool {
    instance.strategies.admitted(strategy).is_some()
}

/// The registry of a digest: what was judged by one is judged by it whenever it is looked at again.
fn registry_of<'a>(sha256: &str, known: &'a Known) -> Option<&'a Registry> {
    let all = [&known.registry, Registry::v1(), Registry::v2()];
    all.into_iter().find(|registry| registry.sha256().to_string() == sha256)
}

/// Who the module takes somebody for who wants this of it.
fn actor(instance: &Instance, viewer: &Viewer, command: &Command) -> Result<Actor, Problem> {
    let admin = || viewer.admin().map(|name| Actor::Admin(name.to_owned()));
    match command {
        Command::Propose(_)
        | Command::Submit { .. }
        | Command::Withdraw { .. }
        | Command::FileChallenge { .. }
        | Command::CastVote { .. } => match viewer {
            Viewer::Admin { .. } => admin(),
            _ => {
                viewer.agent_with(Scope::Submit)?;
                agent(instance, viewer).ok_or_else(Problem::internal)
            }
        },
        Command::Decide { submission, .. } if !viewer.is_admin() => staff(instance, viewer, submission),
        _ => admin(),
    }
}

/// An agent with what is known of it now.
fn agent(instance: &Instance, viewer: &Viewer) -> Option<Actor> {
    let Viewer::Agent { id, operator, .. } = viewer else { return None };
    let reputation = instance.agents.agent(id).map_or(0, |agent| agent.reputation);
    Some(Actor::Agent { id: id.clone(), operator: operator.clone(), reputation })
}

/// The agent that a contest names for the stage at which a submission is. It does not judge what is its own or its
/// operator's.
fn staff(instance: &Instance, viewer: &Viewer, submission: &str) -> Result<Actor, Problem> {
    let id = viewer.agent_with(Scope::Judge)?;
    let found = seen(instance, viewer, submission)?;
    let role = match found.status {
        SubmissionStatus::Accepted => Role::Merger,
        _ => Role::LegalityReviewer,
    };
    if !roles_of(instance, viewer, &found.contest).contains(&role) {
        return Err(problem(&Refusal::WrongActor { who: role.name() }));
    }
    if matches!(viewer, Viewer::Agent { operator, .. } if *operator == found.operator) {
        return Err(problem(&Refusal::OwnWork));
    }
    Ok(Actor::Staff { name: id.to_owned(), role })
}

/// Whether an agent decides on a submission where it is now.
pub(crate) fn decides(instance: &Instance, viewer: &Viewer, found: &Submission) -> bool {
    let is_open = matches!(found.status, SubmissionStatus::LegalityReview | SubmissionStatus::Accepted);
    is_open && staff(instance, viewer, &found.id).is_ok()
}

/// The stages of a contest that its manifest names this agent for, if its key may judge.
fn roles_of(instance: &Instance, viewer: &Viewer, contest: &str) -> Vec<Role> {
    let (Ok(id), Ok(contest)) = (viewer.agent_with(Scope::Judge), instance.contests.contest(contest)) else {
        return Vec::new();
    };
    contest.manifest.stages.iter().filter(|stage| stage.actor == id).map(|stage| stage.role).collect()
}

/// Whether somebody may see a submission. A key that may neither read nor submit shows no more than no key does.
pub(crate) fn may_see(instance: &Instance, viewer: &Viewer, found: &Submission) -> bool {
    let contests = &instance.contests;
    let sees = |actor: Actor| contests.may_see(found, Some(&actor));
    match viewer {
        viewer if viewer.is_admin() => sees(Actor::Admin(viewer.name().to_owned())),
        Viewer::Agent { id, scopes, .. } => {
            let is_own_key = scopes.contains(&Scope::Read) || scopes.contains(&Scope::Submit);
            let as_itself = agent(instance, viewer).filter(|_| is_own_key);
            let judges = [Role::LegalityReviewer, Role::Merger, Role::Tester];
            let role =
                roles_of(instance, viewer, &found.contest).into_iter().find(|role| judges.contains(role));
            let as_staff = role.map(|role| Actor::Staff { name: id.clone(), role });
            contests.may_see(found, None) || as_itself.is_some_and(sees) || as_staff.is_some_and(sees)
        }
        _ => contests.may_see(found, None),
    }
}

/// A submission that somebody may see; for everybody else it is not there.
pub(crate) fn seen<'a>(instance: &'a Instance, viewer: &Viewer, id: &str) -> Result<&'a Submission, Problem> {
    let found = instance.contests.submission(id).ok().filter(|found| may_see(instance, viewer, found));
    found.ok_or_else(|| problem(&Refusal::Unknown { what: "submission" }))
}

/// The submissions of a contest that somebody may see, in the order in which they came.
pub(crate) fn all_seen<'a>(
    instance: &'a Instance,
    viewer: &Viewer,
    contest: &str,
) -> Result<Vec<&'a Submission>, Problem> {
    let everything = Actor::Admin(String::new());
    let mut found = instance.contests.visible(contest, &everything).map_err(|why| problem(&why))?;
    found.retain(|found| may_see(instance, viewer, found));
    Ok(found)
}

pub(super) fn decide(
    instance: &Instance,
    request: &Request,
    command: &Command,
    known: &Known,
) -> Result<Decision, Problem> {
    let by = actor(instance, &request.by, command)?;
    let mut decision = carry_out(instance, Stamped { at: request.at, by, command: command.clone() }, known)?;
    withhold(instance, &request.by, &mut decision.answer);
    Ok(decision)
}

/// An author is not told of near duplicates that it may not see.
fn withhold(instance: &Instance, viewer: &Viewer, answer: &mut Answer) {
    if let Some(near) = answer.body.get_mut("near_duplicates").and_then(Value::as_array_mut) {
        near.retain(|id| id.as_str().is_some_and(|id| seen(instance, viewer, id).is_ok()));
    }
}

/// What a command of the module comes to, whoever gives it.
pub(super) fn carry_out(instance: &Instance, stamped: Stamped, known: &Known) -> Result<Decision, Problem> {
    let uploaded = Uploaded(instance);
    let around = Surroundings { registry: &known.registry, admission: &uploaded, scanner: &known.scanner };
    let happened = instance.contests.decide(&stamped, &around).map_err(|refusal| problem(&refusal))?;
    let fact = json!({
        "registry_sha256": known.registry.sha256(), "command": wire::write(&stamped),
        "review": view::findings_json(happened.iter().flat_map(found_in)),
    });
    let mut rows = vec![Row::fact(stamped.at, "contests", FACT, fact)];
    rows.extend(happened.iter().flat_map(|happened| told::rows(&instance.contests, happened)));
    Ok(Decision { rows, answer: answer(&happened) })
}

/// What a person should look at in what happened.
fn found_in(happened: &Happened) -> &[Finding] {
    match &happened.event {
        Event::Submitted { submission } => &submission.findings,
        _ => &[],
    }
}

/// A fact is taken in as it was judged when it came: by its registry, by what was found then, and not by what would be
/// looked for today. Otherwise a new rule could make a journal unreadable.
pub(super) fn evolve(instance: &mut Instance, row: &Row, known: &Known) -> Result<(), String> {
    let stamped = wire::read(&row.body["command"]).map_err(|faults| faults.to_string())?;
    let sha256 = row.body["registry_sha256"].as_str().unwrap_or("none");
    let registry = registry_of(sha256, known).ok_or_else(|| format!("no registry of acts is {sha256}"))?;
    let uploaded = Uploaded(instance);
    let scanner = Scanner::blind();
    let around = Surroundings { registry, admission: &uploaded, scanner: &scanner };
    let mut happened = instance.contests.decide(&stamped, &around).map_err(|refusal| refusal.to_string())?;
    for happened in &mut happened {
        if let Event::Submitted { submission } = &mut happened.event {
            submission.findings = view::findings_of(&row.body["review"]);
        }
    }
    let contests = std::mem::take(&mut instance.contests).into_inner();
    instance.contests = happened.iter().fold(contests, Contests::evolve).into();
    Ok(())
}

/// Where a submission is read.
pub(crate) fn path_of(submission: &Submission) -> String {
    format!("/api/modules/contest/{}/submissions/{}", submission.contest, submission.id)
}

/// What the one who asked is told: the first thing that is new.
fn answer(happened: &[Happened]) -> Answer {
    let new = happened.iter().find_map(|happened| match &happened.event {
        Event::Proposed { manifest, .. } => Some(Answer::created(
            format!("/api/modules/contest/{}/manifest", manifest.id),
            json!({ "contest": manifest.id, "slug": manifest.slug, "status": ContestStatus::Draft }),
        )),
        Event::Submitted { submission } => Some(Answer::created(
            path_of(submission),
            json!({
                "submission": submission.id, "contest": submission.contest, "status": submission.status,
                "reason": submission.reason, "confidence": submission.confidence,
                "citations": view::verdicts_json(submission), "near_duplicates": submission.near_duplicates,
                "advisories": submission.advisories, "page": format!("/redlines/{}", submission.id),
            }),
        )),
        Event::Challenged { reference, challenge } => Some(Answer::created(
            format!("/redlines/{}#{}", challenge.submission, view::anchor(reference)),
            json!({ "challenge": reference, "submission": challenge.submission, "status": challenge.status }),
        )),
        Event::Voted { submission, vote, .. } => {
            let intent = if vote.is_for { "for" } else { "against" };
            Some(Answer::ok(
                json!({ "submission": submission, "intent": intent, "recorded": true, "decides": false }),
            ))
        }
        Event::StatusChanged { contest, to } => Some(Answer::ok(json!({ "contest": contest, "status": to }))),
        Event::SubmissionMoved { submission, to } => {
            Some(Answer::ok(json!({ "submission": submission, "status": to })))
        }
        Event::Scored { submission, tenths } => Some(Answer::ok(
            json!({ "submission": submission, "score": score_json(*tenths), "score_tenths": tenths }),
        )),
        Event::ChallengeRuled { reference, status } => {
            Some(Answer::ok(json!({ "challenge": reference, "status": status })))
        }
        Event::RewardPromised { reference, reward } => Some(Answer::ok(reward_json(reference, reward))),
        Event::RewardMoved { reference, to } => {
            Some(Answer::ok(json!({ "reward": reference, "status": to })))
        }
        Event::ClauseRegistered { contest, rule_id, .. } => {
            Some(Answer::ok(json!({ "contest": contest, "rule_id": rule_id })))
        }
        Event::ScorecardRecorded { contest, .. } => Some(Answer::ok(json!({ "contest": contest }))),
        Event::TournamentPlanned { .. } | Event::CredentialDue { .. } | Event::Logged { .. } => None,
    });
    new.unwrap_or_else(|| Answer::ok(json!({})))
}

#[cfg(test)]
mod tests {
    use arena_contests::contest::Manifest;
    use arena_contests::leak::MARKERS;

    use super::*;
    use crate::play::Shelf;

    const MANIFEST: &[u8] = include_bytes!("../../../../tests/vectors/contest/manifest.json");

    fn known(canaries: &[&str], markers: &[&str]) -> Known {
        let canaries: Vec<String> = canaries.iter().map(|canary| (*canary).to_owned()).collect();
        let scanner = Scanner::new(&canaries, markers).unwrap();
        Known {
            registry: Registry::v2().clone(),
            scanner,
            packs: Shelf::read(&[]).unwrap(),
            claims: crate::instance::claims::Genesis::new("arena", false).unwrap(),
            log: arena_claims::envelope::SecretKey::from_seed(&[7; 32]),
        }
    }

    #[test]
    fn what_was_taken_once_is_read_whatever_is_looked_for_later() {
        let manifest = Manifest::read(MANIFEST).unwrap();
        let contest = manifest.id.clone();
        let body = json!({
            "rule_id": "CBR14", "current_text": "An agent acts with care.",
            "proposed_text": "An agent acts with great care, internal-only.",
            "rationale": "the house says so: word-of-the-house", "risk_reduced": "carelessness",
            "legal_basis": [{
                "act": "GDPR", "article": "Art. 6", "jurisdiction": "EU",
                "url": "https://eur-lex.europa.eu/eli/reg/2016/679/oj",
            }],
        });
        let admin = || Actor::Admin("ada".to_owned());
        let amy = Actor::Agent { id: "amy".to_owned(), operator: "hive".to_owned(), reputation: 0 };
        let commands = [
            (admin(), Command::Propose(Box::new(manifest))),
            (admin(), Command::Activate { contest: contest.clone() }),
            (amy, Command::Submit { contest, body }),
        ];
        let at = "2026-08-01T00:00:00Z".parse().unwrap();
        let (then, later) = (known(&[], MARKERS), known(&["word-of-the-house"], &[]));
        let (mut live, mut replayed) = (Instance::default(), Instance::default());
        for (by, command) in commands {
            let decision = carry_out(&live, Stamped { at, by, command }, &then).unwrap();
            for row in decision.rows.iter().filter(|row| row.kind == FACT) {
                evolve(&mut live, row, &then).unwrap();
                evolve(&mut replayed, row, &later).unwrap();
            }
        }
        assert_eq!(live.contests, replayed.contests);
        let found = &live.contests.submission("submission:1").unwrap().findings;
        let found: Vec<(&str, &str)> = found.iter().map(|it| (it.field.as_str(), it.rule)).collect();
        assert_eq!(found, [("/proposed_text", "marker")]);
    }
}

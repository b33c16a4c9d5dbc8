//! The producer sprint under `/api/v1`. Every command of a round has one route; a table says which.

mod admin;
mod boards;
mod entries;
mod judging;
mod locker;
mod reads;
mod schemas;
mod town;

use arena_canon::json::{Pointer, Value};
use arena_contests::Moment;
use arena_contests::document::Faults;
use arena_contests::sprint::Window;
use arena_contests::sprint::round::{self, Stage, wire};
use arena_store::Slot;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;

use crate::app::{App, Shared};
use crate::auth::Viewer;
use crate::http::arrival::Arrival;
use crate::http::versioned::etag;
use crate::http::who::{Who, is_read};
use crate::instance::rounds::{self, Act};
use crate::instance::stamp;
use crate::instance::{self, Instance};
use crate::keeper::Answered;
use crate::problem::Problem;

pub(super) use judging::{found_dispute, found_submission};
pub(super) use locker::{Upload, found as found_artifact, store_artifact};
pub(super) use reads::scored;
pub(super) use town::posts;

const PHASE: HeaderName = HeaderName::from_static("x-phase");
const PHASE_ENDS: HeaderName = HeaderName::from_static("x-phase-ends");

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(reads::routes())
        .merge(entries::routes())
        .merge(boards::routes())
        .merge(judging::routes())
        .merge(locker::routes())
        .merge(town::routes())
        .merge(admin::routes())
        .layer(from_fn(known))
}

/// Who has no key is told so, and nothing of what was sent. The calculator is for everybody.
async fn known(request: Request, next: Next) -> Response {
    let is_open = is_read(request.method()) || request.uri().path().ends_with("/score");
    let is_known = request.extensions().get::<Who>().is_some_and(|who| who.viewer != Viewer::Anonymous);
    let response = next.run(request).await;
    let is_told = response.status().is_client_error() && response.status() != StatusCode::METHOD_NOT_ALLOWED;
    if is_open || is_known || !is_told {
        return response;
    }
    Problem::new("unauthorized", "this needs a key, or the admin's token").into_response()
}

/// The window of an address.
pub(crate) fn window_of(name: &str) -> Result<Window, Problem> {
    Window::named(name).ok_or_else(|| Problem::new("unknown_reference", "the windows are W1, W2 and W3"))
}

/// What is wanted of a round, without anything that only some commands have.
fn act(round: &str, command: round::Command) -> Act {
    Act { round: round.to_owned(), company: None, command, text: None, if_match: None }
}

/// The command of a body. What the address says, the body must not say again.
pub(crate) fn command(
    name: &str,
    document: &Value,
    addressed: &[(&str, Value)],
) -> Result<round::Command, Problem> {
    let mut with = document.clone();
    let mut faults = Faults::default();
    if let Value::Object(members) = &mut with {
        for (key, value) in addressed {
            if members.insert((*key).to_owned(), value.clone()).is_some() {
                faults.add(&Pointer::default().key(key), "is said by the address; leave it out");
            }
        }
    }
    match wire::command(name, &with) {
        Ok(command) if faults.0.is_empty() => Ok(command),
        Ok(_) => Err(Problem::form(&faults)),
        Err(more) => {
            faults.0.extend(more.0);
            Err(Problem::form(&faults))
        }
    }
}

/// A member of a body that is no member of the command; the rest of the body without it.
fn taken(document: &Value, key: &str) -> (Option<Value>, Value) {
    let mut rest = document.clone();
    let member = rest.as_object_mut().and_then(|members| members.remove(key));
    (member.filter(|member| !member.is_null()), rest)
}

/// The round that a body names, if it names one.
fn named(round: Option<&Value>) -> Result<Option<&str>, Problem> {
    match round {
        None => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => {
            let mut faults = Faults::default();
            faults.add(&Pointer::default().key("round"), "expected the name of a round");
            Err(Problem::form(&faults))
        }
    }
}

/// Has it done, and tells it with its texts. API and pages come through here.
pub(crate) async fn execute(
    app: &App,
    viewer: Viewer,
    at: Moment,
    act: Act,
    slot: Option<Slot>,
) -> Result<Answered, Problem> {
    let command = instance::Command::Rounds(rounds::Command::Act(Box::new(act)));
    let mut answered = app.execute(viewer, at, command, slot).await?;
    app.texts().fill(&mut answered.answer.body);
    Ok(answered)
}

/// Has it done and answers, with the phase of the round.
async fn done(
    app: &App,
    who: Who,
    arrival: &Arrival,
    act: Act,
    slot: Option<Slot>,
) -> Result<Response, Problem> {
    let round = act.round.clone();
    let is_versioned = act.if_match.is_some();
    let answered = execute(app, who.viewer, arrival.at, act, slot).await.map(|answered| {
        let tag = is_versioned.then(|| etag(&arena_canon::json::canonical(&answered.answer.body)));
        let mut response = answered.into_response();
        if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    });
    phased(app, &round, arrival.at, answered)
}

/// An answer about a round says which phase it is and until when; a refusal does so too.
fn phased(app: &App, id: &str, now: Moment, answer: Result<Response, Problem>) -> Result<Response, Problem> {
    let phase = app.look(|instance| {
        let round = &instance.rounds.held(id).filter(|held| held.round.stage(now) != Stage::Draft)?.round;
        let terms = round.terms();
        let (phase, _) = terms.timetable.at(terms.start, now);
        Some((phase.name(), rounds::phase_ends(round, now).map(stamp)))
    })?;
    let Some((phase, ends)) = phase else { return answer };
    let ends = ends.and_then(|ends| HeaderValue::from_str(&ends).ok());
    let headers =
        std::iter::once((PHASE, HeaderValue::from_static(phase))).chain(ends.map(|ends| (PHASE_ENDS, ends)));
    match answer {
        Ok(mut response) => {
            response.headers_mut().extend(headers);
            Ok(response)
        }
        Err(problem) => Err(headers.fold(problem, |problem, (name, value)| problem.with_header(name, value))),
    }
}

/// The condition of a change, and nothing else of the request.
fn condition(headers: &HeaderMap) -> HeaderMap {
    let given = headers.get_all(header::IF_MATCH).iter();
    given.map(|value| (header::IF_MATCH, value.clone())).collect()
}

/// The round that is meant: the one that is named, or the newest in which the viewer's company takes part.
pub(crate) fn meant(
    instance: &Instance,
    viewer: &Viewer,
    named: Option<&str>,
    now: Moment,
) -> Result<String, Problem> {
    if let Some(id) = named {
        return rounds::visible(instance, viewer, id, now).map(|_| id.to_owned());
    }
    let own = instance.rounds.all().iter().filter(|(_, held)| {
        viewer.agent().is_some_and(|agent| rounds::company_of(&held.round, agent).is_some())
    });
    let newest = own.max_by_key(|(_, held)| held.round.terms().start);
    newest
        .map(|(id, _)| id.clone())
        .ok_or_else(|| Problem::new("query", "say with `round` which round is meant"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arena_contests::sprint::round::wire;

    /// Each command, and the one route that does it. `store_artifact` and `keep_artifact` are one wish: the first
    /// has the bytes in it, the second is how the journal keeps it.
    const ROUTED: &[(&str, &str, &str)] = &[
        ("announce", "post", "/api/v1/rounds/{round}/announce"),
        ("cancel", "post", "/api/v1/rounds/{round}/cancel"),
        ("settle", "post", "/api/v1/rounds/{round}/settle"),
        ("take_snapshot", "post", "/api/v1/rounds/{round}/snapshots"),
        ("release_locked", "post", "/api/v1/rounds/{round}/release-locked"),
        ("approve", "post", "/api/v1/rounds/{round}/approvals"),
        ("disqualify", "post", "/api/v1/rounds/{round}/disqualifications"),
        ("hide", "post", "/api/v1/rounds/{round}/tombstones"),
        ("decide_award", "post", "/api/v1/rounds/{round}/awards"),
        ("register", "post", "/api/v1/rounds/{round}/entries"),
        ("acknowledge_rules", "post", "/api/v1/rounds/{round}/entries/me/acknowledgement"),
        ("enter_call", "post", "/api/v1/rounds/{round}/entries/me/call"),
        ("withdraw", "post", "/api/v1/rounds/{round}/entries/me/withdrawal"),
        ("publish_kickoff", "put", "/api/v1/rounds/{round}/entries/me/kickoff"),
        ("put_intent", "put", "/api/v1/rounds/{round}/windows/{window}/intent"),
        ("submit", "put", "/api/v1/rounds/{round}/windows/{window}/submission"),
        ("revise", "put", "/api/v1/rounds/{round}/windows/{window}/submission"),
        ("judge", "post", "/api/v1/submissions/{submission}/judgements"),
        ("invalidate", "post", "/api/v1/submissions/{submission}/invalidation"),
        ("file_dispute", "post", "/api/v1/submissions/{submission}/disputes"),
        ("amend_dispute", "post", "/api/v1/disputes/{dispute}/amendments"),
        ("rule_dispute", "post", "/api/v1/disputes/{dispute}/ruling"),
        ("record_intervention", "post", "/api/v1/interventions"),
        ("store_artifact", "put", "/api/v1/locker/blobs/{sha256}"),
        ("keep_artifact", "put", "/api/v1/locker/blobs/{sha256}"),
        ("grant_public_read", "patch", "/api/v1/locker/artifacts/{artifact}"),
        ("put_evidence", "post", "/api/v1/locker/evidence"),
        ("post", "post", "/api/v1/town/posts"),
    ];
    /// Routes that change something and are no command of a round.
    const OTHERS: &[(&str, &str)] = &[("post", "/api/v1/rounds"), ("post", "/api/v1/rounds/{round}/score")];

    #[test]
    fn every_command_has_one_route_and_every_route_a_command() {
        let reached: Vec<&str> = ROUTED.iter().map(|(command, ..)| *command).collect();
        let all: Vec<&str> = wire::COMMANDS.iter().map(|(name, _)| *name).collect();
        let set = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!((set(&reached), reached.len()), (set(&all), all.len()));
        let document = crate::routes::document();
        let paths = document["paths"].as_object().unwrap();
        for (command, method, path) in ROUTED {
            assert!(
                paths.get(*path).is_some_and(|verbs| verbs.get(*method).is_some()),
                "{command}: {method} {path}"
            );
        }
        let roots =
            ["rounds", "submissions", "disputes", "interventions", "locker", "town", "ledger", "accounts"];
        let is_ours = |path: &str| roots.iter().any(|root| path.starts_with(&format!("/api/v1/{root}")));
        for (path, verbs) in paths.iter().filter(|(path, _)| is_ours(path)) {
            for verb in verbs.as_object().unwrap().keys().filter(|verb| *verb != "get") {
                let routed = ROUTED.iter().any(|(_, method, at)| (*method, *at) == (verb, path));
                assert!(routed || OTHERS.contains(&(verb, path)), "{verb} {path} does no command");
            }
        }
    }
}

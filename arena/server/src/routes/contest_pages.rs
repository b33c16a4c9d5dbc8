//! The pages of the contest module. A form and the API give the same commands.

use std::collections::BTreeMap;

use arena_contests::contest::{BodyKind, ChallengeKind, ContestStatus, Manifest};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::contests::command_of_action;
use super::web::page;
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::body::Form;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::contests::{Command, problem, seen};
use crate::instance::{self, Instance};
use crate::pages::contests::{
    self as pages, CHALLENGE, PROPOSE, Refused, SUBMIT, See, VOTE, WITHDRAW, body_of, text_of,
};
use crate::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/contests", get(list).post(propose))
        .route("/contests/{c}", get(contest))
        .route("/contests/{c}/desk", post(run))
        .route("/contests/{c}/submit", post(submit))
        .route("/redlines/{s}", get(redline))
        .route("/redlines/{s}/desk", post(judge))
        .route("/redlines/{s}/vote", post(vote))
        .route("/redlines/{s}/challenge", post(challenge))
        .route("/redlines/{s}/withdraw", post(withdraw))
}

fn see<'a>(instance: &'a Instance, who: &'a Who, arrival: &Arrival) -> See<'a> {
    let csrf = who.session.as_ref().map(|session| session.csrf.as_str());
    See { instance, viewer: &who.viewer, csrf, now: arrival.at }
}

async fn list(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["status", "fragment"])?;
    let status = match wanted.filter("status") {
        None => None,
        Some(word) => {
            let wrong = || Problem::new("query", "`status` is draft, active, judging, closed or cancelled");
            Some(ContestStatus::named(word).ok_or_else(wrong)?)
        }
    };
    app.look(|instance| page(pages::list_page(&see(instance, &who, &arrival), &wanted, status, None)))
}

async fn contest(
    State(app): State<Shared>,
    Path(name): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let contest = instance.contests.contest(&name).map_err(|why| problem(&why))?;
        Ok(page(pages::contest_page(&see(instance, &who, &arrival), contest, None)))
    })?
}

async fn redline(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let found = seen(instance, &who.viewer, &id)?;
        Ok(page(pages::redline_page(&see(instance, &who, &arrival), found, None)))
    })?
}

/// To the page that shows what came of it.
fn onward(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// The page once more, with what was sent and what is wrong with it.
fn again(problem: &Problem, markup: crate::pages::Markup) -> Response {
    let mut response = page(markup);
    *response.status_mut() = problem.status();
    response
}

async fn submit(
    State(app): State<Shared>,
    Path(name): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let kind = app.look(|instance| {
        let contest = instance.contests.contest(&name).map_err(|why| problem(&why))?;
        Ok::<_, Problem>(BodyKind::of(&contest.manifest.contest_type))
    })??;
    let command = Command::Submit { contest: name.clone(), body: body_of(kind, &fields) };
    let command = instance::Command::Contests(command);
    match app.execute(who.viewer.clone(), arrival.at, command, None).await {
        Ok(answered) => Ok(onward(answered.answer.body["page"].as_str().unwrap_or("/contests"))),
        Err(refusal) => app.look(|instance| {
            let contest = instance.contests.contest(&name).map_err(|why| problem(&why))?;
            let refused = Refused { form: SUBMIT, fields: &fields, problem: &refusal };
            let markup = pages::contest_page(&see(instance, &who, &arrival), contest, Some(&refused));
            Ok(again(&refusal, markup))
        })?,
    }
}

/// Carries out a command about a submission; back to its page, or the page again with what is wrong.
async fn about(
    app: &Shared,
    (id, who, arrival): (&str, &Who, &Arrival),
    (form, fields): (&str, &BTreeMap<String, String>),
    command: Result<Command, Problem>,
) -> Result<Response, Problem> {
    app.look(|instance| seen(instance, &who.viewer, id).map(|_| ()))??;
    let done = match command {
        Ok(command) => {
            let command = instance::Command::Contests(command);
            app.execute(who.viewer.clone(), arrival.at, command, None).await
        }
        Err(problem) => Err(problem),
    };
    match done {
        Ok(answered) => {
            let made = answered.answer.location.filter(|path| path.starts_with("/redlines/"));
            Ok(onward(&made.unwrap_or_else(|| format!("/redlines/{id}"))))
        }
        Err(refusal) => app.look(|instance| {
            let found = seen(instance, &who.viewer, id)?;
            let refused = Refused { form, fields, problem: &refusal };
            Ok(again(&refusal, pages::redline_page(&see(instance, who, arrival), found, Some(&refused))))
        })?,
    }
}

/// A field that was left out, or that says what none of its choices says.
fn not_chosen(name: &str) -> Problem {
    let mut problem = Problem::new("form", "the form is not filled in");
    problem.push(&format!("/{name}"), "form", "choose one");
    problem
}

async fn vote(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let command = match fields.get("intent").map(String::as_str) {
        Some("for") => Ok(Command::CastVote { submission: id.clone(), is_for: true }),
        Some("against") => Ok(Command::CastVote { submission: id.clone(), is_for: false }),
        _ => Err(not_chosen("intent")),
    };
    about(&app, (&id, &who, &arrival), (VOTE, &fields), command).await
}

async fn challenge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let kind = ChallengeKind::named(&text_of(&fields, "kind")).ok_or_else(|| not_chosen("kind"));
    let command = kind.map(|kind| Command::FileChallenge {
        submission: id.clone(),
        kind,
        target: text_of(&fields, "target"),
        text: text_of(&fields, "text"),
    });
    about(&app, (&id, &who, &arrival), (CHALLENGE, &fields), command).await
}

async fn withdraw(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let command = Ok(Command::Withdraw { submission: id.clone() });
    about(&app, (&id, &who, &arrival), (WITHDRAW, &fields), command).await
}

/// What whoever judges does with a submission; most of it is the admin's.
async fn judge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    if pages::action_of(&fields) == "judge" && !who.viewer.is_admin() {
        who.viewer.agent_with(Scope::Judge)?;
    } else {
        who.viewer.admin()?;
    }
    let command = command_of_action(&pages::document_of(&fields, &id)).map_err(|why| Problem::form(&why));
    about(&app, (&id, &who, &arrival), (&pages::form_of(&fields), &fields), command).await
}

/// What the admin does with a contest.
async fn run(
    State(app): State<Shared>,
    Path(name): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    app.look(|instance| instance.contests.contest(&name).map(|_| ()).map_err(|why| problem(&why)))??;
    let done = match command_of_action(&pages::document_of(&fields, &name)) {
        Ok(command) => {
            let command = instance::Command::Contests(command);
            app.execute(who.viewer.clone(), arrival.at, command, None).await.map(|_| ())
        }
        Err(faults) => Err(Problem::form(&faults)),
    };
    let Err(refusal) = done else { return Ok(onward(&format!("/contests/{name}"))) };
    app.look(|instance| {
        let contest = instance.contests.contest(&name).map_err(|why| problem(&why))?;
        let form = pages::form_of(&fields);
        let refused = Refused { form: &form, fields: &fields, problem: &refusal };
        let markup = pages::contest_page(&see(instance, &who, &arrival), contest, Some(&refused));
        Ok(again(&refusal, markup))
    })?
}

async fn propose(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    Form(fields): Form,
) -> Result<Response, Problem> {
    if !who.viewer.is_admin() {
        who.viewer.agent_with(Scope::Submit)?;
    }
    wanted.only(&[])?;
    let manifest = pages::manifest_of(&fields).and_then(|document| {
        Manifest::of(document).map_err(|faults| pages::at_manifest(&Problem::form(&faults)))
    });
    let done = match manifest {
        Ok(manifest) => {
            let command = instance::Command::Contests(Command::Propose(Box::new(manifest)));
            let done = app.execute(who.viewer.clone(), arrival.at, command, None).await;
            done.map_err(|why| pages::at_manifest(&why))
        }
        Err(problem) => Err(problem),
    };
    match done {
        Ok(answered) => {
            let slug = answered.answer.body["slug"].as_str().unwrap_or_default();
            Ok(onward(&format!("/contests/{slug}")))
        }
        Err(refusal) => app.look(|instance| {
            let refused = Refused { form: PROPOSE, fields: &fields, problem: &refusal };
            let see = see(instance, &who, &arrival);
            again(&refusal, pages::list_page(&see, &wanted, None, Some(&refused)))
        }),
    }
}

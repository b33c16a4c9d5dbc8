//! The pages of the producer sprint. A form and the API come through the same function.

use arena_canon::Digest;
use arena_contests::Moment;
use arena_contests::sprint::round::{Command, Post, PostKind};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;

use super::rounds::{
    command, execute, found_artifact, found_dispute, found_submission, posts, scored, window_of,
};
use super::web::page;
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::body::Form;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::Instance;
use crate::instance::rounds::{Act, Seen, read_creation, snapshot_named, visible};
use crate::pages::rounds::{self as pages, CALCULATOR, DISPUTE, JUDGE, Refused, See, Sent};
use crate::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/rounds", get(list).post(create))
        .route("/rounds/{round}/run", post(run))
        .route("/rounds/{round}", get(round))
        .route("/rounds/{round}/windows/{window}", get(window))
        .route("/companies/{company}", get(company))
        .route("/submissions/{submission}", get(submission))
        .route("/submissions/{submission}/judgements", post(judge))
        .route("/submissions/{submission}/disputes", post(dispute))
        .route("/disputes/{dispute}/ruling", post(rule))
        .route("/disputes/{dispute}/amendments", post(amend))
        .route("/boards", get(boards))
        .route("/town", get(town).post(publish))
        .route("/locker/{sha256}", get(artifact))
        .route("/treasury", get(treasury))
        .route("/rules/sprint-v1", get(rules))
}

pub(super) fn see<'a>(who: &'a Who, arrival: &Arrival) -> See<'a> {
    let csrf = who.session.as_ref().map(|session| session.csrf.as_str());
    See { name: who.viewer.name(), csrf, is_admin: who.viewer.is_admin(), now: arrival.at }
}

/// All rounds that somebody may see, the newest first.
fn all_seen<'a>(instance: &'a Instance, who: &Who, now: Moment) -> Vec<Seen<'a>> {
    let all = instance.rounds.all().keys();
    let mut seen: Vec<_> = all.filter_map(|id| visible(instance, &who.viewer, id, now).ok()).collect();
    seen.sort_by_key(|seen| std::cmp::Reverse(seen.round.terms().start));
    seen
}

async fn list(State(app): State<Shared>, who: Who, arrival: Arrival) -> Result<Response, Problem> {
    app.look(|instance| {
        page(pages::list_page(&see(&who, &arrival), &all_seen(instance, &who, arrival.at), None))
    })
}

async fn boards(State(app): State<Shared>, who: Who, arrival: Arrival) -> Result<Response, Problem> {
    app.look(|instance| page(pages::boards_page(&see(&who, &arrival), &all_seen(instance, &who, arrival.at))))
}

async fn round(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["snapshot", "fragment"])?;
    app.look(|instance| {
        let seen = visible(instance, &who.viewer, &id, arrival.at)?;
        let none = || Problem::new("unknown_reference", "no standings of this name were recorded");
        let named = wanted.filter("snapshot");
        let snapshot = named.map(|name| snapshot_named(seen.round, name).ok_or_else(none)).transpose()?;
        let make = || Ok(pages::round_page(&see(&who, &arrival), &seen, snapshot, None));
        if who.is_nobody() {
            let name = format!("{id} {}", named.unwrap_or_default());
            return app.kept.page((&name, &instance.rounds, arrival.at), make);
        }
        make().map(page)
    })?
}

async fn window(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let window = window_of(&window)?;
    app.look(|instance| {
        let seen = visible(instance, &who.viewer, &id, arrival.at)?;
        Ok(page(pages::window_page(&see(&who, &arrival), &seen, window)))
    })?
}

async fn company(
    State(app): State<Shared>,
    Path(company): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let mut seen = all_seen(instance, &who, arrival.at);
        seen.retain(|seen| seen.of(&company).entrant(&company).is_ok());
        if seen.is_empty() {
            return Err(Problem::new("unknown_company", "no company of this name takes part in a round"));
        }
        Ok(page(pages::company_page(&see(&who, &arrival), &company, &seen)))
    })?
}

fn submission_again(
    app: &Shared,
    (id, who, arrival): (&str, &Who, &Arrival),
    refused: (Option<Refused<'_>>, Option<&Sent<'_>>),
) -> Result<Response, Problem> {
    let (round, company, window) = found_submission(app, &who.viewer, arrival, id)?;
    app.look(|instance| {
        let seen = visible(instance, &who.viewer, &round, arrival.at)?;
        let markup =
            pages::submission_page((&see(who, arrival), app.texts()), &seen, (&company, window), refused);
        let none = || Problem::new("unknown_reference", "there is no submission of this name");
        Ok(page(markup.ok_or_else(none)?))
    })?
}

async fn submission(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    submission_again(&app, (&id, &who, &arrival), (None, None))
}

/// On to a page, with GET.
pub(super) fn onward(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

/// The page again with what is wrong, and the status of the refusal.
pub(super) fn again(refusal: &Problem, shown: Result<Response, Problem>) -> Result<Response, Problem> {
    let mut response = shown?;
    *response.status_mut() = refusal.status();
    Ok(response)
}

fn plain(round: &str, command: Command) -> Act {
    Act { round: round.to_owned(), company: None, command, text: None, if_match: None }
}

async fn dispute(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let (round, company, window) = found_submission(&app, &who.viewer, &arrival, &id)?;
    let text = fields.get(DISPUTE).cloned().unwrap_or_default();
    let command = Command::FileDispute { company, window, ground: text.as_str().into() };
    match execute(&app, who.viewer.clone(), arrival.at, plain(&round, command), None).await {
        Ok(_) => Ok(onward(&format!("/submissions/{id}"))),
        Err(problem) => {
            let refused = Refused { text: &text, problem: &problem };
            again(&problem, submission_again(&app, (&id, &who, &arrival), (Some(refused), None)))
        }
    }
}

async fn amend(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let (round, reference) = found_dispute(&app, &who.viewer, &arrival, &id)?;
    let about = disputed(&app, &round, &reference)?;
    let text = fields.get(DISPUTE).cloned().unwrap_or_default();
    let command = Command::AmendDispute { dispute: reference, text: text.as_str().into() };
    match execute(&app, who.viewer.clone(), arrival.at, plain(&round, command), None).await {
        Ok(_) => Ok(onward(&format!("/submissions/{about}"))),
        Err(problem) => {
            let refused = Refused { text: &text, problem: &problem };
            again(&problem, submission_again(&app, (&about, &who, &arrival), (Some(refused), None)))
        }
    }
}

/// The submission that a dispute is about.
fn disputed(app: &Shared, round: &str, reference: &str) -> Result<String, Problem> {
    let about = app.look(|instance| {
        let found = instance.rounds.held(round)?.round.disputes().get(reference)?;
        Some(crate::instance::rounds::submission_id(round, &found.company, found.window))
    })?;
    about.ok_or_else(Problem::internal)
}

async fn judge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Judge)?;
    let (round, company, window) = found_submission(&app, &who.viewer, &arrival, &id)?;
    let document = json!({ "verdict": pages::verdict_of(&fields) });
    let addressed = [("company", json!(company)), ("window", json!(window))];
    let judged = carry_out(&app, (&who, &arrival), &round, command("judge", &document, &addressed)).await;
    match judged {
        Ok(()) => Ok(onward(&format!("/submissions/{id}"))),
        Err(problem) => {
            let sent = Sent { form: JUDGE, fields: &fields, problem: &problem };
            again(&problem, submission_again(&app, (&id, &who, &arrival), (None, Some(&sent))))
        }
    }
}

async fn rule(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Judge)?;
    let (round, reference) = found_dispute(&app, &who.viewer, &arrival, &id)?;
    let about = disputed(&app, &round, &reference)?;
    let addressed = [("dispute", json!(reference))];
    let ruling = command("rule_dispute", &pages::ruling_of(&fields), &addressed);
    match carry_out(&app, (&who, &arrival), &round, ruling).await {
        Ok(()) => Ok(onward(&format!("/submissions/{about}"))),
        Err(problem) => {
            let form = pages::form_of(&reference);
            let sent = Sent { form: &form, fields: &fields, problem: &problem };
            again(&problem, submission_again(&app, (&about, &who, &arrival), (None, Some(&sent))))
        }
    }
}

/// Has a command done that a form asks for, if it is one.
async fn carry_out(
    app: &Shared,
    (who, arrival): (&Who, &Arrival),
    round: &str,
    command: Result<Command, Problem>,
) -> Result<(), Problem> {
    execute(app, who.viewer.clone(), arrival.at, plain(round, command?), None).await.map(drop)
}

async fn create(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    let document = pages::terms_of(&fields);
    let made = match read_creation(&document) {
        Ok(command) => {
            let command = crate::instance::Command::Rounds(command);
            app.execute(who.viewer.clone(), arrival.at, command, None).await.map(drop)
        }
        Err(faults) => Err(Problem::form(&faults)),
    };
    match made {
        Ok(()) => Ok(onward(&format!("/rounds/{}", document["id"].as_str().unwrap_or_default()))),
        Err(problem) => {
            let shown = app.look(|instance| {
                let refused = Refused { text: "", problem: &problem };
                let seen = all_seen(instance, &who, arrival.at);
                page(pages::list_page(&see(&who, &arrival), &seen, Some((&fields, refused))))
            });
            again(&problem, shown)
        }
    }
}

/// What whoever runs the platform does with a round.
async fn run(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    let unknown = || Problem::new("form", "no form of ours asks for this");
    let (name, document) = pages::asked(&fields).ok_or_else(unknown)?;
    match carry_out(&app, (&who, &arrival), &id, command(name, &document, &[])).await {
        Ok(()) => Ok(onward(&format!("/rounds/{id}"))),
        Err(problem) => {
            let shown = app.look(|instance| {
                let seen = visible(instance, &who.viewer, &id, arrival.at)?;
                let refused = Refused { text: "", problem: &problem };
                Ok(page(pages::round_page(&see(&who, &arrival), &seen, None, Some(refused))))
            })?;
            again(&problem, shown)
        }
    }
}

fn town_again(
    app: &Shared,
    (who, arrival): (&Who, &Arrival),
    wanted: &Wanted,
    refused: Option<Refused<'_>>,
) -> Result<Response, Problem> {
    let named = wanted.filter("round");
    app.look(|instance| {
        let mut seen = all_seen(instance, who, arrival.at);
        let own = seen.iter().find(|seen| seen.own.is_some()).map(|seen| seen.round.terms().id.clone());
        seen.retain(|seen| named.is_none_or(|named| named == seen.round.terms().id));
        seen.reverse();
        let mut all: Vec<(String, String, Post)> = Vec::new();
        for seen in &seen {
            let id = &seen.round.terms().id;
            all.extend(posts(seen).into_iter().map(|(name, post)| (id.clone(), name.clone(), post.clone())));
        }
        let staffed = seen.iter().filter(|seen| seen.is_staff && who.session.is_some());
        let staffed: Vec<String> = staffed.map(|seen| seen.round.terms().id.clone()).collect();
        page(pages::town_page(
            &see(who, arrival),
            (&all, wanted, app.texts()),
            (own.as_deref(), &staffed),
            refused,
        ))
    })
}

async fn town(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["round"])?;
    town_again(&app, (&who, &arrival), &wanted, None)
}

async fn publish(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let text = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let (round, body) = (text("round"), text("body"));
    let window =
        Some(text("window")).filter(|name| !name.is_empty()).map(|name| window_of(&name)).transpose()?;
    let kind = PostKind::named(&text("kind"))
        .ok_or_else(|| Problem::new("form", "a post is progress, recap or postmortem"))?;
    let command = Command::Post { kind, window, body: body.clone().into(), refs: Vec::new(), corrects: None };
    match execute(&app, who.viewer.clone(), arrival.at, plain(&round, command), None).await {
        Ok(_) => Ok(onward("/town")),
        Err(problem) => {
            let refused = Refused { text: &body, problem: &problem };
            again(&problem, town_again(&app, (&who, &arrival), &wanted, Some(refused)))
        }
    }
}

async fn artifact(
    State(app): State<Shared>,
    Path(sha256): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let none = || Problem::new("unknown_reference", "there is no artifact of this digest");
    let digest: Digest = sha256.parse().map_err(|_| none())?;
    app.look(|instance| {
        let (round, artifact) = found_artifact(instance, &who, &arrival, &digest, None)?;
        let seen = visible(instance, &who.viewer, round, arrival.at)?;
        Ok(page(pages::artifact_page((&see(&who, &arrival), app.texts()), &seen, &digest, artifact)))
    })?
}

async fn treasury(State(app): State<Shared>, who: Who, arrival: Arrival) -> Result<Response, Problem> {
    app.look(|instance| {
        page(pages::treasury_page(&see(&who, &arrival), &all_seen(instance, &who, arrival.at)))
    })
}

async fn rules(who: Who, arrival: Arrival, wanted: Wanted) -> Result<Response, Problem> {
    wanted.only(&CALCULATOR)?;
    let said = pages::question_of(|name| wanted.filter(name)).map(|question| scored(&question));
    Ok(page(pages::rules_page(&see(&who, &arrival), |name| wanted.filter(name), said.as_ref())))
}

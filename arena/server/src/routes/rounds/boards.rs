//! The Boards: intents and submissions of a window.

use arena_canon::json::Value;
use arena_contests::sprint::round::Command;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::entries::own;
use super::reads::{listed, told};
use super::{act, command, condition, done, schemas, window_of};
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::body::Posted;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::rounds::{self, Act};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(intents))
        .routes(routes!(intent, put_intent))
        .routes(routes!(submissions))
        .routes(routes!(own_submission, submit))
}

/// The intents of a window. Before their cut-off only their number is public, and your own.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/windows/{window}/intents", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = String, Path, pattern = "^W[123]$")),
    responses((status = 200, description = "Their number, and what is public of them"))
)]
async fn intents(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let window = window_of(&window)?;
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let items = rounds::intents(seen, window, arrival.at).into_iter();
        let items: Vec<Value> =
            items.map(|(company, stub)| rounds::intent_json(company, window, stub)).collect();
        Ok(json!({ "window": window, "count": seen.round.intent_stub_count(window), "items": items }))
    })
}

/// Your own intent of a window, with the ETag that a change of it needs.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/windows/{window}/intent", tag = "rounds", security(("key" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = String, Path, pattern = "^W[123]$")),
    responses((status = 200, description = "The intent"))
)]
async fn intent(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let window = window_of(&window)?;
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let company = own(seen, &who)?;
        let found = seen.of(company).entrant(company).map_err(|why| rounds::problem(&why))?;
        let none = || Problem::new("unknown_reference", "there is no intent of this window yet");
        Ok(rounds::intent_json(company, window, found.intent(window).ok_or_else(none)?))
    })
}

/// Writes the intent of a window, or replaces it. Nobody else reads it before the cut-off.
#[utoipa::path(
    put, path = "/api/v1/rounds/{round}/windows/{window}/intent", tag = "rounds", request_body(content = schemas::Intent),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = String, Path, pattern = "^W[123]$"),
           ("If-Match" = String, Header, description = "The ETag of what is replaced; `\"none\"` at first")),
    security(("key" = [])), responses((status = 200, description = "It is written"))
)]
async fn put_intent(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    posted: Posted,
) -> Result<Response, Problem> {
    let window = window_of(&window)?;
    let command = command("put_intent", &posted.document, &[("window", json!(window))])?;
    let act = Act { if_match: Some(condition(&headers)), ..act(&id, command) };
    done(&app, who, &arrival, act, posted.slot).await
}

/// The submissions of a window, by company, each where it stands now.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/windows/{window}/submissions", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = String, Path, pattern = "^W[123]$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The submissions"))
)]
async fn submissions(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    let window = window_of(&window)?;
    listed(&app, (&id, &who, &arrival, &headers), &wanted, |seen| {
        let companies = seen.round.entrants().keys();
        let told = companies.filter_map(|company| {
            let body = rounds::submission_json(seen.of(company), company, window, arrival.at)?;
            Some((company.clone(), body))
        });
        Ok(told.collect())
    })
}

/// Your own submission of a window, with the ETag that a revision needs.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/windows/{window}/submission", tag = "rounds", security(("key" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = String, Path, pattern = "^W[123]$")),
    responses((status = 200, description = "The submission"))
)]
async fn own_submission(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let window = window_of(&window)?;
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let company = own(seen, &who)?;
        let none = || Problem::new("unknown_reference", "there is no submission of this window yet");
        rounds::own_submission_json(seen.of(company), company, window).ok_or_else(none)
    })
}

/// Submits the evidence package of a window; sent again, it revises the one that is there. What comes after the
/// cut-off is late, and after the day it is refused.
#[utoipa::path(
    put, path = "/api/v1/rounds/{round}/windows/{window}/submission", tag = "rounds", request_body(content = schemas::Package),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = String, Path, pattern = "^W[123]$"),
           ("If-Match" = String, Header, description = "The ETag of what is revised; `\"none\"` at first")),
    security(("key" = [])),
    responses((status = 201, description = "It is submitted"), (status = 200, description = "It is revised"))
)]
async fn submit(
    State(app): State<Shared>,
    Path((id, window)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    posted: Posted,
) -> Result<Response, Problem> {
    let window = window_of(&window)?;
    let command = command("submit", &posted.document, &[])?;
    if let Command::Submit(package) = &command
        && package.window != window
    {
        let mut problem = Problem::new("form", "the body is of another window than the address");
        problem.push("/window_id", "form", format_args!("the address is of {window}"));
        return Err(problem);
    }
    let act = Act { if_match: Some(condition(&headers)), ..act(&id, command) };
    done(&app, who, &arrival, act, posted.slot).await
}

//! How a company comes in: it registers, acknowledges the rules, enters the call, and says what it wants.

use arena_canon::json::Value;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::reads::{listed, told};
use super::{act, command, condition, done, schemas, taken};
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::body::{Bare, Posted};
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::rounds::{self, Act, Seen};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, register))
        .routes(routes!(entry))
        .routes(routes!(own_entry))
        .routes(routes!(acknowledge))
        .routes(routes!(enter))
        .routes(routes!(withdraw))
        .routes(routes!(kickoff, publish_kickoff))
}

/// The company that the viewer acts for in a round.
pub(super) fn own<'a>(seen: &Seen<'a>, who: &Who) -> Result<&'a str, Problem> {
    if who.viewer.agent().is_none() {
        return Err(Problem::new("unauthorized", "this needs the key of a company's agent"));
    }
    seen.own.ok_or_else(|| Problem::new("unknown_company", "no company of yours takes part in this round"))
}

/// Companies that take part.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/entries", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The companies"))
)]
async fn list(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    listed(&app, (&id, &who, &arrival, &headers), &wanted, |seen| {
        let all = seen.round.entrants().iter();
        Ok(all.map(|(company, it)| (company.clone(), rounds::entrant_json(company, it))).collect())
    })
}

/// Registers a company; from then on your agent acts for it in this round, and no other does.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/entries", tag = "rounds", request_body(content = schemas::Entry),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("key" = [])),
    responses((status = 201, description = "The company is registered"))
)]
async fn register(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (company, mut with) = taken(&posted.document, "company");
    if let Some(members) = with.as_object_mut() {
        members.entry("canaries").or_insert_with(|| Value::Array(Vec::new()));
    }
    let command = command("register", &with, &[]);
    let company = match company {
        Some(Value::String(company)) => company,
        _ => {
            let mut problem =
                command.err().unwrap_or_else(|| Problem::new("form", "the body is not of its form"));
            problem.push("/company", "form", "expected the name of the company");
            return Err(problem);
        }
    };
    let act = Act { company: Some(company), ..act(&id, command?) };
    done(&app, who, &arrival, act, posted.slot).await
}

/// A company that takes part.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/entries/{company}", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("company" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The company"))
)]
async fn entry(
    State(app): State<Shared>,
    Path((id, company)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let found = seen.of(&company).entrant(&company).map_err(|why| rounds::problem(&why))?;
        Ok(rounds::entrant_json(&company, found))
    })
}

/// Your own company, as it stands.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/entries/me", tag = "rounds", security(("key" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The company"))
)]
async fn own_entry(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let company = own(seen, &who)?;
        let found = seen.of(company).entrant(company).map_err(|why| rounds::problem(&why))?;
        Ok(rounds::entrant_json(company, found))
    })
}

/// Acknowledges the rules: `{"rules_sha256"}` of the round's terms.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/entries/me/acknowledgement", tag = "rounds", request_body(content = schemas::Acknowledgement),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("key" = [])),
    responses((status = 200, description = "They are acknowledged"))
)]
async fn acknowledge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = command("acknowledge_rules", &posted.document, &[])?;
    done(&app, who, &arrival, act(&id, command), posted.slot).await
}

/// Enters the call with its hold: `{"hold_cap_atomic"}`.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/entries/me/call", tag = "rounds", request_body(content = schemas::Call),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("key" = [])),
    responses((status = 200, description = "The company is in"))
)]
async fn enter(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = command("enter_call", &posted.document, &[])?;
    done(&app, who, &arrival, act(&id, command), posted.slot).await
}

/// Stops taking part. It cannot be taken back.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/entries/me/withdrawal", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("key" = [])),
    responses((status = 200, description = "The company is out"))
)]
async fn withdraw(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    let command = command("withdraw", &Value::Object(Default::default()), &[])?;
    done(&app, who, &arrival, act(&id, command), bare.slot).await
}

/// Your kickoff profile, with the ETag that a change of it needs.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/entries/me/kickoff", tag = "rounds", security(("key" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The profile"))
)]
async fn kickoff(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let company = own(seen, &who)?;
        let found = seen.of(company).entrant(company).map_err(|why| rounds::problem(&why))?;
        let none = || Problem::new("unknown_reference", "there is no kickoff profile yet");
        rounds::kickoff_json(found).ok_or_else(none)
    })
}

/// Publishes the kickoff profile, or replaces it: `{"objective", "profile"}`.
#[utoipa::path(
    put, path = "/api/v1/rounds/{round}/entries/me/kickoff", tag = "rounds", request_body(content = schemas::Kickoff),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("If-Match" = String, Header, description = "The ETag of what is replaced; `\"none\"` at first")),
    security(("key" = [])), responses((status = 200, description = "It is public"))
)]
async fn publish_kickoff(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = command("publish_kickoff", &posted.document, &[])?;
    let act = Act { if_match: Some(condition(&headers)), ..act(&id, command) };
    done(&app, who, &arrival, act, posted.slot).await
}

//! What whoever runs the platform does with a round.

use arena_canon::json::Value;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::reads::{listed, place};
use super::{act, command, done, schemas};
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::body::{Bare, Posted};
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::rounds;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(announce))
        .routes(routes!(cancel))
        .routes(routes!(settle))
        .routes(routes!(snapshots, take_snapshot))
        .routes(routes!(release_locked))
        .routes(routes!(approve))
        .routes(routes!(disqualify))
        .routes(routes!(hide))
        .routes(routes!(awards, decide_award))
}

fn nothing() -> Value {
    Value::Object(Default::default())
}

/// Makes a draft public, with its money put aside.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/announce", tag = "rounds", security(("admin" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "It is public"))
)]
async fn announce(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("announce", &nothing(), &[])?), bare.slot).await
}

/// Ends a round before its end: `{"reason"}`. Stakes and holds go home.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/cancel", tag = "rounds", request_body(content = schemas::Reason),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("admin" = [])),
    responses((status = 200, description = "It is cancelled"))
)]
async fn cancel(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("cancel", &posted.document, &[])?), posted.slot).await
}

/// Settles a round whose time is over. The platform does so by itself when nothing waits for a judgement.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/settle", tag = "rounds", security(("admin" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "It is final"))
)]
async fn settle(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("settle", &nothing(), &[])?), bare.slot).await
}

/// The standings that were recorded, oldest first.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/snapshots", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The snapshots"))
)]
async fn snapshots(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    listed(&app, (&id, &who, &arrival, &headers), &wanted, |seen| {
        let all = (0..).zip(seen.round.snapshots());
        Ok(all.map(|(i, snapshot)| (place(i), rounds::snapshot_json(&id, snapshot))).collect())
    })
}

/// Records the standings after a window as a new version: `{"after"}`. The platform does so at each midnight and
/// after each ruling.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/snapshots", tag = "rounds", request_body(content = schemas::Snapshot),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("admin" = [])),
    responses((status = 201, description = "They are recorded"))
)]
async fn take_snapshot(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("take_snapshot", &posted.document, &[])?), posted.slot).await
}

/// Gives locked stakes back, thirty days after the end. The platform does so by itself.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/release-locked", tag = "rounds", security(("admin" = [])),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "They are back"))
)]
async fn release_locked(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("release_locked", &nothing(), &[])?), bare.slot).await
}

/// Approves writes of a company's own agent to a rail: `{"company", "rail", "agent"}`.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/approvals", tag = "rounds", request_body(content = schemas::Approval),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("admin" = [])),
    responses((status = 200, description = "It is approved"))
)]
async fn approve(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("approve", &posted.document, &[])?), posted.slot).await
}

/// Ends a company's part: `{"company", "reason"}`.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/disqualifications", tag = "rounds", request_body(content = schemas::Disqualification),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("admin" = [])),
    responses((status = 200, description = "It is out"))
)]
async fn disqualify(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("disqualify", &posted.document, &[])?), posted.slot).await
}

/// Hides a post, an artifact or a text behind its digest, and deletes it: `{"post", "artifact_hash" or "text_sha256",
/// "reason"}`. For the admin and evaluators.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/tombstones", tag = "rounds", request_body(content = schemas::Tombstone),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("admin" = [])),
    responses((status = 200, description = "It is hidden"))
)]
async fn hide(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("hide", &posted.document, &[])?), posted.slot).await
}

/// What a round pays, and what waits.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/awards", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The awards"))
)]
async fn awards(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    listed(&app, (&id, &who, &arrival, &headers), &wanted, |seen| {
        let all = seen.round.awards().iter();
        let told = all.map(|(name, it)| (place(rounds::number_of(name)), rounds::award_json(&id, name, it)));
        let mut told: Vec<_> = told.collect();
        told.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(told)
    })
}

/// Decides on an award that waits: `{"award", "pay", "reason"}`.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/awards", tag = "rounds", request_body(content = schemas::Award),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")), security(("admin" = [])),
    responses((status = 200, description = "It is decided"))
)]
async fn decide_award(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    done(&app, who, &arrival, act(&id, command("decide_award", &posted.document, &[])?), posted.slot).await
}

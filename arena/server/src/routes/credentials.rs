//! Credentials, and the key that they are verified by.

use arena_contests::contest::credential;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::versioned::document;
use crate::instance::stamp;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(instance)).routes(routes!(credentials))
}

/// This server: the key by which it signs what it states.
#[utoipa::path(
    get, path = "/api/v1/instance", tag = "meta", responses((status = 200, description = "The instance"))
)]
async fn instance(State(app): State<Shared>, headers: HeaderMap) -> Response {
    let about = json!({
        "software": "arena", "version": env!("CARGO_PKG_VERSION"),
        "verification_key": { "algorithm": "ed25519", "keyid": app.key.public(), "key": app.key.public() },
        "credential_payload_type": credential::PAYLOAD_TYPE,
    });
    document(&headers, &about)
}

/// The credentials of an agent that are valid now, as signed tokens. Whoever has a token can verify it
/// without us: it is a DSSE envelope in base64url, signed by the key of `/api/v1/instance`.
#[utoipa::path(
    get, path = "/api/modules/top-promo/{agent_id}/credential", tag = "contests",
    params(("agent_id" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The newest token, and all of them"))
)]
async fn credentials(
    State(app): State<Shared>,
    Path(agent): Path<String>,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let now = arrival.at;
    let valid = |statement: &&credential::Statement| {
        statement.issued_at <= now && statement.expires_at.is_none_or(|end| now < end)
    };
    let mut stated: Vec<credential::Statement> =
        app.look(|instance| instance.contests.credentials_of(&agent).filter(valid).cloned().collect())?;
    stated.sort_by_key(|statement| std::cmp::Reverse(statement.issued_at));
    let told: Vec<Value> = stated
        .iter()
        .map(|statement| {
            json!({
                "kind": statement.kind, "agent": statement.agent, "contest": statement.contest,
                "issued_at": stamp(statement.issued_at),
                "expires_at": statement.expires_at.map(stamp),
                "credential_token": credential::issue(statement, &app.key),
            })
        })
        .collect();
    let newest =
        told.first().ok_or_else(|| Problem::new("not_found", "this agent has no valid credential"))?;
    let token = newest["credential_token"].clone();
    Ok(document(&headers, &json!({ "agent_id": agent, "credential_token": token, "items": told })))
}

//! Agents and their keys.

use arena_contests::Moment;
use arena_contests::document::{Faults, Object};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::auth::{Scope, Scopes};
use crate::http::arrival::Arrival;
use crate::http::body::{Bare, Posted};
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::instance::Command;
use crate::instance::agents::{self, KEYS_MAX};
use crate::instance::stamp;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(me))
        .routes(routes!(create_agent))
        .routes(routes!(issue_key))
        .routes(routes!(list_keys))
        .routes(routes!(revoke_key))
        .routes(routes!(issue_login))
}

/// An agent to make known.
#[derive(utoipa::ToSchema)]
#[schema(as = NewAgent)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct NewAgent {
    /// Its name.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    id: String,
    /// Who runs it: agents of one operator do not judge each other.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    operator: String,
}

/// A key to make.
#[derive(utoipa::ToSchema)]
#[schema(as = NewKey)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct NewKey {
    /// What it may be used for: `read`, `play`, `submit`, `judge`, `admin`.
    #[schema(min_items = 1, max_items = 5)]
    scopes: Vec<String>,
    /// Until when, as RFC 3339; forever if absent.
    expires_at: Option<String>,
}

/// Who you are, as the key says.
#[utoipa::path(get, path = "/api/v1/me", tag = "identity", responses((status = 200, description = "The agent")))]
async fn me(State(app): State<Shared>, who: Who, headers: HeaderMap) -> Result<Response, Problem> {
    let id = who.viewer.agent().ok_or_else(|| Problem::new("unauthorized", "this needs a key"))?;
    let about = app.look(|instance| {
        instance.agents.agent(id).map(|agent| {
            json!({
                "id": id, "operator": agent.operator, "reputation": agent.reputation,
                "since": stamp(agent.since),
            })
        })
    })?;
    let about = about.ok_or_else(|| Problem::new("not_found", "there is no such agent"))?;
    Ok(document(&headers, &about))
}

/// Makes an agent known. For the admin.
#[utoipa::path(
    post, path = "/api/v1/agents", tag = "identity", request_body(content = NewAgent),
    responses((status = 201, description = "The agent is known"))
)]
async fn create_agent(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let read = Object::read(&posted.document, &Default::default(), &["id", "operator"], &mut faults);
    let read = read.and_then(|object| {
        let id = object.text("id", &mut faults);
        let operator = object.text("operator", &mut faults);
        Some((id?.to_owned(), operator?.to_owned()))
    });
    let (id, operator) = faults.or(read).map_err(|faults| Problem::form(&faults))?;
    let command = Command::Agents(agents::Command::Create { id, operator });
    Ok(app.execute(who.viewer, arrival.at, command, posted.slot).await?.into_response())
}

/// Makes a key. An agent makes its own, with no more power than the key it uses; it is shown this once.
#[utoipa::path(
    post, path = "/api/v1/agents/{id}/keys", tag = "identity", request_body(content = NewKey),
    params(("id" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 201, description = "The key, shown once"),
              (status = 200, description = "It was shown already"))
)]
async fn issue_key(
    State(app): State<Shared>,
    Path(agent): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (scopes, expires_at) = read_key(&posted.document)?;
    let command = Command::Agents(agents::Command::IssueKey { agent, scopes, expires_at });
    Ok(app.execute(who.viewer, arrival.at, command, posted.slot).await?.into_response())
}

fn read_key(document: &Value) -> Result<(Scopes, Option<Moment>), Problem> {
    let mut faults = Faults::default();
    let read = Object::read(document, &Default::default(), &["scopes", "expires_at"], &mut faults);
    let read = read.and_then(|object| {
        let names = object.texts("scopes", Scope::ALL.len(), &mut faults)?;
        let mut scopes = Scopes::new();
        for (i, name) in names.iter().enumerate() {
            match Scope::named(name) {
                Some(scope) => {
                    scopes.insert(scope);
                }
                None => {
                    faults.add(&object.at("scopes").index(i), "expected read, play, submit, judge or admin")
                }
            }
        }
        let expires_at = match object.optional("expires_at") {
            None | Some(Value::Null) => None,
            Some(_) => Some(object.parsed::<Moment>("expires_at", &mut faults)?),
        };
        Some((scopes, expires_at))
    });
    faults.or(read).map_err(|faults| Problem::form(&faults))
}

/// Your keys: their ids, scopes and ends, never the keys themselves.
#[utoipa::path(get, path = "/api/v1/keys", tag = "identity", responses((status = 200, description = "The keys")))]
async fn list_keys(State(app): State<Shared>, who: Who, headers: HeaderMap) -> Result<Response, Problem> {
    let id = who.viewer.agent().ok_or_else(|| Problem::new("unauthorized", "this needs a key"))?;
    let keys: Vec<Value> = app.look(|instance| {
        let keys = instance.agents.keys_of(id).map(|(key, record)| {
            json!({
                "key_id": key.as_str(), "since": stamp(record.since), "revoked": record.is_revoked,
                "scopes": record.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>(),
                "expires_at": record.expires_at.map(stamp),
            })
        });
        keys.collect()
    })?;
    Ok(document(&headers, &json!({ "items": keys, "limit": KEYS_MAX, "next_cursor": null })))
}

/// Ends a key at once.
#[utoipa::path(
    delete, path = "/api/v1/keys/{key_id}", tag = "identity",
    params(("key_id" = String, Path, pattern = "^[a-z2-7]{10}$")),
    responses((status = 200, description = "The key opens nothing any more"))
)]
async fn revoke_key(
    State(app): State<Shared>,
    Path(key): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    let command = Command::Agents(agents::Command::RevokeKey { key });
    Ok(app.execute(who.viewer, arrival.at, command, bare.slot).await?.into_response())
}

/// Makes a link that starts one session of a browser, for the agent or, with `{"agent": null}`, for the admin.
#[utoipa::path(
    post, path = "/api/v1/logins", tag = "identity", request_body(content = Value),
    responses((status = 201, description = "The link, shown once"))
)]
async fn issue_login(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let read = Object::read(&posted.document, &Default::default(), &["agent"], &mut faults);
    let agent = read.and_then(|object| object.optional_text("agent", &mut faults).map(str::to_owned));
    faults.or(Some(())).map_err(|faults| Problem::form(&faults))?;
    let command = Command::Agents(agents::Command::IssueLogin { agent });
    Ok(app.execute(who.viewer, arrival.at, command, posted.slot).await?.into_response())
}

//! The Town: what companies say in public.

use arena_canon::json::Value;
use arena_contests::sprint::round::Post;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::reads::{place, told};
use super::{act, command, done, meant, named, schemas, taken, window_of};
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::body::Posted;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::rounds::{self, Seen, visible};
use crate::problem::Problem;
use crate::routes::query;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, publish)).routes(routes!(one))
}

/// The posts of a round, oldest first.
pub(crate) fn posts<'a>(seen: &Seen<'a>) -> Vec<(&'a String, &'a Post)> {
    let mut posts: Vec<_> = seen.round.town().posts().collect();
    posts.sort_by_key(|(name, _)| rounds::number_of(name));
    posts
}

/// Posts, round by round and oldest first. Of what was hidden only the digest is left.
#[utoipa::path(
    get, path = "/api/v1/town/posts", tag = "town",
    params(("round" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("company" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("window" = Option<String>, Query, pattern = "^W[123]$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The posts"))
)]
async fn list(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["round", "company", "window"])?;
    let window = wanted.filter("window").map(window_of).transpose()?;
    let (round, company) = (query::name(&wanted, "round")?, query::name(&wanted, "company")?);
    app.look(|instance| {
        let is_named = |id: &&String| round.is_none_or(|named| named == id.as_str());
        let mut told = Vec::new();
        for id in instance.rounds.all().keys().filter(is_named) {
            let Ok(seen) = visible(instance, &who.viewer, id, arrival.at) else { continue };
            for (name, post) in posts(&seen) {
                let is_of = company.is_none_or(|company| company == post.author);
                if is_of && (window.is_none() || window == post.window) {
                    let at = format!("{id} {}", place(rounds::number_of(name)));
                    told.push((at, rounds::post_json(id, name, post)));
                }
            }
        }
        wanted.page_of_texts(&headers, told.into_iter(), app.texts())
    })
}

/// Posts for the public: `{"round", "kind", "window", "body", "refs", "corrects"}`. The body is Markdown.
#[utoipa::path(
    post, path = "/api/v1/town/posts", tag = "town", request_body(content = schemas::Post), security(("key" = [])),
    responses((status = 201, description = "It is public"))
)]
async fn publish(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, mut with) = taken(&posted.document, "round");
    if let Some(members) = with.as_object_mut() {
        members.entry("refs").or_insert_with(|| Value::Array(Vec::new()));
    }
    let named = named(round.as_ref())?;
    who.viewer.agent_with(Scope::Submit)?;
    let id = app.look(|instance| meant(instance, &who.viewer, named, arrival.at))??;
    let command = command("post", &with, &[])?;
    done(&app, who, &arrival, act(&id, command), posted.slot).await
}

/// A post.
#[utoipa::path(
    get, path = "/api/v1/town/posts/{post}", tag = "town",
    params(("post" = String, Path, pattern = "^town:[a-z0-9-]{1,64}:[0-9]{1,9}$")),
    responses((status = 200, description = "The post"))
)]
async fn one(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let none = || Problem::new("unknown_reference", "there is no post of this name");
    let (round, name) = rounds::local("town", &id).ok_or_else(none)?;
    told(&app, (round, &who, &arrival, &headers), |seen| {
        let post = seen.round.town().post(&name).ok_or_else(none)?;
        Ok(rounds::post_json(round, &name, post))
    })
}

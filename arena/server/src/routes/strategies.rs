//! Strategies: a component comes in, is looked at in another process, and stands under its owner's name.

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use std::sync::Arc;

use crate::app::Shared;
use crate::auth::{Scope, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::{self, About};
use crate::http::paging::Wanted;
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::instance::Command;
use crate::instance::strategies::{self, Upload, check_name};
use crate::keeper::Answered;
use crate::problem::Problem;
use crate::workshop::{Received, admit, keep, receive};

/// The media type of a component.
const WASM: &str = "application/wasm";
/// The version of a strategy whose author gave none.
pub(super) const VERSION: &str = "0";

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(list, upload)).routes(routes!(strategy))
}

/// Uploads a strategy: the component is the body, up to 32 MiB. It is compiled and probed at once; what refuses it is
/// told in full, in the words of `arena check`. The same bytes under the same name and version are the same strategy.
#[utoipa::path(
    post, path = "/api/v1/strategies", tag = "tournaments",
    request_body(content = String, content_type = "application/wasm"),
    params(("name" = String, Query, min_length = 1, max_length = 64),
           ("version" = Option<String>, Query, min_length = 1, max_length = 64)),
    security(("key" = [])),
    responses((status = 202, description = "It may play, and is kept under the address in `Location`"), (status = 200, description = "It was uploaded before"))
)]
async fn upload(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    request: Request,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    wanted.only(&["name", "version"])?;
    body::check_type(request.headers(), WASM)?;
    let about = About::of(&request)?;
    let name = wanted.filter("name").unwrap_or_default().to_owned();
    let version = wanted.filter("version").unwrap_or(VERSION).to_owned();
    check_name(&name, &version)?;
    let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let told = told.and_then(|told| told.parse().ok());
    let received = receive(&app, told, request.into_body().into_data_stream()).await?;
    let slot = about.slot(received.sha256.as_bytes());
    // It goes on if the client goes away: whoever sends it again is then told what came of it.
    let finishing = tokio::spawn(async move {
        let command = look_at(&app, &who.viewer, received, name, version).await?;
        app.execute(who.viewer, arrival.at, command, slot).await
    });
    let answered: Answered = finishing.await.map_err(|_| Problem::internal())??;
    Ok(answered.into_response())
}

/// A component that was looked at before is not looked at again.
pub(super) async fn look_at(
    app: &Shared,
    viewer: &Viewer,
    received: Received,
    name: String,
    version: String,
) -> Result<Command, Problem> {
    let most = app.config.tournaments.strategies_per_agent;
    let known = app.look(|instance| instance.strategies.admitted(&received.sha256).cloned())?;
    let admission = match known {
        Some(admission) => admission,
        None => {
            // It is none of theirs yet, so there has to be room for it before anything is kept.
            let owner = viewer.agent().unwrap_or_default();
            let count = app.look(|instance| instance.strategies.of(owner).count())?;
            if count >= most {
                let detail = format_args!("you have {count} strategies, the limit is {most}");
                return Err(Problem::new("too_many", detail));
            }
            let admission = admit(app, &received).await?;
            keep(app, received).await?;
            Arc::new(admission)
        }
    };
    let upload = Upload { name, version, admission, most };
    Ok(Command::Strategies(strategies::Command::Upload(Box::new(upload))))
}

/// Your strategies, the newest first; for the admin everybody's.
#[utoipa::path(
    get, path = "/api/v1/strategies", tag = "tournaments",
    params(("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    security(("key" = [])), responses((status = 200, description = "One page of them"))
)]
async fn list(
    State(app): State<Shared>,
    who: Who,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    app.look(|instance| {
        let strategies = &instance.strategies;
        if who.viewer.is_admin() {
            let all = strategies.all().map(|strategy| (strategy.place(), strategy.to_json()));
            return Ok(wanted.page(&headers, all));
        }
        let nobody = || Problem::new("unauthorized", "this needs a key");
        let agent = who.viewer.agent().ok_or_else(nobody)?;
        let own = strategies.of(agent).map(|strategy| (strategy.place(), strategy.to_json()));
        Ok(wanted.page(&headers, own))
    })?
}

/// A strategy. Another's is shown once a tournament in which it played has disclosed who was who.
#[utoipa::path(
    get, path = "/api/v1/strategies/{strategy}", tag = "tournaments",
    params(("strategy" = String, Path, pattern = "^s[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The strategy"))
)]
async fn strategy(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let strategy = instance.strategies.seen(&who.viewer, &id)?;
        Ok(document(&headers, &strategy.to_json()))
    })?
}

//! What is known of the server itself.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::web::{page, shown};
use crate::app::Shared;
use crate::http::finish::accepts_page;
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::pages::docs::problem_page;
use crate::problem::{Problem, code_named};

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(openapi))
        .routes(routes!(problem))
        .routes(routes!(healthz))
        .routes(routes!(readyz))
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "meta", responses((status = 200, description = "OpenAPI 3.1")))]
async fn openapi(headers: HeaderMap) -> Response {
    document(&headers, super::document())
}

/// What a code means and what to do about it; as a page for whoever accepts HTML.
#[utoipa::path(
    get, path = "/problems/{code}", tag = "meta",
    params(("code" = String, Path, pattern = "^[a-z_]{1,64}$")),
    responses((status = 200, description = "The code"))
)]
async fn problem(Path(code): Path<String>, who: Who, headers: HeaderMap) -> Result<Response, Problem> {
    let code = code_named(&code).ok_or_else(|| Problem::new("not_found", "there is no such code"))?;
    if accepts_page(&headers) {
        return Ok(page(problem_page(code, shown(&who))));
    }
    let about =
        json!({ "code": code.name, "status": code.status, "title": code.title, "advice": code.advice });
    Ok(document(&headers, &about))
}

/// Whether the server runs.
#[utoipa::path(get, path = "/healthz", tag = "meta", responses((status = 200, description = "It runs")))]
async fn healthz() -> Response {
    "ok\n".into_response()
}

/// Whether it can take commands.
#[utoipa::path(get, path = "/readyz", tag = "meta", responses((status = 200, description = "It can")))]
async fn readyz(State(app): State<Shared>) -> Result<Response, Problem> {
    let seq = app.look(|instance| instance.seq)?;
    Ok(format!("ready at {seq}\n").into_response())
}

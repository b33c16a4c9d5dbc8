//! The pages, and the files they need.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::Shared;
use crate::http::who::Who;
use crate::pages;
use crate::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/assets/{name}", get(asset)).route("/docs/design", get(design))
}

/// A file of the pages. Its name has the digest of its content, so it may be kept for ever.
async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let asset =
        pages::assets::get(&name).ok_or_else(|| Problem::new("not_found", "there is no such file"))?;
    let mut response = asset.bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(pages::assets::CACHE_CONTROL));
    Ok(response)
}

async fn design() -> Response {
    page(pages::gallery::page(None))
}

/// A page as an answer.
pub(crate) fn page(markup: pages::Markup) -> Response {
    let mut response = markup.into_string().into_response();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Who looks, for the bar of a page; only a session can sign out.
pub(crate) fn shown(who: &Who) -> Option<pages::Viewer<'_>> {
    who.session.as_ref().map(|session| pages::Viewer { name: who.viewer.name(), csrf: &session.csrf })
}

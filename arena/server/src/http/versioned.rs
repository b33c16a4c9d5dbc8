//! Answers with a version: a strong ETag over their bytes, 304 for who has them, 412 for who changes what has changed.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::keeper::Answered;
use crate::problem::Problem;

/// The ETag of a document.
pub(crate) fn etag(bytes: &[u8]) -> String {
    let digest = Digest::of(bytes).to_string();
    format!("\"{}\"", &digest[..32])
}

fn names(header: Option<&HeaderValue>, tag: &str) -> bool {
    let Some(value) = header.and_then(|value| value.to_str().ok()) else { return false };
    value.split(',').map(str::trim).any(|given| given == "*" || given == tag)
}

/// A document, or 304 if the client has it.
pub(crate) fn document(headers: &HeaderMap, value: &Value) -> Response {
    bytes(headers, json::canonical(value), "application/json")
}

/// The same for bytes of any kind.
pub(crate) fn bytes(headers: &HeaderMap, bytes: Vec<u8>, media_type: &'static str) -> Response {
    let tag = etag(&bytes);
    let mut response = if names(headers.get(header::IF_NONE_MATCH), &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = bytes.into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        response
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Whether somebody who changes a document has seen what it is now. `now` is what a GET would answer; nothing if
/// there is nothing yet, which is said with `If-Match: "none"`.
pub(crate) fn check_match(headers: &HeaderMap, now: Option<&Value>) -> Result<(), Problem> {
    let given = headers.get(header::IF_MATCH);
    if given.is_none() {
        let detail = "say with `If-Match` which version you change (`\"none\"` if there is nothing yet)";
        return Err(Problem::new("if_match_missing", detail));
    }
    let tag = now.map_or_else(|| "\"none\"".to_owned(), |now| etag(&json::canonical(now)));
    if names(given, &tag) {
        return Ok(());
    }
    Err(Problem::new("if_match_stale", format_args!("it is {tag} now")))
}

/// The answer to a command.
impl IntoResponse for Answered {
    fn into_response(self) -> Response {
        let Self { answer, is_replay } = self;
        let mut body = answer.body;
        if let (Some(members), Some(Value::Object(once))) = (body.as_object_mut(), answer.once) {
            members.extend(once);
        }
        let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
        let mut response = (status, json::canonical(&body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(location) = answer.location.and_then(|location| HeaderValue::from_str(&location).ok()) {
            headers.insert(header::LOCATION, location);
        }
        if is_replay {
            headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
        }
        response
    }
}

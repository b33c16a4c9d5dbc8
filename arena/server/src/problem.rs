//! What a refusal looks like over HTTP: RFC 9457 problem details, for everything, always.
//!
//! A code is stable and has a page of its own. All faults of a body are told at once, each with its place.

mod codes;

use arena_canon::json::{self, Value};
use arena_contests::document::Faults;
use arena_engine::Excerpt;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub use codes::{CODES, Code, code_named};

/// What is wrong at one place of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// A JSON pointer as a URI fragment: `#/legal_basis/0/article`.
    pub pointer: String,
    /// The stable name of the fault.
    pub code: &'static str,
    /// What is wrong, for a person.
    pub detail: String,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    code: &'static Code,
    detail: String,
    errors: Vec<FieldError>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// Bytes of a detail, which may quote what somebody sent.
const DETAIL_BYTES_MAX: usize = 600;

fn shown(detail: impl std::fmt::Display) -> String {
    Excerpt { text: &detail.to_string(), max: DETAIL_BYTES_MAX }.to_string()
}

impl Problem {
    /// A refusal with a code of the table. One that is not there is a fault of this program and told as such.
    pub fn new(code: &str, detail: impl std::fmt::Display) -> Self {
        let known = code_named(code).unwrap_or_else(|| {
            debug_assert!(false, "the problem `{code}` is not in the table");
            &codes::INTERNAL
        });
        let detail = shown(detail);
        Self { code: known, detail, errors: Vec::new(), headers: Vec::new() }
    }

    /// A body that is well-formed and says something that it cannot say.
    pub fn form(faults: &Faults) -> Self {
        let mut problem = Self::new("form", "the body is not of its form");
        for fault in &faults.0 {
            problem.push(fault.pointer.as_str(), "form", &fault.message);
        }
        problem
    }

    /// A fault of the server itself. What it was goes to the log, not to the client.
    pub fn internal() -> Self {
        Self::new("internal", "something went wrong here; it is not your request")
    }

    /// Adds a fault at a JSON pointer.
    pub fn push(&mut self, pointer: &str, code: &'static str, detail: impl std::fmt::Display) {
        let detail = shown(detail);
        self.errors.push(FieldError { pointer: format!("#{pointer}"), code, detail });
    }

    /// The same without its places.
    #[must_use]
    pub(crate) fn without_errors(mut self) -> Self {
        self.errors.clear();
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same, and when to try again.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Its stable name.
    pub fn code(&self) -> &'static str {
        self.code.name
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Its title, the same for all of its code.
    pub fn title(&self) -> &'static str {
        self.code.title
    }

    /// What is wrong this time.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// What is wrong, place by place.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// The document of RFC 9457. `instance` is the id of the request.
    pub fn to_json(&self, instance: &str) -> Value {
        let errors: Vec<Value> = self
            .errors
            .iter()
            .map(|error| json!({ "pointer": error.pointer, "code": error.code, "detail": error.detail }))
            .collect();
        json!({
            "type": format!("/problems/{}", self.code.name),
            "title": self.code.title,
            "status": self.code.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code.name,
            "errors": errors,
        })
    }

    /// The finished answer.
    pub(crate) fn render(&self, instance: &str) -> Response {
        let body = json::canonical(&self.to_json(instance));
        let mut response = (self.status(), body).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        self.put_headers(&mut response);
        response
    }

    pub(crate) fn put_headers(&self, response: &mut Response) {
        for (name, value) in &self.headers {
            response.headers_mut().insert(name, value.clone());
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
    }
}

/// The body is written at the very end, where the id of the request is known and whether a person reads it.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

//! The outermost layer: every request has an id and a time, every answer its headers, and every refusal its body.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::arrival::{Arrival, Peer, client};
use super::log::Asked;
use crate::app::Shared;
use crate::pages;
use crate::problem::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Who may show what is served here: our own pages, unless a handler says otherwise.
pub(crate) const CROSS_ORIGIN_RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(crate) async fn finish(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let asked = Asked::of(&mut request);
    let peer = request.extensions().get::<Peer>().map_or(([0, 0, 0, 0], 0).into(), |peer| peer.0);
    let luck = app.outside.luck();
    let id: Arc<str> = luck[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    let address = client(peer, request.headers(), &app.config.trusted_proxies);
    let at = app.now();
    let arrival = Arrival { at, address, id: Arc::clone(&id) };
    let note = Note { app: Arc::clone(&app), asked, arrival: arrival.clone(), is_told: false };
    request.extensions_mut().insert(arrival);
    let wants_page = wants_page(&request).then(|| request.uri().path().to_owned());
    let mut response = next.run(request).await;
    let problem = problem_of(&mut response);
    if let Some(problem) = &problem {
        let kept = response.headers().clone();
        response = render(problem, &id, wants_page.as_deref());
        if let Some(allow) = kept.get(header::ALLOW) {
            response.headers_mut().insert(header::ALLOW, allow.clone());
        }
    }
    put_headers(&mut response, &id);
    note.answered(response.status(), problem.as_ref().map(Problem::code));
    response
}

/// What is noted of a request. One whose client went away before its answer is dropped in the middle, and noted too.
struct Note {
    app: Shared,
    asked: Asked,
    arrival: Arrival,
    is_told: bool,
}

impl Note {
    fn answered(mut self, status: StatusCode, code: Option<&str>) {
        self.is_told = true;
        let micros = self.asked.micros();
        self.app.figures.answered(self.asked.kind, status.as_u16(), micros);
        self.tell(Some(status), micros, code);
    }

    fn tell(&self, status: Option<StatusCode>, micros: u64, code: Option<&str>) {
        if let Some(log) = &self.app.log {
            log(&self.asked.line(self.arrival.at, &self.arrival.id, status, micros, code));
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if !self.is_told {
            self.tell(None, self.asked.micros(), None);
        }
    }
}

/// A person reads pages; everything under `/api` is read by programs.
fn wants_page(request: &Request) -> bool {
    !request.uri().path().starts_with("/api/") && accepts_page(request.headers())
}

/// Browsers say so; programs do not.
pub(crate) fn accepts_page(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

/// The refusal of a handler, or one for what a layer below refused in its own words.
fn problem_of(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    let status = response.status();
    let is_finished = response.headers().contains_key(header::CONTENT_TYPE)
        && !response.headers()[header::CONTENT_TYPE].as_bytes().starts_with(b"text/plain");
    if is_finished || !(status.is_client_error() || status.is_server_error()) {
        return None;
    }
    Some(match status {
        StatusCode::NOT_FOUND => Problem::new("not_found", "nothing has this address"),
        StatusCode::METHOD_NOT_ALLOWED => {
            Problem::new("method_not_allowed", "this address has other methods")
        }
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new("body_too_large", "the body is too large"),
        StatusCode::REQUEST_TIMEOUT => Problem::new("timeout", "the request took too long"),
        status if status.is_client_error() => {
            Problem::new("query", "the address or its query is not of its form")
        }
        _ => Problem::internal(),
    })
}

fn render(problem: &Problem, id: &str, page: Option<&str>) -> Response {
    let Some(path) = page else { return problem.render(id) };
    let mut response = (problem.status(), page_of(problem, id, path)).into_response();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    problem.put_headers(&mut response);
    response
}

fn page_of(problem: &Problem, id: &str, path: &str) -> String {
    let errors: Vec<(&str, &str, &str)> = problem
        .errors()
        .iter()
        .map(|error| (error.pointer.as_str(), error.code, error.detail.as_str()))
        .collect();
    let shown = pages::Problem {
        status: problem.status().as_u16(),
        title: problem.title(),
        detail: problem.detail(),
        code: problem.code(),
        instance: id,
        errors: &errors,
        onward: None,
    };
    pages::error_page(&shown, path, None).into_string()
}

fn put_headers(response: &mut Response, id: &str) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    let fixed: [(HeaderName, &'static str); 3] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What a picture for other sites sets itself.
    let usual: [(HeaderName, &'static str); 3] = [
        (header::CONTENT_SECURITY_POLICY, pages::assets::CSP),
        (CROSS_ORIGIN_RESOURCE, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in usual {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

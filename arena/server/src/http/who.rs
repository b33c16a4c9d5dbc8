//! Who asks: a key, the admin's token, or the session of a browser. Exactly one, or nobody.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::arrival::Arrival;
use super::limit::{Class, Counted};
use super::log::Asker;
use crate::app::{App, Shared};
use crate::auth::{Key, Session, Viewer};
use crate::problem::Problem;

/// The name of the session's cookie. Its prefix makes browsers hold it to this host and to secure transport.
pub(crate) const COOKIE: &str = "__Host-arena";
const HEADER_BYTES_MAX: usize = 512;

/// Who asks, and for whom limits count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who {
    pub(crate) viewer: Viewer,
    /// The id of the key, where there is one.
    pub(crate) key: Option<String>,
    /// The session, where there is one.
    pub(crate) session: Option<Session>,
    /// The value of its cookie.
    pub(crate) cookie: Option<String>,
}

impl Who {
    /// Nobody in particular: what they see is what all of them see.
    pub(crate) fn is_nobody(&self) -> bool {
        self.viewer == Viewer::Anonymous && self.session.is_none()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Arrival {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::internal)
    }
}

/// Finds out who asks and whether they may ask now.
pub(crate) async fn identify(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    match admit(&app, &request) {
        Ok(who) => {
            if let Some(asker) = request.extensions().get::<Asker>() {
                asker.know(who.viewer.name());
            }
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

fn admit(app: &App, request: &Request) -> Result<Who, Problem> {
    let arrival = request.extensions().get::<Arrival>().ok_or_else(Problem::internal)?;
    let who = find(app, request, arrival)?;
    if let Some(class) = Class::of(request.method(), request.uri().path(), &who.viewer) {
        let counted =
            Counted { key: who.key.as_deref(), agent: who.viewer.agent(), address: arrival.address };
        app.limiter.check(class, counted)?;
    }
    Ok(who)
}

fn find(app: &App, request: &Request, arrival: &Arrival) -> Result<Who, Problem> {
    let headers = request.headers();
    let bearer = one(headers, header::AUTHORIZATION.as_str())?;
    let admin = one(headers, "x-admin-token")?;
    match (bearer, admin) {
        (Some(_), Some(_)) => Err(Problem::new("unauthorized", "send a key or the admin's token, not both")),
        (Some(bearer), None) => by_key(app, bearer, arrival),
        (None, Some(token)) => by_token(app, token, arrival),
        (None, None) => by_cookie(app, request, arrival),
    }
}

/// The one value of a header; a second one could be what another reader sees.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let value =
        value.to_str().ok().filter(|value| value.len() <= HEADER_BYTES_MAX && values.next().is_none());
    value.map(Some).ok_or_else(|| Problem::new("unauthorized", format_args!("`{name}` is not of its form")))
}

fn by_key(app: &App, bearer: &str, arrival: &Arrival) -> Result<Who, Problem> {
    let failed = |why: &str| {
        app.limiter.check(Class::Failure, Counted::address(arrival.address))?;
        Err(Problem::new("unauthorized", why))
    };
    let Some(token) = bearer.strip_prefix("Bearer ") else {
        return failed("the scheme of `Authorization` is Bearer");
    };
    let key = match Key::parse(token) {
        Ok(key) => key,
        Err(why) => return failed(&why.to_string()),
    };
    match app.look(|instance| instance.agents.viewer(&key, arrival.at))? {
        Some(viewer) => Ok(Who { viewer, key: Some(key.id().as_str().to_owned()), ..Who::default() }),
        None => failed("the key is unknown, revoked or expired"),
    }
}

fn by_token(app: &App, token: &str, arrival: &Arrival) -> Result<Who, Problem> {
    if app.admin.is(token) {
        return Ok(Who { viewer: Viewer::Admin { name: "admin".to_owned() }, ..Who::default() });
    }
    app.limiter.check(Class::Failure, Counted::address(arrival.address))?;
    Err(Problem::new("unauthorized", "this is not the admin's token"))
}

/// Sessions are for pages. A program sends a key, so that no page elsewhere can use a person's session on it.
fn by_cookie(app: &App, request: &Request, arrival: &Arrival) -> Result<Who, Problem> {
    if request.uri().path().starts_with("/api/") {
        return Ok(Who::default());
    }
    let Some(cookie) = cookie(request.headers()) else { return Ok(Who::default()) };
    let Some(session) = app.sessions.find(&cookie, arrival.at.unix_ms()) else { return Ok(Who::default()) };
    if !is_read(request.method()) && !is_same_site(request.headers()) {
        return Err(Problem::new("scope_missing", "a page of another site sent this form"));
    }
    let viewer = match &session.agent {
        None => Some(Viewer::Admin { name: "admin".to_owned() }),
        Some(agent) => app.look(|instance| instance.agents.viewer_of(agent, session.scopes.clone()))?,
    };
    let Some(viewer) = viewer else { return Ok(Who::default()) };
    Ok(Who { viewer, key: None, session: Some(session), cookie: Some(cookie) })
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut named = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    named.find(|(name, value)| *name == COOKIE && value.len() == 64).map(|(_, value)| value.to_owned())
}

pub(crate) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

pub(crate) fn is_same_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    site.is_none_or(|site| matches!(site, "same-origin" | "none"))
}

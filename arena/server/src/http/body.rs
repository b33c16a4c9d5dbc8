//! Bodies: one JSON document or one form, bounded, never compressed, read strictly.

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_canon::Preimage;
use arena_canon::json::{self, Value};
use arena_store::Slot;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};

use super::who::Who;
use crate::app::{App, Shared};
use crate::auth::Viewer;
use crate::problem::Problem;

const KEY_BYTES_MAX: usize = 128;
/// A redline at its full length, of letters that a form writes as twelve bytes each.
const FORM_BYTES_MAX: usize = 256 << 10;
const FIELDS_MAX: usize = 100;

/// A JSON body, and where its answer is kept if the request is sent again.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) document: Value,
    pub(crate) slot: Option<Slot>,
}

impl FromRequest<Shared> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let limit = app.config.limits.json_bytes;
        check_type(request.headers(), "application/json")?;
        let about = About::of(&request)?;
        let bytes = read(request, limit).await?;
        let document = json::read(&bytes, limit).map_err(|why| Problem::new("not_json", why))?;
        let slot = about.slot(&bytes);
        Ok(Self { document, slot })
    }
}

/// A request without a body, that may be sent again.
#[derive(Debug)]
pub(crate) struct Bare {
    pub(crate) slot: Option<Slot>,
}

impl FromRequest<Shared> for Bare {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, Problem> {
        let about = About::of(&request)?;
        let bytes = read(request, 0).await?;
        Ok(Self { slot: about.slot(&bytes) })
    }
}

/// The fields of a form of ours, whose token was that of the session.
#[derive(Debug)]
pub(crate) struct Form(pub(crate) BTreeMap<String, String>);

impl FromRequest<Shared> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, Problem> {
        check_type(request.headers(), "application/x-www-form-urlencoded")?;
        let who = request.extensions().get::<Who>().cloned().unwrap_or_default();
        let bytes = read(request, FORM_BYTES_MAX).await?;
        let fields: Vec<(String, String)> =
            form_urlencoded::parse(&bytes).into_owned().take(FIELDS_MAX + 1).collect();
        if fields.len() > FIELDS_MAX {
            return Err(Problem::new(
                "body_too_large",
                format_args!("a form has at most {FIELDS_MAX} fields"),
            ));
        }
        let fields: BTreeMap<String, String> = fields.into_iter().collect();
        check_token(&who, fields.get("csrf").map_or("", String::as_str))?;
        Ok(Self(fields))
    }
}

/// That a form is one of this session; of nobody in particular it need not be.
pub(crate) fn check_token(who: &Who, given: &str) -> Result<(), Problem> {
    use subtle::ConstantTimeEq;
    let Some(session) = &who.session else { return Ok(()) };
    if bool::from(given.as_bytes().ct_eq(session.csrf.as_bytes())) {
        return Ok(());
    }
    Err(Problem::new("scope_missing", "the form is not one of this session; open its page again"))
}

/// The media type, and no coding: what unpacks to more than it says is not unpacked.
pub(crate) fn check_type(headers: &HeaderMap, wanted: &'static str) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let given = given.split(';').next().unwrap_or("").trim();
    let coding = headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    if given.eq_ignore_ascii_case(wanted) && !coding {
        return Ok(());
    }
    Err(Problem::new("media_type", format_args!("send `{wanted}`, uncompressed")))
}

/// The whole body, if it is not too long.
pub(crate) async fn read(request: Request, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || Problem::new("body_too_large", format_args!("the body may have {limit} bytes"));
    let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if told.and_then(|told| told.parse::<usize>().ok()).is_some_and(|told| told > limit) {
        return Err(too_large());
    }
    axum::body::to_bytes(request.into_body(), limit).await.map_err(|_| too_large())
}

/// What an idempotency key depends on.
#[derive(Debug)]
pub(crate) struct About {
    key: Option<String>,
    scope: String,
    line: String,
}

impl About {
    pub(crate) fn of(request: &Request) -> Result<Self, Problem> {
        let key = match request.headers().get("idempotency-key") {
            None => None,
            Some(value) => Some(read_key(value.as_bytes())?),
        };
        let who = request.extensions().get::<Who>().cloned().unwrap_or_default();
        let route = format!("{} {}", request.method(), request.uri().path());
        let name = match &who.viewer {
            Viewer::Anonymous => "anonymous".to_owned(),
            Viewer::Agent { id, .. } => format!("agent {id}"),
            Viewer::Admin { .. } => "admin".to_owned(),
        };
        let line = format!("{} {}", request.method(), request.uri());
        Ok(Self { key, scope: format!("{name} {route}"), line })
    }

    /// Where the answer is kept; `body` is what was sent, or a digest of it.
    pub(crate) fn slot(self, body: &[u8]) -> Option<Slot> {
        let Self { key, scope, line } = self;
        let preimage = Preimage::new("ARENA-REQUEST-V1").bytes(line.as_bytes()).bytes(body);
        Some(Slot { scope, key: key?, request_sha256: preimage.digest() })
    }
}

fn read_key(value: &[u8]) -> Result<String, Problem> {
    let is_key = (1..=KEY_BYTES_MAX).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic);
    let key = std::str::from_utf8(value).ok().filter(|_| is_key).map(str::to_owned);
    let wrong =
        || Problem::new("query", format_args!("`Idempotency-Key` is 1 to {KEY_BYTES_MAX} visible ASCII"));
    key.ok_or_else(wrong)
}

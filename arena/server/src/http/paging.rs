//! Lists in pages: a limit, and an opaque cursor for the rest. A cursor is a place, never an offset.

use arena_canon::json::Value;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::versioned::document;
use crate::problem::Problem;
use crate::texts::Texts;

/// Things of one page where nothing is said.
const LIMIT_DEFAULT: usize = 50;
/// And at most.
const LIMIT_MAX: usize = 100;
const CURSOR_BYTES_MAX: usize = 256;

/// What of a list is wanted, with the other members of the query.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) limit: usize,
    /// The place after which the page begins.
    pub(crate) after: Option<String>,
    others: Vec<(String, String)>,
    path: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Wanted {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let path = parts.uri.path().to_owned();
        let mut wanted = Self { limit: LIMIT_DEFAULT, after: None, others: Vec::new(), path };
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes()) {
            match &*name {
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
                    let wrong = || Problem::new("query", format_args!("`limit` is 1 to {LIMIT_MAX}"));
                    wanted.limit = limit.ok_or_else(wrong)?;
                }
                "cursor" => wanted.after = Some(read_cursor(&value)?),
                _ => wanted.others.push((name.into_owned(), value.into_owned())),
            }
        }
        Ok(wanted)
    }
}

fn read_cursor(cursor: &str) -> Result<String, Problem> {
    let bytes = Some(cursor).filter(|cursor| cursor.len() <= CURSOR_BYTES_MAX);
    let bytes = bytes.and_then(|cursor| URL_SAFE_NO_PAD.decode(cursor).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| Problem::new("query", "`cursor` is not one of ours; leave it out to start anew"))
}

impl Wanted {
    /// Another member of the query.
    pub(crate) fn filter(&self, name: &str) -> Option<&str> {
        self.others.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Refuses members of the query that nobody reads here.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        match self.others.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(Problem::new("query", format_args!("`{name}` is not read here"))),
            None => Ok(()),
        }
    }

    /// One page of things that come with their places, in the order of the places.
    pub(crate) fn page<'a>(
        &self,
        headers: &axum::http::HeaderMap,
        things: impl Iterator<Item = (String, Value)> + 'a,
    ) -> Response {
        self.page_with(headers, things, &mut |_| {})
    }

    /// The same of things that have marks for texts. Those of one page are read.
    pub(crate) fn page_of_texts<'a>(
        &self,
        headers: &axum::http::HeaderMap,
        things: impl Iterator<Item = (String, Value)> + 'a,
        texts: Texts<'_>,
    ) -> Response {
        self.page_with(headers, things, &mut |thing| texts.fill(thing))
    }

    fn page_with<'a>(
        &self,
        headers: &axum::http::HeaderMap,
        things: impl Iterator<Item = (String, Value)> + 'a,
        finish: &mut dyn FnMut(&mut Value),
    ) -> Response {
        let is_after = |place: &str| self.after.as_deref().is_none_or(|after| place > after);
        let mut items: Vec<(String, Value)> =
            things.filter(|(place, _)| is_after(place)).take(self.limit + 1).collect();
        let has_more = items.len() > self.limit;
        items.truncate(self.limit);
        let next = items.last().filter(|_| has_more).map(|(place, _)| URL_SAFE_NO_PAD.encode(place));
        let mut values: Vec<Value> = items.into_iter().map(|(_, value)| value).collect();
        values.iter_mut().for_each(finish);
        let mut response = document(headers, &json!({ "items": values, "next_cursor": next }));
        if let Some(link) = next.and_then(|next| HeaderValue::from_str(&self.link(&next)).ok()) {
            response.headers_mut().insert(header::LINK, link);
        }
        response.into_response()
    }

    fn link(&self, cursor: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.others {
            query.append_pair(name, value);
        }
        query.append_pair("limit", &self.limit.to_string()).append_pair("cursor", cursor);
        format!("<{}?{}>; rel=\"next\"", self.path, query.finish())
    }
}

//! The request log: one line of JSON for each request, for whoever runs the server.
//!
//! It never has a key, a token, a cookie, a query, a header or a body. Of the path it has what cannot be a secret:
//! a segment that is long, or that has unusual characters, stands as the start of its digest, so that equal ones can
//! be found and none can be read.

use std::sync::{Arc, OnceLock};

use arena_canon::Digest;
use arena_canon::json;
use arena_contests::Moment;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use serde_json::json;

/// Where lines of the log go. It is called for each request, on the thread that answers, and has to be short.
pub type Log = Box<dyn Fn(&str) + Send + Sync>;

/// Bytes of a line, at most.
pub const LINE_BYTES_MAX: usize = 512;
/// A segment of a path that is longer is not shown. A token has at least 32 bytes, a key has more.
const SEGMENT_BYTES_MAX: usize = 24;
/// Bytes of the path in a line.
const PATH_BYTES_MAX: usize = 160;
/// Bytes of the name in a line. No agent has a longer one.
const NAME_BYTES_MAX: usize = 64;

/// Who asked, as soon as that is known. It outlives a handler that is too slow or panics.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker(Arc<OnceLock<String>>);

impl Asker {
    pub(crate) fn know(&self, name: &str) {
        let _ = self.0.set(name.to_owned());
    }

    fn name(&self) -> &str {
        self.0.get().map_or("anonymous", String::as_str)
    }
}

/// What kind of request it was, for the figures. There are few, so that their number does not grow with what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    ApiRead,
    ApiWrite,
    PageRead,
    PageWrite,
    Stream,
    Asset,
    Meta,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ApiRead => "api_read",
            Self::ApiWrite => "api_write",
            Self::PageRead => "page_read",
            Self::PageWrite => "page_write",
            Self::Stream => "stream",
            Self::Asset => "asset",
            Self::Meta => "meta",
        }
    }

    fn of(method: &Method, path: &str) -> Self {
        let is_read = super::who::is_read(method);
        match path {
            "/api/v1/events" | "/api/v1/events.ndjson" => Self::Stream,
            "/healthz" | "/readyz" | "/openapi.json" => Self::Meta,
            _ if path.starts_with("/assets/") => Self::Asset,
            _ if path.starts_with("/problems") => Self::Meta,
            _ if path.starts_with("/api/") && is_read => Self::ApiRead,
            _ if path.starts_with("/api/") => Self::ApiWrite,
            _ if is_read => Self::PageRead,
            _ => Self::PageWrite,
        }
    }
}

/// A request, as far as the log needs it.
pub(crate) struct Asked {
    pub(crate) kind: Kind,
    asker: Asker,
    method: &'static str,
    path: String,
    since: tokio::time::Instant,
}

impl Asked {
    /// Taken at its receipt; whoever finds out who asks is told by an extension of the request where to say it.
    pub(crate) fn of(request: &mut Request) -> Self {
        let (method, path) = (request.method(), request.uri().path());
        let kind = Kind::of(method, path);
        let (method, path) = (method_name(method), shown_path(path));
        let asker = Asker::default();
        request.extensions_mut().insert(asker.clone());
        Self { kind, asker, method, path, since: tokio::time::Instant::now() }
    }

    /// From its receipt until now, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Its line. The time that it took is that until the head of the answer was there. Without a status the client
    /// went away before that.
    pub(crate) fn line(
        &self,
        at: Moment,
        id: &str,
        status: Option<StatusCode>,
        micros: u64,
        code: Option<&str>,
    ) -> String {
        let line = json!({
            "time": at.to_string(), "id": id, "method": self.method, "path": self.path,
            "status": status.map(|status| status.as_u16()), "ms": micros / 1_000, "agent": cut(self.asker.name(), NAME_BYTES_MAX),
            "code": code,
        });
        let line = String::from_utf8(json::canonical(&line)).unwrap_or_default();
        debug_assert!(line.len() <= LINE_BYTES_MAX, "{line}");
        line
    }
}

/// A method is any word; only those that are known are no secret.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn shown_path(path: &str) -> String {
    let mut shown = String::new();
    for (place, segment) in path.split('/').enumerate() {
        if place > 0 {
            shown.push('/');
        }
        if shown.len() + SEGMENT_BYTES_MAX > PATH_BYTES_MAX {
            shown.push('…');
            break;
        }
        if is_plain(segment) {
            shown.push_str(segment);
        } else {
            shown.push('~');
            shown.push_str(&Digest::of(segment.as_bytes()).to_string()[..8]);
        }
    }
    shown
}

/// A short word without anything unusual in it, and not the start of a key.
fn is_plain(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    let is_key = segment.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("ak_"));
    segment.len() <= SEGMENT_BYTES_MAX && !is_key && segment.bytes().all(plain)
}

fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_words_and_no_secret() {
        assert_eq!(shown_path("/api/v1/rounds/sprint-1/windows/w2"), "/api/v1/rounds/sprint-1/windows/w2");
        assert_eq!(shown_path("/"), "/");
        let secret = "9f3c1d5e7a8b0c2d4e6f8a1b3c5d7e9f";
        for path in [
            format!("/login/{secret}"),
            format!("/x/ak_{secret}/keys"),
            "/AK_abc".to_owned(),
            format!("/%61{}", &secret[..10]),
            format!("/a;token={secret}"),
        ] {
            let shown = shown_path(&path);
            assert!(
                !shown.contains(&secret[..10]) && shown.contains('~') && !shown.contains("abc"),
                "{shown}"
            );
        }
    }

    #[test]
    fn a_line_is_bounded_and_one_line_whatever_is_asked() {
        let long = format!("/{}", "abcdefghijklmnopqrstuvwx/".repeat(400));
        for path in [long.as_str(), "/a%0Ab%1B[2J", "/a\u{7f}"] {
            let mut request = Request::new(axum::body::Body::empty());
            if let Ok(uri) = path.parse() {
                *request.uri_mut() = uri;
            }
            *request.method_mut() = Method::from_bytes(b"SECRETWORD").unwrap();
            let asked = Asked::of(&mut request);
            asked.asker.know(&"\u{1}\u{7f}\n\u{202e}".repeat(40));
            let at = Moment::from_unix_ms(1_796_060_712_345);
            let line =
                asked.line(at, "0123456789abcdef", Some(StatusCode::NOT_FOUND), u64::MAX, Some("not_found"));
            assert!(line.len() <= LINE_BYTES_MAX, "{} {line}", line.len());
            assert!(!line.bytes().any(|byte| byte < 0x20) && !line.contains("SECRETWORD"), "{line}");
            assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
        }
    }
}

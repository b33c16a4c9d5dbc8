//! A run that has succeeded, whole.

use std::ops::Range;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::found;
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::who::Who;
use crate::problem::Problem;
use crate::workshop::Whole;

/// Runs that are sent at once: each holds a file in memory.
const STREAMS_MAX: usize = 16;
/// Of these to one address.
const STREAMS_PER_ADDRESS: usize = 4;

/// Everything that `arena verify` reads of a run, as a tar: frozen file, commitments, identities, journal, records, what
/// guests said, packs, scorecard, and the receipt as the last file. Its components are left out; they are their owners'.
/// Only of a success. A broken download goes on with `Range`.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/run", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The run", content_type = "application/x-tar"),
              (status = 206, description = "A part of it", content_type = "application/x-tar"))
)]
pub(super) async fn run(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    tournament.disclosed()?;
    let places =
        [(format!("runs of {}", arrival.address), STREAMS_PER_ADDRESS), ("runs".to_owned(), STREAMS_MAX)];
    let busy = || Problem::new("rate_limited", "too many runs are sent at once").retry_after(5);
    let ticket = app.live.open(&places).ok_or_else(busy)?;
    let whole = Whole::of(&app, &tournament).await?;
    let (length, tag) = (whole.length(), whole.tag());
    let part = wanted(&headers, length, &tag);
    let range = part.clone().unwrap_or(0..length);
    let mut response = whole.send(range.clone(), ticket, app.ends.subscribe()).into_response();
    if part.is_some() {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let told = format!("bytes {}-{}/{length}", range.start, range.end - 1);
        put(&mut response, header::CONTENT_RANGE, &told);
    }
    let name = format!("attachment; filename=\"{}.tar\"", tournament.id());
    for (header, value) in [
        (header::CONTENT_TYPE, "application/x-tar"),
        (header::CONTENT_DISPOSITION, &name),
        (header::CONTENT_LENGTH, &(range.end - range.start).to_string()),
        (header::ACCEPT_RANGES, "bytes"),
        (header::ETAG, &tag),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        put(&mut response, header, value);
    }
    Ok(response)
}

fn put(response: &mut Response, header: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(header, value);
    }
}

/// The part that is asked for: one range of bytes, from a place on or between two. Any other wish is answered with all
/// of it, as is one for a part of another version.
fn wanted(headers: &HeaderMap, length: u64, tag: &str) -> Option<Range<u64>> {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if text(header::IF_RANGE).is_some_and(|version| version != tag) {
        return None;
    }
    let (first, last) = text(header::RANGE)?.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let first: u64 = number(first)?;
    let last: u64 = if last.is_empty() { length - 1 } else { number(last)? };
    (first <= last && first < length).then(|| first..last.min(length - 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_or_everything_is_sent() {
        let tag = "\"abc\"";
        for (range, version, part) in [
            ("bytes=0-", None, Some(0..100)),
            ("bytes=10-", Some("\"abc\""), Some(10..100)),
            ("bytes=10-19", None, Some(10..20)),
            ("bytes=99-", None, Some(99..100)),
            ("bytes=99-1000000", None, Some(99..100)),
            ("bytes=10-", Some("\"other\""), None),
            ("bytes=10-", Some("W/\"abc\""), None),
            ("bytes=100-", None, None),
            ("bytes=20-10", None, None),
            ("bytes=-10", None, None),
            ("bytes=0-1,5-6", None, None),
            ("bytes=+1-2", None, None),
            ("bytes=a-", None, None),
            ("bytes=99999999999999999999999-", None, None),
            ("lines=0-1", None, None),
            ("bytes=", None, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_static(range));
            if let Some(version) = version {
                headers.insert(header::IF_RANGE, HeaderValue::from_static(version));
            }
            assert_eq!(wanted(&headers, 100, tag), part, "{range}");
        }
        assert_eq!(wanted(&HeaderMap::new(), 100, tag), None);
    }
}

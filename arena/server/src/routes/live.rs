//! The live feeds.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::http::arrival::Arrival;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::live::Framing;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(events)).routes(routes!(lines))
}

/// Everything that happens, as server-sent events. `Last-Event-ID` goes on where a stream broke off.
#[utoipa::path(
    get, path = "/api/v1/events", tag = "live",
    params(("topic" = Option<String>, Query, max_length = 128), ("since" = Option<u64>, Query)),
    responses((status = 200, description = "The stream", content_type = "text/event-stream"))
)]
async fn events(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    open(&app, &who, &arrival, &headers, &wanted, Framing::Sse)
}

/// The same as lines of JSON, from after `since` on.
#[utoipa::path(
    get, path = "/api/v1/events.ndjson", tag = "live",
    params(("topic" = Option<String>, Query, max_length = 128), ("since" = Option<u64>, Query)),
    responses((status = 200, description = "The stream", content_type = "application/x-ndjson"))
)]
async fn lines(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    open(&app, &who, &arrival, &headers, &wanted, Framing::Lines)
}

fn open(
    app: &App,
    who: &Who,
    arrival: &Arrival,
    headers: &HeaderMap,
    wanted: &Wanted,
    framing: Framing,
) -> Result<Response, Problem> {
    wanted.only(&["topic", "since"])?;
    let head = app.live.head();
    let since = match headers.get("last-event-id") {
        Some(id) => Some(id.to_str().map_err(|_| not_a_place())?),
        None => wanted.filter("since"),
    };
    let since = match since {
        None => head,
        Some(place) => place.parse::<u64>().map_err(|_| not_a_place())?,
    };
    if since > head {
        let detail = format_args!("there is no event {since}; the last one is {head}. Read the state anew");
        return Err(Problem::new("gone", detail));
    }
    let limits = &app.config.limits;
    let by_name = match &who.key {
        Some(key) => (format!("key {key}"), limits.streams_per_key),
        None => (format!("address {}", arrival.address), limits.streams_per_address),
    };
    let ticket = app.live.open(&[by_name, ("all".to_owned(), limits.streams_max)]).ok_or_else(|| {
        Problem::new("rate_limited", "too many streams are open; close one first").retry_after(5)
    })?;
    let topic = super::query::text(wanted, "topic", 128)?.map(str::to_owned);
    let body = app.live.follow(ticket, since, topic, framing, app.ends.subscribe());
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(framing.media_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

fn not_a_place() -> Problem {
    Problem::new("query", "the place of an event is a whole number of at least 0")
}

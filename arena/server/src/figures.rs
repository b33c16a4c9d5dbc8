//! Figures for whoever runs the server, in the text format of Prometheus, on a loopback port of their own.
//!
//! Their labels are kinds of requests and statuses: a figure never tells who asked, or for what.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::{App, Shared};
use crate::http::log::Kind;

/// Ends of the intervals of times, in microseconds, with their names in seconds.
const BUCKETS: [(u64, &str); 12] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (5_000_000, "5"),
    (30_000_000, "30"),
];

#[derive(Default)]
struct Times {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum_micros: u64,
}

#[derive(Default)]
struct Tally {
    answers: BTreeMap<(Kind, u16), u64>,
    times: BTreeMap<Kind, Times>,
}

/// What is counted. A restart begins anew.
#[derive(Default)]
pub(crate) struct Figures {
    tally: Mutex<Tally>,
    refused_by_queue: AtomicU64,
    connections: Arc<AtomicU64>,
}

/// An open connection; it counts until it is dropped.
pub(crate) struct Connection(Arc<AtomicU64>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Figures {
    /// A request was answered.
    pub(crate) fn answered(&self, kind: Kind, status: u16, micros: u64) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally.answers.entry((kind, status)).or_default() += 1;
        let times = tally.times.entry(kind).or_default();
        times.count += 1;
        times.sum_micros = times.sum_micros.saturating_add(micros);
        if let Some(place) = BUCKETS.iter().position(|(end, _)| micros <= *end) {
            times.counts[place] += 1;
        }
    }

    /// The writer's queue was full.
    pub(crate) fn refused_by_queue(&self) {
        self.refused_by_queue.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was opened.
    pub(crate) fn connected(&self) -> Connection {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connection(Arc::clone(&self.connections))
    }

    fn write(&self, out: &mut String) {
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        head(out, "arena_requests_total", "counter", "Requests that were answered.");
        for ((kind, status), count) in &tally.answers {
            let _ = writeln!(
                out,
                "arena_requests_total{{class=\"{}\",status=\"{status}\"}} {count}",
                kind.name()
            );
        }
        let name = "arena_request_duration_seconds";
        head(out, name, "histogram", "Time from the receipt of a request to the head of its answer.");
        for (kind, times) in &tally.times {
            let class = kind.name();
            let mut below = 0;
            for ((_, end), count) in BUCKETS.iter().zip(times.counts) {
                below += count;
                let _ = writeln!(out, "{name}_bucket{{class=\"{class}\",le=\"{end}\"}} {below}");
            }
            let _ = writeln!(out, "{name}_bucket{{class=\"{class}\",le=\"+Inf\"}} {}", times.count);
            let (whole, rest) = (times.sum_micros / 1_000_000, times.sum_micros % 1_000_000);
            let _ = writeln!(out, "{name}_sum{{class=\"{class}\"}} {whole}.{rest:06}");
            let _ = writeln!(out, "{name}_count{{class=\"{class}\"}} {}", times.count);
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// All figures as they are now.
fn text(app: &App) -> String {
    let mut out = String::new();
    app.figures.write(&mut out);
    let streams = app.live.streams("all") as u64;
    let connections = app.figures.connections.load(Ordering::Relaxed);
    let refused = app.figures.refused_by_queue.load(Ordering::Relaxed);
    for (name, kind, help, value) in [
        ("arena_journal_seq", "gauge", "Place of the last row of the journal.", app.live.head()),
        ("arena_streams_open", "gauge", "Open event streams.", streams),
        ("arena_connections_open", "gauge", "Open connections.", connections),
        ("arena_queue_refusals_total", "counter", "Commands refused since too many waited.", refused),
    ] {
        head(&mut out, name, kind, help);
        let _ = writeln!(out, "{name} {value}");
    }
    out
}

/// The one route of the second port.
pub(crate) fn router(app: Shared) -> Router {
    Router::new().route("/metrics", get(metrics)).with_state(app)
}

async fn metrics(State(app): State<Shared>) -> Response {
    let mut response = text(&app).into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_what_is_at_most_its_ends() {
        let figures = Figures::default();
        for micros in [0, 500, 501, 30_000_001] {
            figures.answered(Kind::ApiRead, 200, micros);
        }
        let mut out = String::new();
        figures.write(&mut out);
        for line in [
            "arena_requests_total{class=\"api_read\",status=\"200\"} 4",
            "arena_request_duration_seconds_bucket{class=\"api_read\",le=\"0.0005\"} 2",
            "arena_request_duration_seconds_bucket{class=\"api_read\",le=\"0.001\"} 3",
            "arena_request_duration_seconds_bucket{class=\"api_read\",le=\"30\"} 3",
            "arena_request_duration_seconds_bucket{class=\"api_read\",le=\"+Inf\"} 4",
            "arena_request_duration_seconds_sum{class=\"api_read\"} 30.001002",
        ] {
            assert!(out.lines().any(|found| found == line), "{line} is not in\n{out}");
        }
    }

    #[test]
    fn a_connection_counts_while_it_is_open() {
        let figures = Figures::default();
        let open = figures.connected();
        assert_eq!(figures.connections.load(Ordering::Relaxed), 1);
        drop(open);
        assert_eq!(figures.connections.load(Ordering::Relaxed), 0);
    }
}

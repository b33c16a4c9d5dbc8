//! What the store notes about its snapshots, as lines of the log.

use std::sync::Arc;

use arena_canon::json;
use arena_store::{OnNote, SnapshotNote};
use serde_json::json;

use crate::http::log::Log;
use crate::outside::Outside;

/// What the store calls: a line for each note, where there is a log.
pub(crate) fn taking(log: Option<Arc<Log>>, outside: Arc<dyn Outside>) -> OnNote {
    Arc::new(move |note: &SnapshotNote| {
        if let Some(log) = &log {
            log(&line(note, &outside.now().to_string()));
        }
    })
}

fn line(note: &SnapshotNote, time: &str) -> String {
    let (what, seq) = match note {
        SnapshotNote::Written { seq, .. } => ("written", seq),
        SnapshotNote::NotWritten { seq, .. } => ("not written", seq),
        SnapshotNote::Used { seq, .. } => ("used", seq),
        SnapshotNote::Dropped { seq, .. } => ("dropped", seq),
        SnapshotNote::Broken { seq, .. } => ("journal broken", seq),
    };
    let line = json!({ "time": time, "snapshot": what, "seq": seq, "detail": note.to_string() });
    String::from_utf8(json::canonical(&line)).unwrap_or_default()
}

//! Moves what is in the write-ahead log into the database, beside the writer.
//!
//! A commit is on disk once the log is. By itself SQLite moves the log's pages in the commit that finds a thousand of
//! them, and every command of that batch waits for it. Here a thread with a connection of its own does it. While
//! commits go on it never gets all of the log, which would then grow without end: once the log is long, the writer moves
//! the little that is left between two batches, and begins the log anew. For that it waits a moment for readers.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use crate::event::Event;
use crate::fault::StoreFault;
use crate::schema;

/// Bytes of events between two looks at the log.
const EVERY_BYTES: usize = 4 << 20;
/// Bytes of events between two tries to begin a long log anew: each may wait for readers.
const AGAIN_BYTES: usize = 1 << 20;
/// What an event has in the log besides its body, and a commit without any: pages of the tables and their indices.
const EACH_BYTES: usize = 8 << 10;
/// Pages of 4 KiB of a log that is long.
const LONG_PAGES: i64 = 8_192;

/// How long the writer waits for readers of a long log.
pub(crate) const READERS_WAIT: Duration = Duration::from_millis(100);

/// The thread, and what the writer knows of it.
pub(crate) struct Checkpoints {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The log is long, or nobody could move it: the rest is the writer's.
    is_long: Arc<AtomicBool>,
    /// Bytes since the last look.
    since: usize,
}

impl Checkpoints {
    /// Starts the thread. The writer's connection moves nothing by itself from now on.
    pub(crate) fn start(path: &Path, writer: &Connection) -> Result<Self, StoreFault> {
        writer.pragma_update_and_check(None, "wal_autocheckpoint", 0, |row| row.get::<_, i64>(0))?;
        let beside = schema::open_to_write(path, None)?;
        let is_long = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_long);
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || work(&beside, &woken, &told))
            .map_err(StoreFault::io("start the checkpoints of", path))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), is_long, since: 0 })
    }

    /// Between two batches, after one with these events.
    pub(crate) fn committed(&mut self, events: &[Event], writer: &Connection) {
        let bytes = events.iter().map(|event| event.body.len() + EACH_BYTES).sum::<usize>();
        self.since += bytes.max(EACH_BYTES);
        if self.is_long.load(Ordering::Acquire) && self.since >= AGAIN_BYTES {
            self.since = 0;
            // As long as somebody reads the log all the time, it is tried again soon.
            self.is_long.store(!begin_anew(writer), Ordering::Release);
        } else if self.since >= EVERY_BYTES {
            self.since = 0;
            // Whoever is at work looks again.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(beside: &Connection, woken: &Receiver<()>, is_long: &AtomicBool) {
    while woken.recv().is_ok() {
        let pages = checkpoint(beside).unwrap_or(i64::MAX);
        if pages >= LONG_PAGES {
            is_long.store(true, Ordering::Release);
        }
    }
}

/// Moves what is left and has the log begun anew, after waiting a little for those who read it; whether that came to
/// pass. A reader holds it for a page, so several of them leave gaps.
fn begin_anew(writer: &Connection) -> bool {
    checkpoint_whole(writer, "PRAGMA wal_checkpoint(RESTART)", READERS_WAIT)
}

/// The same, and nothing of what stood in the log stays in its file: what was overwritten in the database stands there
/// as it was. Waits for readers at most as long as `wait`.
pub(crate) fn truncate(writer: &Connection, wait: Duration) -> bool {
    checkpoint_whole(writer, "PRAGMA wal_checkpoint(TRUNCATE)", wait)
}

fn checkpoint_whole(writer: &Connection, pragma: &str, wait: Duration) -> bool {
    let begun =
        writer.busy_timeout(wait).and_then(|()| writer.query_row(pragma, [], |row| row.get::<_, i64>(0)));
    let restored = writer.busy_timeout(schema::PATIENCE);
    begun.is_ok_and(|busy| busy == 0) && restored.is_ok()
}

/// Moves as much as can be moved without waiting for anybody; how many pages the log has.
fn checkpoint(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))
}

use std::path::Path;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arena_canon::Digest;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::blobs::BlobMeta;
use crate::chain::Head;
use crate::event::Event;
use crate::fault::StoreFault;
use crate::{blobs, folder, schema};

/// Events that one call gives.
pub const PAGE_MAX: usize = 1_000;
/// Connections that are kept for the next reader.
const IDLE_MAX: usize = 16;

pub(crate) const COLUMNS: &str =
    "seq, at_ms, topic, kind, version, body, salt, content_sha256, prev, hash FROM events";

/// A folder's journal, to be read: while its writer is at work, or without one. A clone is cheap, and any
/// number of threads may read at once.
#[derive(Debug, Clone)]
pub struct Journal(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Journal {
    /// The journal of the folder `root`. There is no lock to wait for.
    pub fn open(root: &Path) -> Result<Self, StoreFault> {
        let path = folder::find_journal(root)?;
        let journal = Self(Arc::new(Pool { path, idle: Mutex::default() }));
        journal.read(|_| Ok(()))?;
        Ok(journal)
    }

    /// Where it ends.
    pub fn head(&self) -> Result<Head, StoreFault> {
        self.read(head)
    }

    /// One event.
    pub fn event(&self, seq: u64) -> Result<Option<Event>, StoreFault> {
        let select = format!("SELECT {COLUMNS} WHERE seq = ?1");
        self.read(|db| db.prepare_cached(&select)?.query_row([signed(seq)], event).optional())
    }

    /// The events after place `seq`, at most `limit` and [`PAGE_MAX`] of them.
    pub fn after(&self, seq: u64, limit: usize) -> Result<Vec<Event>, StoreFault> {
        let select = format!("SELECT {COLUMNS} WHERE seq > ?1 ORDER BY seq LIMIT ?2");
        let limit = limit.min(PAGE_MAX) as i64;
        self.read(|db| db.prepare_cached(&select)?.query_map(params![signed(seq), limit], event)?.collect())
    }

    /// The same of one topic. Sealed events are among them: who may see that is not decided here.
    pub fn after_about(&self, topic: &str, seq: u64, limit: usize) -> Result<Vec<Event>, StoreFault> {
        let select = format!("SELECT {COLUMNS} WHERE topic = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
        let limit = limit.min(PAGE_MAX) as i64;
        self.read(|db| {
            let mut statement = db.prepare_cached(&select)?;
            statement.query_map(params![topic, signed(seq), limit], event)?.collect()
        })
    }

    /// What is known of a blob.
    pub fn blob(&self, sha256: Digest) -> Result<Option<BlobMeta>, StoreFault> {
        self.read(|db| blobs::meta(db, sha256))
    }

    /// Asks the database, projections as a rule. The connection cannot write, and what `ask` sees is one
    /// state of all tables, some commit's.
    pub fn read<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreFault> {
        let connection = match self.idle().pop() {
            Some(connection) => connection,
            None => schema::open_to_read(&self.0.path)?,
        };
        connection.prepare_cached("BEGIN")?.execute([])?;
        let asked = ask(&connection);
        connection.prepare_cached("ROLLBACK")?.execute([])?;
        let mut idle = self.idle();
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
        Ok(asked?)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn head(db: &Connection) -> rusqlite::Result<Head> {
    let mut statement = db.prepare_cached("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1")?;
    let found = statement.query_row([], |row| Ok(Head { seq: unsigned(row, 0)?, hash: digest(row, 1)? }));
    Ok(found.optional()?.unwrap_or(Head::EMPTY))
}

/// An event from a row of [`COLUMNS`].
pub(crate) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        seq: unsigned(row, 0)?,
        at_ms: unsigned(row, 1)?,
        topic: row.get(2)?,
        kind: row.get(3)?,
        version: row.get(4)?,
        body: row.get(5)?,
        salt: row.get(6)?,
        content_sha256: digest(row, 7)?,
        prev: digest(row, 8)?,
        hash: digest(row, 9)?,
    })
}

pub(crate) fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    row.get(column).map(Digest::from_bytes)
}

/// SQLite's integers have a sign; ours never use it.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// A place beyond the largest is the largest: nothing comes after either.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

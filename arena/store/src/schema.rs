//! The tables, how they come to be, and how a connection is set up.
//!
//! The journal is append-only for everybody who has a connection, not only for this crate: triggers refuse
//! every update and delete, and an insert that is not the next event. The latter also closes the way by
//! `INSERT OR REPLACE`, which deletes without asking a trigger.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::fault::StoreFault;

/// "Aren", so that a database of somebody else's is not taken for ours.
const APPLICATION_ID: i64 = 0x4172_656e;
/// How long a statement waits for another connection. The writer has none beside it, but for a person's.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
const STATEMENTS_CACHED: usize = 128;

/// What brings the tables from version n to n + 1.
const STEPS: &[&str] = &[
    "
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY CHECK (seq > 0),
        at_ms INTEGER NOT NULL CHECK (at_ms >= 0),
        topic TEXT NOT NULL,
        kind TEXT NOT NULL,
        version INTEGER NOT NULL CHECK (version >= 0),
        body BLOB NOT NULL,
        salt BLOB CHECK (length(salt) = 32),
        content_sha256 BLOB NOT NULL CHECK (length(content_sha256) = 32),
        prev BLOB NOT NULL CHECK (length(prev) = 32),
        hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT;
    CREATE INDEX events_topic ON events (topic, seq);
    CREATE TRIGGER events_no_update BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
    CREATE TRIGGER events_no_delete BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
    CREATE TRIGGER events_next BEFORE INSERT ON events
        WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
          OR NEW.prev IS NOT coalesce((SELECT hash FROM events ORDER BY seq DESC LIMIT 1), zeroblob(32))
        BEGIN SELECT RAISE(ABORT, 'not the next event of the journal'); END;

    CREATE TABLE event_kinds (
        kind TEXT NOT NULL, version INTEGER NOT NULL, first_seq INTEGER NOT NULL,
        PRIMARY KEY (kind, version)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blobs_meta (
        sha256 BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
        bytes INTEGER NOT NULL CHECK (bytes >= 0),
        media_type TEXT NOT NULL,
        withheld TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE idempotency (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        request_sha256 BLOB NOT NULL CHECK (length(request_sha256) = 32),
        status INTEGER NOT NULL,
        headers TEXT NOT NULL,
        body BLOB,
        key_id TEXT,
        until_ms INTEGER NOT NULL,
        PRIMARY KEY (scope, key),
        CHECK ((body IS NULL) <> (key_id IS NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_until ON idempotency (until_ms);

    CREATE TABLE snapshots (
        discriminator TEXT NOT NULL,
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL,
        sha256 BLOB NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (discriminator, seq)
    ) STRICT;

    CREATE TABLE projections (
        name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, ddl_sha256 BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "
    -- Snapshots are files, written while the one writer of the database goes on.
    DROP TABLE snapshots;
",
];

/// The one connection that writes.
pub(crate) fn open_to_write(path: &Path, pages_max: Option<u32>) -> Result<Connection, StoreFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    refuse_others(&connection, path)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What is overwritten or deleted is not left in its page.
    connection.pragma_update_and_check(None, "secure_delete", true, |row| row.get::<_, i64>(0))?;
    if let Some(pages) = pages_max {
        connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))?;
    }
    harden(&connection)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// A connection that cannot write.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, StoreFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    harden(&connection)?;
    let found = refuse_others(&connection, path)?;
    if found == 0 {
        let folder = path.parent().unwrap_or(path).to_owned();
        return Err(StoreFault::NoJournal { path: folder, why: "its set-up was not finished".to_owned() });
    }
    Ok(connection)
}

fn harden(connection: &Connection) -> Result<(), StoreFault> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // No statement can get around the tables' own rules, and no table can run a function of its own.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(())
}

/// Refuses a database of another program or of a newer arena; tells the version of the tables.
fn refuse_others(connection: &Connection, path: &Path) -> Result<i64, StoreFault> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found) = (number("application_id")?, number("user_version")?);
    let empty = application == 0 && found == 0;
    if application != APPLICATION_ID && !(empty && has_no_tables(connection)?) {
        let folder = path.parent().unwrap_or(path).to_owned();
        let why = format!("the database there has the application id {application}");
        return Err(StoreFault::NoJournal { path: folder, why });
    }
    let known = STEPS.len() as i64;
    if found > known {
        return Err(StoreFault::NewerTables { found, known });
    }
    Ok(found)
}

fn has_no_tables(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Every step is a transaction of its own, with its version.
fn migrate(connection: &mut Connection) -> Result<(), StoreFault> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (at, step) in STEPS.iter().enumerate().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(step)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", at as i64 + 1)?;
        tx.commit()?;
    }
    Ok(())
}

/// The table of the events with its indices and triggers: name and text of each.
pub(crate) fn journal_tables(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let select = "SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'events' AND sql IS NOT NULL";
    let mut statement = connection.prepare(select)?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// What [`journal_tables`] gives where nobody has changed anything.
pub(crate) fn expected_tables() -> rusqlite::Result<BTreeMap<String, String>> {
    let connection = Connection::open_in_memory()?;
    for step in STEPS {
        connection.execute_batch(step)?;
    }
    journal_tables(&connection)
}

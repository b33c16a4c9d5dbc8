//! States written down, so that a restart folds only what came after. A cache: whatever is wrong with one
//! costs time, never truth.

use arena_canon::Digest;
use rusqlite::{Connection, OptionalExtension, params};

use crate::chain::Head;
use crate::journal::{digest, signed, unsigned};

/// Snapshots kept: if the newest is no good, the one before it may be.
const KEPT: i64 = 2;
/// Bytes of a snapshot; a larger one is not written. SQLite's own limit is a little above.
const BYTES_MAX: usize = 900_000_000;

/// Writes one down, and forgets older ones and those of other discriminators.
pub(crate) fn save(db: &Connection, discriminator: &str, head: Head, bytes: &[u8]) -> rusqlite::Result<bool> {
    if bytes.len() > BYTES_MAX {
        return Ok(false);
    }
    let tx = db.unchecked_transaction()?;
    tx.execute(
        "DELETE FROM snapshots WHERE discriminator <> ?1 OR seq >= ?2",
        params![discriminator, signed(head.seq)],
    )?;
    let insert =
        "INSERT INTO snapshots (discriminator, seq, hash, sha256, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
    let sha256 = Digest::of(bytes);
    let row = params![discriminator, signed(head.seq), head.hash.as_bytes(), sha256.as_bytes(), bytes];
    tx.execute(insert, row)?;
    let forget =
        "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT ?1)";
    tx.execute(forget, [KEPT])?;
    tx.commit()?;
    Ok(true)
}

/// The newest one before place `below` whose bytes are whole and whose hash is the journal's at its place.
pub(crate) fn load(
    db: &Connection,
    discriminator: &str,
    below: u64,
) -> rusqlite::Result<Option<(Head, Vec<u8>)>> {
    let select = "SELECT s.seq, s.hash, s.sha256, s.bytes FROM snapshots s
        JOIN events e ON e.seq = s.seq AND e.hash = s.hash
        WHERE s.discriminator = ?1 AND s.seq < ?2 ORDER BY s.seq DESC LIMIT 1";
    let mut below = below;
    loop {
        let found = db.query_row(select, params![discriminator, signed(below)], |row| {
            let head = Head { seq: unsigned(row, 0)?, hash: digest(row, 1)? };
            Ok((head, digest(row, 2)?, row.get::<_, Vec<u8>>(3)?))
        });
        match found.optional()? {
            None => return Ok(None),
            Some((head, sha256, bytes)) if Digest::of(&bytes) == sha256 => return Ok(Some((head, bytes))),
            Some((head, ..)) => below = head.seq,
        }
    }
}

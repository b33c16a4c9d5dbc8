//! What was answered under an `Idempotency-Key`, in the transaction of what it did.

use arena_canon::Digest;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::fault::StoreFault;
use crate::journal::{digest, signed, unsigned};

/// How long an answer is kept: 24 hours, by the times of the commands.
pub const KEPT_FOR_MS: u64 = 24 * 60 * 60 * 1_000;
/// Bytes of an answer's headers and body.
pub const KEPT_BYTES_MAX: usize = 512 * 1024;
/// Bytes of a scope and of a key.
const NAME_BYTES_MAX: usize = 512;
/// Old rows that go with one new one, so that no command pays for a day's.
const SWEPT: i64 = 64;

/// Where an answer is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Whose key it is, and for which route.
    pub scope: String,
    /// The key.
    pub key: String,
    /// The digest of the request: method, path and body.
    pub request_sha256: Digest,
}

/// An answer that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The status.
    pub status: u16,
    /// Headers in their order.
    pub headers: Vec<(String, String)>,
    /// The body, or what stands for it.
    pub body: KeptBody,
}

/// The body of an answer that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptBody {
    /// As it was sent.
    Bytes(Vec<u8>),
    /// It held a secret that is shown once: only its id is kept.
    KeyShown {
        /// The id.
        key_id: String,
    },
}

/// What is found in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recall {
    /// Nothing, or nothing any more.
    Fresh,
    /// The answer to the same request.
    Same(Kept),
    /// An answer to another request: the key is used twice.
    Other,
}

pub(crate) fn recall(db: &Connection, now_ms: u64, slot: &Slot) -> Result<Recall, StoreFault> {
    let select = "SELECT request_sha256, until_ms, status, headers, body, key_id FROM idempotency
        WHERE scope = ?1 AND key = ?2";
    let mut statement = db.prepare_cached(select)?;
    let found = statement
        .query_row([&slot.scope, &slot.key], |row| Ok((digest(row, 0)?, unsigned(row, 1)?, kept(row)?)));
    Ok(match found.optional()? {
        None => Recall::Fresh,
        Some((_, until_ms, _)) if until_ms <= now_ms => Recall::Fresh,
        Some((request, _, kept)) if request == slot.request_sha256 => Recall::Same(kept),
        Some(_) => Recall::Other,
    })
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let headers: String = row.get(3)?;
    let headers = serde_json::from_str(&headers).map_err(|why| {
        rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(why))
    })?;
    let body = match row.get(5)? {
        Some(key_id) => KeptBody::KeyShown { key_id },
        None => KeptBody::Bytes(row.get(4)?),
    };
    Ok(Kept { status: row.get(2)?, headers, body })
}

/// Keeps an answer. One that is there for the same slot must have ended.
pub(crate) fn remember(db: &Connection, now_ms: u64, slot: &Slot, kept: &Kept) -> Result<(), StoreFault> {
    let headers = String::from_utf8_lossy(&arena_canon::json::canonical_of(&kept.headers)).into_owned();
    let (body, key_id) = match &kept.body {
        KeptBody::Bytes(bytes) => (Some(bytes), None),
        KeptBody::KeyShown { key_id } => (None, Some(key_id)),
    };
    bounded("the answer to keep", headers.len() + body.map_or(0, Vec::len), KEPT_BYTES_MAX)?;
    for name in [&slot.scope, &slot.key].into_iter().chain(key_id) {
        bounded("a name of an answer to keep", name.len(), NAME_BYTES_MAX)?;
    }
    let sweep = "DELETE FROM idempotency WHERE (scope, key) IN
        (SELECT scope, key FROM idempotency WHERE until_ms <= ?1 ORDER BY until_ms LIMIT ?2)";
    db.prepare_cached(sweep)?.execute(params![signed(now_ms), SWEPT])?;
    let forget = "DELETE FROM idempotency WHERE scope = ?1 AND key = ?2 AND until_ms <= ?3";
    db.prepare_cached(forget)?.execute(params![slot.scope, slot.key, signed(now_ms)])?;
    let insert =
        "INSERT INTO idempotency (scope, key, request_sha256, status, headers, body, key_id, until_ms)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let until_ms = signed(now_ms.saturating_add(KEPT_FOR_MS));
    let request = slot.request_sha256.as_bytes();
    let row = params![slot.scope, slot.key, request, kept.status, headers, body, key_id, until_ms];
    db.prepare_cached(insert)?.execute(row)?;
    Ok(())
}

/// Overwrites the digests of requests whose answers name a blob in a header.
pub(crate) fn forget_requests(db: &Connection, blob: Digest) -> Result<(), StoreFault> {
    let update = "UPDATE idempotency SET request_sha256 = zeroblob(32) WHERE instr(headers, ?1) > 0";
    db.prepare_cached(update)?.execute([blob.to_string()])?;
    Ok(())
}

pub(crate) fn bounded(what: &'static str, bytes: usize, limit: usize) -> Result<(), StoreFault> {
    if bytes > limit { Err(StoreFault::TooLarge { what, bytes, limit }) } else { Ok(()) }
}

//! What is made of a worker's word: bytes are compared with their digests, a record is derived again,
//! and a guest file is the one that its record names.

use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::Pack;

use super::super::answer::{Answer, Carried, GUEST_BYTES_MAX, Told};
use super::super::link::Link;
use super::super::objects::Objects;
use crate::executor::{Body, Done};
use crate::frozen::{MoveValidation, pack_of};
use crate::job::Job;
use crate::record::{RECORD_BYTES_MAX, Record, sealed_digest};
use crate::roster::Roster;
use crate::table::{self, Violation};

/// What a result says, however it is carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Match(Digest),
    Violation(Violation),
}

/// A result that holds by itself.
pub(super) struct Read {
    pub(super) done: Done,
    /// Objects that held it.
    pub(super) objects: Vec<String>,
}

impl Verdict {
    pub(super) fn of(done: &Done) -> Self {
        match done {
            Done::Match { digest, .. } => Self::Match(*digest),
            Done::Violation(violation) => Self::Violation(violation.clone()),
        }
    }
}

/// Reads the result of `job`.
pub(super) fn read(
    link: &Link,
    objects: &Objects,
    job: &Job,
    answer: &Answer<'_>,
    roster: &mut dyn Roster,
) -> Result<Read, String> {
    let head = &answer.head;
    if head.frozen_sha256 != job.frozen_sha256 || head.id != job.matchup.id {
        return Err(format!("it is about {} of {}", head.id, head.frozen_sha256.short()));
    }
    match &head.told {
        Told::Fault { why } => Err(why.clone()),
        Told::Violation { .. } if job.move_validation != MoveValidation::Block => {
            Err("it tells of a violation where none ends a run".to_owned())
        }
        Told::Violation { violation } => {
            Ok(Read { done: Done::Violation(violation.clone()), objects: Vec::new() })
        }
        Told::Match { digest, record, guest } => {
            let fetch = |carried, inline: &[u8], limit| fetch(link, objects, carried, inline, limit);
            let bytes = fetch(record, answer.record, RECORD_BYTES_MAX)?;
            let guest_bytes = match guest {
                Some(guest) => Some(fetch(guest, answer.guest, GUEST_BYTES_MAX)?),
                None => None,
            };
            let pack = match pack_of(&job.matchup) {
                Some(sha256) => Some(roster.pack(sha256).map_err(|why| why.to_string())?),
                None => None,
            };
            let done = check(job, *digest, bytes, guest_bytes, pack.as_ref())?;
            let stored = [Some(record), guest.as_ref()].into_iter().flatten();
            let stored = stored.filter(|carried| carried.stored);
            Ok(Read { done, objects: stored.map(|carried| carried.sha256.to_string()).collect() })
        }
    }
}

fn fetch(
    link: &Link,
    objects: &Objects,
    carried: &Carried,
    inline: &[u8],
    limit: usize,
) -> Result<Vec<u8>, String> {
    if carried.bytes > limit as u64 {
        return Err(format!("it has {} bytes; the limit is {limit}", carried.bytes));
    }
    let bytes = if carried.stored {
        objects.fetch(link, &carried.sha256.to_string(), limit)?
    } else {
        inline.to_vec()
    };
    let whole = bytes.len() as u64 == carried.bytes && Digest::of(&bytes) == carried.sha256;
    if whole { Ok(bytes) } else { Err("its bytes are not what their digest says".to_owned()) }
}

/// A record that is told with `digest` and a guest file.
fn check(
    job: &Job,
    digest: Digest,
    bytes: Vec<u8>,
    guest: Option<Vec<u8>>,
    pack: Option<&Arc<Pack>>,
) -> Result<Done, String> {
    if sealed_digest(&bytes) != Some(digest) {
        return Err("the record does not bear the digest that is told".to_owned());
    }
    let record = Record::read(&bytes, job, pack).map_err(|why| why.to_string())?;
    if record.guest_sha256() != guest.as_deref().map(Digest::of) {
        return Err("the guest file is not the one that the record names".to_owned());
    }
    Ok(Done::Match { digest, used: record.used(), body: Body::Here { record: bytes, guest } })
}

/// Plays `job` here.
pub(super) fn play(job: &Job, roster: &mut dyn Roster) -> Result<Done, String> {
    table::play(job, roster).map(Done::here).map_err(|why| why.to_string())
}

//! What the digests of the journal cover.
//!
//! ```text
//! content = SHA-256( lp("arena.journal.content.v1") u64(at_ms) lp(topic) lp(kind) u64(version) lp(body) )
//! sealed  = SHA-256( lp("arena.journal.sealed.v1") lp(salt) u64(at_ms) lp(topic) lp(kind) u64(version) lp(body) )
//! hash    = SHA-256( lp("arena.journal.link.v1") u64(seq) lp(prev) lp(content) )
//! ```
//!
//! Time, topic and kind stand inside the content, so a stub of `seq`, `prev`, content digest and `hash` says
//! no more of a sealed event than that it is there, and the chain can be checked all the same. Without the
//! salt, whoever guesses a body could try the digest; with 32 random bytes nobody can. What is public has
//! no salt: its digest can be computed from what everybody sees.

use arena_canon::{Digest, Preimage};

use crate::event::{Event, Salt};

/// What the first event has before it.
pub const GENESIS: Digest = Digest::from_bytes([0; 32]);

/// Where a journal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The place of the last event; 0 if there is none.
    pub seq: u64,
    /// Its hash; [`GENESIS`] if there is none.
    pub hash: Digest,
}

impl Head {
    /// That of an empty journal.
    pub const EMPTY: Self = Self { seq: 0, hash: GENESIS };
}

/// The digest of what an event says.
pub fn content_sha256(
    at_ms: u64,
    topic: &str,
    kind: &str,
    version: u32,
    body: &[u8],
    salt: Option<&Salt>,
) -> Digest {
    let start = match salt {
        None => Preimage::new("arena.journal.content.v1"),
        Some(salt) => Preimage::new("arena.journal.sealed.v1").bytes(salt),
    };
    let start = start.number(at_ms).bytes(topic.as_bytes()).bytes(kind.as_bytes());
    start.number(u64::from(version)).bytes(body).digest()
}

/// The hash of an event.
pub fn link(seq: u64, prev: Digest, content_sha256: Digest) -> Digest {
    let start = Preimage::new("arena.journal.link.v1").number(seq);
    start.bytes(prev.as_bytes()).bytes(content_sha256.as_bytes()).digest()
}

/// Whether `event` comes right after `head` and is what its digests say; if not, why.
pub(crate) fn follows(head: Head, event: &Event) -> Result<Head, String> {
    follows_in_place(head, event.seq, event.prev, event.content_sha256, event.hash)?;
    let Event { at_ms, topic, kind, version, body, salt, .. } = event;
    let content = content_sha256(*at_ms, topic, kind, *version, body, salt.as_ref());
    if content != event.content_sha256 {
        return Err(format!("its content has the digest {content}, not {}", event.content_sha256));
    }
    Ok(Head { seq: event.seq, hash: event.hash })
}

/// The same of a stub, whose content is not known.
pub(crate) fn follows_in_place(
    head: Head,
    seq: u64,
    prev: Digest,
    content: Digest,
    hash: Digest,
) -> Result<(), String> {
    if seq != head.seq + 1 {
        return Err(format!("it comes after event {}", head.seq));
    }
    if prev != head.hash {
        return Err(format!("it names {prev} as the hash before it, which is {}", head.hash));
    }
    let linked = link(seq, prev, content);
    if linked != hash {
        return Err(format!("its hash is {linked}, not {hash}"));
    }
    Ok(())
}

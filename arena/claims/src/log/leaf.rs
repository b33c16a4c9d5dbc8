//! What an event is in the tree.
//!
//! The commitment of a draw is the preimage of everything that it fixes, so that a transcript alone leads to its leaf.
//! Any other event is its canonical bytes with its place, its time and who it was. What is sealed is the digest that
//! stands for it.

use arena_canon::json::{self, Value};
use arena_canon::{Digest, Preimage};
use arena_draw::{Purpose, Transcript, merkle};
use serde_json::json;

use crate::commitment::salt_commitment;
use crate::life::{CommittedDraw, Event, World};

/// An event at its place in a journal.
#[derive(Debug, Clone, Copy)]
pub struct Logged<'a> {
    /// Its number, from 1.
    pub seq: u64,
    /// When it happened.
    pub at: u64,
    /// Who it was, where that is told.
    pub by: Option<&'a str>,
    /// The event as the journal has it.
    pub written: &'a Value,
}

/// The hashed leaf of an event. `genesis` is the digest of what the instance is; `world` is as it was before the event,
/// or after it.
pub fn leaf(genesis: Digest, world: &World, event: &Event, logged: &Logged<'_>) -> Digest {
    match DrawOrigin::of(world, event).and_then(|origin| origin.leaf(world.instance.id(), event, logged.seq))
    {
        Some(leaf) => leaf,
        None => plain_leaf(genesis, logged),
    }
}

/// What opens an event that is in a log by a digest alone. The nonce keeps it from being guessed.
pub fn opening(event: &Value, nonce: Digest) -> Value {
    json!({ "event": event, "nonce": nonce })
}

/// An event that is in a log by the digest of what opens it.
pub fn sealed(opening: &Value) -> Value {
    json!({ "sealed": Digest::of(&json::canonical(opening)) })
}

/// What the leaf of a draw's commitment takes from outside its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawOrigin {
    /// The job.
    pub subject: Digest,
    /// SHA-256 of its parameters.
    pub params: Digest,
    /// The beacon's chain.
    pub chain: Digest,
}

impl DrawOrigin {
    /// That of a public commitment of a draw, in the world before it or right after it; nothing for any other event.
    pub fn of(world: &World, event: &Event) -> Option<Self> {
        let draw = committed(event)?;
        let claim = world.claims.get(&draw.claim)?;
        let instance = &world.instance;
        let beacon = instance.source.beacon(instance.id(), Some(&instance.name)).ok()?;
        Some(Self { subject: claim.job, params: claim.params_sha256, chain: beacon.chain_hash() })
    }

    /// The leaf of a public commitment; nothing for any other event.
    pub(super) fn leaf(&self, instance: Digest, event: &Event, seq: u64) -> Option<Digest> {
        let draw = committed(event)?;
        let whole = Draw {
            seq,
            at: draw.committed_at,
            instance,
            purpose: draw.purpose.parse().ok()?,
            subject: self.subject,
            attempt: draw.attempt,
            seats: draw.seats,
            params: self.params,
            root: draw.entries.root(),
            n: draw.entries.n(),
            total: draw.entries.total(),
            chain: self.chain,
            round: draw.round,
            last_round_seen: draw.last_round_seen,
            salt_sha256: draw.salt_sha256,
        };
        Some(merkle::leaf_hash(whole.digest().as_bytes()))
    }
}

/// The draw that an event commits for all to see.
fn committed(event: &Event) -> Option<&CommittedDraw> {
    match event {
        Event::DrawCommitted(draw) if !event.is_sealed() => Some(draw),
        _ => None,
    }
}

/// What stands for an event that is no public commitment of a draw.
fn plain(genesis: Digest, logged: &Logged<'_>) -> Digest {
    Preimage::new("ARENA-EVENT-V1")
        .bytes(genesis.as_bytes())
        .number(logged.seq)
        .number(logged.at)
        .bytes(logged.by.unwrap_or_default().as_bytes())
        .bytes(&json::canonical(logged.written))
        .digest()
}

/// Everything that a draw fixes before its round.
struct Draw {
    seq: u64,
    at: u64,
    instance: Digest,
    purpose: Purpose,
    subject: Digest,
    attempt: u32,
    seats: u32,
    params: Digest,
    root: Digest,
    n: u64,
    total: u64,
    chain: Digest,
    round: u64,
    last_round_seen: u64,
    salt_sha256: Option<Digest>,
}

impl Draw {
    fn digest(&self) -> Digest {
        let salt = self.salt_sha256.as_ref().map_or(&[][..], |salt| salt.as_bytes());
        Preimage::new("ARENA-DRAW-COMMITTED-V1")
            .number(self.seq)
            .number(self.at)
            .bytes(self.instance.as_bytes())
            .bytes(self.purpose.name().as_bytes())
            .bytes(self.subject.as_bytes())
            .number(self.attempt.into())
            .number(self.seats.into())
            .bytes(self.params.as_bytes())
            .bytes(self.root.as_bytes())
            .number(self.n)
            .number(self.total)
            .bytes(self.chain.as_bytes())
            .number(self.round)
            .number(self.last_round_seen)
            .bytes(salt)
            .digest()
    }
}

/// The same leaf, of the transcript of the draw; nothing where that does not say when it was committed, or where the
/// commitment was sealed.
pub(super) fn leaf_of(transcript: &Transcript) -> Option<Digest> {
    let request = &transcript.request;
    let purpose = match (request.purpose, request.attempt) {
        // The first auditor is drawn from the commitment of the coin.
        (Purpose::Audit, 0) => Purpose::AuditCoin,
        (Purpose::Audit, _) => return None,
        (other, _) => other,
    };
    let salt: Option<[u8; 32]> = request.salt.as_deref().and_then(|salt| salt.try_into().ok());
    let draw = Draw {
        seq: request.committed_seq?,
        at: request.committed_at?,
        instance: request.instance,
        purpose,
        subject: request.subject,
        attempt: request.attempt,
        seats: request.seats,
        params: request.params_hash,
        root: request.entries.root(),
        n: request.entries.n(),
        total: request.entries.total(),
        chain: transcript.chain,
        round: request.round,
        last_round_seen: request.last_round_seen?,
        salt_sha256: salt.map(|salt| salt_commitment(request.subject, Digest::from_bytes(salt))),
    };
    Some(merkle::leaf_hash(draw.digest().as_bytes()))
}

/// The leaf of an event that is no public commitment of a draw.
pub(super) fn plain_leaf(genesis: Digest, logged: &Logged<'_>) -> Digest {
    merkle::leaf_hash(plain(genesis, logged).as_bytes())
}

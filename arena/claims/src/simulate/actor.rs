//! An agent with a key: it measures, seals, signs.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_draw::beacon::Schedule;
use serde_json::json;

use super::behaviour::Population;
use super::round::OPERATOR;
use super::{FUNDER, SUBMITTER};
use crate::commitment::{Sealed, commitment, nonce};
use crate::envelope::{PublicKey, Scope, SecretKey, sign, unsigned};
use crate::fault::Faults;
use crate::life::{Claim, Command, Seen, Stamped, World};
use crate::record::{Place, Record, Role, assemble};

/// An agent.
#[derive(Debug)]
pub struct Actor {
    /// Its name.
    pub name: String,
    /// How it behaves.
    pub population: Population,
    key: SecretKey,
}

/// What a run measures of the one metric `x`, and what only running shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// The value.
    pub x: String,
    /// Fuel.
    pub fuel: u64,
    /// SHA-256 of the log.
    pub log: Digest,
}

impl Measurement {
    /// The results of a run as a document.
    pub fn results(&self) -> Value {
        json!({
            "metrics": [{ "name": "x", "kind": "decimal", "value": self.x }],
            "fuel": self.fuel.to_string(),
            "log_sha256": self.log,
        })
    }
}

impl Actor {
    /// An agent whose key follows from its name.
    pub fn new(name: &str, population: Population) -> Self {
        let seed = Digest::of(format!("key of {name}").as_bytes());
        Self { name: name.to_owned(), population, key: SecretKey::from_seed(seed.as_bytes()) }
    }

    /// Whether what it earns is anybody's profit: not of those who list, pay and run the reference.
    pub(super) fn is_counted(&self) -> bool {
        !matches!(self.name.as_str(), SUBMITTER | FUNDER | OPERATOR)
    }

    /// What others verify its records by.
    pub fn public_key(&self) -> PublicKey {
        self.key.public()
    }

    /// A command of this agent, with the luck of a test beacon.
    pub fn stamped(&self, at: u64, command: Command) -> Stamped {
        stamped(&self.name, at, command)
    }

    /// The record of `results` in a part of the claim.
    pub fn record(
        &self,
        world: &World,
        claim: &Claim,
        role: Role,
        results: &Value,
    ) -> Result<Record, Faults> {
        let operator = world.agents.get(&self.name).map_or("operator", |agent| agent.operator.as_str());
        let place = Place {
            claim: &claim.id,
            job: claim.job,
            role,
            agent: &self.name,
            operator,
            manifest: &claim.manifest,
        };
        assemble(&place, results)
    }

    /// The commitment to a document.
    pub fn seal(&self, claim: &Claim, kind: Sealed, document: Digest) -> Digest {
        commitment(kind, claim.job, &self.name, self.nonce(claim, kind), document)
    }

    /// The nonce of that commitment.
    pub fn nonce(&self, claim: &Claim, kind: Sealed) -> Digest {
        nonce(&self.key.seed(), claim.job, kind)
    }

    /// The record, signed for here and now.
    pub fn envelope(&self, world: &World, record: &Record, at: u64) -> Value {
        sign(record, self.scope(world, at), &self.key)
    }

    /// The record as a rehearsal takes it.
    pub(super) fn unsigned(&self, world: &World, record: Record, at: u64) -> Value {
        unsigned(record, self.scope(world, at))
    }

    fn scope(&self, world: &World, at: u64) -> Scope {
        let counter = world.agents.get(&self.name).map_or(0, |agent| agent.counter).saturating_add(1);
        Scope { instance: world.instance.id(), counter, expires: at.saturating_add(3_600) }
    }
}

/// A command with the luck of a test beacon: the rounds that are due, and a secret that follows from the time.
pub fn stamped(by: &str, at: u64, command: Command) -> Stamped {
    let salt = salt_of(command.claim().unwrap_or_default());
    salted(by, at, salt, command)
}

/// The same where the secret is at hand.
pub(super) fn salted(by: &str, at: u64, salt: Digest, command: Command) -> Stamped {
    let round = Schedule::QUICKNET.round_for(at).saturating_sub(1).max(1);
    let seen = Some(Seen { round, proof: Vec::new() });
    Stamped { at, by: by.to_owned(), seen, salt: Some(salt), command }
}

/// The secret of a claim's audits in simulations and tests.
pub(super) fn salt_of(claim: &str) -> Digest {
    Digest::of(format!("salt of {claim}").as_bytes())
}

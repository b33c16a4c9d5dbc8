//! What listed claims pin, kept here so that whoever is drawn can run it: components, packs, frozen matrices, inputs.
//!
//! Only what a claim pins that is not over is taken, and only from somebody who has its bytes: that a digest is known
//! opens nobody else's blob. Everybody may read what is kept, since everybody may challenge.

use std::collections::{BTreeMap, BTreeSet};

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::life::{Claim, World};
use arena_claims::manifest::{Manifest, Program};
use serde_json::json;

use super::super::{Answer, Decision, Request, Row};
use super::FACT;
use crate::auth::Scope;
use crate::problem::Problem;

/// Bytes that are kept for one claim.
const CLAIM_BYTES_MAX: u64 = 256 << 20;
/// Pins of one frozen matrix that are looked at.
pub(crate) const PINS_MAX: usize = 256;

/// What is kept of claims.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf {
    kept: BTreeMap<Digest, u64>,
    /// What frozen matrices pin in turn.
    parts: BTreeMap<Digest, Vec<Digest>>,
}

/// What is kept next.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its digest.
    pub sha256: Digest,
    /// How many bytes it has.
    pub bytes: u64,
    /// What it pins in turn, if it is a frozen matrix.
    pub pins: Vec<Digest>,
}

fn program(manifest: &Manifest) -> Vec<Digest> {
    match &manifest.program {
        Program::Experiment { component } => vec![*component],
        Program::Episode { component, pack } => vec![*component, *pack],
        Program::Tournament { frozen } => vec![*frozen],
    }
}

impl Shelf {
    /// How many bytes are kept under a digest, if any are.
    pub(crate) fn bytes_of(&self, sha256: &Digest) -> Option<u64> {
        self.kept.get(sha256).copied()
    }

    /// Everything that a manifest pins.
    fn pins(&self, manifest: &Manifest) -> BTreeSet<Digest> {
        let own = program(manifest);
        let parts = own.iter().filter_map(|digest| self.parts.get(digest)).flatten().copied();
        let inputs = manifest.inputs.iter().map(|input| input.sha256);
        own.iter().copied().chain(parts).chain(inputs).collect()
    }

    /// Whether all inputs of a manifest are kept: then nobody can find others.
    pub(crate) fn has_inputs(&self, manifest: &Manifest) -> bool {
        manifest.inputs.iter().all(|input| self.bytes_of(&input.sha256) == Some(input.bytes))
    }

    /// Of a claim, everything that it pins, with the bytes of what is kept.
    pub(crate) fn told(&self, claim: &Claim) -> Value {
        let pins = self.pins(&claim.manifest).into_iter();
        let pins = pins.map(|sha256| {
            let kept = self.bytes_of(&sha256).map(|bytes| bytes.to_string());
            json!({ "sha256": sha256, "bytes": kept, "kept": kept.is_some() })
        });
        pins.collect()
    }

    /// Whether bytes of this digest would be taken: how many at most.
    pub(crate) fn admits(&self, world: &World, sha256: &Digest, limit: u64) -> Result<u64, Problem> {
        if let Some(bytes) = self.bytes_of(sha256) {
            return Ok(bytes);
        }
        let open = world.claims.values().filter(|claim| !claim.phase.is_terminal());
        let room = open.filter_map(|claim| {
            let pins = self.pins(&claim.manifest);
            let taken = pins.iter().filter_map(|pin| self.bytes_of(pin)).fold(0, u64::saturating_add);
            pins.contains(sha256).then(|| CLAIM_BYTES_MAX.saturating_sub(taken))
        });
        match room.max() {
            None => Err(Problem::new("not_pinned", "no claim that is not over pins this digest")),
            Some(0) => {
                let why = format_args!("{CLAIM_BYTES_MAX} bytes are kept for the claim, the limit");
                Err(Problem::new("too_many", why))
            }
            Some(room) => Ok(room.min(limit)),
        }
    }

    pub(super) fn decide(&self, world: &World, request: &Request, kept: &Kept) -> Result<Decision, Problem> {
        request.by.agent_with(Scope::Submit)?;
        let Kept { sha256, bytes, pins } = kept;
        let body = json!({ "sha256": sha256, "bytes": bytes.to_string() });
        if self.kept.contains_key(sha256) {
            return Ok(Decision { rows: Vec::new(), answer: Answer::ok(body) });
        }
        if self.admits(world, sha256, *bytes)? < *bytes {
            return Err(Problem::new("body_too_large", "there is no room for it beside what the claim has"));
        }
        let material = json!({ "sha256": sha256, "bytes": bytes.to_string(), "pins": pins });
        let fact = json!({ "by": request.by.name(), "events": [], "material": material });
        let row = Row::fact(request.at, "claims", FACT, fact);
        let row = row.with_blob(*sha256, *bytes, crate::instance::MATERIAL);
        Ok(Decision {
            rows: vec![row],
            answer: Answer::created(format!("/api/v1/claims/blobs/{sha256}"), body),
        })
    }

    pub(super) fn evolve(&mut self, material: &Value) -> Result<(), String> {
        let digest = |value: &Value| value.as_str().and_then(|text| text.parse::<Digest>().ok());
        let bytes = material["bytes"].as_str().and_then(|bytes| bytes.parse().ok());
        let (sha256, bytes) = digest(&material["sha256"]).zip(bytes).ok_or("material that is none")?;
        self.kept.insert(sha256, bytes);
        let pins: Vec<Digest> =
            material["pins"].as_array().into_iter().flatten().filter_map(digest).collect();
        if !pins.is_empty() {
            self.parts.insert(sha256, pins);
        }
        Ok(())
    }
}

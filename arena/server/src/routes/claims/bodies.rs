//! Bodies of the claims' routes: their shapes for the document, and how they are read.

use std::str::FromStr;

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use arena_contests::document::{Faults, Object};

use crate::instance::claims::unhex;
use crate::problem::Problem;

/// A claim to list.
#[derive(utoipa::ToSchema)]
#[schema(as = NewClaim)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct NewClaim {
    /// The manifest, `arena-manifest/v1`; `protocol_params_sha256` is that of `GET /api/v1/beacons`.
    #[schema(value_type = Object)]
    manifest: Value,
    /// What you put in, as digits.
    #[schema(pattern = "^[0-9]{1,19}$")]
    deposit: String,
    /// What marks it as a canary once it is opened; shown to nobody before.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    canary: Option<String>,
}

/// A corrected manifest.
#[derive(utoipa::ToSchema)]
#[schema(as = CorrectedClaim)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct CorrectedClaim {
    /// The manifest, corrected.
    #[schema(value_type = Object)]
    manifest: Value,
    /// What you put in, as digits.
    #[schema(pattern = "^[0-9]{1,19}$")]
    deposit: String,
}

/// An amount of the instance's asset.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimAmount)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct AmountBody {
    /// As digits.
    #[schema(pattern = "^[0-9]{1,19}$")]
    amount: String,
}

/// An amount for an agent.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimMoney)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct MoneyBody {
    /// Whose.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    agent: String,
    /// As digits.
    #[schema(pattern = "^[0-9]{1,19}$")]
    amount: String,
}

/// A round of the beacon.
#[derive(utoipa::ToSchema)]
#[schema(as = BeaconRound)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct RoundBody {
    /// Its number, as digits.
    #[schema(pattern = "^[0-9]{1,19}$")]
    round: String,
    /// The signature as drand publishes it; empty for a test beacon.
    #[schema(pattern = "^([0-9a-f]{2}){0,512}$")]
    signature: String,
}

/// What a party's chain gives in a round.
#[derive(utoipa::ToSchema)]
#[schema(as = BeaconPreimage)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct PreimageBody {
    /// Its number, as digits.
    #[schema(pattern = "^[0-9]{1,19}$")]
    round: String,
    /// 32 bytes that give your anchor after being hashed as often.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    preimage: String,
}

/// The proof of the round that a draw waits for.
#[derive(utoipa::ToSchema)]
#[schema(as = DrawProof)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct ProofBody {
    /// The signature as drand publishes it; empty for a test beacon.
    #[schema(pattern = "^([0-9a-f]{2}){0,512}$")]
    signature: String,
}

/// Why an assignment is declined.
#[derive(utoipa::ToSchema)]
#[schema(as = DeclinedAssignment)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct DeclineBody {
    /// The reason; without one, standing is lowered.
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

/// What the pinned inputs turned out to be.
#[derive(utoipa::ToSchema)]
#[schema(as = FoundInputs)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct RunBody {
    /// The claim that you run.
    #[schema(pattern = "^c[1-9][0-9]{0,11}$")]
    claim: String,
    /// Each as `{"name", "sha256", "bytes"}`, the bytes as digits.
    #[schema(max_items = 64, value_type = Vec<Object>)]
    inputs: Vec<Value>,
}

/// A commitment.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimCommitment)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct CommitmentBody {
    /// SHA-256 of what is sealed, as `ARENA-COMMIT-V1` says.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    commitment: String,
}

/// A sealed record, opened.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimReveal)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct RevealBody {
    /// The nonce of the commitment.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    nonce: String,
    /// The record in a signed DSSE envelope.
    #[schema(value_type = Object)]
    envelope: Value,
}

/// A sealed vote, opened.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimVote)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct VoteBody {
    /// The nonce of the commitment.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    nonce: String,
    /// `{"verdict", "confirms", "rationale", "rerun_sha256"}`.
    #[schema(value_type = Object)]
    ballot: Value,
}

/// The reference's records.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimReference)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct ReferenceBody {
    /// One for each host configuration.
    #[schema(max_items = 4, value_type = Vec<Object>)]
    records: Vec<Value>,
}

/// What opens a canary.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimCanary)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct CanaryBody {
    /// What its mark was made with.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    salt: String,
}

/// A key for records.
#[derive(utoipa::ToSchema)]
#[schema(as = ClaimAgent)]
#[expect(dead_code, reason = "its shape is what is documented")]
pub(super) struct BindBody {
    /// The Ed25519 public key.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    key: String,
    /// What you can run, such as `wasm`.
    #[schema(max_items = 64)]
    capabilities: Vec<String>,
}

/// Reads an object of these members; all faults at once.
pub(super) fn read<T>(
    body: &Value,
    members: &[&str],
    of: impl FnOnce(&Object<'_>, &mut Faults) -> Option<T>,
) -> Result<T, Problem> {
    let mut faults = Faults::default();
    let object = Object::read(body, &Pointer::default(), members, &mut faults);
    let read = object.and_then(|object| of(&object, &mut faults));
    faults.or(read).map_err(|faults| Problem::form(&faults))
}

pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(
    object: &Object<'_>,
    key: &str,
    faults: &mut Faults,
) -> Option<T> {
    object.parsed(key, faults)
}

pub(super) fn optional_digest(object: &Object<'_>, key: &str, faults: &mut Faults) -> Option<Option<Digest>> {
    match object.optional(key) {
        None | Some(Value::Null) => Some(None),
        Some(_) => object.parsed(key, faults).map(Some),
    }
}

pub(super) fn proof(object: &Object<'_>, faults: &mut Faults) -> Option<Vec<u8>> {
    let read = object.text("signature", faults)?;
    let bytes = unhex(read);
    if bytes.is_none() {
        faults.add(&object.at("signature"), "expected whole bytes as hexadecimal digits, at most 512");
    }
    bytes
}

pub(super) fn one_digest(body: &Value, key: &'static str) -> Result<Digest, Problem> {
    read(body, &[key], |object, faults| parsed(object, key, faults))
}

//! Signed records: an in-toto statement in a DSSE envelope, Ed25519 over its pre-authentication bytes.
//!
//! What is signed names the instance, the claim, the job and the role, counts up per key and expires,
//! so that a signature serves once and in one place.

use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde_json::json;

use crate::base64;
use crate::document::{Object, document};
use crate::fault::{Faults, Findings};
use crate::record::{Record, Role};

/// Most bytes of an envelope.
pub const ENVELOPE_BYTES_MAX: usize = 2 << 20;
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE: &str = "urn:arena:record:v1";

/// A public key: 32 bytes, in text 64 hexadecimal digits. A digest's shape, but no digest.
pub type PublicKey = Digest;

/// A secret key, made from a seed that its owner keeps.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// The key of this seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// What others verify by.
    pub fn public(&self) -> PublicKey {
        Digest::from_bytes(self.0.verifying_key().to_bytes())
    }

    /// The seed it was made from, for nonces.
    pub fn seed(&self) -> [u8; 32] {
        self.0.to_bytes()
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

/// Whether 32 bytes are a key that signatures can be verified by: a point, and none of small order.
pub fn is_usable(key: PublicKey) -> bool {
    VerifyingKey::from_bytes(key.as_bytes()).is_ok_and(|key| !key.is_weak())
}

/// Where and when a signature holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// The instance.
    pub instance: Digest,
    /// Counts up with every signature of a key.
    pub counter: u64,
    /// The second from which it is void.
    pub expires: u64,
}

/// What an envelope is expected to be.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The instance.
    pub instance: Digest,
    /// The claim.
    pub claim: &'a str,
    /// The job.
    pub job: Digest,
    /// The role.
    pub role: Role,
    /// The agent.
    pub agent: &'a str,
    /// Its operator.
    pub operator: &'a str,
    /// Its key.
    pub key: PublicKey,
    /// The last counter seen of that key.
    pub counter: u64,
    /// The time.
    pub at: u64,
}

/// Why an envelope is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeRefusal {
    /// Not a DSSE envelope of an in-toto statement.
    #[error("not a signed record: {0}")]
    Malformed(String),
    /// Not by the agent's key.
    #[error("the signature is not by the key that is bound to the agent")]
    BadSignature,
    /// For another instance.
    #[error("signed for instance {have}, this is {need}")]
    OtherInstance {
        /// The instance in it.
        have: Digest,
        /// This one.
        need: Digest,
    },
    /// For another claim, job, role, agent or operator.
    #[error("signed for another {what}")]
    Other {
        /// What differs.
        what: &'static str,
    },
    /// A counter that was used already.
    #[error("counter {have} was used already; the next is above {last}")]
    Replayed {
        /// The counter in it.
        have: u64,
        /// The last one seen.
        last: u64,
    },
    /// Too late.
    #[error("the signature expired at {expires}, it is {at}")]
    Expired {
        /// When.
        expires: u64,
        /// Now.
        at: u64,
    },
}

/// `DSSEv1 <length> <type> <length> <body>`: what is signed.
pub fn pre_authentication(payload_type: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Signs `record` for one place and time.
pub fn sign(record: &Record, scope: Scope, key: &SecretKey) -> Value {
    let mut predicate = record.value().clone();
    if let Some(members) = predicate.as_object_mut() {
        members.insert("instance".into(), scope.instance.to_string().into());
        members.insert("counter".into(), scope.counter.to_string().into());
        members.insert("expires".into(), scope.expires.to_string().into());
    }
    let subject = json!({ "name": record.claim, "digest": { "sha256": record.digest } });
    let statement = json!({
        "_type": STATEMENT_TYPE,
        "subject": [subject],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    });
    let body = json::canonical_of(&statement);
    let signature = key.0.sign(&pre_authentication(PAYLOAD_TYPE, &body));
    json!({
        "payloadType": PAYLOAD_TYPE,
        "payload": base64::encode(&body),
        "signatures": [{ "keyid": key.public(), "sig": base64::encode(&signature.to_bytes()) }],
    })
}

/// Verifies an envelope and gives the record in it with its counter.
pub fn verify(envelope: &Value, expected: &Expected<'_>) -> Result<(Record, u64), EnvelopeRefusal> {
    let malformed = |why: &str| EnvelopeRefusal::Malformed(why.to_owned());
    let (body, signature) = open(envelope).map_err(|faults| malformed(&faults.to_string()))?;
    let key = VerifyingKey::from_bytes(expected.key.as_bytes()).map_err(|_| EnvelopeRefusal::BadSignature)?;
    // Strict: no second encoding of a signature and no key of small order passes.
    key.verify_strict(&pre_authentication(PAYLOAD_TYPE, &body), &signature)
        .map_err(|_| EnvelopeRefusal::BadSignature)?;
    let statement = json::read(&body, ENVELOPE_BYTES_MAX).map_err(|why| malformed(&why.to_string()))?;
    if json::canonical_of(&statement) != body {
        return Err(malformed("the statement is not in canonical form"));
    }
    let (record, scope) = unpack(&statement).map_err(|faults| malformed(&faults.to_string()))?;
    check_scope(&record, scope, expected)?;
    Ok((record, scope.counter))
}

/// The record in an envelope, whoever signed it and where: for whoever only compares it with a commitment.
pub(crate) fn record_in(envelope: &Value) -> Result<Record, Faults> {
    let (body, _) = open(envelope)?;
    let statement = json::read(&body, ENVELOPE_BYTES_MAX).unwrap_or_default();
    unpack(&statement).map(|(record, _)| record)
}

/// The record of a rehearsal: what would be signed, and nothing else.
pub(crate) fn unsigned(record: Record, scope: Scope) -> Value {
    document([
        ("record", record.into_value()),
        ("counter", scope.counter.into()),
        ("expires", scope.expires.into()),
    ])
}

/// Takes such a record. Everything is checked but that it is signed, and by whom.
pub(crate) fn take_unsigned(bare: &Value, expected: &Expected<'_>) -> Result<(Record, u64), EnvelopeRefusal> {
    let record = Record::read(bare["record"].clone());
    let record = record.map_err(|faults| EnvelopeRefusal::Malformed(faults.to_string()))?;
    let number = |key: &str| bare[key].as_u64().unwrap_or_default();
    let (counter, expires) = (number("counter"), number("expires"));
    check_scope(&record, Scope { instance: expected.instance, counter, expires }, expected)?;
    Ok((record, counter))
}

fn check_scope(record: &Record, scope: Scope, expected: &Expected<'_>) -> Result<(), EnvelopeRefusal> {
    if scope.instance != expected.instance {
        return Err(EnvelopeRefusal::OtherInstance { have: scope.instance, need: expected.instance });
    }
    for (same, what) in [
        (record.claim == expected.claim, "claim"),
        (record.job == expected.job, "job"),
        (record.role == expected.role, "role"),
        (record.agent == expected.agent, "agent"),
        (record.operator == expected.operator, "operator"),
    ] {
        if !same {
            return Err(EnvelopeRefusal::Other { what });
        }
    }
    if scope.counter <= expected.counter {
        return Err(EnvelopeRefusal::Replayed { have: scope.counter, last: expected.counter });
    }
    if scope.expires <= expected.at {
        return Err(EnvelopeRefusal::Expired { expires: scope.expires, at: expected.at });
    }
    Ok(())
}

fn open(envelope: &Value) -> Result<(Vec<u8>, Signature), Faults> {
    let mut findings = Findings::default();
    let object = Object::of(envelope, Pointer::default(), &mut findings);
    let parts = object.and_then(|object| {
        object.only(&["payloadType", "payload", "signatures"], &mut findings);
        object.constant("payloadType", PAYLOAD_TYPE, &mut findings);
        let what = "base64 of at most 2 MiB";
        let body = object.read("payload", what, &mut findings, |value| {
            value.as_str().filter(|text| text.len() <= ENVELOPE_BYTES_MAX).and_then(base64::decode)
        });
        let signatures = object.list("signatures", 1, &mut findings);
        let signature = signatures.into_iter().next().and_then(|(at, value)| {
            let entry = Object::of(value, at, &mut findings)?;
            entry.only(&["keyid", "sig"], &mut findings);
            entry.read("sig", "base64 of 64 bytes", &mut findings, |value| {
                Signature::from_slice(&base64::decode(value.as_str()?)?).ok()
            })
        });
        if signature.is_none() {
            findings.add(&object.place("signatures"), "must hold one signature");
        }
        Some((body?, signature?))
    });
    findings.or_none(parts)
}

fn unpack(statement: &Value) -> Result<(Record, Scope), Faults> {
    let mut findings = Findings::default();
    let parts = Object::of(statement, Pointer::default(), &mut findings).and_then(|object| {
        object.only(&["_type", "subject", "predicateType", "predicate"], &mut findings);
        object.constant("_type", STATEMENT_TYPE, &mut findings);
        object.constant("predicateType", PREDICATE_TYPE, &mut findings);
        let predicate = object.need("predicate", &mut findings)?;
        let place = object.place("predicate");
        let members = Object::of(predicate, place.clone(), &mut findings)?;
        let instance = members.digest("instance", &mut findings);
        let counter = members.number("counter", u64::MAX, &mut findings);
        let expires = members.number("expires", u64::MAX, &mut findings);
        let mut record = predicate.clone();
        for member in ["instance", "counter", "expires"] {
            record.as_object_mut()?.remove(member);
        }
        let record = match Record::read(record) {
            Ok(record) => record,
            Err(Faults(faults)) => {
                for fault in faults {
                    findings.add(&place, format!("{}: {}", fault.pointer, fault.message));
                }
                return None;
            }
        };
        let subject = json!([{ "name": record.claim, "digest": { "sha256": record.digest } }]);
        if object.get("subject") != Some(&subject) {
            findings.add(&object.place("subject"), "is not the record in the predicate");
        }
        Some((record, Scope { instance: instance?, counter: counter?, expires: expires? }))
    });
    findings.or_none(parts)
}

#[cfg(test)]
mod tests;

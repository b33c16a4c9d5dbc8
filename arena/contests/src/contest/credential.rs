//! Credentials: a statement in a DSSE envelope, as a token of base64url. Who signs is the caller's
//! matter; nothing here holds a key.

use arena_canon::json::{self, Value};
use serde_json::json;

use crate::base64url::{decode, encode};
use crate::moment::Moment;

/// The type of the statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.arena.credential+json";
const TOKEN_BYTES_MAX: usize = 64 << 10;

/// Signs statements.
pub trait Signer {
    /// Which key.
    fn key_id(&self) -> String;
    /// Its signature of `message`.
    fn sign(&self, message: &[u8]) -> Vec<u8>;
}

/// Knows whose signature is good.
pub trait Verifier {
    /// Whether `signature` is that of the key for `message`.
    fn verifies(&self, key_id: &str, message: &[u8], signature: &[u8]) -> bool;
}

/// What a credential states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What it certifies, such as `certified-reviewer`.
    pub kind: String,
    /// Of whom.
    pub agent: String,
    /// From which contest.
    pub contest: String,
    /// When it was issued.
    pub issued_at: Moment,
    /// When it ends, if it does.
    pub expires_at: Option<Moment>,
}

/// Why a token is no credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Not a token of an envelope of this type.
    #[error("the token is no envelope of {PAYLOAD_TYPE}")]
    NotAnEnvelope,
    /// No signature that is known to be good.
    #[error("no signature of the token is known to be good")]
    Unsigned,
    /// Not valid at that time.
    #[error("the credential is valid from {from}{}", end_of(.until.as_ref()))]
    NotValid {
        /// Its issue.
        from: Moment,
        /// Its end.
        until: Option<Moment>,
    },
}

fn end_of(until: Option<&Moment>) -> String {
    until.map_or_else(String::new, |until| format!(" until {until}"))
}

/// The token of a signed statement.
pub fn issue(statement: &Statement, signer: &dyn Signer) -> String {
    let payload = json::canonical(&json!({
        "kind": statement.kind,
        "agent": statement.agent,
        "contest": statement.contest,
        "issued_at": statement.issued_at.to_string(),
        "expires_at": statement.expires_at.map(|moment| moment.to_string()),
    }));
    let signature = signer.sign(&pre_authentication(&payload));
    let envelope = json!({
        "payloadType": PAYLOAD_TYPE,
        "payload": encode(&payload),
        "signatures": [{ "keyid": signer.key_id(), "sig": encode(&signature) }],
    });
    encode(&json::canonical(&envelope))
}

/// The statement of a token that is signed and valid at `now`.
pub fn open(token: &str, verifier: &dyn Verifier, now: Moment) -> Result<Statement, CredentialError> {
    let (payload, signatures) = parts(token).ok_or(CredentialError::NotAnEnvelope)?;
    let message = pre_authentication(&payload);
    let is_good = |(key, signature): &(String, Vec<u8>)| verifier.verifies(key, &message, signature);
    if !signatures.iter().any(is_good) {
        return Err(CredentialError::Unsigned);
    }
    let statement = statement(&payload).ok_or(CredentialError::NotAnEnvelope)?;
    let Statement { issued_at, expires_at, .. } = statement;
    if now < issued_at || expires_at.is_some_and(|end| now >= end) {
        return Err(CredentialError::NotValid { from: issued_at, until: expires_at });
    }
    Ok(statement)
}

type Signatures = Vec<(String, Vec<u8>)>;

fn parts(token: &str) -> Option<(Vec<u8>, Signatures)> {
    let envelope =
        json::read(&decode(token).filter(|_| token.len() <= TOKEN_BYTES_MAX)?, TOKEN_BYTES_MAX).ok()?;
    if envelope["payloadType"] != PAYLOAD_TYPE {
        return None;
    }
    let signatures = envelope["signatures"].as_array()?.iter().map(|signature| {
        Some((signature["keyid"].as_str()?.to_owned(), decode(signature["sig"].as_str()?)?))
    });
    Some((decode(envelope["payload"].as_str()?)?, signatures.collect::<Option<_>>()?))
}

fn statement(payload: &[u8]) -> Option<Statement> {
    let value = json::read(payload, TOKEN_BYTES_MAX).ok()?;
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let expires_at = match &value["expires_at"] {
        Value::Null => None,
        other => Some(other.as_str()?.parse().ok()?),
    };
    Some(Statement {
        kind: text("kind")?,
        agent: text("agent")?,
        contest: text("contest")?,
        issued_at: text("issued_at")?.parse().ok()?,
        expires_at,
    })
}

/// What is signed: the type and the payload, each with its length.
fn pre_authentication(payload: &[u8]) -> Vec<u8> {
    let mut message = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len()).into_bytes();
    message.extend_from_slice(payload);
    message
}

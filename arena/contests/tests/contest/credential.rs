//! Credentials: what is signed is what is read, and nothing else is.

use arena_canon::{Digest, Preimage};
use arena_contests::Moment;
use arena_contests::contest::credential::{CredentialError, Signer, Statement, Verifier, issue, open};

/// A stand-in for a key: a digest over a secret and the message.
struct Secret(&'static str);

impl Secret {
    fn tag(&self, message: &[u8]) -> Digest {
        Preimage::new(self.0).bytes(message).digest()
    }
}

impl Signer for Secret {
    fn key_id(&self) -> String {
        "key-1".to_owned()
    }
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.tag(message).as_bytes().to_vec()
    }
}

impl Verifier for Secret {
    fn verifies(&self, key_id: &str, message: &[u8], signature: &[u8]) -> bool {
        key_id == "key-1" && signature == self.tag(message).as_bytes()
    }
}

fn statement() -> Statement {
    Statement {
        kind: "certified-reviewer".to_owned(),
        agent: "amy".to_owned(),
        contest: "ff877226-c52c-4c52-9c9e-8b2a2a076e53".to_owned(),
        issued_at: Moment::from_unix_ms(1_000),
        expires_at: Some(Moment::from_unix_ms(9_000)),
    }
}

#[test]
fn a_token_is_valid_from_its_issue_to_before_its_end() {
    let token = issue(&statement(), &Secret("s"));
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    for (ms, ok) in [(999, false), (1_000, true), (8_999, true), (9_000, false)] {
        let opened = open(&token, &Secret("s"), Moment::from_unix_ms(ms));
        assert_eq!(opened.is_ok(), ok, "{ms}");
        assert!(ok || matches!(opened, Err(CredentialError::NotValid { .. })));
    }
    let forever = Statement { expires_at: None, ..statement() };
    let token = issue(&forever, &Secret("s"));
    assert_eq!(open(&token, &Secret("s"), Moment::from_unix_ms(i64::MAX / 2_000)), Ok(forever));
}

#[test]
fn another_key_and_another_letter_are_told() {
    let token = issue(&statement(), &Secret("s"));
    let now = Moment::from_unix_ms(2_000);
    assert_eq!(open(&token, &Secret("t"), now), Err(CredentialError::Unsigned));
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).expect("ASCII");
        assert!(open(&changed, &Secret("s"), now).is_err(), "letter {at}");
    }
    for wrong in ["", "e30", "x", &token[..token.len() - 4], &format!("{token}AAAA"), &"A".repeat(100_000)] {
        assert_eq!(open(wrong, &Secret("s"), now), Err(CredentialError::NotAnEnvelope));
    }
}

use arena_canon::Digest;
use arena_canon::json::Value;
use serde_json::json;

use super::{EnvelopeRefusal, Expected, Scope, SecretKey, is_usable, pre_authentication, sign, verify};
use crate::base64;
use crate::manifest::Manifest;
use crate::manifest::tests::{record, results, sample};
use crate::record::{Record, Role};

const AT: u64 = 1_800_000_000;

fn key(byte: u8) -> SecretKey {
    SecretKey::from_seed(&[byte; 32])
}

fn instance() -> Digest {
    Digest::of(b"test-here")
}

fn sealed() -> (Record, Value) {
    let manifest = Manifest::read(sample()).expect("no faults");
    let record = record(&manifest, Role::Runner, &results());
    let scope = Scope { instance: instance(), counter: 7, expires: AT + 60 };
    let envelope = sign(&record, scope, &key(1));
    (record, envelope)
}

fn expected<'a>() -> Expected<'a> {
    Expected {
        instance: instance(),
        claim: "c1",
        job: Digest::of(b"job"),
        role: Role::Runner,
        agent: "rex",
        operator: "op-rex",
        key: key(1).public(),
        counter: 6,
        at: AT,
    }
}

#[test]
fn the_published_pre_authentication_comes_out() {
    let bytes = pre_authentication("http://example.com/HelloWorld", b"hello world");
    assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

#[test]
fn a_signed_record_comes_back() {
    let (record, envelope) = sealed();
    assert_eq!(verify(&envelope, &expected()), Ok((record, 7)));
}

/// A signature serves once and in one place.
#[test]
fn it_holds_nowhere_else() {
    let (_, envelope) = sealed();
    let refused = |expected: Expected<'_>| verify(&envelope, &expected).expect_err("refused");
    let other = Digest::of(b"other");
    assert!(matches!(
        refused(Expected { instance: other, ..expected() }),
        EnvelopeRefusal::OtherInstance { .. }
    ));
    for (elsewhere, what) in [
        (Expected { claim: "c2", ..expected() }, "claim"),
        (Expected { job: other, ..expected() }, "job"),
        (Expected { role: Role::Challenger, ..expected() }, "role"),
        (Expected { agent: "ron", ..expected() }, "agent"),
        (Expected { operator: "op-ron", ..expected() }, "operator"),
    ] {
        assert_eq!(refused(elsewhere), EnvelopeRefusal::Other { what });
    }
    assert_eq!(
        refused(Expected { counter: 7, ..expected() }),
        EnvelopeRefusal::Replayed { have: 7, last: 7 }
    );
    let late = Expected { at: AT + 60, ..expected() };
    assert_eq!(refused(late), EnvelopeRefusal::Expired { expires: AT + 60, at: AT + 60 });
    assert_eq!(refused(Expected { key: key(2).public(), ..expected() }), EnvelopeRefusal::BadSignature);
}

#[test]
fn one_changed_bit_is_seen_wherever_it_is() {
    let (_, envelope) = sealed();
    let payload = base64::decode(envelope["payload"].as_str().expect("a text")).expect("base64");
    for i in (0..payload.len()).step_by(97) {
        let mut changed = payload.clone();
        changed[i] ^= 1;
        let mut envelope = envelope.clone();
        envelope["payload"] = json!(base64::encode(&changed));
        assert_eq!(verify(&envelope, &expected()), Err(EnvelopeRefusal::BadSignature), "byte {i}");
    }
    for i in 0..64 {
        let text = envelope["signatures"][0]["sig"].as_str().expect("a text");
        let mut signature = base64::decode(text).expect("base64");
        signature[i] ^= 1;
        let mut envelope = envelope.clone();
        envelope["signatures"][0]["sig"] = json!(base64::encode(&signature));
        assert!(verify(&envelope, &expected()).is_err(), "byte {i} of the signature");
    }
}

#[test]
fn what_is_no_envelope_is_refused() {
    let (_, envelope) = sealed();
    let edits: [fn(&mut Value); 7] = [
        |e| e["payloadType"] = json!("text/plain"),
        |e| e["payload"] = json!("%%%"),
        |e| e["signatures"] = json!([]),
        |e| e["signatures"] = json!([e["signatures"][0], e["signatures"][0]]),
        |e| e["signatures"][0]["sig"] = json!("AAAA"),
        |e| e["more"] = json!(1),
        |e| *e = json!(null),
    ];
    for edit in edits {
        let mut wrong = envelope.clone();
        edit(&mut wrong);
        assert!(matches!(verify(&wrong, &expected()), Err(EnvelopeRefusal::Malformed(_))), "{wrong}");
    }
}

/// The eight points of small order sign everything for anybody; the strict rule knows them.
#[test]
fn keys_that_sign_everything_are_no_keys() {
    let mut identity = [0; 32];
    identity[0] = 1;
    for weak in [[0; 32], identity] {
        assert!(!is_usable(Digest::from_bytes(weak)));
        let (_, envelope) = sealed();
        let expected = Expected { key: Digest::from_bytes(weak), ..expected() };
        assert_eq!(verify(&envelope, &expected), Err(EnvelopeRefusal::BadSignature));
    }
    assert!(is_usable(key(3).public()));
}

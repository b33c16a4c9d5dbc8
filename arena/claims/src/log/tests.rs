use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_draw::{Eligible, Entry, merkle};
use serde_json::json;

use super::checkpoint::{Checkpoint, CheckpointError, key_id, origin, verifier};
use super::leaf::{DrawOrigin, Logged, opening, plain_leaf, sealed};
use super::receipt::{LogFault, Receipt, in_time};
use crate::base64;
use crate::envelope::SecretKey;
use crate::life::{CommittedDraw, Event};

const AT: u64 = 1_800_000_000;

fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

fn instance() -> Digest {
    Digest::of(b"lab")
}

fn signed() -> String {
    Checkpoint::sign(&origin(instance()), 42, Digest::of(b"root"), AT, &key(1))
}

/// The example of the package that defined the format: key and signature are those of others.
#[test]
fn keys_are_named_and_texts_signed_as_elsewhere() {
    let text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    let public = base64::decode("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW").expect("base64");
    let signature =
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=";
    let signature = base64::decode(signature).expect("base64");
    let public: [u8; 32] = public[1..].try_into().expect("32 bytes");
    let id = key_id("PeterNeumann", 0x01, Digest::from_bytes(public));
    assert_eq!((id, &signature[..4]), ([0xc7, 0x4f, 0x20, 0xa3], &id[..]));
    let told = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    assert_eq!(verifier("PeterNeumann", Digest::from_bytes(public)), told);
    let verifying = ed25519_dalek::VerifyingKey::from_bytes(&public).expect("a key");
    let signature = ed25519_dalek::Signature::from_slice(&signature[4..]).expect("64 bytes");
    verifying.verify_strict(text.as_bytes(), &signature).expect("it is signed");
}

/// The example of the specification, with a witness that nobody here knows.
#[test]
fn checkpoints_of_others_are_read_and_not_believed() {
    let note = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
        — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
    let read = Checkpoint::read(note).expect("a checkpoint");
    assert_eq!((read.origin.as_str(), read.size), ("example.com/behind-the-sofa", 20_852_163));
    let public = key(1).public();
    let other = read.verify(&origin(instance()), public).expect_err("another log");
    assert!(matches!(other, CheckpointError::OtherOrigin { .. }), "{other}");
    assert_eq!(
        read.verify("example.com/behind-the-sofa", public),
        Err(CheckpointError::Unsigned { key: public })
    );
}

#[test]
fn what_is_signed_verifies_by_its_key_alone_and_tells_its_time() {
    let (name, public) = (origin(instance()), key(1).public());
    let read = Checkpoint::read(&signed()).expect("a checkpoint");
    assert_eq!((read.size, read.root), (42, Digest::of(b"root")));
    assert_eq!(read.verify(&name, public), Ok(AT));
    let other = key(2).public();
    assert_eq!(read.verify(&name, other), Err(CheckpointError::Unsigned { key: other }));
    // Signatures of others change nothing.
    let foreign = Checkpoint::sign(&name, 42, Digest::of(b"root"), AT + 9, &key(2));
    let lines: String = foreign.lines().skip(4).map(|line| format!("{line}\n")).collect();
    let both = Checkpoint::read(&format!("{}{lines}", signed())).expect("four signatures");
    assert_eq!((both.verify(&name, public), both.verify(&name, other)), (Ok(AT), Ok(AT + 9)));
    // Without the plain one or the timed one, it is none.
    let without = |line: usize| {
        let note = signed();
        let kept = note.split_inclusive('\n').enumerate().filter(|(i, _)| *i != line);
        Checkpoint::read(&kept.map(|(_, line)| line).collect::<String>()).expect("one signature")
    };
    assert_eq!(without(4).verify(&name, public), Err(CheckpointError::Unsigned { key: public }));
    assert_eq!(without(5).verify(&name, public), Err(CheckpointError::Untimed));
}

/// Whatever is changed in a note, it is no longer one, or no longer signed.
#[test]
fn every_byte_of_a_note_counts() {
    let (name, public, note) = (origin(instance()), key(1).public(), signed());
    for at in 0..note.len() {
        let mut bytes = note.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let verified = Checkpoint::read(&text).and_then(|read| read.verify(&name, public));
        assert!(verified.is_err(), "byte {at}: {text}");
    }
    for wrong in [
        "",
        "\n\n",
        "a\n1\n",
        &note[..note.len() - 1],
        &note.replacen("42", "042", 1),
        &note.replacen("\n42\n", "\n", 1),
        &note.replacen('\n', "\r\n", 1),
        &note.replacen("\u{2014} ", "- ", 1),
        &format!("{note}{}", "x".repeat(super::NOTE_BYTES_MAX)),
    ] {
        assert!(Checkpoint::read(wrong).is_err(), "{wrong:?}");
    }
    let many =
        format!("{note}{}", note.lines().last().map(|line| format!("{line}\n").repeat(15)).expect("a line"));
    assert_eq!(Checkpoint::read(&many), Err(CheckpointError::NoNote("more than 16 signatures")));
}

#[test]
fn a_checkpoint_of_a_commitment_is_signed_between_it_and_its_round() {
    let ok = |signed, committed, due| in_time(Some(signed), committed, due).is_ok();
    assert!(ok(10, Some(10), Some(11)) && ok(10, None, None) && in_time(None, Some(10), Some(5)).is_ok());
    assert!(!ok(10, Some(11), Some(12)) && !ok(10, Some(9), Some(10)) && !ok(11, Some(9), Some(10)));
}

/// A log of events, and the receipt of one of them.
fn receipted(seq: u64, size: usize) -> Value {
    let genesis = Digest::of(b"genesis");
    let events: Vec<Value> = (1..=size).map(|i| json!({ "event": "tick", "n": i })).collect();
    let logged =
        |i: usize| Logged { seq: i as u64 + 1, at: AT + i as u64, by: Some("amy"), written: &events[i] };
    let leaves: Vec<Digest> = (0..size).map(|i| plain_leaf(genesis, &logged(i))).collect();
    let index = seq as usize - 1;
    let root = merkle::root(&leaves);
    let receipt = Receipt {
        instance: instance(),
        seq,
        event: "tick".into(),
        draw: None,
        leaf: leaves[index],
        inclusion: merkle::path(index, &leaves),
        checkpoint: Checkpoint::sign(&origin(instance()), size as u64, root, AT + 100, &key(1)),
    };
    receipt.document(genesis, &logged(index))
}

#[test]
fn a_receipt_holds_for_its_event_alone() {
    for size in 1..=9 {
        for seq in 1..=size as u64 {
            let receipt = Receipt::read(&receipted(seq, size)).expect("a receipt");
            let (checkpoint, at) = receipt.signed(key(1).public()).expect("it holds");
            assert_eq!((checkpoint.size, at), (size as u64, AT + 100));
        }
    }
    let good = receipted(3, 6);
    for (member, other, at) in [
        ("event", json!({ "event": "tick", "n": 9 }), "/leaf"),
        ("at", json!("1800000009"), "/leaf"),
        ("by", json!("ben"), "/leaf"),
        ("by", Value::Null, "/leaf"),
        ("genesis", json!(Digest::of(b"another")), "/leaf"),
        ("seq", json!("4"), "/leaf"),
        ("seq", json!(3), "/seq"),
        ("v", json!("arena-receipt/v2"), "/v"),
        ("inclusion", json!(["ab"]), "/inclusion"),
        ("inclusion", json!(vec![Digest::of(b""); 65]), "/inclusion"),
        ("checkpoint", Value::Null, "/checkpoint"),
    ] {
        let mut forged = good.clone();
        forged[member] = other;
        let faults = Receipt::read(&forged).expect_err(member);
        assert!(faults.0.iter().any(|fault| fault.pointer == at), "{member}: {faults}");
    }
    let read = |change: &dyn Fn(&mut Receipt)| {
        let mut receipt = Receipt::read(&good).expect("a receipt");
        change(&mut receipt);
        receipt.held().expect_err("it does not hold").at
    };
    assert_eq!(read(&|receipt| receipt.inclusion.clear()), "/log/inclusion");
    assert_eq!(read(&|receipt| receipt.inclusion.reverse()), "/log/inclusion");
    assert_eq!(read(&|receipt| receipt.leaf = Digest::of(b"other")), "/log/inclusion");
    assert_eq!(read(&|receipt| receipt.seq = 4), "/log/inclusion");
    assert_eq!(read(&|receipt| receipt.seq = 7), "/committed_seq");
    assert_eq!(read(&|receipt| receipt.seq = 0), "/committed_seq");
    assert_eq!(read(&|receipt| receipt.instance = Digest::of(b"other")), "/log/checkpoint");
    let other: Result<_, LogFault> = Receipt::read(&good).expect("a receipt").signed(key(2).public());
    assert_eq!(other.expect_err("another key").at, "/log/checkpoint");
    assert!(json::canonical(&good).len() < 4_096);
}

/// The commitment of a draw, and what its leaf rests on beside it.
fn commitment() -> (Event, DrawOrigin) {
    let entries = ["amy", "ben", "cyd"].map(|agent| Entry::new(agent, format!("op-{agent}"), 100));
    let draw = CommittedDraw {
        claim: "c1".into(),
        purpose: "runner".into(),
        attempt: 0,
        seats: 1,
        entries: Eligible::new(entries.to_vec()).expect("entries"),
        round: 9,
        last_round_seen: 7,
        committed_at: AT,
        salt_sha256: None,
        audit_ppm: 0,
    };
    let [subject, params, chain] = ["job", "params", "chain"].map(|text| Digest::of(text.as_bytes()));
    (Event::DrawCommitted(Box::new(draw)), DrawOrigin { subject, params, chain })
}

/// Whoever is shown who may be drawn is not shown others than were committed.
#[test]
fn a_receipt_of_a_draw_holds_for_what_it_shows() {
    let (event, origin_of_draw) = commitment();
    let written = serde_json::to_value(&event).expect("written");
    let leaf = origin_of_draw.leaf(instance(), &event, 1).expect("a commitment");
    let checkpoint = Checkpoint::sign(&origin(instance()), 1, merkle::root(&[leaf]), AT, &key(1));
    let receipt = Receipt {
        instance: instance(),
        seq: 1,
        event: "draw_committed".into(),
        draw: Some(origin_of_draw),
        leaf,
        inclusion: Vec::new(),
        checkpoint,
    };
    let logged = Logged { seq: 1, at: AT, by: Some("ops"), written: &written };
    let good = receipt.document(Digest::of(b"genesis"), &logged);
    assert_eq!(Receipt::read(&good), Ok(receipt));
    let other = json!(Digest::of(b"another"));
    for (pointer, value) in [
        ("/event/purpose", json!("reviewer")),
        ("/event/purpose", json!("audit")),
        ("/event/purpose", json!("nothing")),
        ("/event/attempt", json!(1)),
        ("/event/seats", json!(2)),
        ("/event/entries", json!([["amy", "op-amy", 100], ["ben", "op-ben", 100]])),
        ("/event/entries/0/2", json!(101)),
        ("/event/round", json!(10)),
        ("/event/last_round_seen", json!(8)),
        ("/event/committed_at", json!(AT + 1)),
        ("/event/salt_sha256", other.clone()),
        ("/event/event", json!("claim_listed")),
        ("/event", json!({})),
        ("/at", json!((AT + 1).to_string())),
        ("/seq", json!("2")),
        ("/instance", other.clone()),
        ("/draw/subject", other.clone()),
        ("/draw/params_sha256", other.clone()),
        ("/draw/chain", other),
        ("/draw", Value::Null),
        ("/draw", json!({})),
    ] {
        let mut forged = good.clone();
        let place = forged.pointer_mut(pointer).expect(pointer);
        assert_ne!(*place, value, "{pointer}");
        *place = value;
        assert!(Receipt::read(&forged).is_err(), "{pointer}: {forged}");
    }
    let mut more = good.clone();
    more["event"]["extra"] = json!(1);
    assert!(Receipt::read(&more).is_err());
    // Nor is any other event shown as a commitment, or a commitment as any other event.
    let mut plain = receipted(3, 6);
    plain["event"] = written;
    assert!(Receipt::read(&plain).is_err());
    plain["draw"] = good["draw"].clone();
    assert!(Receipt::read(&plain).is_err());
    let mut tick = good;
    tick["event"] = json!({ "event": "tick", "n": 1 });
    assert!(Receipt::read(&tick).is_err());
}

/// An event that is in a log by its digest alone is shown by what opens it, and by nothing else.
#[test]
fn a_receipt_of_a_sealed_event_shows_what_opens_it() {
    let genesis = Digest::of(b"genesis");
    let opening = opening(&json!({ "event": "challenge_committed", "agent": "amy" }), Digest::of(b"nonce"));
    let written = sealed(&opening);
    let logged = Logged { seq: 1, at: AT, by: None, written: &written };
    let leaf = plain_leaf(genesis, &logged);
    let receipt = Receipt {
        instance: instance(),
        seq: 1,
        event: "sealed".into(),
        draw: None,
        leaf,
        inclusion: Vec::new(),
        checkpoint: Checkpoint::sign(&origin(instance()), 1, merkle::root(&[leaf]), AT, &key(1)),
    };
    let closed = receipt.document(genesis, &logged);
    assert_eq!(Receipt::read(&closed), Ok(receipt));
    let mut open = closed.clone();
    open["opening"] = opening;
    let read = Receipt::read(&open).expect("it is opened");
    assert_eq!(read.event, "challenge_committed");
    assert!(read.signed(key(1).public()).is_ok());
    for (pointer, value) in [
        ("/opening/event/agent", json!("ben")),
        ("/opening/nonce", json!(Digest::of(b"other"))),
        ("/opening/event", Value::Null),
        ("/opening", Value::Null),
        ("/opening", json!("text")),
        ("/event", json!({})),
        ("/event/sealed", json!(Digest::of(b"other"))),
    ] {
        let mut forged = open.clone();
        *forged.pointer_mut(pointer).expect(pointer) = value;
        let faults = Receipt::read(&forged).expect_err(pointer);
        assert!(faults.0.iter().any(|fault| fault.pointer == "/opening"), "{pointer}: {faults}");
    }
}

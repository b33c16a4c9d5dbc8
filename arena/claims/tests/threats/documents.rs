//! Attacks by documents, signatures and clocks.

use arena_canon::json::{self, Value};
use arena_claims::envelope::{EnvelopeRefusal, Expected, Scope, SecretKey, pre_authentication, sign, verify};
use arena_claims::life::{Command, Refusal, Seen};
use arena_claims::manifest::{MANIFEST_BYTES_MAX, Manifest};
use arena_claims::params::Params;
use arena_claims::record::{Record, Role};
use arena_claims::simulate::stamped;
use arena_draw::beacon::Schedule;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::super::script::Script;
use super::{AUDITED, OPENED, RUNNING, at};

const AGENTS: &str = "given agents=sue,fay,a,b,c,d\n";
const HONEST: &str = "run c1 @runner 02:04 x=10.0 fuel=7 -> run_committed draw_committed:audit-coin:0\n";

/// Time never goes back; a deadline has passed for the first command that comes after it; and a round is known only once
/// it is due.
#[test]
fn threat_26_turning_the_clock() {
    let mut script = Script::after(&[AGENTS, OPENED]);
    script.plays(
        "\
draw c1 - 02:00 -> ! time_goes_back
draw c1 - 02:01:29 -> ! round_not_due
draw c1 - 02:02 -> draw_resolved:1
accept c1 @runner 02:31:59 -> run_accepted
accept c1 @runner 02:31 -> ! time_goes_back
inputs c1 @runner 02:32 -> inputs_checked
run c1 @runner 03:01:59 -> ! deadline_passed
tick c1 - 03:01:59 -> role_vacated:no_show draw_committed:runner:1
run c1 a 03:01:58 -> ! time_goes_back
",
    );
    script.check_laws("threat 26");
    // A server whose clock is behind the beacon's cannot commit a draw at all.
    let waiting = OPENED.replace(
        "3500 -> claim_funded job_opened draw_committed:runner:0",
        "3500 unseen -> claim_funded job_opened",
    );
    let mut script = Script::after(&[AGENTS, &waiting]);
    let mut commit = stamped("operator", at(122), Command::CommitDraw { claim: "c1".into() });
    commit.seen = Some(Seen { round: Schedule::QUICKNET.round_for(at(242)), proof: Vec::new() });
    assert_eq!(script.refused(&commit), "draw_refused");
}

fn revealing(script: &mut Script, by: &str, envelope: Value) -> Result<(), Refusal> {
    let nonce = script.actors[by].nonce(script.claim("c1"), arena_claims::commitment::Sealed::Run);
    let now = script.world.now;
    let command = Command::Reveal { claim: "c1".into(), nonce, envelope };
    script.execute(&stamped(by, now, command)).map(|_| ())
}

/// A signature serves once: for one instance, claim, job, role and agent, above the last counter, before it expires, in
/// one encoding.
#[test]
fn threat_27_replaying_a_signature() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    script.plays("accept c1 @auditor 02:06 -> audit_accepted\ntick c1 - 26:04 -> window_closed\n");
    let (runner, first) =
        (script.claim("c1").runner().expect("drawn").to_owned(), script.claim("c1").clone());
    script.plays(
        "\
reveal c1 @runner 26:05 elsewhere -> ! envelope_refused
reveal c1 @runner 26:05 key=sue -> ! envelope_refused
reveal c1 @runner 26:05 late -> ! envelope_refused
",
    );
    // What the runner will sign, kept by somebody on the way.
    let measured =
        arena_claims::simulate::Measurement { x: "10.0".into(), fuel: 7, log: arena_canon::Digest::of(b"") };
    let actor = &script.actors[&runner];
    let record = actor.record(&script.world, &first, Role::Runner, &measured.results()).expect("a record");
    let envelope = actor.envelope(&script.world, &record, at(1_565) + 90_000);
    // Another encoding of the same signature: s plus the order of the group.
    let mut malleable = envelope.clone();
    let text = envelope["signatures"][0]["sig"].as_str().expect("a text");
    let mut bytes = STANDARD.decode(text).expect("base64");
    add_order(&mut bytes[32..]);
    malleable["signatures"][0]["sig"] = STANDARD.encode(&bytes).into();
    let refused = |result: Result<(), Refusal>| match result {
        Err(Refusal::Envelope(why)) => why,
        other => panic!("not refused for its envelope: {other:?}"),
    };
    assert_eq!(refused(revealing(&mut script, &runner, malleable)), EnvelopeRefusal::BadSignature);
    revealing(&mut script, &runner, envelope.clone()).expect("it is the runner's own");
    assert_eq!(script.claim("c1").phase.name(), "settled");
    // The same again, wherever it could be wanted: the counter was used.
    let about = &script.world.agents[&runner];
    let expected = Expected {
        instance: script.world.instance.id(),
        claim: "c1",
        job: first.job,
        role: Role::Runner,
        agent: &runner,
        operator: &about.operator,
        key: about.key,
        counter: about.counter,
        at: script.world.now,
    };
    assert!(matches!(verify(&envelope, &expected), Err(EnvelopeRefusal::Replayed { .. })));
    let fresh = Expected { counter: 0, ..expected };
    assert!(verify(&envelope, &fresh).is_ok());
    let other = arena_canon::Digest::of(b"other");
    for (what, elsewhere) in [
        ("instance", Expected { instance: other, ..fresh }),
        ("claim", Expected { claim: "c2", ..fresh }),
        ("job", Expected { job: other, ..fresh }),
        ("role", Expected { role: Role::Challenger, ..fresh }),
        ("agent", Expected { agent: "sue", ..fresh }),
        ("operator", Expected { operator: "op-sue", ..fresh }),
        ("expiry", Expected { at: script.world.now + 999_999, ..fresh }),
    ] {
        assert!(verify(&envelope, &elsewhere).is_err(), "it serves for another {what}");
    }
}

/// Adds the order of the group of Ed25519, little-endian.
fn add_order(scalar: &mut [u8]) {
    let order: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut carry = 0;
    for (byte, more) in scalar.iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(more) + carry;
        (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
    }
}

/// A manifest with everything that a listed claim has.
fn manifest() -> Value {
    let script = Script::after(&[AGENTS, OPENED]);
    let mut manifest = script.claim("c1").manifest.value().clone();
    manifest["inputs"] = json!([{ "name": "data.csv", "sha256": "ab".repeat(32), "bytes": 1 }]);
    manifest["arguments"] = json!({ "k": "v" });
    manifest
}

/// Every resource that a manifest may ask for has a largest value: it is listed, and one more is not.
#[test]
fn threat_29_exhausting_a_runner_by_the_manifest() {
    let input = |i: usize| json!({ "name": format!("i{i}"), "sha256": "ab".repeat(32), "bytes": 1 });
    let metric = |i: usize| json!({ "name": format!("m{i}"), "kind": "int", "claim": "1" });
    let argument = |i: usize| (format!("k{i}"), json!("v"));
    let many = |count: usize, of: &dyn Fn(usize) -> Value| Value::Array((0..count).map(of).collect());
    let arguments = |count: usize| Value::Object((0..count).map(argument).collect());
    let tag = |i: usize| json!(format!("tag{i}"));
    for (pointer, largest, beyond) in [
        ("/limits/fuel", json!("1000000000000"), json!("1000000000001")),
        ("/limits/memory_bytes", json!(256 << 20), json!((256 << 20) + 1)),
        ("/limits/output_bytes", json!(64 << 20), json!((64 << 20) + 1)),
        ("/limits/wall_seconds", json!(86_400), json!(86_401)),
        ("/inputs/0/bytes", json!(64 << 20), json!((64 << 20) + 1)),
        ("/inputs", many(64, &input), many(65, &input)),
        ("/metrics", many(256, &metric), many(257, &metric)),
        ("/arguments", arguments(64), arguments(65)),
        ("/arguments/k", json!("v".repeat(4_096)), json!("v".repeat(4_097))),
        ("/capabilities", many(16, &tag), many(17, &tag)),
        ("/title", json!("t".repeat(200)), json!("t".repeat(201))),
    ] {
        let with = |value: &Value| {
            let mut changed = manifest();
            *changed.pointer_mut(pointer).expect("it is there") = value.clone();
            Manifest::read(changed)
        };
        assert!(with(&largest).is_ok(), "{pointer}: {:?}", with(&largest).err());
        let why = with(&beyond).expect_err(pointer).to_string();
        assert!(why.starts_with(pointer), "{why}");
    }
    // What asks for more fuel than the fee buys is not listed, to the unit of it.
    let set = "given params={\"fuel_per_unit\":1000000}\ngiven agents=sue,fay,a\n";
    for (fuel, listed) in [("1000000000", true), ("1000000001", false)] {
        let mut script = Script::after(&[set]);
        let mut asks = manifest();
        asks["protocol_params_sha256"] = json!(script.world.params_sha256());
        asks["limits"]["fuel"] = json!(fuel);
        let amount = script.world.instance.params.submitter_deposit_min;
        let command = Command::List { claim: "c1".into(), manifest: asks, deposit: amount, canary: None };
        let told = script.execute(&stamped("sue", at(120), command));
        match told {
            Ok(events) => assert!(listed, "{fuel}: {events:?}"),
            Err(refusal) => {
                assert!(!listed && refusal.code() == "manifest_faults", "{fuel}: {refusal}");
                let said = refusal.to_string();
                assert!(
                    said.contains("/limits/fuel: 1000000001 fuel cost at least 1001; the fee is 1000"),
                    "{said}"
                );
            }
        }
    }
    // The bytes are counted before they are read, and nesting is bounded.
    let long = format!("{{\"title\":\"{}\"}}", "t".repeat(MANIFEST_BYTES_MAX));
    assert!(matches!(Manifest::parse(long.as_bytes()), Err(arena_claims::manifest::ManifestError::Read(_))));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(Manifest::parse(deep.as_bytes()), Err(arena_claims::manifest::ManifestError::Read(_))));
}

/// There is one reading of every document, so that two readers never hash or sign two things.
#[test]
fn threat_35_two_readings_of_one_document() {
    let text = manifest().to_string();
    let read = |text: &str| Manifest::parse(text.as_bytes());
    assert!(read(&text).is_ok());
    let wall = "\"wall_seconds\":600";
    for (what, confused) in [
        ("a member twice", text.replace(wall, "\"wall_seconds\":600,\"wall_seconds\":86400")),
        ("a member twice, escaped", text.replace(wall, "\"wall_seconds\":600,\"wall\\u005fseconds\":86400")),
        ("beyond 2^53, where doubles round", text.replace(wall, "\"wall_seconds\":9007199254740993")),
        ("an exponent", text.replace(wall, "\"wall_seconds\":6e2")),
        ("a fraction", text.replace(wall, "\"wall_seconds\":600.0")),
        ("no number", text.replace(wall, "\"wall_seconds\":NaN")),
        ("a digit in front", text.replace(wall, "\"wall_seconds\":\"0600\"")),
        ("a surrogate alone", text.replace("\"a claim\"", "\"\\ud800\"")),
        ("two documents", format!("{text} {text}")),
        ("a mark in front", format!("\u{feff}{text}")),
    ] {
        assert_ne!(confused, text, "{what}");
        assert!(read(&confused).is_err(), "{what} is read");
    }
    // Spelling and order do not matter, and the number that doubles cannot hold stays what it is.
    let manifest = read(&text).expect("a manifest");
    let spelled = text.replace("\"a claim\"", "\"\\u0061 claim\"");
    assert_eq!(read(&spelled).expect("a manifest").digest, manifest.digest);
    let record = large_record();
    assert_eq!(record.results.fuel, Some((1 << 53) + 1));
    let again = Record::parse(&json::canonical(record.value())).expect("it reads back");
    assert_eq!((again.digest, again.results.fuel), (record.digest, record.results.fuel));
    // Amounts are texts, of one spelling.
    for amount in [
        json!(1_000),
        json!("01000"),
        json!("+1000"),
        json!("1e3"),
        json!("1000.0"),
        json!("9223372036854775808"),
    ] {
        let mut params = Params::published().to_json();
        params["fee"] = amount.clone();
        assert!(Params::parse(&json::canonical(&params)).is_err(), "{amount}");
    }
    // What is signed is the canonical form, or nothing.
    let key = SecretKey::from_seed(&[7; 32]);
    let scope = Scope { instance: arena_canon::Digest::of(b"i"), counter: 1, expires: 99 };
    let envelope = sign(&record, scope, &key);
    let body = STANDARD.decode(envelope["payload"].as_str().expect("a text")).expect("base64");
    let expected = Expected {
        instance: scope.instance,
        claim: &record.claim,
        job: record.job,
        role: record.role,
        agent: &record.agent,
        operator: &record.operator,
        key: key.public(),
        counter: 0,
        at: 1,
    };
    assert!(verify(&envelope, &expected).is_ok());
    let spaced = [b" ", &body[..]].concat();
    let twice = String::from_utf8(body).expect("text").replacen('{', "{\"predicate\":1,", 1).into_bytes();
    for other in [spaced, twice] {
        let signature = ed25519_dalek::Signer::sign(
            &ed25519_dalek::SigningKey::from_bytes(&[7; 32]),
            &pre_authentication("application/vnd.in-toto+json", &other),
        );
        let mut forged = envelope.clone();
        forged["payload"] = STANDARD.encode(&other).into();
        forged["signatures"][0]["sig"] = STANDARD.encode(signature.to_bytes()).into();
        assert!(matches!(verify(&forged, &expected), Err(EnvelopeRefusal::Malformed(_))));
    }
}

/// A record whose fuel is the first integer that a double does not hold.
fn large_record() -> Record {
    let script = Script::after(&[AGENTS, RUNNING]);
    let claim = script.claim("c1");
    let runner = claim.runner().expect("drawn");
    let results = json!({
        "metrics": [{ "name": "x", "kind": "decimal", "value": "10.0" }],
        "fuel": "9007199254740993", "log_sha256": "ab".repeat(32),
    });
    script.actors[runner].record(&script.world, claim, Role::Runner, &results).expect("a record")
}

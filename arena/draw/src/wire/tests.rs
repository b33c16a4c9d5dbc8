//! Documents: every fault at once, and no member of a transcript that can be changed without being found.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use proptest::prelude::*;
use serde_json::json;

use super::{Refusal, Request, Transcript, VerifyError, verify};
use crate::beacon::{EcvrfOperator, HashChain, OperatorKey, Preimages, Schedule, Source};
use crate::hex;

const ROUND_1000: &str =
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";

/// A request of the end-to-end vectors, with everything that may stand in one.
fn request() -> Value {
    json!({
        "v": "draw/v1",
        "instance": Digest::of(b"instance test"),
        "purpose": "panel",
        "subject": Digest::of(b"job test"),
        "attempt": 0,
        "seats": 5,
        "params_hash": Digest::of(b"params test"),
        "committed_seq": "812",
        "committed_at": "2023-08-23T15:58:54Z",
        "last_round_seen": "989",
        "entries": [
            ["agent-a", "op-1", "4"],
            ["agent-b", "op-1", "4"],
            ["agent-c", "op-2", "1"],
            ["agent-d", "op-3", "7"],
            ["agent-e", "op-4", "2"],
            ["agent-f", "op-5", "2"],
            ["agent-g", "op-6", "1"],
        ],
        "beacon": { "kind": "drand-quicknet", "round": "1000", "signature": ROUND_1000 },
        "log": { "checkpoint": "log.example\n812\nabc\n", "inclusion": [Digest::of(b"neighbour")] },
    })
}

fn with(mut document: Value, change: impl FnOnce(&mut Value)) -> Value {
    change(&mut document);
    document
}

fn test_request() -> Value {
    with(request(), |request| {
        request["instance"] = json!(Digest::of(b"test-bench"));
        request["instance_name"] = json!("test-bench");
        request["beacon"] = json!({ "kind": "test", "round": "1000" });
    })
}

fn ecvrf_request() -> Value {
    let key = OperatorKey::from_seed(&[7; 32]);
    with(request(), |request| {
        request["beacon"] = json!({
            "kind": "ecvrf-operator",
            "public_key": hex::encode(&key.public_key()),
            "round": "1000",
            "signature": hex::encode(&key.prove(1000)),
        });
    })
}

fn hashchain_request() -> Value {
    let parties = [1, 2].map(|secret| Preimages::new([secret; 32], 1200));
    let proof: Vec<u8> = parties.iter().flat_map(|party| party.reveal(1000).expect("a round")).collect();
    with(request(), |request| {
        request["beacon"] = json!({
            "kind": "hashchain",
            "anchors": parties.map(|party| party.anchor()),
            "round": "1000",
            "signature": hex::encode(&proof),
        });
        request["salt"] = json!("0b".repeat(32));
    })
}

/// One request of each kind.
fn requests() -> [Value; 4] {
    [request(), test_request(), ecvrf_request(), hashchain_request()]
}

fn read(document: &Value) -> Result<Request, super::Faults> {
    Request::read(document.to_string().as_bytes())
}

#[track_caller]
fn resolved(document: &Value) -> Transcript {
    read(document).expect("a request").resolve().expect("it may be drawn")
}

#[test]
fn a_request_of_every_kind_is_resolved_and_verified() {
    for request in requests() {
        let transcript = resolved(&request);
        assert_eq!(transcript.resolution.picks.len(), 5);
        let bytes = transcript.to_bytes();
        assert_eq!(verify(&bytes), Ok(transcript.clone()));
        assert_eq!(json::canonical(&transcript.to_value()), bytes);
        assert_eq!(read(&transcript.request.to_value()), Ok(transcript.request));
    }
}

#[test]
fn the_published_draw_has_its_published_transcript() {
    let transcript = resolved(&request()).to_value();
    let picks = transcript["picks"].as_array().expect("picks");
    let agents: Vec<_> = picks.iter().map(|pick| pick["agent"].as_str().expect("an agent")).collect();
    assert_eq!(agents, ["agent-a", "agent-f", "agent-d", "agent-c", "agent-e"]);
    assert_eq!(picks[0]["of"], "21");
    assert_eq!(picks[0]["seat"], 0);
    for (pointer, value) in [
        ("/seed", "1bccab85c3995a7c00c29af214f8cafe6a2707888309addbe09bd6b04d0b4e9c"),
        ("/root", "d7e5940dc49d21b555ed76cfb1e10129715e984e353a03dfccdea0cd1fd795d1"),
        ("/n", "7"),
        ("/total", "21"),
        ("/beacon/randomness", "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"),
        ("/beacon/chain", "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"),
        ("/words_consumed", "5"),
        ("/committed_seq", "812"),
        ("/committed_at", "2023-08-23T15:58:54Z"),
    ] {
        assert_eq!(transcript.pointer(pointer), Some(&json!(value)), "{pointer}");
    }
}

#[test]
fn a_salt_follows_the_randomness() {
    let salted = with(request(), |request| request["salt"] = json!("0b".repeat(32)));
    let (plain, salted) = (resolved(&request()), resolved(&salted));
    assert_eq!(plain.randomness, salted.randomness);
    assert_ne!(plain.resolution.seed, salted.resolution.seed);
    let beacon = salted.request.permitted().expect("drand is for everybody");
    let draw = salted.request.draw(&*beacon, salted.randomness.as_bytes());
    assert_eq!(draw.randomness, [&salted.randomness.as_bytes()[..], &[11; 32]].concat());
    assert_eq!(beacon.chain_hash(), salted.chain);
}

/// Every leaf of a document, by its pointer.
fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| leaves(value, format!("{at}/{key}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| leaves(value, format!("{at}/{i}"), found));
        }
        _ => found.push(at),
    }
}

/// The same kind of thing with another value, in its own form.
fn another(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_u64().expect("whole") + 1),
        Value::String(text) if text.parse::<u64>().is_ok() && text.len() < 20 => {
            json!((text.parse::<u64>().expect("a number") + 1).to_string())
        }
        Value::String(text) if text.len() >= 64 => {
            let flipped = if text.ends_with('0') { '1' } else { '0' };
            json!(format!("{}{flipped}", &text[..text.len() - 1]))
        }
        Value::String(text) => json!(format!("{text}x")),
        other => panic!("no leaf of a transcript is {other}"),
    }
}

/// Members that no arithmetic ties to the picks.
fn is_carried(pointer: &str) -> bool {
    pointer == "/committed_seq" || pointer.starts_with("/log/")
}

#[test]
fn no_member_can_be_changed_unnoticed() {
    for request in requests() {
        let transcript = resolved(&request).to_value();
        let mut pointers = Vec::new();
        leaves(&transcript, String::new(), &mut pointers);
        assert!(pointers.len() > 50);
        for pointer in pointers {
            let mut changed = transcript.clone();
            let leaf = changed.pointer_mut(&pointer).expect("it was found there");
            *leaf = another(leaf);
            // What is only compared with the round's time and number is found where it crosses them.
            match pointer.as_str() {
                "/committed_at" => *leaf = json!("2030-01-01T00:00:00Z"),
                "/last_round_seen" => *leaf = json!("1000"),
                _ => {}
            }
            let schedule =
                !matches!(transcript["beacon"]["kind"].as_str(), Some("ecvrf-operator" | "hashchain"));
            let passes = is_carried(&pointer) || pointer == "/committed_at" && !schedule;
            assert_eq!(verify(changed.to_string().as_bytes()).is_ok(), passes, "{pointer}: {changed}");
        }
    }
}

#[test]
fn no_member_can_be_left_out_or_added_unnoticed() {
    let optional = ["committed_seq", "committed_at", "last_round_seen", "log"];
    for request in requests() {
        let transcript = resolved(&request).to_value();
        let names: Vec<String> = transcript.as_object().expect("an object").keys().cloned().collect();
        for name in names {
            let without =
                with(transcript.clone(), |t| drop(t.as_object_mut().expect("an object").remove(&name)));
            let passes = optional.contains(&&*name)
                || name == "instance_name" && transcript["beacon"]["kind"] != "test";
            assert_eq!(verify(without.to_string().as_bytes()).is_ok(), passes, "{name}");
        }
        for place in ["", "/beacon", "/log", "/picks/0"] {
            let more =
                with(transcript.clone(), |t| t.pointer_mut(place).expect("an object")["more"] = json!(1));
            assert_eq!(pointers(&more), [format!("{place}/more")]);
        }
        for drop in 0..5 {
            let fewer = with(transcript.clone(), |t| {
                t["picks"].as_array_mut().expect("an array").remove(drop);
            });
            let why = verify(fewer.to_string().as_bytes()).expect_err("a pick is missing").to_string();
            let place = if drop < 4 { format!("/picks/{drop}/seat: ") } else { "/picks: ".to_owned() };
            assert!(why.starts_with(&place), "{why}");
        }
    }
}

/// Places of the faults of a transcript.
fn pointers(document: &Value) -> Vec<String> {
    match verify(document.to_string().as_bytes()) {
        Err(VerifyError::Malformed(faults)) => {
            faults.0.iter().map(|fault| fault.at.as_str().to_owned()).collect()
        }
        other => panic!("expected faults, found {other:?}"),
    }
}

#[test]
fn the_first_difference_is_named_with_both_values() {
    let transcript = resolved(&request()).to_value();
    let wrong_twice = with(transcript, |transcript| {
        transcript["picks"][2]["agent"] = json!("agent-\u{1b}b");
        transcript["words_consumed"] = json!("6");
    });
    let why = verify(wrong_twice.to_string().as_bytes()).expect_err("it was changed").to_string();
    assert_eq!(why, r#"/picks/2/agent: the transcript says "agent-\u{1b}b", the draw gives "agent-d""#);
}

#[test]
fn every_fault_is_told_at_once() {
    let wrong = json!({
        "v": "draw/v2",
        "instance": "17A7",
        "instance_name": "",
        "purpose": "reviewer",
        "attempt": -1,
        "seats": 0,
        "params_hash": null,
        "committed_seq": "0812",
        "committed_at": "2026-11-30 17:08",
        "last_round_seen": 999,
        "entries": [
            ["b", "x", "1"],
            ["a", "", "0"],
            ["a", "x"],
            ["c", "x", "9223372036854775807"],
            7,
            ["c", "", "01"],
            [1, 2, 3],
        ],
        "salt": "00",
        "seed": "",
        "beacon": {
            "kind": "hashchain",
            "anchors": [Digest::of(b""), Digest::of(b"")],
            "round": "1e3",
            "chain": "",
        },
        "log": { "inclusion": ["x"] },
    });
    let faults = read(&wrong).expect_err("nothing of it is right");
    let told: Vec<String> = faults.0.iter().map(ToString::to_string).collect();
    let expected = [
        "/seed: unknown member \"seed\"; known here: v, instance, ",
        "/beacon/chain: unknown member \"chain\"; known here: kind, anchors, round, signature",
        "/v: expected \"draw/v1\", found \"draw/v2\"",
        "/instance: expected 64 lower-case hexadecimal digits, found \"17A7\"",
        "/instance_name: 0 bytes; it has 1 to 128",
        "/purpose: a purpose is one of runner, audit, audit-coin, panel, panel2, seating, canary; found \"reviewer\"",
        "(document): the member \"subject\" is missing",
        "/attempt: expected an integer from 0 to 4294967295, found the number -1",
        "/seats: expected an integer from 1 to 100000, found the number 0",
        "/params_hash: expected 64 lower-case hexadecimal digits, found null",
        "/committed_seq: expected a string of decimal digits up to \"18446744073709551615\", found \"0812\"",
        "/committed_at: expected a time like \"2026-11-30T17:08:00Z\", from 1970 on, found \"2026-11-30 17:08\"",
        "/last_round_seen: expected a string of decimal digits up to \"18446744073709551615\", found the number 999",
        "/entries/2: expected [agent, operator, tickets], found an array",
        "/entries/4: expected [agent, operator, tickets], found the number 7",
        "/entries/5/2: expected a string of decimal digits up to \"18446744073709551615\", found \"01\"",
        "/entries/6/0: expected a string, found the number 1",
        "/entries/6/1: expected a string, found the number 2",
        "/entries/6/2: expected a string of decimal digits up to \"18446744073709551615\", found the number 3",
        "/entries/1/1: the operator's id has 0 bytes; an id has 1 to 128",
        "/entries/1/2: 0 tickets; an entry has at least 1",
        "/entries/1/0: out of order: entries ascend by the bytes of the agent's id",
        "/entries/3/2: the tickets up to here exceed 9223372036854775807",
        "/entries/5/1: the operator's id has 0 bytes; an id has 1 to 128",
        "/entries/5/0: the agent stands twice",
        "/salt: expected 32 to 128 lower-case hexadecimal digits, an even number of them, found \"00\"",
        "/beacon/round: expected a string of decimal digits up to \"18446744073709551615\", found \"1e3\"",
        "/beacon/anchors/1: the anchor stands twice",
        "/beacon: the member \"signature\" is missing",
        "/log: the member \"checkpoint\" is missing",
        "/log/inclusion/0: expected 64 lower-case hexadecimal digits, found \"x\"",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}\nis not\n{expected}");
    }
}

#[test]
fn what_is_no_document_is_refused() {
    for wrong in [&b""[..], b"[]", b"{\"v\":1,\"v\":1}", b"\xff", b"null", b"{}"] {
        assert!(Request::read(wrong).is_err());
        assert!(matches!(verify(wrong), Err(VerifyError::Malformed(_))));
    }
    let large = vec![b' '; super::DOCUMENT_BYTES_MAX + 1];
    assert!(Request::read(&large).expect_err("too large").to_string().contains("the limit is 16777216"));
}

#[test]
fn a_million_faults_are_counted() {
    let wrong = with(request(), |request| request["entries"] = json!(vec![0; 1000]));
    let faults = read(&wrong).expect_err("no entry is one");
    assert_eq!(faults.0.len(), 201);
    assert_eq!(faults.0[200].message, "800 more faults are not shown");
}

#[test]
fn times_have_one_spelling() {
    for (text, good) in [
        ("2026-11-30T17:08:00Z", true),
        ("1970-01-01T00:00:00Z", true),
        ("9999-12-30T21:59:59Z", true),
        ("1969-12-31T23:59:59Z", false),
        ("2026-11-30T17:08:00z", false),
        ("2026-11-30T17:08:60Z", false),
        ("2026-02-29T17:08:00Z", false),
        ("2026-11-30T24:00:00Z", false),
        ("2026-11-30T17:08:00.0Z", false),
        ("2026-11-30T17:08:00+00:00", false),
        ("2026-11-30 17:08:00Z", false),
        ("+02026-11-30T17:08:0Z", false),
    ] {
        let found = super::fields::time(&json!(text));
        assert_eq!(found.is_ok(), good, "{text}: {found:?}");
        if let Ok(seconds) = found {
            assert_eq!(super::fields::time_text(seconds).as_deref(), Some(text));
        }
    }
}

#[test]
fn what_may_not_be_drawn_is_refused() {
    type Change = fn(&mut Value);
    // Round 1000 of quicknet was due at 15:59:24 of its first day.
    let refusals: [(&str, Value, Change); 12] = [
        ("/instance_name: the instance is not", request(), |r| r["instance_name"] = json!("another")),
        ("/instance_name: a `test` beacon is only", test_request(), |r| {
            r["instance_name"] = json!("bench");
            r["instance"] = json!(Digest::of(b"bench"));
        }),
        ("/instance_name: the instance is not", test_request(), |r| r["instance_name"] = json!("test-other")),
        ("/instance_name: a `test` beacon needs", test_request(), |r| {
            r.as_object_mut().expect("an object").remove("instance_name");
        }),
        ("/last_round_seen: the commitment knew round 1000", request(), |r| {
            r["last_round_seen"] = json!("1000")
        }),
        ("/last_round_seen: the commitment knew round 2000", ecvrf_request(), |r| {
            r["last_round_seen"] = json!("2000");
        }),
        (
            "/committed_at: committed at 2023-08-23T15:59:24Z, but round 1000 was due at 2023-08-23T15:59:24Z",
            request(),
            |r| r["committed_at"] = json!("2023-08-23T15:59:24Z"),
        ),
        ("/committed_at: committed at", test_request(), |r| {
            r["committed_at"] = json!("2030-01-01T00:00:00Z")
        }),
        ("/beacon/signature: the proof is not the one", request(), |r| {
            r["beacon"]["round"] = json!("1001");
            r["committed_at"] = json!("2023-08-23T15:00:00Z");
        }),
        ("/beacon/signature: the proof is not the one", hashchain_request(), |r| {
            r["beacon"]["round"] = json!("999")
        }),
        ("/beacon/signature: a proof of 96 bytes", hashchain_request(), |r| {
            r["beacon"]["signature"] = json!("00".repeat(96));
        }),
        ("/beacon/round: round 0", test_request(), |r| {
            r["beacon"]["round"] = json!("0");
            for name in ["last_round_seen", "committed_at"] {
                r.as_object_mut().expect("an object").remove(name);
            }
        }),
    ];
    for (expected, request, change) in refusals {
        let refused =
            read(&with(request, change)).expect("it can be read").resolve().expect_err("not like that");
        let told = VerifyError::Refused(refused).to_string();
        assert!(told.starts_with(expected), "{told}\nis not\n{expected}");
    }
    let last_moment = with(request(), |r| r["committed_at"] = json!("2023-08-23T15:59:23Z"));
    assert!(read(&last_moment).expect("a request").resolve().is_ok());
}

#[test]
fn refusals_hold_for_transcripts_too() {
    let transcript = resolved(&request()).to_value();
    let late = with(transcript, |transcript| transcript["last_round_seen"] = json!("1000"));
    let refused = verify(late.to_string().as_bytes());
    assert_eq!(refused, Err(VerifyError::Refused(Refusal::RoundKnown { last: 1000, round: 1000 })));
}

fn any_request() -> impl Strategy<Value = Value> {
    let entries = proptest::collection::btree_map(
        "[a-zA-Z0-9é\"\\\\\u{1}\u{1f980}]{1,6}",
        (0_u8..9, 1_u64..1000),
        0..30,
    );
    let optional = (proptest::option::of(0_u64..u64::MAX), proptest::option::of(0_u64..7), any::<bool>());
    (entries, 1_u64..u64::MAX, 1_u32..12, 0_u32..u32::MAX, optional).prop_map(
        |(entries, round, seats, attempt, (seq, seen, salted))| {
            with(test_request(), |request| {
                let entry = |(agent, (operator, tickets)): (String, (u8, u64))| {
                    json!([agent, format!("op {operator}"), tickets.to_string()])
                };
                request["entries"] = entries.into_iter().map(entry).collect();
                request["beacon"]["round"] = json!(round.to_string());
                request["seats"] = json!(seats);
                request["attempt"] = json!(attempt);
                let members = request.as_object_mut().expect("an object");
                for name in ["committed_at", "log", "committed_seq", "last_round_seen"] {
                    members.remove(name);
                }
                members.extend(seq.map(|seq| ("committed_seq".to_owned(), json!(seq.to_string()))));
                let seen = seen.filter(|seen| *seen < round);
                members.extend(seen.map(|seen| ("last_round_seen".to_owned(), json!(seen.to_string()))));
                if salted {
                    members.insert("salt".to_owned(), json!("5a".repeat(16)));
                }
            })
        },
    )
}

proptest! {
    #[test]
    fn documents_come_back_as_they_went(request in any_request()) {
        let transcript = resolved(&request);
        let bytes = transcript.to_bytes();
        prop_assert_eq!(Transcript::read(&bytes), Ok(transcript.clone()));
        prop_assert_eq!(verify(&bytes), Ok(transcript.clone()));
        prop_assert_eq!(read(&transcript.request.to_value()), Ok(transcript.request.clone()));
        // What an installation knows beside its documents is in no transcript.
        let source = match transcript.request.source.clone() {
            Source::EcvrfOperator(beacon) => {
                Source::EcvrfOperator(EcvrfOperator::new(*beacon.public_key(), Some(Schedule::QUICKNET)))
            }
            Source::HashChain(beacon) => {
                let scheduled = HashChain::new(beacon.anchors().to_vec(), Some(Schedule::QUICKNET));
                Source::HashChain(scheduled.expect("it was one"))
            }
            other => other,
        };
        let installed = Request { source, committed_at: None, ..transcript.request }.resolve().expect("drawn");
        prop_assert_eq!(Transcript::read(&installed.to_bytes()), Ok(installed));
    }

    /// The order of members and the white space of a request make no difference; the order of entries does.
    #[test]
    fn picks_do_not_depend_on_how_it_is_written(request in any_request()) {
        let members = request.as_object().expect("an object");
        let written = |(key, value): (&String, &Value)| format!(" {key:?} :\n{value:#}");
        let backwards: Vec<String> = members.iter().rev().map(written).collect();
        let text = format!("{{{}}}", backwards.join(","));
        let again = Request::read(text.as_bytes()).expect("the same request").resolve().expect("drawn");
        prop_assert_eq!(again.to_bytes(), resolved(&request).to_bytes());
        let mut reversed = request.clone();
        let entries = reversed["entries"].as_array_mut().expect("an array");
        entries.reverse();
        prop_assert_eq!(entries.len() < 2, read(&reversed).is_ok());
    }

    /// Whatever bytes come, they are read or refused.
    #[test]
    fn no_bytes_are_a_bug(at in 0_usize..4000, byte: u8, cut in proptest::option::of(0_usize..4000)) {
        let mut bytes = resolved(&test_request()).to_bytes();
        let at = at % bytes.len();
        let changed = bytes[at] != byte;
        bytes[at] = byte;
        bytes.truncate(cut.unwrap_or(usize::MAX));
        let carried = |bytes: &[u8]| {
            let value = json::read(bytes, bytes.len()).expect("it was accepted");
            let plain = resolved(&test_request()).to_value();
            json::first_difference(&value, &plain).is_none_or(|(at, ..)| {
                is_carried(at.as_str()) || matches!(at.as_str(), "/committed_at" | "/last_round_seen")
            })
        };
        if verify(&bytes).is_ok() {
            prop_assert!(!changed || carried(&bytes));
        }
    }
}

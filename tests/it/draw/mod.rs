//! Draws from the outside: what the command prints, drawn again by the command and by an implementation in
//! another language that shares nothing with it.

mod command;
mod independent;

use std::io::Write;
use std::process::{Command, Stdio};

use arena_canon::Digest;
use arena_cli::{Env, Exit};
use arena_draw::beacon::{OperatorKey, Preimages};
use serde_json::{Value, json};

use crate::cli::{Ran, arena_in};

const ROUND_1000: &str =
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";

/// A panel of five among seven agents of six operators.
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
    })
}

fn with(mut document: Value, change: impl FnOnce(&mut Value)) -> Value {
    change(&mut document);
    document
}

/// The same draw by every other beacon.
fn by_other_beacons() -> [Value; 3] {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let key = OperatorKey::from_seed(&[7; 32]);
    let parties = [1, 2, 3].map(|secret| Preimages::new([secret; 32], 1_200));
    let preimages: Vec<u8> = parties.iter().flat_map(|party| party.reveal(1_000).expect("a round")).collect();
    [
        with(request(), |request| {
            request["instance"] = json!(Digest::of(b"test-bench"));
            request["instance_name"] = json!("test-bench");
            request["beacon"] = json!({ "kind": "test", "round": "1000" });
        }),
        with(request(), |request| {
            request["beacon"] = json!({
                "kind": "ecvrf-operator",
                "public_key": hex(&key.public_key()),
                "round": "1000",
                "signature": hex(&key.prove(1_000)),
            });
        }),
        with(request(), |request| {
            request["salt"] = json!("0b".repeat(32));
            request["beacon"] = json!({
                "kind": "hashchain",
                "anchors": parties.map(|party| party.anchor()),
                "round": "1000",
                "signature": hex(&preimages),
            });
        }),
    ]
}

/// Runs the command with `document` on its standard input.
fn arena(line: &str, document: &Value) -> Ran {
    arena_in(Env::default(), document.to_string().as_bytes(), line.split(' '))
}

/// The transcript of a request. Whatever comes out of here was drawn twice: by the command, and by Python.
#[track_caller]
fn resolved(request: &Value) -> Value {
    let ran = arena("draw resolve -", request);
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let transcript = ran.json();
    assert_eq!(arena("draw verify -", &transcript).exit, Exit::Success);
    if let Some(reference) = reference(&ran.out) {
        assert!(reference.accepts, "{}\n{}", reference.told, ran.out);
    }
    transcript
}

/// What the implementation in Python says of transcripts.
struct Reference {
    accepts: bool,
    told: String,
}

/// Lets Python draw again. Without one the comparison is skipped, by the test's name; in continuous
/// integration that fails.
#[track_caller]
#[allow(clippy::print_stderr, reason = "the harness has no other way to tell of a test that did not run")]
fn reference(transcripts: &str) -> Option<Reference> {
    let program = arena_tests::repository().join("tests/vectors/draw/draw_reference.py");
    let started = Command::new("python3")
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut python = match started {
        Ok(python) => python,
        Err(why) => {
            let test = std::thread::current().name().unwrap_or("draw").to_owned();
            let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
            assert!(!ci, "{test} cannot run: python3: {why}");
            eprintln!("skipped: {test}: python3: {why}");
            return None;
        }
    };
    let mut input = python.stdin.take().expect("it was piped");
    input.write_all(transcripts.as_bytes()).expect("Python reads everything before it says anything");
    drop(input);
    let ended = python.wait_with_output().expect("Python ends");
    let told = [ended.stdout, ended.stderr].concat();
    Some(Reference {
        accepts: ended.status.success(),
        told: String::from_utf8(told).expect("Python writes UTF-8"),
    })
}

//! The published draws, draws by every beacon, and many others, all drawn again in Python.

use arena_canon::Digest;
use arena_draw::Request;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{by_other_beacons, reference, request, resolved, with};

const VECTORS: &str = include_str!("../../vectors/draw/vectors.txt");

fn agents(transcript: &Value) -> Vec<&str> {
    let picks = transcript["picks"].as_array().expect("picks");
    picks.iter().map(|pick| pick["agent"].as_str().expect("an agent")).collect()
}

#[test]
fn the_published_draws_come_out_of_the_command() {
    for (purpose, seats) in [("runner", 1), ("panel", 5), ("panel", 6), ("audit", 1)] {
        let transcript = resolved(&with(request(), |request| {
            request["purpose"] = json!(purpose);
            request["seats"] = json!(seats);
        }));
        let seed = transcript["seed"].as_str().expect("a seed");
        let line = format!("\n{purpose} 0 {seats} {seed} {:?}\n", agents(&transcript)).replace('"', "'");
        assert!(VECTORS.contains(&line), "{line}");
    }
}

#[test]
fn the_next_attempt_comes_out_of_the_command() {
    let transcript = resolved(&with(request(), |request| {
        request["purpose"] = json!("runner");
        request["attempt"] = json!(1);
        request["seats"] = json!(1);
        request["committed_at"] = json!("2023-09-15T11:00:00Z");
        request["entries"].as_array_mut().expect("an array").retain(|entry| entry[1] != "op-3");
        request["beacon"]["round"] = json!("657413");
        request["beacon"]["signature"] = json!(
            "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"
        );
    }));
    let line = format!(
        "\nredraw root1 {} n 6 W 14 seed {} ['agent-a']\n",
        transcript["root"].as_str().expect("a root"),
        transcript["seed"].as_str().expect("a seed")
    );
    assert!(VECTORS.contains(&line), "{line}");
    assert_eq!(agents(&transcript), ["agent-a"]);
}

#[test]
fn every_beacon_draws_the_same_in_python() {
    let by_drand = resolved(&request());
    for request in by_other_beacons() {
        let transcript = resolved(&request);
        assert_eq!(transcript["root"], by_drand["root"]);
        assert_ne!(transcript["seed"], by_drand["seed"]);
    }
}

#[test]
fn edges_draw_the_same_in_python() {
    let of = |seats: u32, entries: Value| {
        with(by_other_beacons()[0].clone(), |request| {
            request["entries"] = entries;
            request["seats"] = json!(seats);
        })
    };
    // Nobody; one with every ticket there can be; a bound that rejects one word in four; one operator for
    // all.
    assert_eq!(agents(&resolved(&of(3, json!([])))), [""; 0]);
    assert_eq!(agents(&resolved(&of(3, json!([["a", "x", "9223372036854775807"]])))), ["a"]);
    let three = json!([
        ["a", "x", "2305843009213693952"],
        ["b", "y", "2305843009213693952"],
        ["c", "z", "2305843009213693952"]
    ]);
    assert_eq!(agents(&resolved(&of(3, three))).len(), 3);
    let one = resolved(&of(
        100_000,
        json!([["A", "x", "1"], ["a", "x", "1"], ["\u{ffff}", "x", "1"], ["🦀", "x", "1"]]),
    ));
    assert_eq!(agents(&one).len(), 1);
}

/// A request of any shape, by test rounds.
fn any_request() -> impl Strategy<Value = Value> {
    let tickets = proptest::prop_oneof![3 => 1_u64..50, 1 => 1_u64..(1 << 57)];
    let entries = proptest::collection::btree_map("[a-zé\"🦀]{1,5}", (0_u8..20, tickets), 0..40);
    let salt = proptest::option::of(any::<[u8; 32]>());
    let purpose = 0_usize..arena_draw::Purpose::ALL.len();
    (entries, 1_u64..1 << 40, 1_u32..15, 0_u32..4, salt, purpose).prop_map(
        |(entries, round, seats, attempt, salt, purpose)| {
            with(by_other_beacons()[0].clone(), |request| {
                let entry = |(agent, (operator, tickets)): (String, (u8, u64))| {
                    json!([agent, format!("op-{operator}"), tickets.to_string()])
                };
                request["entries"] = entries.into_iter().map(entry).collect();
                request["beacon"]["round"] = json!((round + 1_000).to_string());
                request["seats"] = json!(seats);
                request["attempt"] = json!(attempt);
                request["purpose"] = json!(arena_draw::Purpose::ALL[purpose].name());
                if let Some(salt) = salt {
                    request["salt"] = json!(Digest::from_bytes(salt));
                }
            })
        },
    )
}

#[test]
fn many_draws_are_the_same_in_python() {
    const DRAWS: usize = 300;
    let mut runner = TestRunner::deterministic();
    let mut transcripts = String::new();
    let mut expected = String::new();
    for _ in 0..DRAWS {
        let request = any_request().new_tree(&mut runner).expect("a request").current();
        let request = Request::read(request.to_string().as_bytes()).expect("it can be read");
        let transcript = request.resolve().expect("it may be drawn");
        transcripts += &String::from_utf8(transcript.to_bytes()).expect("UTF-8");
        expected += &format!("ok {}", transcript.resolution.seed);
        expected.extend(transcript.resolution.picks.iter().map(|pick| format!(" {}", pick.agent)));
        expected += "\n";
    }
    if let Some(reference) = reference(&transcripts) {
        assert_eq!(reference.told, expected);
        assert!(reference.accepts);
    }
}

/// The other implementation is no rubber stamp.
#[test]
fn python_refuses_what_was_changed() {
    let transcript = resolved(&request());
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 9] = [
        ("root", |t| t["entries"][2][2] = json!("2")),
        ("root", |t| t["root"] = t["seed"].clone()),
        ("n", |t| t["n"] = json!("8")),
        ("chain", |t| t["beacon"]["chain"] = t["seed"].clone()),
        ("randomness", |t| t["beacon"]["randomness"] = t["seed"].clone()),
        ("seed", |t| t["attempt"] = json!(1)),
        ("seed", |t| t["salt"] = json!("0b".repeat(32))),
        ("picks", |t| t["picks"][4]["agent"] = json!("agent-g")),
        ("words_consumed", |t| t["words_consumed"] = json!("6")),
    ];
    for (name, change) in changes {
        let changed = with(transcript.clone(), change);
        let Some(reference) = reference(&changed.to_string()) else { return };
        assert!(!reference.accepts, "{name}");
        assert!(reference.told.contains(&format!("document 1: {name} is ")), "{name}: {}", reference.told);
    }
}

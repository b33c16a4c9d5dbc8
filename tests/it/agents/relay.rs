//! Rounds of drand come to a server through a program, from relays that may be anything.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arena_cli::Exit;
use serde_json::{Value, json};

use super::hostile::{Server, document, fake, fake_with_bodies, http, signed_within};
use crate::cli::{Folder, Ran};

const CHAIN: &str = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
/// Rounds as the network gave them.
const ROUNDS: [(u64, &str); 3] = [
    (123, "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92"),
    (
        1000,
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
    ),
    (
        657_413,
        "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
    ),
];

pub(super) fn signature(round: u64) -> &'static str {
    ROUNDS.iter().find(|(number, _)| *number == round).expect("it is known").1
}

pub(super) fn round(number: u64, signature: &str) -> Vec<u8> {
    document(&json!({ "round": number, "randomness": "00".repeat(32), "signature": signature }))
}

/// A relay that tells the truth, as far as it knows it; what it was asked is kept.
pub(super) fn honest(newest: u64) -> (String, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let keeps = Arc::clone(&asked);
    let url = fake(move |request| {
        keeps.lock().expect("kept").push(request.to_owned());
        let name = request.strip_prefix(&format!("GET /{CHAIN}/public/")).unwrap_or_default();
        match name.parse() {
            Ok(number) if ROUNDS.iter().any(|(known, _)| *known == number) => {
                round(number, signature(number))
            }
            _ if name == "latest" => round(newest, signature(newest)),
            _ => http("404 Not Found", "text/plain", b"no such round"),
        }
    });
    (url, asked)
}

/// A server with a claim whose draw waits for round 1000; what rounds were shown to it.
fn waiting(folder: &Folder, is_crowded: bool) -> (String, Arc<Mutex<Vec<Value>>>) {
    let server = Server::new(folder, b"a component");
    let mut claim = server.claim();
    claim["status"] = json!("drawing");
    claim["run"] = Value::Null;
    claim["draw"] = json!({ "round": "1000", "due": "2023-08-23T15:59:24.000Z" });
    let shown: Arc<Mutex<Vec<Value>>> = Arc::default();
    let keeps = Arc::clone(&shown);
    let url = fake_with_bodies(move |request, body| match request {
        // The first hundred are over; those that wait come behind them.
        "GET /api/v1/claims?limit=100" if is_crowded => {
            document(&json!({ "items": [{ "claim": "c2", "status": "settled" }], "next_cursor": "100" }))
        }
        "GET /api/v1/claims?status=drawing&limit=100" => {
            document(&json!({ "items": [{ "claim": "c1", "status": "drawing" }], "next_cursor": null }))
        }
        other if other.starts_with("GET /api/v1/claims?status=") => {
            document(&json!({ "items": [], "next_cursor": null }))
        }
        "GET /api/v1/claims?limit=100" => {
            document(&json!({ "items": [{ "claim": "c1", "status": "drawing" }], "next_cursor": null }))
        }
        "GET /api/v1/assignments" => document(&json!({ "items": [] })),
        "POST /api/v1/beacons" => {
            keeps.lock().expect("kept").push(serde_json::from_str(body).expect("JSON"));
            document(&json!({ "round": "1000", "verified": true }))
        }
        other => server.answer(other, &claim, b"a component"),
    });
    (url, shown)
}

fn look(folder: &Folder, server: &str, relays: &[&str]) -> Ran {
    let relays: String = relays.iter().map(|relay| format!(" --drand {relay}")).collect();
    let ran = signed_within(folder, server, 1, &relays);
    assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
    ran
}

fn taken(shown: &Mutex<Vec<Value>>) -> Vec<Value> {
    std::mem::take(&mut shown.lock().expect("kept"))
}

pub(super) fn of(number: u64) -> Value {
    json!({ "round": number.to_string(), "signature": signature(number) })
}

#[test]
fn the_round_that_a_draw_waits_for_is_fetched_and_shown() {
    let folder = Folder::new();
    let (server, shown) = waiting(&folder, false);
    let (relay, asked) = honest(657_413);
    let ran = look(&folder, &server, &[&relay]);
    // The server knew none: the newest, which is old, is better than nothing.
    assert_eq!(taken(&shown), [of(1000), of(657_413)], "{}{}", ran.out, ran.err);
    let paths: Vec<String> = ["1000", "latest"].map(|name| format!("GET /{CHAIN}/public/{name}")).to_vec();
    assert_eq!(*asked.lock().expect("kept"), paths);
    assert!(ran.out.contains(&format!("round 1000: showed: from {relay}")), "{}", ran.out);
    assert!(ran.err.contains("its newest round, 657413, is old"), "{}", ran.err);
    // Nobody asks a relay that is not named.
    look(&folder, &server, &[]);
    assert_eq!(taken(&shown), [] as [Value; 0]);
}

#[test]
fn a_draw_is_seen_behind_a_hundred_claims_that_are_over() {
    let folder = Folder::new();
    let (server, shown) = waiting(&folder, true);
    look(&folder, &server, &[&honest(1000).0]);
    assert_eq!(taken(&shown)[0], of(1000));
}

/// What others list is no reason to leave undone what one owes, nor to leave a draw waiting.
#[test]
fn a_claim_that_cannot_be_read_keeps_nothing_else_waiting() {
    let (relay, _) = honest(1000);
    let gone = br#"{"code":"not_found","detail":"none"}"#;
    for (said, why) in [
        (document(&json!({})), "this is no answer of an arena's server"),
        (document(&json!([])), "this is no answer of an arena's server"),
        (document(&json!({ "claim": "c9" })), "this is no answer of an arena's server"),
        (http("404 Not Found", "application/problem+json", gone), "not_found"),
        (http("200 OK", "text/html", b"<p>welcome"), "with no JSON"),
    ] {
        let folder = Folder::new();
        let server = Server::new(&folder, b"a component");
        let owed = server.claim();
        let mut waits = server.claim();
        waits["claim"] = json!("c3");
        waits["job"] = json!(server.job_of("c3"));
        waits["status"] = json!("drawing");
        waits["run"] = Value::Null;
        waits["draw"] = json!({ "round": "1000", "due": "2023-08-23T15:59:24.000Z" });
        let did: Arc<Mutex<Vec<String>>> = Arc::default();
        let keeps = Arc::clone(&did);
        let url = fake(move |request| {
            if request.starts_with("POST ") || request == "GET /api/v1/claims/c2" {
                keeps.lock().expect("kept").push(request.to_owned());
            }
            match request {
                "GET /api/v1/claims?limit=100" => {
                    let line = |claim: &str| json!({ "claim": claim, "status": "drawing" });
                    document(&json!({ "items": [line("c2"), line("c3")], "next_cursor": null }))
                }
                "GET /api/v1/claims/c2" => said.clone(),
                "GET /api/v1/claims/c3" => document(&waits),
                "POST /api/v1/assignments/c1-runner/decline" => document(&owed),
                "POST /api/v1/beacons" => document(&json!({ "round": "1000", "verified": true })),
                other => server.answer(other, &owed, b"a component"),
            }
        });
        let ran = signed_within(&folder, &url, 5, &format!(" --fuel-max 999999 --drand {relay}"));
        let did = std::mem::take(&mut *did.lock().expect("kept"));
        // What is owed comes first.
        let due =
            ["POST /api/v1/assignments/c1-runner/decline", "GET /api/v1/claims/c2", "POST /api/v1/beacons"];
        assert_eq!(did[..3], due, "{why}: {}{}", ran.out, ran.err);
        assert_eq!(ran.exit, Exit::Rejected, "{why}: {}", ran.err);
        assert!(ran.err.contains("c2: ") && ran.err.contains(why), "{why}: {}", ran.err);
    }
}

#[test]
fn a_relay_can_be_silent_and_nothing_worse() {
    let folder = Folder::new();
    let (server, shown) = waiting(&folder, false);
    let (good, _) = honest(1000);
    let away = {
        // Its port was free a moment ago.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", listener.local_addr().expect("an address"))
    };
    let redirect =
        format!("HTTP/1.1 302 Found\r\nlocation: {good}/{CHAIN}/public/1000\r\ncontent-length: 0\r\n\r\n");
    let endless = {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        [head.as_slice(), &[b"10000\r\n".as_slice(), &vec![b' '; 1 << 16], b"\r\n"].concat().repeat(4)]
            .concat()
    };
    let twice = format!(r#"{{"round":1000,"round":1000,"signature":"{}"}}"#, signature(1000));
    for (said, why) in [
        // Signatures of another round, of nobody, and none at all.
        (round(1000, signature(123)), "1000"),
        (round(1000, &"ab".repeat(48)), "1000"),
        (round(1000, "zz"), "its signature is not hexadecimal"),
        (document(&json!({ "round": 1000 })), "it gives no signature"),
        (document(&json!({ "round": "1000", "signature": signature(1000) })), "it gives no round"),
        (http("200 OK", "application/json", twice.as_bytes()), "not JSON"),
        // A true round that is not the one.
        (round(123, signature(123)), "asked for another round, it gives 123"),
        (
            http("200 OK", "application/json", &vec![b' '; 5_000]),
            "its answer has more than 4096 bytes, the limit",
        ),
        (endless, "its answer has more than 4096 bytes, the limit"),
        (http("200 OK", "text/html", b"<p>welcome"), "not JSON"),
        (http("500 Internal Server Error", "text/plain", b""), "it answers 500"),
        (redirect.into_bytes(), "it answers 302"),
        (b"SSH-2.0-OpenSSH\r\n".to_vec(), "it does not speak HTTP"),
        (Vec::new(), "it takes too long to answer"),
    ] {
        let hostile = fake(move |_| said.clone());
        let begun = Instant::now();
        let ran = look(&folder, &server, &[&hostile, &good]);
        assert!(begun.elapsed() < Duration::from_secs(15), "{why}: {:?}", begun.elapsed());
        assert!(ran.err.contains(&format!("{hostile}: ")) && ran.err.contains(why), "{why}: {}", ran.err);
        assert_eq!(taken(&shown)[0], of(1000), "{why}");
        // Alone, it brings nothing that is not true, and no other work waits for it.
        look(&folder, &server, &[&hostile, &away]);
        let alone = taken(&shown);
        assert!(alone.iter().all(|shown| *shown == of(123)), "{why}: {alone:?}");
    }
    let nine = "--drand http://127.0.0.1:1 ".repeat(9);
    folder.file("rex.ak", "ak_aaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb_cccccc");
    let many = folder.arena(&format!("runner --server {server} --key {{}}/rex.ak --once {nine}"));
    assert_eq!(many.exit, Exit::Usage, "{}", many.err);
}

#[test]
fn a_server_takes_what_a_relay_gives() {
    let arena = super::Arena::with("[claims]\nbeacon = \"drand\"\nname = \"lab\"\n");
    arena.agent("rex");
    assert!(arena.get("/beacons", None)["latest"].is_null());
    let (relay, asked) = honest(1000);
    let run = |relay: &str| {
        let line = format!("runner --server http://{} --key {{}}/rex.ak --once --drand {relay}", arena.host);
        let ran = arena.folder.arena(&line);
        assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
    };
    run(&relay);
    assert_eq!(arena.get("/beacons", None)["latest"], of(1000));
    assert_eq!(asked.lock().expect("kept").len(), 1);
    // It knows one, and no claim waits for another: nobody is asked.
    let (relay, asked) = honest(657_413);
    run(&relay);
    assert_eq!(arena.get("/beacons", None)["latest"], of(1000));
    assert_eq!(asked.lock().expect("kept").len(), 0);
}

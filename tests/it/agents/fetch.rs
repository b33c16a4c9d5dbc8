//! A server that fetches rounds of drand itself, from relays that may be anything.

use std::sync::Mutex;

use arena_cli::Exit;
use serde_json::json;

use super::Arena;
use super::hostile::{document, fake, http};
use super::relay::{honest, of, round};
use crate::cli::Folder;

const CONFIG: &str = "[claims]\nbeacon = \"drand\"\nname = \"lab\"\n";

fn said(arena: &Arena) -> String {
    std::fs::read_to_string(arena.folder.at("serve.err")).expect("what it said")
}

#[test]
fn a_server_fetches_the_first_round_and_says_what_is_wrong_with_its_relays() {
    let (good, asked) = honest(1000);
    let hostile = fake(|_| round(1000, &"ab".repeat(48)));
    let silent = fake(|_| http("503 Service Unavailable", "text/plain", b""));
    let more = ["--drand", &hostile, "--drand", &silent, "--drand", &good];
    let arena = Arena::serving(Folder::new(), CONFIG, &more);
    // Nobody brought it: it was fetched, and checked.
    arena.until("it knows a round", || arena.get("/beacons", None)["latest"] == of(1000));
    assert!(!asked.lock().expect("kept").is_empty());
    arena.until("it says what is wrong", || said(&arena).contains("its newest round, 1000, is old"));
    let told = said(&arena);
    assert!(told.contains(&format!("the beacon: {hostile}: ")), "{told}");
    assert!(told.contains(&format!("the beacon: {silent}: it answers 503")), "{told}");
    // Nobody waits for another: nobody is asked.
    let before = asked.lock().expect("kept").len();
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(asked.lock().expect("kept").len(), before);
}

#[test]
fn a_relay_that_is_away_or_lies_is_told_once_and_asked_again_later() {
    let tries: &'static Mutex<u32> = Box::leak(Box::default());
    let late = fake(move |_| {
        let mut tries = tries.lock().expect("counted");
        *tries += 1;
        match *tries {
            1 | 2 => document(&json!({ "round": 1000, "signature": "ab".repeat(48) })),
            _ => round(1000, super::relay::signature(1000)),
        }
    });
    let arena = Arena::serving(Folder::new(), CONFIG, &["--drand", &late]);
    // The server answers meanwhile.
    assert!(arena.get("/beacons", None)["latest"].is_null());
    arena.until("it was asked again", || arena.get("/beacons", None)["latest"] == of(1000));
    assert!(*tries.lock().expect("counted") >= 3);
    let told = said(&arena);
    assert_eq!(told.matches(&format!("the beacon: {late}: ")).count(), 2, "{told}");
}

#[test]
fn relays_are_the_operators_alone_and_of_drand_alone() {
    let folder = Folder::new();
    folder.file("test.toml", "[claims]\nbeacon = \"test\"\nname = \"test-lab\"\n");
    let nine = ["--drand https://127.0.0.1:1"; 9].join(" ");
    for (more, why) in [
        (
            "--drand http://relay.example".to_owned(),
            "http://relay.example is neither https:// nor on this machine",
        ),
        ("--drand ftp://relay.example".to_owned(), "a server is http://host[:port] or https://host[:port]"),
        (nine, "9 relays are named, the limit is 8"),
        (
            "--drand https://relay.example --config {}/test.toml".to_owned(),
            "the claims of this folder have the beacon test; relays are of drand alone",
        ),
    ] {
        let ran = folder.arena(&format!("serve --data {{}}/data --listen 127.0.0.1:0 {more}"));
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
    }
}

//! The module that checks replays in a page: it answers what `POST /api/v1/replays/verify` answers, whatever it is given.

use arena_canon::json::Value;
use arena_verifier::{LOG_BYTES_MAX, PACK_BYTES_MAX, TURNS_MAX, answer, module};
use axum::body::Body;
use serde_json::json;

use crate::episodes::{act, greedy, join, play_to_the_end};
use crate::play::Browser;
use crate::support::{Bench, request};

const NOW: &str = "2026-12-01T00:00:00Z";
const SPIKES: &[u8] = include_bytes!("../../../../scenarios/two-spikes.json");
/// One byte of so many is changed, and then each of its neighbours' distance on: a prime, so that no pattern of the
/// log's own is followed.
const STRIDE: usize = 61;

async fn server(bench: &Bench, log: &[u8]) -> (u16, String) {
    let request = request("POST", "/api/v1/replays/verify", None).header("content-type", "application/json");
    let said = bench.send(request.body(Body::from(log.to_vec())).unwrap()).await;
    (said.status.as_u16(), said.text)
}

/// Asks both; gives what the module said.
async fn both(bench: &Bench, pack: &[u8], log: &[u8]) -> Value {
    let told = String::from_utf8(answer(pack, log)).unwrap();
    let value: Value = serde_json::from_str(&told).unwrap();
    let (status, said) = server(bench, log).await;
    if status == 200 {
        assert_eq!(told, said);
        return value;
    }
    let problem: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(value["verdict"], "refused", "{value} {problem}");
    for member in ["code", "detail"] {
        assert_eq!(value[member], problem[member], "{value} {problem}");
    }
    value
}

async fn log_of(bench: &Bench, id: &str) -> Vec<u8> {
    bench.get(&format!("/api/v1/episodes/{id}/log"), None).await.expect(200).text.into_bytes()
}

#[tokio::test]
async fn a_true_log_is_verified() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    for action in [greedy, |_: u32| json!({})] {
        let log = log_of(&bench, &play_to_the_end(&bench, &key, action).await).await;
        let told = both(&bench, SPIKES, &log).await;
        assert_eq!(told["verdict"], "verified");
        assert_eq!(told["first_turn"], Value::Null);
        assert_eq!(told["stored"], told["replayed"]);
        assert_eq!(told["log_sha256"], told["replayed_log_sha256"]);
        // Reformatted, it is another file; without its seal and pins, it is a log that says less.
        let mut document: Value = serde_json::from_slice(&log).unwrap();
        let pretty = serde_json::to_vec_pretty(&document).unwrap();
        assert_eq!(both(&bench, SPIKES, &pretty).await["verdict"], "departs");
        for member in ["content_sha256", "pins"] {
            document.as_object_mut().unwrap().remove(member);
        }
        let bare = serde_json::to_vec(&document).unwrap();
        assert_eq!(both(&bench, SPIKES, &bare).await["verdict"], "verified");
    }
}

#[tokio::test]
async fn no_changed_byte_is_overlooked() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let log = log_of(&bench, &play_to_the_end(&bench, &key, greedy).await).await;
    for (n, at) in (0..log.len()).step_by(STRIDE).enumerate() {
        let mut forged = log.clone();
        forged[at] ^= [0x01, 0x02, 0x10, 0x80][n % 4];
        let told = both(&bench, SPIKES, &forged).await;
        assert_ne!(told["verdict"], "verified", "byte {at}");
    }
    let told = both(&bench, SPIKES, &log[..log.len() - 1]).await;
    assert_eq!(told["verdict"], "departs", "a line that does not end");
}

#[tokio::test]
async fn the_turn_that_departs_is_named() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let log = log_of(&bench, &play_to_the_end(&bench, &key, greedy).await).await;
    let document: Value = serde_json::from_slice(&log).unwrap();
    for turn in [0_usize, 7, 23] {
        let mut forged = document.clone();
        forged["turns"][turn]["resolution"]["turn_cost_usd"] = json!(0.25);
        let told = both(&bench, SPIKES, &serde_json::to_vec(&forged).unwrap()).await;
        assert_eq!((&told["verdict"], &told["first_turn"]), (&json!("departs"), &json!(turn)), "{told}");
        assert_ne!(told["stored"]["sha256"], told["replayed"]["sha256"]);
        assert_eq!(told["stored"]["settlement"], told["replayed"]["settlement"]);
        // Another action is another episode from there on.
        let mut forged = document.clone();
        forged["turns"][turn]["action"] = json!({ "curtail_mw": 1.25 });
        let told = both(&bench, SPIKES, &serde_json::to_vec(&forged).unwrap()).await;
        assert_eq!((&told["verdict"], &told["first_turn"]), (&json!("departs"), &json!(turn)), "{told}");
    }
    let mut forged = document;
    forged["settlement"]["stars"] = json!(9);
    let told = both(&bench, SPIKES, &serde_json::to_vec(&forged).unwrap()).await;
    assert_eq!((&told["verdict"], &told["first_turn"]), (&json!("departs"), &Value::Null), "{told}");
}

#[tokio::test]
async fn what_is_no_log_is_refused_alike() {
    let bench = Bench::at(NOW);
    let deep = "[".repeat(100_000);
    let twice = "{\"turns\":[],\"turns\":[]}";
    let garbage: [&[u8]; 10] = [
        b"",
        b"null",
        b"{}",
        b"[]",
        b"\0asm\x01\0\0\0",
        &[0xff; 64],
        deep.as_bytes(),
        twice.as_bytes(),
        SPIKES,
        b"{\"pack_id\":\"two-spikes\",\"pack_version\":\"0.1.0\",\"turns\":{}}",
    ];
    for log in garbage {
        let told = both(&bench, SPIKES, log).await;
        assert_ne!(told["verdict"], "verified", "{}", String::from_utf8_lossy(&log[..log.len().min(80)]));
    }
    let mut luck: u32 = 1;
    for length in 0..200 {
        let bytes = (0..length).map(|_| {
            luck = luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"{}[]\":,0turns.e-\xc3"[(luck >> 24) as usize % 17]
        });
        let bytes: Vec<u8> = bytes.collect();
        both(&bench, SPIKES, &bytes).await;
    }
}

#[tokio::test]
async fn what_is_too_much_is_refused_alike() {
    let bench = Bench::at(NOW);
    let long = vec![b' '; LOG_BYTES_MAX + 1];
    let (status, said) = server(&bench, &long).await;
    assert_eq!(status, 413, "{said}");
    let told: Value = serde_json::from_slice(&answer(SPIKES, &long)).unwrap();
    let problem: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&told["verdict"], &told["code"]), (&json!("refused"), &problem["code"]));
    // As long as is allowed is read.
    assert_eq!(both(&bench, SPIKES, &long[..LOG_BYTES_MAX]).await["code"], "not_json");
    for (pack, log) in [(0, LOG_BYTES_MAX + 1), (PACK_BYTES_MAX + 1, 0), (usize::MAX, usize::MAX)] {
        assert!(module::alloc(pack, log).is_null());
    }
    // Room that nothing is written into is no log.
    assert!(!module::alloc(4, 4).is_null() && !module::verify().is_null());
    assert!(module::answer_bytes() > 0);
    module::dealloc();
    assert_eq!(module::answer_bytes(), 0);
    // What the module takes is what the server offers.
    assert_eq!(TURNS_MAX, arena_server::TURNS_MAX);
    assert_eq!(LOG_BYTES_MAX, arena_server::Config::default().limits.replay_bytes);
    let told: Value = serde_json::from_slice(&answer(b"{}", b"{}")).unwrap();
    assert_eq!(told["code"], "pack", "{told}");
}

/// Packs of the same names may differ, so a log that pins one is held to it.
#[tokio::test]
async fn a_log_of_another_pack_is_told() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let log = log_of(&bench, &play_to_the_end(&bench, &key, greedy).await).await;
    let mut document: Value = serde_json::from_slice(&log).unwrap();
    document["pins"]["pack_sha256"] = json!("0".repeat(64));
    let told = both(&bench, SPIKES, &serde_json::to_vec(&document).unwrap()).await;
    assert_eq!((&told["verdict"], &told["code"]), (&json!("refused"), &json!("unknown_reference")));
    let sunny = include_bytes!("../../../../scenarios/sunny-sunday.json");
    let told: Value = serde_json::from_slice(&answer(sunny, &log)).unwrap();
    assert_eq!(told["code"], "unknown_reference", "{told}");
}

#[tokio::test]
async fn a_page_has_the_module_if_the_server_has() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = play_to_the_end(&bench, &key, greedy).await;
    let mut browser = Browser::new(&bench);
    for path in [format!("/episodes/{id}"), format!("/episodes/{id}/turns/3")] {
        let page = browser.see(&path).await.expect(200);
        assert!(page.header("content-security-policy").contains("'wasm-unsafe-eval'"));
        let page = page.text;
        assert!(page.contains("arena verify"), "the command is told in any case");
        // A server that was compiled before the module was built has none.
        if !page.contains("id=\"own-check\"") {
            assert!(!page.contains("verifier"), "{page}");
            continue;
        }
        for (attribute, kind) in
            [("data-module", "application/wasm"), ("data-worker", "text/javascript; charset=utf-8")]
        {
            let path = page.split(&format!("{attribute}=\"")).nth(1).unwrap().split('"').next().unwrap();
            let file = bench.get(path, None).await.expect(200);
            assert_eq!(file.header("content-type"), kind);
            assert!(file.header("cache-control").contains("immutable"));
        }
        for attribute in ["data-log", "data-pack"] {
            let path = page.split(&format!("{attribute}=\"")).nth(1).unwrap().split('"').next().unwrap();
            bench.get(path, None).await.expect(200);
        }
    }
    // Of an open one there is no log to check.
    let open = join(&bench, &key).await;
    act(&bench, &key, &open, 0, &greedy(0)).await.expect(200);
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    let page = owner.see(&format!("/episodes/{open}")).await.expect(200).text;
    assert!(!page.contains("own-check"));
}

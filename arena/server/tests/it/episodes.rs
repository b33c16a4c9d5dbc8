//! Episodes over the API: join, act, settle, and check the log.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_engine::campus::{Pack, verify};
use axum::body::Body;
use serde_json::json;

use crate::support::{ADMIN, Bench, Said, request};

const NOW: &str = "2026-12-01T00:00:00Z";
const SPIKES: &[u8] = include_bytes!("../../../../scenarios/two-spikes.json");
const TURNS: u32 = 24;

pub(crate) async fn join(bench: &Bench, key: &str) -> String {
    let body = json!({ "pack": "two-spikes", "version": "0.1.0" });
    let made = bench.post("/api/v1/episodes", Some(key), &body).await.expect(201);
    let id = made.json()["episode"].as_str().unwrap().to_owned();
    assert_eq!(made.header("location"), format!("/api/v1/episodes/{id}"));
    id
}

pub(crate) async fn act(bench: &Bench, key: &str, id: &str, turn: u32, action: &Value) -> Said {
    let path = format!("/api/v1/episodes/{id}/turns/{turn}/action");
    bench.send_json("PUT", &path, Some(key), &[], action).await
}

/// Something that is cut on many turns.
pub(crate) fn greedy(turn: u32) -> Value {
    match turn % 4 {
        0 => json!({ "battery_mw": -1000 }),
        1 => json!({ "battery_mw": 1000.5, "accept_offer": true }),
        2 => json!({ "curtail_mw": 3, "diesel_mw": null }),
        _ => json!({}),
    }
}

pub(crate) async fn play_to_the_end(bench: &Bench, key: &str, action: fn(u32) -> Value) -> String {
    let id = join(bench, key).await;
    for turn in 0..TURNS {
        act(bench, key, &id, turn, &action(turn)).await.expect(200);
    }
    id
}

#[tokio::test]
async fn an_agent_plays_an_episode_and_its_log_verifies_everywhere() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = join(&bench, &key).await;
    let path = |rest: &str| format!("/api/v1/episodes/{id}{rest}");
    let brief = bench.get(&path("/brief"), Some(&key)).await.expect(200).json();
    assert!(brief["brief_md"].as_str().unwrap().contains("## What is scored"));
    let mut last = Value::Null;
    for turn in 0..TURNS {
        let seen = bench.get(&path("/observation"), Some(&key)).await.expect(200).json();
        assert_eq!(seen["turn"], turn);
        if turn > 0 {
            assert_eq!(seen["observation"], last["next"]);
            assert_eq!(seen["last_clamps"], last["resolution"]["clamps"]);
            assert_eq!(seen["metrics"], last["metrics"]);
        }
        last = act(&bench, &key, &id, turn, &greedy(turn)).await.expect(200).json();
        assert_eq!((last["turn"].as_u64(), &last["action"]), (Some(u64::from(turn)), &greedy(turn)));
    }
    assert_eq!(last["next"], Value::Null);
    let settled = bench.get(&path("/settlement"), None).await.expect(200).json();
    assert_eq!(settled["settlement"], last["settlement"]);
    assert_eq!(settled["settlement"]["metrics"], last["metrics"]);
    assert!(settled["settlement"]["clamp_count"].as_u64().unwrap() > 5);
    let log = bench.get(&path("/log"), None).await.expect(200);
    assert_eq!(Digest::of(log.text.as_bytes()).to_string(), settled["log_sha256"].as_str().unwrap());
    let pack = Pack::parse(SPIKES).unwrap();
    verify(log.text.as_bytes(), &pack).unwrap();
    assert!(log.header("content-disposition").contains(&id));
    let about = bench.get(&path(""), None).await.expect(200).json();
    assert_eq!((&about["status"], &about["agent"]), (&json!("finished"), &json!("bees")));
    assert_eq!(about["stars"], settled["settlement"]["stars"]);
    assert_eq!(about["pack"]["sha256"].as_str().unwrap(), pack.sha256().to_string());
    let over = bench.get(&path("/observation"), Some(&key)).await;
    assert_eq!(over.expect(409).code(), "episode_over");
}

#[tokio::test]
async fn a_turn_is_played_once_and_told_as_often_as_it_is_sent() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = join(&bench, &key).await;
    let first = act(&bench, &key, &id, 0, &greedy(0)).await.expect(200).text;
    assert_eq!(act(&bench, &key, &id, 0, &greedy(0)).await.expect(200).text, first);
    assert_eq!(act(&bench, &key, &id, 0, &greedy(2)).await.expect(409).code(), "turn_already_committed");
    assert_eq!(act(&bench, &key, &id, 2, &greedy(2)).await.expect(409).code(), "not_this_turn");
    assert_eq!(act(&bench, &key, &id, TURNS, &greedy(2)).await.expect(404).code(), "not_found");
    let mut last = String::new();
    for turn in 1..TURNS {
        last = act(&bench, &key, &id, turn, &greedy(turn)).await.expect(200).text;
    }
    // The answer to the last turn was lost on its way: the retry must not lose the game.
    for _ in 0..2 {
        assert_eq!(act(&bench, &key, &id, TURNS - 1, &greedy(TURNS - 1)).await.expect(200).text, last);
        assert_eq!(act(&bench, &key, &id, 0, &greedy(0)).await.expect(200).text, first);
        let other = act(&bench, &key, &id, TURNS - 1, &greedy(0)).await;
        assert_eq!(other.expect(409).code(), "turn_already_committed");
        bench.restart();
    }
}

#[tokio::test]
async fn two_that_race_for_a_turn_both_learn_what_was_played() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = join(&bench, &key).await;
    for turn in 0..TURNS {
        let (greedy, other) = (greedy(turn), json!({ "curtail_mw": 1.5 }));
        let (a, b, c) = tokio::join!(
            act(&bench, &key, &id, turn, &greedy),
            act(&bench, &key, &id, turn, &greedy),
            act(&bench, &key, &id, turn, &other)
        );
        let (won, lost) = if c.status == 200 { (vec![c], vec![a, b]) } else { (vec![a, b], vec![c]) };
        assert!(won.iter().all(|said| said.status == 200 && said.text == won[0].text));
        for said in lost {
            assert_eq!(said.expect(409).code(), "turn_already_committed");
        }
    }
    bench.get(&format!("/api/v1/episodes/{id}/settlement"), None).await.expect(200);
}

#[tokio::test]
async fn what_is_open_is_the_player_s_and_what_is_finished_is_everybody_s() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let other = bench.agent("wasps", "nest", &["play", "read"]).await;
    let id = join(&bench, &key).await;
    act(&bench, &key, &id, 0, &greedy(0)).await.expect(200);
    for rest in ["", "/brief", "/observation", "/turns/0", "/settlement", "/log"] {
        let path = format!("/api/v1/episodes/{id}{rest}");
        for stranger in [None, Some(other.as_str())] {
            assert_eq!(bench.get(&path, stranger).await.expect(404).code(), "not_found", "{path}");
        }
        let own = bench.get(&path, Some(&key)).await;
        let admin = bench.get(&path, Some(ADMIN)).await;
        let (status, code) =
            if matches!(rest, "/settlement" | "/log") { (409, "not_over") } else { (200, "") };
        for said in [own, admin] {
            let said = said.expect(status);
            assert!(code.is_empty() || said.code() == code);
        }
    }
    assert_eq!(act(&bench, &other, &id, 1, &greedy(1)).await.expect(404).code(), "not_found");
    let nobody =
        bench.send_json("PUT", &format!("/api/v1/episodes/{id}/turns/1/action"), None, &[], &json!({})).await;
    assert_eq!(nobody.expect(401).code(), "unauthorized");
    let items = |said: Said| said.expect(200).json()["items"].as_array().unwrap().len();
    assert_eq!(items(bench.get("/api/v1/episodes", None).await), 0);
    assert_eq!(items(bench.get("/api/v1/episodes?agent=bees", Some(&other)).await), 0);
    assert_eq!(items(bench.get("/api/v1/episodes?status=open", Some(&key)).await), 1);
    assert_eq!(items(bench.get("/api/v1/episodes?status=finished", Some(&key)).await), 0);
    for turn in 1..TURNS {
        act(&bench, &key, &id, turn, &greedy(turn)).await.expect(200);
    }
    for rest in ["", "/brief", "/turns/0", "/settlement", "/log"] {
        bench.get(&format!("/api/v1/episodes/{id}{rest}"), None).await.expect(200);
    }
    assert_eq!(items(bench.get("/api/v1/episodes?agent=bees", None).await), 1);
    assert_eq!(items(bench.get("/api/v1/episodes?agent=wasps", None).await), 0);
    assert_eq!(act(&bench, &other, &id, 1, &greedy(1)).await.expect(403).code(), "wrong_actor");
    for id in ["e0", "e01", "e99", "x", "e1%2F", "e18446744073709551616"] {
        bench.get(&format!("/api/v1/episodes/{id}"), Some(&key)).await.expect(404);
    }
}

#[tokio::test]
async fn the_feed_tells_that_somebody_plays_and_not_what() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = join(&bench, &key).await;
    act(&bench, &key, &id, 0, &json!({ "curtail_mw": 3.21987 })).await.expect(200);
    let feed = || request("GET", "/api/v1/events.ndjson?since=0", None).body(Body::empty()).unwrap();
    let text = bench.stream(feed(), |text| text.contains("match.turn")).await;
    assert!(
        text.contains("match.started") && !text.contains("3.21987") && !text.contains("curtail"),
        "{text}"
    );
    assert!(!text.lines().any(|line| line.contains("match.") && line.contains("bees")), "{text}");
    for turn in 1..TURNS {
        act(&bench, &key, &id, turn, &greedy(turn)).await.expect(200);
    }
    let text = bench.stream(feed(), |text| text.contains("match.finished")).await;
    assert!(text.lines().any(|line| line.contains("match.finished") && line.contains("bees")), "{text}");
    assert!(!text.contains("3.21987") && !text.contains("battery_mw"));
}

#[tokio::test]
async fn everything_goes_on_after_a_restart() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let done = play_to_the_end(&bench, &key, greedy).await;
    let open = join(&bench, &key).await;
    for turn in 0..7 {
        act(&bench, &key, &open, turn, &greedy(turn)).await.expect(200);
    }
    let mut before = Vec::new();
    let paths = [
        format!("/api/v1/episodes/{done}"),
        format!("/api/v1/episodes/{done}/log"),
        format!("/api/v1/episodes/{done}/turns/5"),
        format!("/api/v1/episodes/{open}"),
        format!("/api/v1/episodes/{open}/observation"),
        format!("/api/v1/episodes/{open}/turns/6"),
        "/api/v1/episodes".to_owned(),
    ];
    for path in &paths {
        before.push(bench.get(path, Some(&key)).await.expect(200).text);
    }
    bench.restart();
    for (path, before) in paths.iter().zip(&before) {
        assert_eq!(&bench.get(path, Some(&key)).await.expect(200).text, before, "{path}");
    }
    for turn in 7..TURNS {
        act(&bench, &key, &open, turn, &greedy(turn)).await.expect(200);
    }
    // The same actions make the same log, whatever happened in between.
    let digest = async |id: &str| {
        bench.get(&format!("/api/v1/episodes/{id}"), None).await.expect(200).json()["log_sha256"].clone()
    };
    assert_eq!(digest(&open).await, digest(&done).await);
}

#[tokio::test]
async fn at_most_so_many_are_open() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let reader = bench.agent("ants", "hill", &["read"]).await;
    let body = json!({ "pack": "two-spikes", "version": "0.1.0" });
    for _ in 0..8 {
        join(&bench, &key).await;
    }
    assert_eq!(bench.post("/api/v1/episodes", Some(&key), &body).await.expect(409).code(), "too_many_open");
    assert_eq!(
        bench.post("/api/v1/episodes", Some(&reader), &body).await.expect(403).code(),
        "scope_missing"
    );
    assert_eq!(bench.post("/api/v1/episodes", None, &body).await.expect(401).code(), "unauthorized");
    assert_eq!(bench.post("/api/v1/episodes", Some(ADMIN), &body).await.expect(403).code(), "wrong_actor");
    for turn in 0..TURNS {
        act(&bench, &key, "e3", turn, &json!({})).await.expect(200);
    }
    join(&bench, &key).await;
    let unknown = json!({ "pack": "two-spikes", "version": "9" });
    assert_eq!(
        bench.post("/api/v1/episodes", Some(&key), &unknown).await.expect(404).code(),
        "unknown_reference"
    );
    let wrong = json!({ "pack": 1, "more": 2 });
    let said = bench.post("/api/v1/episodes", Some(&key), &wrong).await.expect(422).json();
    assert_eq!(said["errors"].as_array().unwrap().len(), 3, "{said}");
    // Lists come in pages, the newest first, without a gap.
    let mut seen = Vec::new();
    let mut path = "/api/v1/episodes?limit=3".to_owned();
    loop {
        let page = bench.get(&path, Some(&key)).await.expect(200).json();
        seen.extend(
            page["items"].as_array().unwrap().iter().map(|it| it["episode"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/v1/episodes?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, ["e9", "e8", "e7", "e6", "e5", "e4", "e3", "e2", "e1"]);
}

#[tokio::test]
async fn an_episode_that_is_joined_again_with_the_same_key_is_the_same() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let body = json!({ "pack": "two-spikes", "version": "0.1.0" });
    let headers = [("idempotency-key", "once")];
    let first = bench.send_json("POST", "/api/v1/episodes", Some(&key), &headers, &body).await.expect(201);
    let again = bench.send_json("POST", "/api/v1/episodes", Some(&key), &headers, &body).await.expect(201);
    assert_eq!((first.text.as_str(), again.header("idempotency-replayed")), (again.text.as_str(), "true"));
}

#[tokio::test]
async fn an_action_that_is_none_is_refused_with_all_its_faults() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = join(&bench, &key).await;
    let wrong = json!({ "curtail_mw": "3", "accept_offer": 1, "diesel": 4, "der_contract": null });
    let said = act(&bench, &key, &id, 0, &wrong).await.expect(422).json();
    let places: Vec<&str> =
        said["errors"].as_array().unwrap().iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    for place in ["#/curtail_mw", "#/accept_offer", "#/diesel", "#/der_contract"] {
        assert!(places.contains(&place), "{place} is not in {places:?}");
    }
    assert_eq!(act(&bench, &key, &id, 0, &json!([1])).await.expect(422).code(), "form");
    let path = format!("/api/v1/episodes/{id}/turns/0/action");
    let infinite = request("PUT", &path, Some(&key)).header("content-type", "application/json");
    let said = bench.send(infinite.body(Body::from(r#"{"curtail_mw":1e999}"#)).unwrap()).await;
    assert_eq!(said.expect(400).code(), "not_json");
    for turn in ["-1", "+0", "00", "x", "4294967296"] {
        let path = format!("/api/v1/episodes/{id}/turns/{turn}/action");
        bench.send_json("PUT", &path, Some(&key), &[], &json!({})).await.expect(404);
    }
    assert_eq!(bench.get(&format!("/api/v1/episodes/{id}"), Some(&key)).await.json()["turn"], 0);
}

async fn check(bench: &Bench, log: impl Into<Body>) -> Said {
    let request = request("POST", "/api/v1/replays/verify", None).header("content-type", "application/json");
    bench.send(request.body(log.into()).unwrap()).await
}

#[tokio::test]
async fn anybody_can_have_a_log_checked() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = play_to_the_end(&bench, &key, greedy).await;
    let log = bench.get(&format!("/api/v1/episodes/{id}/log"), None).await.expect(200).text;
    let verdict = check(&bench, log.clone()).await.expect(200).json();
    assert_eq!(verdict["verdict"], "verified", "{verdict}");
    assert_eq!(verdict["log_sha256"], verdict["replayed_log_sha256"]);
    assert_eq!(verdict["stored"], verdict["replayed"]);
    let forged = log.replacen("\"stars\":0", "\"stars\":3", 1).replacen("\"stars\":1", "\"stars\":3", 1);
    let forged =
        if forged == log { log.replacen("\"clamp_count\":", "\"clamp_count\":1", 1) } else { forged };
    let verdict = check(&bench, forged).await.expect(200).json();
    assert_eq!(verdict["verdict"], "departs");
    assert_ne!(verdict["stored"]["sha256"], verdict["replayed"]["sha256"]);
    assert!(!verdict["faults"].as_array().unwrap().is_empty());
    assert_eq!(check(&bench, "{").await.expect(400).code(), "not_json");
    assert_eq!(check(&bench, "{}").await.expect(404).code(), "unknown_reference");
    assert_eq!(check(&bench, vec![b' '; (4 << 20) + 1]).await.expect(413).code(), "body_too_large");
    let cut = log.replacen("\"turns\":[", "\"turns\":[{},", 1);
    let verdict = check(&bench, cut).await.expect(200).json();
    assert_eq!((&verdict["verdict"], &verdict["replayed"]), (&json!("departs"), &Value::Null));
}

#[tokio::test]
async fn packs_are_listed_and_served_as_what_episodes_pin() {
    let bench = Bench::at(NOW);
    let listed = bench.get("/api/v1/packs", None).await.expect(200).json();
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["sunny-sunday", "two-spikes", "cap-to-floor"]);
    let said = bench.get("/api/v1/packs/two-spikes/0.1.0", None).await.expect(200);
    let pack = Arc::new(Pack::parse(said.text.as_bytes()).unwrap());
    assert_eq!(Digest::of(said.text.as_bytes()), pack.sha256());
    assert_eq!(listed["items"][1]["sha256"].as_str().unwrap(), pack.sha256().to_string());
    let tag = said.header("etag").to_owned();
    let again = request("GET", "/api/v1/packs/two-spikes/0.1.0", None).header("if-none-match", tag);
    bench.send(again.body(Body::empty()).unwrap()).await.expect(304);
    bench.get("/api/v1/packs/two-spikes/0.2.0", None).await.expect(404);
}

/// Something that nobody would ask, and everybody may: numbers of any size and sign, nulls, nothing.
fn wild(seed: u32, turn: u32) -> Value {
    let bytes = Digest::of_parts(&[b"wild", &seed.to_be_bytes(), &turn.to_be_bytes()]);
    let bytes = bytes.as_bytes();
    let mut action = serde_json::Map::new();
    for (field, place) in [("curtail_mw", 0), ("battery_mw", 9), ("diesel_mw", 18)] {
        let size = f64::from(bytes[place + 1]) / 3.0;
        let number = match bytes[place] % 9 {
            0 => continue,
            1 => Value::Null,
            2 => json!(f64::MAX),
            3 => json!(-f64::MAX),
            4 => json!(f64::MIN_POSITIVE / 2.0),
            5 => json!(-0.0),
            6 => json!(-size),
            _ => json!(size),
        };
        action.insert(field.to_owned(), number);
    }
    match bytes[27] % 4 {
        0 => {}
        1 => drop(action.insert("accept_offer".to_owned(), Value::Null)),
        n => drop(action.insert("accept_offer".to_owned(), json!(n == 2))),
    }
    Value::Object(action)
}

#[tokio::test]
async fn whatever_is_asked_every_turn_is_told_the_same_and_the_log_verifies() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    for (seed, name) in (0..).zip(["sunny-sunday", "two-spikes", "cap-to-floor", "two-spikes"]) {
        let body = json!({ "pack": name, "version": "0.1.0" });
        let made = bench.post("/api/v1/episodes", Some(&key), &body).await.expect(201).json();
        let (id, turns) = (made["episode"].as_str().unwrap(), made["turns"].as_u64().unwrap() as u32);
        let mut told = Vec::new();
        for turn in 0..turns {
            let said = act(&bench, &key, id, turn, &wild(seed, turn)).await.expect(200);
            assert_eq!(act(&bench, &key, id, turn, &wild(seed, turn)).await.expect(200).text, said.text);
            told.push(said.json());
        }
        let pack = bench.get(&format!("/api/v1/packs/{name}/0.1.0"), None).await.expect(200).text;
        let log = bench.get(&format!("/api/v1/episodes/{id}/log"), None).await.expect(200).text;
        let document = verify(log.as_bytes(), &Pack::parse(pack.as_bytes()).unwrap()).unwrap();
        for (turn, told) in told.iter().enumerate() {
            for member in ["action", "resolution"] {
                assert_eq!(document["turns"][turn][member], told[member], "{member} of {turn} on {name}");
            }
        }
        assert_eq!(check(&bench, log).await.expect(200).json()["verdict"], "verified");
    }
}

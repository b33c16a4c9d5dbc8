//! Tournaments over HTTP: drafted, frozen, started, played, ended; and nobody learns who was who before its time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arena_canon::Digest;
use arena_server::Config;
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{ADMIN, Bench, limitless, request};
use crate::workshop::{Mood, Script, component, until, upload};

pub(crate) const NOW: &str = "2026-12-01T00:00:00Z";

/// A bench with a workshop and an agent that has three strategies of the matrix game.
pub(crate) async fn ready(config: Config) -> (Arc<Bench>, Arc<Script>, String) {
    let bench = Arc::new(Bench::with(NOW, config));
    let script = Script::new();
    bench.bring(script.clone());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    for (name, text) in [("Nice", "matrix nice"), ("Mean", "matrix defect"), ("Echo", "matrix copy")] {
        upload(&bench, &bees, name, text).await.expect(202);
    }
    (bench, script, bees)
}

pub(crate) fn plan() -> Value {
    json!({
        "slug": "friday", "title": "Friday's three", "game": "matrix", "strategies": ["s1", "s2", "s3"],
        "matrix": { "kind": "round_robin", "self_play": true, "repetitions": 2, "rounds": 5 },
    })
}

pub(crate) async fn post(bench: &Bench, path: &str, key: Option<&str>) -> crate::support::Said {
    bench.send(request("POST", path, key).body(Body::empty()).unwrap()).await
}

/// Drafts and freezes the plan; gives the name.
pub(crate) async fn frozen(bench: &Bench, key: &str, plan: &Value) -> String {
    let drafted = bench.post("/api/v1/tournaments", Some(key), plan).await.expect(201).json();
    let id = drafted["tournament"].as_str().unwrap().to_owned();
    post(bench, &format!("/api/v1/tournaments/{id}/freeze"), Some(key)).await.expect(200);
    id
}

pub(crate) async fn status(bench: &Bench, id: &str) -> Value {
    bench.get(&format!("/api/v1/tournaments/{id}"), None).await.expect(200).json()
}

/// Starts it and waits for its end; gives how it ended.
pub(crate) async fn played(bench: &Bench, key: &str, id: &str) -> Value {
    post(bench, &format!("/api/v1/tournaments/{id}/start"), Some(key)).await.expect(200);
    until("it is over", async || !status(bench, id).await["terminal"].is_null()).await;
    status(bench, id).await
}

async fn feed(bench: &Bench) -> String {
    let seq: u64 = {
        let ready = bench.get("/readyz", None).await.expect(200).text;
        ready.trim().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let all = request("GET", "/api/v1/events.ndjson?since=0", None).body(Body::empty()).unwrap();
    bench.stream(all, move |text| text.lines().filter(|line| !line.is_empty()).count() as u64 >= seq).await
}

#[tokio::test]
async fn a_tournament_runs_from_its_draft_to_its_scorecard() {
    let (bench, _, bees) = ready(limitless()).await;
    let made = bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(201);
    assert_eq!(made.header("location"), "/api/v1/tournaments/t1");
    let drafted = made.json();
    assert_eq!(drafted["status"], "draft");
    // Six pairs, two times each, five rounds a game.
    assert_eq!((&drafted["matchups"]["planned"], &drafted["turns"]), (&json!(12), &json!(60)));
    assert_eq!(drafted["budget"]["wall_seconds"], 900);
    let frozen = post(&bench, "/api/v1/tournaments/t1/freeze", Some(&bees)).await.expect(200).json();
    let file = bench.get("/api/v1/tournaments/t1/frozen", None).await.expect(200).text;
    assert_eq!(frozen["frozen_sha256"], json!(Digest::of(file.as_bytes())));
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file["matchups"].as_array().unwrap().len(), 12);
    assert_eq!(file["secret_commit"], frozen["secret_commit"]);
    let over = played(&bench, &bees, "t1").await;
    assert_eq!(over["status"], "success", "{over}");
    assert_eq!(over["matchups"], json!({ "planned": 12, "completed": 12 }));
    let terminal = &over["terminal"];
    for (what, digest) in [
        ("scorecard", "scorecard_sha256"),
        ("receipt", "receipt_sha256"),
        ("identities", "identities_sha256"),
    ] {
        let bytes = bench.get(&format!("/api/v1/tournaments/t1/{what}"), None).await.expect(200).text;
        assert_eq!(terminal[digest], json!(Digest::of(bytes.as_bytes())), "{what}");
    }
    let receipt = bench.get("/api/v1/tournaments/t1/receipt", None).await.expect(200).json();
    assert_eq!(receipt["scorecard"]["sha256"], terminal["scorecard_sha256"]);
    assert_eq!(receipt["frozen_sha256"], frozen["frozen_sha256"]);
    assert_eq!(receipt["record_digest"], terminal["record_digest"]);
    let matrix = bench.get("/api/v1/tournaments/t1/matrix", None).await.expect(200).json();
    let names: Vec<&str> =
        matrix["rows"].as_array().unwrap().iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    let score = |name: &str, other: &str| {
        let place = |name: &str| names.iter().position(|it| *it == name).unwrap();
        matrix["rows"][place(name)]["scores"][place(other)].as_f64().unwrap()
    };
    // Five rounds: 3 each for both who cooperate, 5 for who defects against the nice one, which gets nothing.
    assert_eq!((score("Nice", "Nice"), score("Mean", "Nice"), score("Nice", "Mean")), (15.0, 25.0, 0.0));
    // The copy loses one round and is even after that.
    assert_eq!((score("Mean", "Echo"), score("Echo", "Mean")), (9.0, 4.0));
    let standings = matrix["standings"].as_array().unwrap();
    assert_eq!((standings[0]["strategy"].as_str(), standings[0]["score"].as_i64()), (Some("Mean"), Some(78)));
    assert!(matrix["identities"].as_array().unwrap().iter().all(|it| it["verified"] == true));
    for matchup in file["matchups"].as_array().unwrap() {
        let id = matchup["id"].as_str().unwrap();
        let path = format!("/api/v1/tournaments/t1/matches/{id}/moves");
        let told = bench.get(&path, None).await.expect(200).json();
        for (seat, alias) in
            told["seats"].as_array().unwrap().iter().zip(matchup["seats"].as_array().unwrap())
        {
            assert_eq!(&seat["alias"], alias);
        }
        let moves = told["moves"].as_array().unwrap();
        for (seat, line) in told["seats"].as_array().unwrap().iter().zip(moves) {
            match seat["strategy"].as_str().unwrap() {
                "Mean" => assert_eq!(line, "DDDDD"),
                "Nice" => assert_eq!(line, "CCCCC"),
                _ => assert!(["CCCCC", "CDDDD"].contains(&line.as_str().unwrap()), "{told}"),
            }
        }
    }
    bench.get("/api/v1/tournaments/t1/matches/m00013/moves", None).await.expect(404);
    bench.get("/api/v1/tournaments/t1/matches/x/moves", None).await.expect(404);
    bench.restart();
    assert_eq!(status(&bench, "t1").await, over);
    assert_eq!(bench.get("/api/v1/tournaments/t1/matrix", None).await.expect(200).json(), matrix);
}

/// Everything about a tournament that can be read.
const PARTS: [&str; 9] = [
    "",
    "/frozen",
    "/commitments",
    "/matrix",
    "/scorecard",
    "/receipt",
    "/identities",
    "/matches/m00001/moves",
    "/matches/m99999/moves",
];

#[tokio::test]
async fn nobody_learns_who_is_who_before_the_end() {
    let (bench, script, bees) = ready(limitless()).await;
    let wasps = bench.agent("wasps", "nest", &["read", "submit"]).await;
    script.set(Mood::Hangs);
    let id = frozen(&bench, &bees, &plan()).await;
    post(&bench, &format!("/api/v1/tournaments/{id}/start"), Some(&bees)).await.expect(200);
    until("it has begun", async || !status(&bench, &id).await["commitments_sha256"].is_null()).await;
    until("it is played", async || status(&bench, &id).await["is_played_now"] == true).await;
    let mut said = Vec::new();
    for key in [None, Some(wasps.as_str()), Some(bees.as_str()), Some(ADMIN)] {
        for part in PARTS {
            let told = bench.get(&format!("/api/v1/tournaments/{id}{part}"), key).await;
            let wanted = if ["", "/frozen", "/commitments"].contains(&part) { 200 } else { 409 };
            let told = told.expect(wanted);
            if wanted == 409 {
                assert_eq!(told.code(), "not_over", "{part}");
            }
            said.push(told.text);
        }
        for page in [format!("/tournaments/{id}"), "/tournaments".to_owned()] {
            said.push(bench.get(&page, key).await.expect(200).text);
        }
        bench.get(&format!("/tournaments/{id}/matches/m00001"), key).await.expect(409);
    }
    said.push(bench.get(&format!("/api/v1/tournaments/{id}/commitments"), None).await.text);
    said.push(feed(&bench).await);
    bench.get("/api/v1/strategies/s1", Some(&wasps)).await.expect(404);
    // The run goes on, and says who was who; none of that stood anywhere before.
    script.set(Mood::Plays);
    until("it is over", async || !status(&bench, &id).await["terminal"].is_null()).await;
    let open = bench.get(&format!("/api/v1/tournaments/{id}/identities"), None).await.expect(200).json();
    let secret = open["secret"].as_str().expect("the secret is disclosed").to_owned();
    let mut hidden = vec![secret];
    for identity in open["identities"].as_array().unwrap_or(&Vec::new()) {
        hidden.extend(identity["salt"].as_str().map(str::to_owned));
    }
    assert!(hidden.len() > 3, "{open}");
    for text in &said {
        for hidden in &hidden {
            assert!(!text.contains(hidden), "{text}");
        }
        // Strategies are listed by name in what is public, and aliases in matchups; never side by side.
        for alias in ["p0000", "p0001", "p0002"] {
            for line in text.split(['{', '}']) {
                let both =
                    line.contains(alias) && ["Nice", "Mean", "Echo"].iter().any(|it| line.contains(it));
                assert!(!both, "{line}");
            }
        }
    }
    let later = feed(&bench).await;
    assert!(later.contains("tournament.terminal") && later.contains("match.started"));
    assert!(!hidden.iter().any(|hidden| later.contains(hidden)), "not even later in the feed");
    bench.get("/api/v1/strategies/s1", Some(&wasps)).await.expect(200);
    bench.get("/api/v1/strategies/s1", None).await.expect(200);
}

#[tokio::test]
async fn a_run_that_is_broken_off_is_taken_up_again_and_ends_the_same() {
    let (bench, script, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    let calm = played(&bench, &bees, &id).await;
    let other = frozen(&bench, &bees, &plan()).await;
    script.set(Mood::Hangs);
    post(&bench, &format!("/api/v1/tournaments/{other}/start"), Some(&bees)).await.expect(200);
    until("it is played", async || status(&bench, &other).await["is_played_now"] == true).await;
    let begun = script.played.load(Ordering::SeqCst);
    for _ in 0..2 {
        bench.restart();
        assert_eq!(status(&bench, &other).await["status"], "started");
        let before = script.played.load(Ordering::SeqCst);
        bench.bring(script.clone());
        until("it is taken up", async || script.played.load(Ordering::SeqCst) > before).await;
    }
    assert!(script.played.load(Ordering::SeqCst) >= begun + 2);
    script.set(Mood::Plays);
    until("it is over", async || !status(&bench, &other).await["terminal"].is_null()).await;
    let over = status(&bench, &other).await;
    assert_eq!(over["status"], "success", "{over}");
    assert_ne!(over["terminal"]["record_digest"], calm["terminal"]["record_digest"], "another secret");
    let scores = async |id: &str| {
        let matrix = bench.get(&format!("/api/v1/tournaments/{id}/matrix"), None).await.expect(200).json();
        matrix["rows"].clone()
    };
    assert_eq!(scores(&id).await, scores(&other).await);
}

#[tokio::test]
async fn a_folder_that_is_lost_is_made_again_from_the_journal() {
    let (bench, script, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    script.set(Mood::Hangs);
    post(&bench, &format!("/api/v1/tournaments/{id}/start"), Some(&bees)).await.expect(200);
    until("it has begun", async || !status(&bench, &id).await["commitments_sha256"].is_null()).await;
    let commitments = status(&bench, &id).await["commitments_sha256"].clone();
    bench.restart();
    std::fs::remove_dir_all(bench.folder().join("tournaments").join(&id)).unwrap();
    script.set(Mood::Plays);
    bench.bring(script.clone());
    until("it is over", async || !status(&bench, &id).await["terminal"].is_null()).await;
    let over = status(&bench, &id).await;
    assert_eq!((&over["status"], &over["commitments_sha256"]), (&json!("success"), &commitments));
    let again = bench.get(&format!("/api/v1/tournaments/{id}/commitments"), None).await.expect(200).text;
    assert_eq!(json!(Digest::of(again.as_bytes())), commitments);
}

/// What lies in the folder of the runs, two levels deep.
fn lies(bench: &Bench) -> Vec<String> {
    let root = bench.folder().join("tournaments");
    let names = |path: &std::path::Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let all = names(&root).into_iter().flat_map(|path| {
        let inner = names(&path);
        if inner.is_empty() { vec![path] } else { inner }
    });
    let mut all: Vec<String> =
        all.map(|path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned()).collect();
    all.sort_unstable();
    all
}

#[tokio::test]
async fn what_nobody_needs_of_a_run_goes_after_its_end_is_journaled() {
    let (bench, script, bees) = ready(limitless()).await;
    let mut short = plan();
    short["budget"] = json!({ "matchups": 5 });
    let (whole, cut) = (frozen(&bench, &bees, &plan()).await, frozen(&bench, &bees, &short).await);
    let stalled = frozen(&bench, &bees, &plan()).await;
    for id in [&whole, &cut] {
        played(&bench, &bees, id).await;
    }
    let records = format!("{whole}/matches");
    until("it is cleared up", async || lies(&bench) == [records.as_str()]).await;
    script.set(Mood::Fails);
    assert_eq!(played(&bench, &bees, &stalled).await["status"], "stalled");
    let kept = |all: &[String]| all.iter().filter(|name| name.starts_with(&stalled)).count();
    assert!(kept(&lies(&bench)) > 5, "{:?}", lies(&bench));
    // Killed between: the ends are journaled, and everything still lies there. So does a folder of nobody's.
    let root = bench.folder().join("tournaments");
    for path in ["t1/components/a.wasm", "t1/frozen.json", "t1/guest/m00001.json", "t2/matches/m00001.json"] {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), "left over").unwrap();
    }
    std::fs::create_dir(root.join("t9")).unwrap();
    for log in ["t1.log", "t2.log", "t3.log"] {
        std::fs::write(root.join(log), "it was played").unwrap();
    }
    bench.restart();
    bench.bring(script.clone());
    until("it is cleared up", async || {
        lies(&bench).iter().filter(|name| name.starts_with("t1")).count() == 1
    })
    .await;
    until("all is", async || !lies(&bench).iter().any(|name| name.starts_with("t2"))).await;
    let left = lies(&bench);
    assert!(left.contains(&records) && left.contains(&"t9".to_owned()) && kept(&left) > 5, "{left:?}");
    assert!(left.contains(&"t3.log".to_owned()));
    // All that is told of them is told as before, and the stalled one goes on.
    for n in 1..=12 {
        let path = format!("/api/v1/tournaments/{whole}/matches/m{n:05}/moves");
        bench.get(&path, None).await.expect(200);
    }
    for part in ["frozen", "commitments", "receipt", "scorecard", "identities", "matrix"] {
        bench.get(&format!("/api/v1/tournaments/{whole}/{part}"), None).await.expect(200);
    }
    bench.get(&format!("/api/v1/tournaments/{cut}/receipt"), None).await.expect(200);
    script.set(Mood::Plays);
    assert_eq!(played(&bench, &bees, &stalled).await["status"], "success");
}

#[tokio::test]
async fn where_the_server_keeps_its_runs_is_told_nobody() {
    for mood in [Mood::Fails, Mood::Loses] {
        let (bench, script, bees) = ready(limitless()).await;
        let id = frozen(&bench, &bees, &plan()).await;
        script.set(mood);
        let over = played(&bench, &bees, &id).await;
        assert_eq!(over["status"], "stalled", "{over}");
        let mut told = vec![over.to_string(), feed(&bench).await];
        for path in ["", "/receipt", "/scorecard", "/matrix"] {
            told.push(bench.get(&format!("/api/v1/tournaments/{id}{path}"), Some(&bees)).await.text);
        }
        for path in ["/tournaments", &format!("/tournaments/{id}")] {
            let asked = request("GET", path, None).header("accept", "text/html");
            told.push(bench.send(asked.body(Body::empty()).unwrap()).await.expect(200).text);
        }
        let folder = bench.folder().to_string_lossy().into_owned();
        for text in &told {
            assert!(!text.contains(&folder), "{mood:?}: {text}");
        }
        // What was in the way is told, in the run's own terms.
        let reason = over["terminal"]["reason"].as_str().unwrap();
        let says = if mood == Mood::Fails { "killed in `run`" } else { "cannot open `run/components/" };
        assert!(reason.contains(says), "{mood:?}: {reason}");
    }
}

#[tokio::test]
async fn a_host_that_fails_again_and_again_stalls_the_run_which_can_be_started_again() {
    let (bench, script, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    script.set(Mood::Fails);
    let over = played(&bench, &bees, &id).await;
    assert_eq!(over["status"], "stalled");
    assert_eq!(script.played.load(Ordering::SeqCst), 3);
    for part in ["matrix", "scorecard", "receipt", "identities", "matches/m00001/moves"] {
        let said = bench.get(&format!("/api/v1/tournaments/{id}/{part}"), Some(&bees)).await.expect(409);
        assert_eq!(said.code(), "no_scorecard", "{part}");
        assert!(said.text.contains("the host failed 3 times"), "{}", said.text);
    }
    bench.get("/api/v1/strategies/s1", None).await.expect(404);
    script.set(Mood::Plays);
    post(&bench, &format!("/api/v1/tournaments/{id}/start"), Some(&bees)).await.expect(200);
    until("it is over", async || status(&bench, &id).await["status"] == "success").await;
}

#[tokio::test]
async fn a_run_that_is_no_success_keeps_its_identities() {
    let (bench, _, bees) = ready(limitless()).await;
    let mut short = plan();
    short["budget"] = json!({ "matchups": 5 });
    let id = frozen(&bench, &bees, &short).await;
    let over = played(&bench, &bees, &id).await;
    assert_eq!(over["status"], "exhausted", "{over}");
    assert_eq!(over["matchups"], json!({ "planned": 12, "completed": 5 }));
    let receipt = bench.get(&format!("/api/v1/tournaments/{id}/receipt"), None).await.expect(200).json();
    assert_eq!(receipt["terminal"], "exhausted");
    assert!(receipt.get("files").is_none() && receipt["identities"]["mismatches"] == 0, "{receipt}");
    for part in ["matrix", "scorecard", "identities", "matches/m00001/moves"] {
        let said = bench.get(&format!("/api/v1/tournaments/{id}/{part}"), Some(ADMIN)).await.expect(409);
        assert!(said.code() == "no_scorecard" && said.text.contains("exhausted"), "{}", said.text);
    }
    bench.get("/api/v1/strategies/s2", None).await.expect(404);
    // It is over for good.
    let again = post(&bench, &format!("/api/v1/tournaments/{id}/start"), Some(&bees)).await.expect(409);
    assert_eq!(again.code(), "not_in_status");
}

#[tokio::test]
async fn a_component_that_is_gone_blocks_the_run() {
    let (bench, _, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    let sha256 = Digest::of(&component("matrix defect")).to_string();
    std::fs::remove_file(bench.folder().join("blobs").join(&sha256[..2]).join(&sha256)).unwrap();
    let over = played(&bench, &bees, &id).await;
    assert_eq!(over["status"], "blocked", "{over}");
    assert!(over["terminal"]["reason"].as_str().unwrap().contains("missing"), "{over}");
    bench.get(&format!("/api/v1/tournaments/{id}/receipt"), None).await.expect(200);
    bench.get(&format!("/api/v1/tournaments/{id}/scorecard"), None).await.expect(409);
}

#[tokio::test]
async fn a_record_that_was_changed_on_disk_is_not_shown_as_true() {
    let (bench, _, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    played(&bench, &bees, &id).await;
    let path = bench.folder().join(format!("tournaments/{id}/matches/m00002.json"));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"turns\":5", "\"turns\":6", 1)).unwrap();
    bench.get(&format!("/api/v1/tournaments/{id}/matches/m00001/moves"), None).await.expect(200);
    bench.get(&format!("/api/v1/tournaments/{id}/matches/m00002/moves"), None).await.expect(500);
    std::fs::remove_file(&path).unwrap();
    bench.get(&format!("/api/v1/tournaments/{id}/matches/m00002/moves"), None).await.expect(410);
}

#[tokio::test]
async fn drafts_are_private_and_only_their_owner_goes_on() {
    let (bench, _, bees) = ready(limitless()).await;
    let wasps = bench.agent("wasps", "nest", &["submit"]).await;
    let reader = bench.agent("ants", "hill", &["read"]).await;
    bench.post("/api/v1/tournaments", None, &plan()).await.expect(401);
    bench.post("/api/v1/tournaments", Some(&reader), &plan()).await.expect(403);
    let foreign = bench.post("/api/v1/tournaments", Some(&wasps), &plan()).await.expect(422).json();
    let pointers: Vec<&str> =
        foreign["errors"].as_array().unwrap().iter().map(|it| it["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["#/strategies/0", "#/strategies/1", "#/strategies/2"]);
    bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(201);
    for key in [None, Some(wasps.as_str())] {
        bench.get("/api/v1/tournaments/t1", key).await.expect(404);
        bench.get("/tournaments/t1", key).await.expect(404);
        assert_eq!(bench.get("/api/v1/tournaments", key).await.expect(200).json()["items"], json!([]));
    }
    for verb in ["freeze", "start"] {
        let path = format!("/api/v1/tournaments/t1/{verb}");
        post(&bench, &path, None).await.expect(401);
        post(&bench, &path, Some(&reader)).await.expect(403);
        post(&bench, &path, Some(&wasps)).await.expect(404);
    }
    let early = post(&bench, "/api/v1/tournaments/t1/start", Some(&bees)).await.expect(409);
    assert_eq!(early.code(), "not_in_status");
    bench.get("/api/v1/tournaments/t1/frozen", Some(&bees)).await.expect(409);
    bench.get("/api/v1/tournaments/t1/commitments", Some(&bees)).await.expect(409);
    bench.get("/api/v1/tournaments/t1/receipt", Some(&bees)).await.expect(409);
    // The admin may do it for anybody.
    post(&bench, "/api/v1/tournaments/t1/freeze", Some(ADMIN)).await.expect(200);
    assert_eq!(
        post(&bench, "/api/v1/tournaments/t1/freeze", Some(&bees)).await.expect(409).code(),
        "not_in_status"
    );
    assert_eq!(
        post(&bench, "/api/v1/tournaments/t1/start", Some(&wasps)).await.expect(403).code(),
        "wrong_actor"
    );
    // And enter anybody's strategies.
    upload(&bench, &wasps, "Sting", "matrix defect").await.expect(202);
    let mut all = plan();
    all["strategies"] = json!(["s1", "s4"]);
    let made = bench.post("/api/v1/tournaments", Some(ADMIN), &all).await.expect(201).json();
    assert_eq!((&made["owner"], &made["tournament"]), (&Value::Null, &json!("t2")));
}

#[tokio::test]
async fn every_fault_of_a_plan_is_told_at_its_place() {
    let mut config = limitless();
    config.tournaments.matchups_max = 20;
    config.tournaments.turns_max = 1_000;
    config.tournaments.strategies_max = 3;
    let (bench, _, bees) = ready(config).await;
    upload(&bench, &bees, "Campus", "campus idle").await.expect(202);
    upload(&bench, &bees, "friday", "matrix friday").await.expect(202);
    let refused = async |change: &dyn Fn(&mut Value)| {
        let mut plan = plan();
        change(&mut plan);
        let said = bench.post("/api/v1/tournaments", Some(&bees), &plan).await.expect(422);
        assert_eq!(said.code(), "form", "{}", said.text);
        said.json()["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| {
                format!("{} {}", error["pointer"].as_str().unwrap(), error["detail"].as_str().unwrap())
            })
            .collect::<Vec<_>>()
    };
    for (change, wanted) in [
        (&(|it: &mut Value| it["slug"] = json!("A B")) as &dyn Fn(&mut Value), "#/slug"),
        (&|it: &mut Value| it["title"] = json!(""), "#/title"),
        (&|it: &mut Value| it["game"] = json!("chess"), "#/game"),
        (&|it: &mut Value| it["strategies"] = json!(["s1", 7]), "#/strategies/1"),
        (&|it: &mut Value| it["strategies"] = json!(["s1", "s4"]), "#/strategies/1 it does not play"),
        (&|it: &mut Value| it["strategies"] = json!(["s1", "s1", "s1", "s1"]), "at most 3"),
        (&|it: &mut Value| it["strategies"] = json!({}), "#/strategies"),
        (&|it: &mut Value| it["matrix"]["rounds"] = json!(0), "#/matrix/rounds"),
        (&|it: &mut Value| it["matrix"]["rounds"] = json!(1.5), "#/matrix/rounds"),
        (&|it: &mut Value| it["matrix"]["rounds"] = Value::Null, "#/matrix/rounds"),
        (&|it: &mut Value| it["matrix"]["rounds"] = json!(100), "1200 turns"),
        (&|it: &mut Value| it["matrix"]["repetitions"] = json!(4), "24 matchups"),
        (&|it: &mut Value| it["matrix"]["packs"] = json!(["two-spikes"]), "#/matrix/packs"),
        (
            &|it: &mut Value| it["protocol"] = json!({ "move_validation": "maybe" }),
            "#/protocol/move_validation",
        ),
        (&|it: &mut Value| it["budget"] = json!({ "wall_seconds": 100_000 }), "#/budget/wall_seconds"),
        (&|it: &mut Value| it["budget"] = json!([]), "#/budget"),
        // Names that would be repeated at every place below them.
        (&|it: &mut Value| it["x".repeat(65)] = json!([1, 2]), "more than 64 bytes"),
        (&|it: &mut Value| it["matrix"]["x".repeat(65)] = json!(1), "#/matrix a name"),
        // What could never be frozen would stay a draft for ever.
        (&|it: &mut Value| it["strategies"] = json!(["s1", "s5"]), "friday"),
        (&|it: &mut Value| it["seating"] = json!({ "round": 1, "signature": "ab" }), "#/seating"),
        (&|it: &mut Value| it["color"] = json!("red"), "#/color"),
        (
            &|it: &mut Value| it["matrix"] = json!({ "kind": "pairs", "pairs": [[0, 9]], "rounds": 3 }),
            "#/matrix/pairs/0/1",
        ),
        (
            &|it: &mut Value| {
                it["game"] = json!("campus");
                it["strategies"] = json!(["s4", "s4"]);
                it["matrix"] = json!({ "packs": ["nowhere"] })
            },
            "#/matrix/packs/0",
        ),
    ] {
        let told = refused(change).await;
        assert!(told.iter().any(|line| line.contains(wanted)), "{wanted}: {told:?}");
    }
    let many = refused(&|it: &mut Value| {
        *it = json!({ "slug": "", "game": 3, "strategies": ["s9"], "matrix": { "rounds": -1, "x": null } });
    })
    .await;
    for wanted in ["#/slug", "#/title", "#/game", "#/strategies/0", "#/matrix/x"] {
        assert!(many.iter().any(|line| line.starts_with(wanted)), "{wanted}: {many:?}");
    }
}

#[tokio::test]
async fn what_is_no_plan_at_all_is_refused() {
    let (bench, _, bees) = ready(limitless()).await;
    for body in [json!([]), json!(null), json!("plan")] {
        bench.post("/api/v1/tournaments", Some(&bees), &body).await.expect(422);
    }
}

#[tokio::test]
async fn components_of_one_tournament_are_bounded_together() {
    let (bench, _, bees) = ready(limitless()).await;
    for name in ["Huge", "Vast"] {
        upload(&bench, &bees, name, &format!("matrix huge {name}")).await.expect(202);
    }
    let mut plan = plan();
    plan["strategies"] = json!(["s1", "s4"]);
    bench.post("/api/v1/tournaments", Some(&bees), &plan).await.expect(201);
    plan["strategies"] = json!(["s4", "s5"]);
    let told = bench.post("/api/v1/tournaments", Some(&bees), &plan).await.expect(422).text;
    assert!(told.contains("136314880 bytes of components"), "{told}");
}

#[tokio::test]
async fn a_long_list_of_strangers_is_refused_in_few_words() {
    let (bench, _, bees) = ready(limitless()).await;
    let mut plan = plan();
    plan["strategies"] = Value::Array(vec![json!(""); 60_000]);
    let said = bench.post("/api/v1/tournaments", Some(&bees), &plan).await.expect(422);
    assert!(said.text.contains("60000 strategies") && said.text.len() < 64 << 10, "{}", said.text.len());
}

#[tokio::test]
async fn a_campus_tournament_pins_its_packs() {
    let (bench, _, bees) = ready(limitless()).await;
    for name in ["Idle", "Also idle"] {
        upload(&bench, &bees, &name.replace(' ', "%20"), &format!("campus {name}")).await.expect(202);
    }
    let plan = json!({
        "slug": "campus", "title": "Two idlers", "game": "campus", "strategies": ["s4", "s5"],
        "matrix": { "packs": ["two-spikes", "sunny-sunday/0.1.0"] },
    });
    let id = frozen(&bench, &bees, &plan).await;
    let over = played(&bench, &bees, &id).await;
    assert_eq!(over["status"], "success", "{over}");
    let told =
        bench.get(&format!("/api/v1/tournaments/{id}/matches/m00001/moves"), None).await.expect(200).json();
    assert_eq!(told["moves"][0].as_array().unwrap().len(), 24);
    assert!(told["settlements"][0]["stars"].is_number(), "{told}");
}

#[tokio::test]
async fn sending_again_does_nothing_again() {
    let (bench, _, bees) = ready(limitless()).await;
    let key = [("idempotency-key", "one")];
    let first = bench.send_json("POST", "/api/v1/tournaments", Some(&bees), &key, &plan()).await.expect(201);
    let again = bench.send_json("POST", "/api/v1/tournaments", Some(&bees), &key, &plan()).await.expect(201);
    assert_eq!((&first.text, again.header("idempotency-replayed")), (&again.text, "true"));
    for verb in ["freeze", "start"] {
        let send = async || {
            let path = format!("/api/v1/tournaments/t1/{verb}");
            let request = request("POST", &path, Some(&bees)).header("idempotency-key", verb);
            bench.send(request.body(Body::empty()).unwrap()).await
        };
        let (first, again) = (send().await.expect(200), send().await.expect(200));
        assert_eq!((&first.text, again.header("idempotency-replayed")), (&again.text, "true"), "{verb}");
    }
    until("it is over", async || status(&bench, "t1").await["status"] == "success").await;
}

#[tokio::test]
async fn the_queue_is_bounded_and_so_is_what_one_agent_may_have_open() {
    let mut config = limitless();
    config.tournaments.queued_max = 2;
    config.tournaments.open_per_agent = 3;
    let (bench, script, bees) = ready(config).await;
    script.set(Mood::Hangs);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(frozen(&bench, &bees, &plan()).await);
    }
    let more = bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(409);
    assert_eq!(more.code(), "too_many_drafts");
    for id in &ids[..2] {
        post(&bench, &format!("/api/v1/tournaments/{id}/start"), Some(&bees)).await.expect(200);
    }
    let third = format!("/api/v1/tournaments/{}/start", ids[2]);
    let full = post(&bench, &third, Some(&bees)).await.expect(503);
    assert!(full.code() == "overloaded" && !full.header("retry-after").is_empty());
    until("one is played", async || status(&bench, &ids[0]).await["is_played_now"] == true).await;
    assert_eq!(status(&bench, &ids[1]).await["is_played_now"], false, "one at a time");
    script.set(Mood::Plays);
    for id in &ids[..2] {
        until("it is over", async || status(&bench, id).await["status"] == "success").await;
    }
    post(&bench, &third, Some(&bees)).await.expect(200);
    bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(201);
}

#[tokio::test]
async fn lists_go_on_page_by_page_the_newest_first() {
    let (bench, _, bees) = ready(limitless()).await;
    let page = bench.get("/api/v1/strategies?limit=2", Some(&bees)).await.expect(200).json();
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let next = format!("/api/v1/strategies?limit=2&cursor={}", page["next_cursor"].as_str().unwrap());
    let rest = bench.get(&next, Some(&bees)).await.expect(200).json();
    assert_eq!((&rest["items"][0]["strategy"], &rest["next_cursor"]), (&json!("s1"), &Value::Null));
    for _ in 0..3 {
        frozen(&bench, &bees, &plan()).await;
    }
    let page = bench.get("/api/v1/tournaments?limit=2", None).await.expect(200).json();
    let ids: Vec<&str> =
        page["items"].as_array().unwrap().iter().map(|it| it["tournament"].as_str().unwrap()).collect();
    assert_eq!(ids, ["t3", "t2"]);
}

#[tokio::test]
async fn an_agent_drafts_so_many_a_day() {
    let mut config = limitless();
    config.tournaments.drafts_per_day = 2;
    let (bench, _, bees) = ready(config).await;
    for _ in 0..2 {
        let id = frozen(&bench, &bees, &plan()).await;
        played(&bench, &bees, &id).await;
    }
    let more = bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(429);
    assert!(more.code() == "too_many_attempts" && !more.header("retry-after").is_empty());
    bench.post("/api/v1/tournaments", Some(ADMIN), &plan()).await.expect(201);
    bench.set("2026-12-02T00:00:01Z").await;
    bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(201);
    let front = bench.get("/", None).await.expect(200).text;
    for told in ["A tournament began", "A tournament ended", "href=\"/tournaments/t2\""] {
        assert!(front.contains(told), "{told} is missing\n{front}");
    }
}

//! Uploads: what is admitted stands under its owner's name, what is refused is told in full, and nothing that a
//! component does to the workshop costs anybody but who sent it.

use std::sync::atomic::Ordering;

use arena_canon::Digest;
use arena_server::Config;
use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::json;

use crate::support::{ADMIN, Bench, Said, limitless, request};
use crate::workshop::{Script, component, until, upload};

const NOW: &str = "2026-12-01T00:00:00Z";

fn uploads(bench: &Bench) -> usize {
    std::fs::read_dir(bench.folder().join("uploads")).unwrap().count()
}

fn blobs(bench: &Bench) -> usize {
    let shelves = std::fs::read_dir(bench.folder().join("blobs")).unwrap();
    let files = shelves.filter_map(|shelf| std::fs::read_dir(shelf.unwrap().path()).ok());
    files.flatten().count()
}

async fn send(
    bench: &Bench,
    key: Option<&str>,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Said {
    let mut request = request("POST", path, key);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    bench.send(request.body(body.into()).unwrap()).await
}

const KIND: (&str, &str) = ("content-type", "application/wasm");

#[tokio::test]
async fn a_strategy_is_admitted_and_is_its_owners_alone() {
    let bench = Bench::at(NOW);
    let script = Script::new();
    bench.bring(script.clone());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let wasps = bench.agent("wasps", "nest", &["submit", "read"]).await;
    let made = upload(&bench, &bees, "Tit%20For%20Tat&version=1.2", "matrix copy").await.expect(202);
    assert_eq!(made.header("location"), "/api/v1/strategies/s1");
    let told = made.json();
    let digest = Digest::of(&component("matrix copy")).to_string();
    for (member, wanted) in [
        ("strategy", json!("s1")),
        ("owner", json!("bees")),
        ("name", json!("Tit For Tat")),
        ("version", json!("1.2")),
        ("sha256", json!(digest)),
        ("status", json!("admitted")),
        ("size_bytes", json!(15)),
        ("world", json!("arena:matrix/matrix-strategy@0.1.0")),
        ("game", json!("matrix")),
        ("imports", json!(["arena:matrix/host@0.1.0"])),
    ] {
        assert_eq!(told[member], wanted, "{member}");
    }
    assert_eq!(told["admission"]["probe"]["fuel_max"], 700);
    assert_eq!((uploads(&bench), blobs(&bench)), (0, 1));
    for key in [Some(bees.as_str()), Some(ADMIN)] {
        assert_eq!(bench.get("/api/v1/strategies/s1", key).await.expect(200).json(), told);
        assert_eq!(bench.get("/api/v1/strategies", key).await.expect(200).json()["items"], json!([told]));
    }
    for key in [Some(wasps.as_str()), None] {
        let hidden = bench.get("/api/v1/strategies/s1", key).await.expect(404).json();
        let missing = bench.get("/api/v1/strategies/s9", key).await.expect(404).json();
        assert_eq!(hidden["detail"], missing["detail"]);
    }
    assert_eq!(bench.get("/api/v1/strategies", Some(&wasps)).await.expect(200).json()["items"], json!([]));
    bench.get("/api/v1/strategies", None).await.expect(401);
    for id in ["s0", "s01", "1", "S1", "s1234567890123", "t1"] {
        bench.get(&format!("/api/v1/strategies/{id}"), Some(ADMIN)).await.expect(404);
    }
    // Nothing of it is in what everybody may read.
    let feed = bench
        .stream(request("GET", "/api/v1/events.ndjson?since=0", None).body(Body::empty()).unwrap(), |text| {
            text.lines().count() > 4
        })
        .await;
    assert!(!feed.contains(&digest) && !feed.contains("Tit For Tat"), "{feed}");
    bench.restart();
    assert_eq!(bench.get("/api/v1/strategies/s1", Some(&bees)).await.expect(200).json(), told);
}

#[tokio::test]
async fn the_same_again_is_the_same_strategy_and_is_not_looked_at_twice() {
    let bench = Bench::at(NOW);
    let script = Script::new();
    bench.bring(script.clone());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let wasps = bench.agent("wasps", "nest", &["submit"]).await;
    let first = upload(&bench, &bees, "Copy", "matrix copy").await.expect(202).json();
    assert_eq!(upload(&bench, &bees, "Copy", "matrix copy").await.expect(200).json(), first);
    let renamed = upload(&bench, &bees, "Echo", "matrix copy").await.expect(202).json();
    assert_eq!(renamed["strategy"], "s2");
    // Bytes may be known; whoever sends them gets a strategy of their own.
    assert_eq!(upload(&bench, &wasps, "Copy", "matrix copy").await.expect(202).json()["owner"], "wasps");
    assert_eq!(script.looked.load(Ordering::SeqCst), 1);
    let key = [KIND, ("idempotency-key", "k1")];
    let path = "/api/v1/strategies?name=Other";
    let one = send(&bench, Some(&bees), path, &key, component("matrix x")).await.expect(202);
    let again = send(&bench, Some(&bees), path, &key, component("matrix x")).await.expect(202);
    assert_eq!((one.text, again.header("idempotency-replayed")), (again.text.clone(), "true"));
    let other = send(&bench, Some(&bees), path, &key, component("matrix y")).await.expect(422);
    assert_eq!(other.code(), "idempotency_key_reused");
    let other = "/api/v1/strategies?name=Another";
    let reused = send(&bench, Some(&bees), other, &key, component("matrix x")).await.expect(422);
    assert_eq!(reused.code(), "idempotency_key_reused");
}

#[tokio::test]
async fn what_refuses_a_component_is_told_in_full_and_nothing_is_kept() {
    let bench = Bench::at(NOW);
    let script = Script::new();
    bench.bring(script.clone());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let refused = upload(&bench, &bees, "Bad", "nonsense").await.expect(422);
    assert_eq!(refused.code(), "not_admitted");
    let details: Vec<String> = refused.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["detail"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        details,
        [
            "admit.exports: it exports no player; hint: implement one",
            "admit.import: it imports `wasi:http/types`"
        ]
    );
    let bomb = upload(&bench, &bees, "Bomb", "bomb").await.expect(422);
    assert!(bomb.text.contains("admit.too_costly"), "{}", bomb.text);
    let experiment = upload(&bench, &bees, "Claim", "experiment").await.expect(422);
    assert!(experiment.text.contains("plays no game"), "{}", experiment.text);
    let fault = upload(&bench, &bees, "Fault", "fault").await.expect(503);
    assert!(!fault.header("retry-after").is_empty());
    let looked = script.looked.load(Ordering::SeqCst);
    let path = "/api/v1/strategies?name=Bad";
    for body in [b"".to_vec(), b"\0as".to_vec(), b"\x7fELF and more".to_vec(), b"(component)".to_vec()] {
        let refused = send(&bench, Some(&bees), path, &[KIND], body).await.expect(422);
        assert!(refused.text.contains("admit.not_wasm"), "{}", refused.text);
    }
    assert_eq!(script.looked.load(Ordering::SeqCst), looked, "what is no WebAssembly is not looked at");
    assert_eq!((uploads(&bench), blobs(&bench)), (0, 0));
    assert_eq!(bench.get("/api/v1/strategies", Some(&bees)).await.expect(200).json()["items"], json!([]));
}

#[tokio::test]
async fn an_upload_needs_a_name_a_scope_a_type_and_a_workshop() {
    let bench = Bench::at(NOW);
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let reader = bench.agent("ants", "hill", &["read", "play"]).await;
    let path = "/api/v1/strategies?name=A";
    let good = || component("matrix copy");
    let unready = send(&bench, Some(&bees), path, &[KIND], good()).await.expect(503);
    assert_eq!(unready.code(), "overloaded");
    bench.bring(Script::new());
    send(&bench, None, path, &[KIND], good()).await.expect(401);
    send(&bench, Some(&reader), path, &[KIND], good()).await.expect(403);
    assert_eq!(send(&bench, Some(ADMIN), path, &[KIND], good()).await.expect(403).code(), "wrong_actor");
    send(&bench, Some(&bees), path, &[("content-type", "application/octet-stream")], good())
        .await
        .expect(415);
    send(&bench, Some(&bees), path, &[KIND, ("content-encoding", "gzip")], good()).await.expect(415);
    for (query, wanted) in [
        ("", "#/name"),
        ("?name=", "#/name"),
        ("?name=p0001", "alias"),
        ("?name=m00001", "matchup"),
        ("?name=scores", "formats"),
        ("?name=a%00b", "#/name"),
        ("?name=A&version=", "#/version"),
        ("?name=%E2%80%AEA", "#/name"),
    ] {
        let said = send(&bench, Some(&bees), &format!("/api/v1/strategies{query}"), &[KIND], good()).await;
        let said = said.expect(422);
        assert!(said.code() == "form" && said.text.contains(wanted), "{query}: {}", said.text);
    }
    send(&bench, Some(&bees), "/api/v1/strategies?name=A&color=red", &[KIND], good()).await.expect(400);
    send(&bench, Some(&bees), path, &[KIND, ("idempotency-key", "a b")], good()).await.expect(400);
    assert_eq!((uploads(&bench), blobs(&bench)), (0, 0));
}

#[tokio::test]
async fn a_component_that_is_too_large_or_breaks_off_leaves_nothing() {
    let mut config = limitless();
    config.limits.component_bytes = 1_000;
    let bench = Bench::with(NOW, config);
    bench.bring(Script::new());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let path = "/api/v1/strategies?name=A";
    let sized = |bytes: usize| component(&format!("matrix {}", "x".repeat(bytes - 11)));
    send(&bench, Some(&bees), path, &[KIND], sized(1_001)).await.expect(413);
    let pieces = sized(1_500)
        .chunks(100)
        .map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece.to_vec())))
        .collect::<Vec<_>>();
    send(&bench, Some(&bees), path, &[KIND], Body::from_stream(stream::iter(pieces))).await.expect(413);
    let broken = [Ok(Bytes::from(component("matrix "))), Err(std::io::Error::other("gone"))];
    send(&bench, Some(&bees), path, &[KIND], Body::from_stream(stream::iter(broken))).await.expect(400);
    // A head in pieces of a byte is a head.
    let drops: Vec<_> = component("matrix copy")
        .into_iter()
        .map(|byte| Ok::<_, std::io::Error>(Bytes::from(vec![byte])))
        .collect();
    send(&bench, Some(&bees), path, &[KIND], Body::from_stream(stream::iter(drops))).await.expect(202);
    send(&bench, Some(&bees), path, &[KIND], sized(1_000)).await.expect(202);
    assert_eq!((uploads(&bench), blobs(&bench)), (0, 2));
}

#[tokio::test]
async fn few_are_looked_at_at_once_few_wait_and_the_rest_are_sent_away() {
    let mut config = limitless();
    config.tournaments.admissions_at_once = 2;
    config.tournaments.admissions_queued = 1;
    let bench = std::sync::Arc::new(Bench::with(NOW, config));
    let script = Script::new();
    script.hold.store(true, Ordering::SeqCst);
    bench.bring(script.clone());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let mut waiting = Vec::new();
    for n in 0..3 {
        let (bench, bees) = (bench.clone(), bees.clone());
        waiting.push(tokio::spawn(async move {
            upload(&bench, &bees, &format!("S{n}"), &format!("matrix {n}")).await
        }));
    }
    until("three are in", async || script.looking.load(Ordering::SeqCst) == 2 && uploads(&bench) == 3).await;
    let away = upload(&bench, &bees, "S4", "matrix 4").await.expect(503);
    assert!(!away.header("retry-after").is_empty());
    // Nobody else notices.
    bench.get("/api/v1/strategies", Some(&bees)).await.expect(200);
    script.hold.store(false, Ordering::SeqCst);
    for upload in waiting {
        upload.await.unwrap().expect(202);
    }
    assert_eq!(script.most_at_once.load(Ordering::SeqCst), 2);
    assert_eq!(uploads(&bench), 0);
    upload(&bench, &bees, "S4", "matrix 4").await.expect(202);
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_no_place_taken_and_finds_its_strategy() {
    let mut config = limitless();
    config.tournaments.admissions_at_once = 1;
    config.tournaments.admissions_queued = 0;
    let bench = Bench::with(NOW, config);
    let script = Script::new();
    script.hold.store(true, Ordering::SeqCst);
    bench.bring(script.clone());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    {
        let mut gone = std::pin::pin!(upload(&bench, &bees, "A", "matrix copy"));
        let looked = until("it is looked at", async || script.looking.load(Ordering::SeqCst) == 1);
        tokio::select! { _ = &mut gone => panic!("it is held"), () = looked => {} }
    }
    script.hold.store(false, Ordering::SeqCst);
    until("it is there", async || {
        !bench.get("/api/v1/strategies", Some(&bees)).await.json()["items"].as_array().unwrap().is_empty()
    })
    .await;
    upload(&bench, &bees, "A", "matrix copy").await.expect(200);
    assert_eq!(script.looked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn uploads_are_counted_by_the_hour_and_strategies_by_the_agent() {
    let mut config = Config::default();
    config.limits.uploads_per_hour = 3;
    config.tournaments.strategies_per_agent = 2;
    let bench = Bench::with(NOW, config);
    bench.bring(Script::new());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    let wasps = bench.agent("wasps", "nest", &["submit"]).await;
    upload(&bench, &bees, "A", "matrix a").await.expect(202);
    upload(&bench, &bees, "B", "nonsense").await.expect(422);
    upload(&bench, &bees, "B", "matrix b").await.expect(202);
    let late = upload(&bench, &bees, "C", "matrix c").await.expect(429);
    assert!(late.header("retry-after").parse::<u64>().unwrap() > 60);
    for name in ["A", "B"] {
        upload(&bench, &wasps, name, &format!("matrix w{name}")).await.expect(202);
    }
    let kept = blobs(&bench);
    assert_eq!(upload(&bench, &wasps, "C", "matrix wC").await.expect(409).code(), "too_many");
    assert_eq!((uploads(&bench), blobs(&bench)), (0, kept), "what is refused is not kept");
}

#[tokio::test]
async fn a_new_key_is_no_new_hour_of_uploads() {
    let mut config = Config::default();
    config.limits.uploads_per_hour = 2;
    let bench = Bench::with(NOW, config);
    bench.bring(Script::new());
    let bees = bench.agent("bees", "hive", &["submit"]).await;
    for name in ["A", "B"] {
        upload(&bench, &bees, name, &format!("matrix {name}")).await.expect(202);
    }
    let scopes = json!({ "scopes": ["submit"] });
    let made = bench.post("/api/v1/agents/bees/keys", Some(ADMIN), &scopes).await.expect(201).json();
    let another = made["key"].as_str().unwrap();
    upload(&bench, another, "C", "matrix C").await.expect(429);
}

#[test]
fn a_component_cannot_be_given_longer_than_its_request_has() {
    for (seconds, is_fine) in [(0, false), (1, true), (25, true), (26, false)] {
        let parsed = Config::parse(&format!("[tournaments]\nadmission_seconds = {seconds}"));
        assert_eq!(parsed.is_ok(), is_fine, "{seconds}");
    }
    assert!(Config::parse("[tournaments]\nadmission_hours = 1").is_err());
}

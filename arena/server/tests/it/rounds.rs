//! The producer sprint over HTTP: a whole round, what is refused, and who sees what when.

use arena_canon::Digest;
use axum::body::Body;
use serde_json::{Value, json};

use crate::contests::feed;
use crate::round_bench::{
    CLAIMS, PLAN, ROUND, Sprint, accepted, bare, intent, kickoff, of, register, rejected, terms,
};
use crate::support::{ADMIN, Said, request};

/// acme submits in time, bolt after the cut-off.
async fn third_window(sprint: &Sprint) {
    let bench = &sprint.bench;
    sprint.set(3, "01:00").await;
    sprint.intend(&sprint.ann, "W3").await;
    sprint.intend(&sprint.bob, "W3").await;
    sprint.set(3, "19:00").await;
    let acme = sprint.publish(&sprint.ann, "acme", "W3", CLAIMS[2][0]).await;
    let bolt = sprint.publish(&sprint.bob, "bolt", "W3", CLAIMS[2][1]).await;
    sprint.set(3, "20:05").await;
    sprint.submit(&sprint.ann, &acme).await.expect(201);
    sprint.set(3, "22:00").await;
    let late = sprint.submit(&sprint.bob, &bolt).await.expect(201);
    assert_eq!(late.json()["is_late"], true);
    let path = "/api/v1/submissions/boards:s0-r1:bolt:W3";
    assert_eq!(bench.get(path, None).await.expect(200).json()["state"], "late");
    sprint.set(3, "22:30").await;
    let refused = sprint.judge("bolt", "W3", &accepted()).await.expect(409);
    assert_eq!(refused.code(), "late_is_not_judged");
    sprint.judge("acme", "W3", &accepted()).await.expect(201);
}

/// The evaluator rejects acme's W2, acme disputes it, the server is started anew, and the dispute is upheld.
async fn second_window(sprint: &Sprint) {
    let bench = &sprint.bench;
    sprint.window(2).await;
    sprint.set(2, "22:30").await;
    sprint.judge("acme", "W2", &rejected()).await.expect(201);
    sprint.judge("bolt", "W2", &accepted()).await.expect(201);
    let path = "/api/v1/submissions/boards:s0-r1:acme:W2/disputes";
    let ground =
        json!({ "ground": "The run was repeated with the script; the evaluator used an old artifact." });
    let filed = bench.post(path, Some(&sprint.ann), &ground).await.expect(201);
    assert_eq!(filed.header("location"), "/api/v1/disputes/dispute:s0-r1:1");
    assert_eq!(bench.post(path, Some(&sprint.ann), &ground).await.expect(409).code(), "dispute_open");
    sprint.set(3, "00:00").await;
    let before = sprint.bench.get(&of("standings?snapshot=W2"), None).await.expect(200).json();
    let state = &before["rows"][1]["windows"]["W2"]["state"];
    assert_eq!((&before["version"], state), (&json!(1), &json!("disputed")));
    bench.restart();
    let text = json!({ "text": "Marked as an amendment: the log of the second run, with the same numbers." });
    let amendments = "/api/v1/disputes/dispute:s0-r1:1/amendments";
    sprint.set(3, "00:30").await;
    assert_eq!(bench.post(amendments, Some(&sprint.bob), &text).await.expect(403).code(), "not_own");
    bench.post(amendments, Some(&sprint.ann), &text).await.expect(201);
    let ruling = json!({ "ruling": "upheld", "verdict": accepted(), "rationale": "the second run agrees" });
    let path = "/api/v1/disputes/dispute:s0-r1:1/ruling";
    assert_eq!(bench.post(path, Some(ADMIN), &ruling).await.expect(403).code(), "wrong_actor");
    bench.post(path, Some(&sprint.eva), &ruling).await.expect(200);
    assert_eq!(bench.post(path, Some(&sprint.eva), &ruling).await.expect(409).code(), "dispute_closed");
    let after = bench.get(&of("standings?snapshot=W2"), None).await.expect(200).json();
    assert_eq!((&after["version"], &after["snapshot"]), (&json!(2), &json!("W2.2")));
    let first = bench.get(&of("standings?snapshot=W2.1"), None).await.expect(200).json();
    assert_eq!(first, before, "what was recorded stays");
}

#[tokio::test]
async fn a_whole_round_is_played_with_a_dispute_and_a_restart() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    sprint.judge("acme", "W1", &accepted()).await.expect(201);
    sprint.judge("bolt", "W1", &accepted()).await.expect(201);
    second_window(&sprint).await;
    third_window(&sprint).await;
    sprint.set(4, "00:00").await;
    let told = sprint.standings().await;
    let points: Vec<&Value> =
        told["rows"].as_array().unwrap().iter().map(|row| &row["round_score"]).collect();
    assert_eq!(points, [&json!(380), &json!(260)]);
    bench.restart();
    assert_eq!(sprint.standings().await, told);
    sprint.set(4, "12:00").await;
    let last = bench.get(&of("standings?snapshot=final"), None).await.expect(200).json();
    assert_eq!(last["rows"], sprint.standings().await["rows"]);
    let round = bench.get(ROUND, None).await.expect(200);
    assert_eq!((&round.json()["status"], round.header("x-phase")), (&json!("final"), "final"));
    assert_eq!(round.json()["snapshots"], json!(["W1.1", "W2.1", "W2.2", "W3.1", "final.1"]));
    let awards = bench.get(&of("awards"), None).await.expect(200).json();
    let is_first = |award: &Value| award["kind"] == "placement" && award["company"] == "acme";
    assert!(awards["items"].as_array().unwrap().iter().any(is_first), "{awards}");
    let purse = bench.get("/api/v1/accounts/me", Some(&sprint.ann)).await.expect(200).json();
    assert_eq!(purse["items"][0]["available_atomic"], "277000000", "{purse}");
    the_feed_tells_what_happened_and_no_text(&sprint).await;
}

async fn the_feed_tells_what_happened_and_no_text(sprint: &Sprint) {
    let told = feed(&sprint.bench).await;
    for kind in [
        "round.announced",
        "entrant.registered",
        "entrant.entered",
        "intent.counted",
        "town.posted",
        "submission.received",
        "submission.judged",
        "dispute.filed",
        "dispute.ruled",
        "intervention.recorded",
        "standings.snapshot",
        "award.paid",
        "round.closed",
    ] {
        assert!(told.contains(&format!("\"{kind}\"")), "{kind} is not in the feed");
    }
    for secret in [PLAN, "canary-acme", "cannot be repeated", CLAIMS[0][0]] {
        assert!(!told.contains(secret), "{secret} is in the feed");
    }
}

#[tokio::test]
async fn an_intent_is_its_owners_alone_until_the_cut_off() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.set(1, "01:00").await;
    sprint.intend(&sprint.ann, "W1").await;
    let (list, own) = (of("windows/W1/intents"), of("windows/W1/intent"));
    for (key, sees) in
        [(None, false), (Some(&sprint.bob), false), (Some(&sprint.eva), false), (Some(&sprint.ann), true)]
    {
        let said = bench.get(&list, key.map(String::as_str)).await.expect(200);
        assert_eq!((&said.json()["count"], said.text.contains(PLAN)), (&json!(1), sees));
        for path in [ROUND.to_owned(), of("entries"), of("entries/acme"), of("windows/W1/submissions")] {
            assert!(
                !bench.get(&path, key.map(String::as_str)).await.expect(200).text.contains(PLAN),
                "{path}"
            );
        }
    }
    assert!(!bench.get(&list, Some(ADMIN)).await.expect(200).text.contains(PLAN));
    assert_eq!(bench.get(&own, Some(&sprint.bob)).await.expect(404).code(), "unknown_reference");
    assert_eq!(bench.get(&own, None).await.expect(401).code(), "unauthorized");
    bench.restart();
    sprint.set(1, "02:00").await;
    assert!(bench.get(&list, None).await.expect(200).text.contains(PLAN));
    assert!(!feed(bench).await.contains(PLAN));
    let late =
        sprint.put("windows/W1/intent", &sprint.bob, Some("\"none\""), &intent(PLAN)).await.expect(409);
    assert_eq!((late.code(), late.header("x-phase")), ("not_the_time".to_owned(), "execution"));
}

#[tokio::test]
async fn a_change_says_which_version_it_changes() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    let tag = |said: &Said| said.header("etag").to_owned();
    sprint.set(0, "02:00").await;
    let now = tag(&bench.get(&of("entries/me/kickoff"), Some(&sprint.ann)).await.expect(200));
    let put = |tag: Option<String>, body: Value| {
        let sprint = &sprint;
        async move { sprint.put("entries/me/kickoff", &sprint.ann, tag.as_deref(), &body).await }
    };
    assert_eq!(put(None, kickoff("other")).await.expect(428).code(), "if_match_missing");
    assert_eq!(put(Some("\"none\"".to_owned()), kickoff("other")).await.expect(412).code(), "if_match_stale");
    let next = put(Some(now.clone()), kickoff("other")).await.expect(200);
    assert_eq!(put(Some(now), kickoff("acme")).await.expect(412).code(), "if_match_stale");
    let read = bench.get(&of("entries/me/kickoff"), Some(&sprint.ann)).await.expect(200);
    assert_eq!((tag(&read), read.json()), (tag(&next), next.json()));
    // An intent, and a submission with its revision.
    sprint.set(1, "01:00").await;
    let path = "windows/W1/intent";
    let first = sprint.put(path, &sprint.ann, Some("\"none\""), &intent(PLAN)).await.expect(200);
    assert_eq!(
        sprint.put(path, &sprint.ann, Some("\"none\""), &intent(PLAN)).await.expect(412).code(),
        "if_match_stale"
    );
    assert_eq!(
        sprint.put(path, &sprint.ann, None, &intent(PLAN)).await.expect(428).code(),
        "if_match_missing"
    );
    let second = sprint.put(path, &sprint.ann, Some(&tag(&first)), &intent("another plan for schools")).await;
    assert_eq!(second.expect(200).json()["revision"], 2);
    sprint.set(1, "19:00").await;
    let package = sprint.publish(&sprint.ann, "acme", "W1", CLAIMS[0][0]).await;
    sprint.set(1, "20:05").await;
    let path = "windows/W1/submission";
    assert_eq!(sprint.put(path, &sprint.ann, None, &package).await.expect(428).code(), "if_match_missing");
    let first = sprint.submit(&sprint.ann, &package).await.expect(201);
    assert_eq!(sprint.submit(&sprint.ann, &package).await.expect(412).code(), "if_match_stale");
    let read = bench.get(&of(path), Some(&sprint.ann)).await.expect(200);
    assert_eq!(tag(&read), tag(&first));
    let revised = sprint.put(path, &sprint.ann, Some(&tag(&first)), &package).await.expect(200);
    assert_eq!(revised.json()["revision"], 2);
    let mut dearer = package.clone();
    dearer["stake_atomic"] = json!("2000000");
    let other = sprint.put(path, &sprint.ann, Some(&tag(&revised)), &dearer).await.expect(422);
    assert_eq!(other.code(), "stake_cannot_change");
    let wrong =
        sprint.put("windows/W2/submission", &sprint.ann, Some("\"none\""), &package).await.expect(422);
    assert_eq!(wrong.json()["errors"][0]["pointer"], "#/window_id");
    sprint.put("windows/W4/submission", &sprint.ann, Some("\"none\""), &package).await.expect(404);
}

#[tokio::test]
async fn an_artifact_is_private_until_its_owner_says_otherwise() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.set(1, "03:00").await;
    let bytes = b"numbers of a run that is not published yet\n";
    let sha = Digest::of(bytes);
    let said = sprint.upload(&sprint.ann, bytes, "round=s0-r1").await.expect(201);
    assert_eq!(said.json()["public_read"], false);
    sprint.upload(&sprint.ann, bytes, "round=s0-r1").await.expect(200);
    assert_eq!(sprint.upload(&sprint.bob, bytes, "round=s0-r1").await.expect(409).code(), "already_done");
    let evidence =
        json!({ "artifact_hash": sha, "kind": "benchmark", "description": "a run anybody can repeat" });
    let foreign = bench.post("/api/v1/locker/evidence", Some(&sprint.bob), &evidence).await.expect(404);
    assert_eq!(foreign.code(), "unknown_reference");
    let evidence = bench.post("/api/v1/locker/evidence", Some(&sprint.ann), &evidence).await.expect(201);
    let paths = [
        format!("/api/v1/locker/blobs/{sha}"),
        format!("/api/v1/locker/artifacts/{sha}"),
        evidence.header("location").to_owned(),
    ];
    for path in &paths {
        for key in [None, Some(sprint.bob.as_str())] {
            bench.get(path, key).await.expect(404);
        }
        for key in [&sprint.ann, &sprint.eva] {
            bench.get(path, Some(key)).await.expect(200);
        }
    }
    let patch = |key: String, tag: Option<String>, body: Value| {
        let (bench, path) = (&sprint.bench, paths[1].clone());
        async move {
            let headers: Vec<(&str, &str)> = tag.iter().map(|tag| ("if-match", tag.as_str())).collect();
            bench.send_json("PATCH", &path, Some(&key), &headers, &body).await
        }
    };
    let tag = bench.get(&paths[1], Some(&sprint.ann)).await.header("etag").to_owned();
    let public = json!({ "public_read": true });
    patch(sprint.bob.clone(), Some(tag.clone()), public.clone()).await.expect(404);
    assert_eq!(patch(sprint.ann.clone(), None, public.clone()).await.expect(428).code(), "if_match_missing");
    patch(sprint.ann.clone(), Some(tag.clone()), json!({ "public_read": false })).await.expect(422);
    patch(sprint.ann.clone(), Some(tag.clone()), public.clone()).await.expect(200);
    assert_eq!(patch(sprint.ann.clone(), Some(tag), public).await.expect(412).code(), "if_match_stale");
    bench.restart();
    for path in &paths {
        bench.get(path, None).await.expect(200);
    }
    let blob = bench.get(&paths[0], None).await;
    assert_eq!((blob.text.as_bytes(), blob.header("content-disposition")), (&bytes[..], "attachment"));
    // What is hidden is gone for everybody.
    let hide = json!({ "artifact_hash": sha, "reason": "it named a customer" });
    bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200);
    for key in [None, Some(sprint.ann.as_str())] {
        assert_eq!(bench.get(&paths[0], key).await.expect(410).code(), "gone");
    }
    // The file goes after the answer.
    bench.restart();
    let left = walk(&bench.folder().join("blobs"));
    let is_there = |file: &std::path::PathBuf| std::fs::read(file).is_ok_and(|found| found == bytes);
    assert!(!left.iter().any(is_there), "the bytes are still on the disk");
    assert_eq!(sprint.upload(&sprint.ann, bytes, "round=s0-r1").await.expect(410).code(), "gone");
    // Other bytes than announced, too many, and what is not sent by somebody who takes part.
    let path = format!("/api/v1/locker/blobs/{}?round=s0-r1", Digest::of(b"one"));
    let put = |key: Option<&str>, kind: &str| {
        request("PUT", &path, key).header("content-type", kind).body(Body::from("two")).unwrap()
    };
    assert_eq!(bench.send(put(Some(&sprint.ann), "text/plain")).await.expect(422).code(), "digest_differs");
    bench.send(put(None, "text/plain")).await.expect(401);
    assert_eq!(bench.send(put(Some(&sprint.eva), "text/plain")).await.expect(403).code(), "scope_missing");
    let large = vec![0_u8; (16 << 20) + 1];
    assert_eq!(sprint.upload(&sprint.ann, &large, "round=s0-r1").await.expect(413).code(), "body_too_large");
}

#[tokio::test]
async fn a_leak_is_refused_with_its_place_and_without_the_match() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.set(1, "01:00").await;
    // Put together here so that no scanner takes this file for one that leaks.
    let key = ["ak", "_", "q7Rt2Lm9", "Xw4Zc8Vb", "5Nk3Hd6P"].concat();
    for secret in [key.as_str(), "canary-bolt-5d2f"] {
        let post = json!({ "round": "s0-r1", "kind": "progress", "window": "W1", "body": format!("we use {secret} for it") });
        let leaks = [
            bench.post("/api/v1/town/posts", Some(&sprint.ann), &post).await,
            sprint
                .put(
                    "windows/W1/intent",
                    &sprint.ann,
                    Some("\"none\""),
                    &intent(&format!("use {secret} now")),
                )
                .await,
            sprint.upload(&sprint.ann, format!("token = {secret}\n").as_bytes(), "round=s0-r1").await,
        ];
        for (leak, pointer) in leaks.into_iter().zip(["#/body", "#/objective", "#/artifact"]) {
            let leak = leak.expect(422);
            assert_eq!(
                (leak.code().as_str(), &leak.json()["errors"][0]["pointer"]),
                ("forbidden_disclosure", &json!(pointer))
            );
            assert!(!leak.text.contains(secret), "{}", leak.text);
        }
    }
    assert_eq!(bench.get("/api/v1/town/posts", None).await.expect(200).json()["items"], json!([]));
    let blobs = bench.folder().join("blobs");
    let files = walk(&blobs);
    assert!(
        files.iter().all(|file| !std::fs::read_to_string(file).unwrap_or_default().contains(&key)),
        "{files:?}"
    );
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[tokio::test]
async fn a_hidden_text_is_seen_by_nobody_again() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.set(1, "03:00").await;
    let text = "the customer Umbrella Corp signed today";
    let post = json!({ "kind": "progress", "window": "W1", "body": text, "refs": [] });
    let said = bench.post("/api/v1/town/posts", Some(&sprint.ann), &post).await.expect(201);
    let path = said.header("location").to_owned();
    assert!(bench.get(&path, None).await.expect(200).text.contains(text));
    let hide = json!({ "post": said.json()["ref"], "reason": "it named a customer" });
    assert_eq!(
        bench.post(&of("tombstones"), Some(&sprint.bob), &hide).await.expect(403).code(),
        "scope_missing"
    );
    bench.post(&of("tombstones"), Some(&sprint.eva), &hide).await.expect(200);
    bench.restart();
    for key in [None, Some(sprint.ann.as_str()), Some(sprint.eva.as_str()), Some(ADMIN)] {
        for path in [path.as_str(), "/api/v1/town/posts"] {
            let said = bench.get(path, key).await.expect(200);
            assert!(
                !said.text.contains("Umbrella") && said.text.contains("it named a customer"),
                "{}",
                said.text
            );
        }
    }
    assert!(!feed(bench).await.contains("Umbrella"));
}

/// At the cut-off of the last window, with a freeze; and what `bolt` has not submitted yet.
async fn at_the_freeze() -> (Sprint, Value, Value) {
    let sprint = Sprint::entered(true).await;
    sprint.window(1).await;
    for (company, verdict) in [("acme", accepted()), ("bolt", rejected())] {
        sprint.set(1, "22:30").await;
        sprint.judge(company, "W1", &verdict).await.expect(201);
    }
    sprint.set(3, "01:00").await;
    sprint.intend(&sprint.ann, "W3").await;
    sprint.intend(&sprint.bob, "W3").await;
    sprint.set(3, "19:00").await;
    let acme = sprint.publish(&sprint.ann, "acme", "W3", CLAIMS[2][0]).await;
    let bolt = sprint.publish(&sprint.bob, "bolt", "W3", CLAIMS[2][1]).await;
    sprint.set(3, "20:05").await;
    sprint.submit(&sprint.ann, &acme).await.expect(201);
    sprint.set(3, "22:00").await;
    (sprint, acme, bolt)
}

#[tokio::test]
async fn frozen_standings_show_nothing_that_came_later() {
    let (sprint, acme, bolt) = at_the_freeze().await;
    let bench = &sprint.bench;
    let (standings, list) = (of("standings"), of("windows/W3/submissions"));
    let before = bench.get(&standings, None).await.expect(200);
    assert_eq!(before.json()["is_frozen"], true);
    let notice =
        "The standings were frozen with 120 minutes remaining; later submissions are shown as pending.";
    assert_eq!(before.json()["notice"], notice);
    let before_list = bench.get(&list, None).await.expect(200);
    let ledger = bench.get("/api/v1/ledger?round=s0-r1", None).await.expect(200);
    // Everything that can happen happens.
    sprint.submit(&sprint.bob, &bolt).await.expect(201);
    sprint.judge("acme", "W3", &accepted()).await.expect(201);
    let ground = json!({ "ground": "The numbers of the claim cannot be found in the artifact." });
    let filed =
        bench.post("/api/v1/submissions/boards:s0-r1:acme:W3/disputes", Some(&sprint.bob), &ground).await;
    let dispute = filed.expect(201).header("location").to_owned();
    bench.restart();
    let after = bench.get(&standings, None).await.expect(200);
    assert_eq!(
        (after.text, after.headers["etag"].clone()),
        (before.text.clone(), before.headers["etag"].clone())
    );
    assert_eq!(bench.get(&list, None).await.expect(200).text, before_list.text);
    assert_eq!(bench.get("/api/v1/ledger?round=s0-r1", None).await.expect(200).text, ledger.text);
    let late = "/api/v1/submissions/boards:s0-r1:bolt:W3";
    for (key, status) in
        [(None, 404), (Some(&sprint.ann), 404), (Some(&sprint.bob), 200), (Some(&sprint.eva), 200)]
    {
        bench.get(late, key.map(String::as_str)).await.expect(status);
    }
    for (key, status) in
        [(None, 404), (Some(&sprint.ann), 200), (Some(&sprint.bob), 200), (Some(&sprint.eva), 200)]
    {
        bench.get(&dispute, key.map(String::as_str)).await.expect(status);
    }
    assert_eq!(
        bench.get(&of("receipts"), None).await.expect(200).json()["items"].as_array().unwrap().len(),
        2
    );
    let told = feed(bench).await;
    assert!(
        !told.contains("bolt:W3")
            && !told.contains("dispute.filed")
            && !told.contains("acme:W3\",\"window\":\"W3\",\"state")
    );
    // What is hidden meanwhile is hidden at once.
    let hide = json!({ "post": acme["town_post_ref"], "reason": "it named a customer" });
    assert!(bench.get("/api/v1/town/posts", None).await.text.contains(CLAIMS[2][0]));
    bench.post(&of("tombstones"), Some(&sprint.eva), &hide).await.expect(200);
    assert!(!bench.get("/api/v1/town/posts", None).await.text.contains(CLAIMS[2][0]));
    bench.restart();
    assert!(!bench.get("/api/v1/town/posts", None).await.text.contains(CLAIMS[2][0]));
    // At the end of it all is told.
    sprint.set(4, "00:00").await;
    let open = bench.get(&standings, None).await.expect(200).json();
    assert_eq!((&open["is_frozen"], &open["notice"]), (&json!(false), &Value::Null));
    bench.get(late, None).await.expect(200);
    bench.get(&dispute, None).await.expect(200);
    let told = feed(bench).await;
    assert!(told.contains("bolt:W3") && told.contains("dispute.filed"), "{told}");
    bench.restart();
    assert_eq!(bench.get(&standings, None).await.expect(200).json()["rows"], open["rows"]);
}

#[tokio::test]
async fn who_may_not_make_a_round_is_told_why() {
    let sprint = Sprint::announced(false).await;
    let bench = &sprint.bench;
    // Rounds are made by the admin, and a draft is nobody else's to see.
    let mut draft = terms(false);
    draft["id"] = json!("draft-1");
    assert_eq!(bench.post("/api/v1/rounds", None, &draft).await.expect(401).code(), "unauthorized");
    assert_eq!(
        bench.post("/api/v1/rounds", Some(&sprint.ann), &draft).await.expect(403).code(),
        "scope_missing"
    );
    bench.post("/api/v1/rounds", Some(ADMIN), &draft).await.expect(201);
    assert_eq!(bench.post("/api/v1/rounds", Some(ADMIN), &draft).await.expect(409).code(), "exists");
    bench.get("/api/v1/rounds/draft-1", None).await.expect(404);
    bench.get("/api/v1/rounds/draft-1", Some(ADMIN)).await.expect(200);
    let listed = bench.get("/api/v1/rounds", None).await.expect(200).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    for (member, value, code) in [
        ("start", json!("2026-07-09T01:00:00Z"), "start_not_at_midnight"),
        ("hold_cap_atomic", json!("900000000"), "hold_above_budget"),
        ("base_budget_atomic", json!("9000000000000000000"), "too_much_money"),
        ("entrants_max", json!(501), "too_many"),
        ("id", json!("A b"), "form"),
        ("prizes", json!({}), "form"),
        ("standings_freeze", json!("yes"), "form"),
    ] {
        let mut wrong = terms(false);
        wrong["id"] = json!("other");
        wrong[member] = value;
        let said = bench.post("/api/v1/rounds", Some(ADMIN), &wrong).await;
        assert_eq!(said.code(), code, "{member}");
    }
}

#[tokio::test]
async fn who_may_not_enter_is_told_why() {
    let sprint = Sprint::announced(false).await;
    let bench = &sprint.bench;
    let body = register("acme");
    let early = bench.post(&of("entries"), Some(&sprint.ann), &body).await.expect(409);
    assert_eq!((early.code(), early.header("x-phase")), ("not_the_time".to_owned(), "before_round"));
    sprint.set(0, "01:00").await;
    assert_eq!(bench.post(&of("entries"), None, &body).await.expect(401).code(), "unauthorized");
    assert_eq!(
        bench.post(&of("entries"), Some(&sprint.eva), &body).await.expect(403).code(),
        "scope_missing"
    );
    assert_eq!(bench.post(&of("entries"), Some(ADMIN), &body).await.expect(403).code(), "wrong_actor");
    assert_eq!(
        bench.post(&of("entries"), Some(&sprint.ann), &register("A b")).await.expect(422).code(),
        "bad_id"
    );
    assert_eq!(bench.post(&of("entries"), Some(&sprint.ann), &json!({})).await.expect(422).code(), "form");
    let call = json!({ "hold_cap_atomic": "50000000" });
    let stranger = bench.post(&of("entries/me/call"), Some(&sprint.ann), &call).await.expect(404);
    assert_eq!(stranger.code(), "unknown_company");
    let registered = |key: &str| ("idempotency-key".to_owned(), key.to_owned());
    let (name, value) = registered("k-1");
    let headers = [(name.as_str(), value.as_str())];
    let first = bench.send_json("POST", &of("entries"), Some(&sprint.ann), &headers, &body).await.expect(201);
    let again = bench.send_json("POST", &of("entries"), Some(&sprint.ann), &headers, &body).await.expect(201);
    assert_eq!((again.header("idempotency-replayed"), &again.text), ("true", &first.text));
    assert_eq!(
        bench.post(&of("entries"), Some(&sprint.ann), &body).await.expect(409).code(),
        "already_registered"
    );
    assert_eq!(bench.post(&of("entries"), Some(&sprint.bob), &body).await.expect(403).code(), "not_own");
    assert_eq!(
        bench.post(&of("entries/me/call"), Some(&sprint.ann), &call).await.expect(409).code(),
        "not_active"
    );
    let other = json!({ "rules_sha256": Digest::of(b"other rules") });
    let said = bench.post(&of("entries/me/acknowledgement"), Some(&sprint.ann), &other).await.expect(422);
    assert_eq!(said.code(), "other_rules");
    // An agent acts for one company.
    let second = bench.post(&of("entries"), Some(&sprint.ann), &register("second")).await.expect(409);
    assert_eq!(second.code(), "already_registered");
    // Approvals are for the company's own agent, and by the admin.
    let approval = |agent: &str| json!({ "company": "acme", "rail": "town", "agent": agent });
    let said = bench.post(&of("approvals"), Some(ADMIN), &approval("bob")).await.expect(422);
    assert_eq!(said.code(), "approval_not_for_own_agent");
    bench.post(&of("approvals"), Some(&sprint.ann), &approval("ann")).await.expect(403);
    let post = json!({ "kind": "progress", "body": "we begin our work", "round": "s0-r1" });
    assert_eq!(
        bench.post("/api/v1/town/posts", Some(&sprint.ann), &post).await.expect(403).code(),
        "approval_missing"
    );
    for what in ["announce", "settle", "release-locked"] {
        bare(bench, &of(what), &sprint.ann).await.expect(403);
    }
    assert_eq!(bare(bench, &of("announce"), ADMIN).await.expect(409).code(), "round_not_open");
    assert_eq!(bare(bench, &of("settle"), ADMIN).await.expect(409).code(), "round_not_over");
    let early = bench.post(&of("snapshots"), Some(ADMIN), &json!({ "after": "W1" })).await.expect(409);
    assert_eq!(early.code(), "window_not_over");
    bench.get(&of("standings?snapshot=W1"), None).await.expect(404);
    bench.get("/api/v1/rounds/none", None).await.expect(404);
    bench.get("/api/v1/disputes/dispute:s0-r1:1", None).await.expect(404);
    bench.get("/api/v1/submissions/boards:s0-r1:acme:W1", None).await.expect(404);
    let cancel = bench.post(&of("cancel"), Some(ADMIN), &json!({ "reason": "no evaluator is there" })).await;
    assert_eq!(cancel.expect(200).json()["status"], "cancelled");
}

#[tokio::test]
async fn those_who_judge_keep_to_the_rules() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    let kin = bench.agent("kin", "op-ann", &["read", "judge"]).await;
    sprint.window(1).await;
    let path = "/api/v1/submissions/boards:s0-r1:acme:W1/judgements";
    let body = json!({ "verdict": accepted() });
    assert_eq!(bench.post(path, Some(&sprint.eva), &body).await.expect(409).code(), "not_the_time");
    sprint.set(1, "22:30").await;
    assert_eq!(bench.post(path, None, &body).await.expect(401).code(), "unauthorized");
    assert_eq!(bench.post(path, Some(&sprint.bob), &body).await.expect(403).code(), "scope_missing");
    assert_eq!(bench.post(path, Some(&kin), &body).await.expect(403).code(), "own_work");
    let rival = "/api/v1/submissions/boards:s0-r1:bolt:W1/judgements";
    assert_eq!(bench.post(rival, Some(&kin), &body).await.expect(403).code(), "own_work");
    let hide = json!({ "post": "town:2", "reason": "it is a rival's" });
    assert_eq!(bench.post(&of("tombstones"), Some(&kin), &hide).await.expect(403).code(), "own_work");
    assert_eq!(bench.post(path, Some(ADMIN), &body).await.expect(403).code(), "wrong_actor");
    for (member, value, code) in [
        ("delivery", json!(40), "delivery_not_allowed_for_class"),
        ("evidence", json!(5), "evidence_not_in_set"),
        ("penalties", json!(["duplicate"]), "accepted_cannot_carry_penalties"),
        ("state", json!("late"), "not_a_judgement"),
        ("state", json!("lost"), "form"),
    ] {
        let mut verdict = accepted();
        verdict[member] = value;
        assert_eq!(sprint.judge("acme", "W1", &verdict).await.expect(422).code(), code);
    }
    let receipt =
        json!({ "round": "s0-r1", "company": "bolt", "window": "W1", "text": "restarted the machine" });
    bench.post("/api/v1/interventions", Some(&sprint.bob), &receipt).await.expect(403);
    bench.post("/api/v1/interventions", Some(&sprint.eva), &receipt).await.expect(201);
    let undisclosed = sprint.judge("bolt", "W1", &accepted()).await.expect(422);
    assert_eq!(undisclosed.code(), "undisclosed_intervention_on_record");
    sprint.judge("acme", "W1", &accepted()).await.expect(201);
    let advice =
        bench.get("/api/v1/submissions/boards:s0-r1:bolt:W1", Some(&sprint.eva)).await.expect(200).json();
    assert_eq!(advice["advice"]["has_undisclosed_intervention"], true);
    let advice =
        bench.get("/api/v1/submissions/boards:s0-r1:bolt:W1", Some(&sprint.ann)).await.expect(200).json();
    assert_eq!(advice["advice"], Value::Null);
    let reverse = json!({ "penalties": ["claim_mismatch"], "rationale": "two operators report otherwise" });
    let path = "/api/v1/submissions/boards:s0-r1:bolt:W1/invalidation";
    assert_eq!(bench.post(path, Some(ADMIN), &reverse).await.expect(409).code(), "not_accepted");
    let path = "/api/v1/submissions/boards:s0-r1:acme:W1/invalidation";
    bench.post(path, Some(&sprint.eva), &reverse).await.expect(403);
    let said = bench.post(path, Some(ADMIN), &reverse).await.expect(200);
    assert_eq!(said.json()["state"], "reversed");
    let wrong = json!({ "window": { "state": "accepted", "artifact_class": "external", "delivery": 0, "evidence": 20,
        "continuity": 20, "budget": 20, "penalties": [], "operator_intervention": "none" } });
    let said = bench.post(&of("score"), None, &wrong).await.expect(422);
    assert_eq!(
        (said.code().as_str(), &said.json()["errors"][0]["pointer"]),
        ("accepted_needs_delivery", &json!("#/window"))
    );
}

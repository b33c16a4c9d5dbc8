//! The contest module over HTTP: what it takes, what it refuses, and who sees what of it.

use arena_contests::contest::credential;
use arena_server::signing::SignedBy;
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{ADMIN, Bench, Said, request};

pub(crate) const MANIFEST: &str = include_str!("../../../../tests/vectors/contest/manifest.json");
pub(crate) const SLUG: &str = "CONTEST-001-AGENT-CONSTITUTION";
const ID: &str = "ff877226-c52c-4c52-9c9e-8b2a2a076e53";
pub(crate) const OPEN: &str = "2026-07-25T12:00:00Z";
const NEXT_DAY: &str = "2026-07-26T12:00:01Z";
const ENDED: &str = "2026-08-22T21:37:57.804Z";
const ADMIN_PATH: &str = "/api/modules/contest/admin";
pub(crate) const SECRET_TEXT: &str = "a text that nobody else may read";

pub(crate) fn of(what: &str) -> String {
    format!("/api/modules/contest/{SLUG}/{what}")
}

/// The original manifest with some members of its contest changed.
pub(crate) fn manifest(changes: &Value) -> Value {
    let mut document: Value = serde_json::from_str(MANIFEST).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        document["contest"][key] = value.clone();
    }
    document
}

pub(crate) fn redline(rule: &str, proposed: &str) -> Value {
    json!({
        "rule_id": rule,
        "rationale": "the clause does not say who is responsible",
        "current_text": "An agent acts with care.",
        "proposed_text": proposed,
        "risk_reduced": "nobody is responsible",
        "legal_basis": [{
            "act": "GDPR", "article": "Art. 6(1)(a)", "jurisdiction": "EU",
            "url": "https://eur-lex.europa.eu/eli/reg/2016/679/oj",
        }],
    })
}

/// One whose citation is of an article that the act does not have.
pub(crate) fn invented(rule: &str) -> Value {
    let mut body = redline(rule, SECRET_TEXT);
    body["legal_basis"][0]["article"] = json!("Art. 100");
    body
}

/// With the contest of a manifest open.
pub(crate) async fn open(document: &Value) -> Bench {
    let bench = Bench::at(OPEN);
    bench.post("/api/modules/contest/propose", Some(ADMIN), document).await.expect(201);
    act(&bench, json!({ "action": "activate-contest", "contest_id": document["contest"]["id"] }))
        .await
        .expect(200);
    bench
}

pub(crate) async fn original() -> Bench {
    open(&manifest(&json!({}))).await
}

pub(crate) async fn act(bench: &Bench, body: Value) -> Said {
    bench.post(ADMIN_PATH, Some(ADMIN), &body).await
}

pub(crate) async fn agent(bench: &Bench, id: &str) -> String {
    bench.agent(id, &format!("op-{id}"), &["read", "submit"]).await
}

/// Submits; gives the id of the submission.
pub(crate) async fn submit(bench: &Bench, key: &str, body: &Value) -> String {
    let said = bench.post(&of("submit"), Some(key), body).await.expect(201);
    said.json()["submission"].as_str().unwrap().to_owned()
}

/// Everything in the feed so far.
pub(crate) async fn feed(bench: &Bench) -> String {
    let ready = bench.get("/readyz", None).await.expect(200).text;
    let rows: usize = ready.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let all = request("GET", "/api/v1/events.ndjson?since=0", None).body(Body::empty()).unwrap();
    bench.stream(all, |text| text.lines().filter(|line| !line.is_empty()).count() >= rows).await
}

fn ids(said: &Said) -> Vec<String> {
    let items = said.json()["items"].as_array().unwrap().clone();
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_original_contest_runs_from_its_draft_to_its_judging() {
    let bench = Bench::at(OPEN);
    let key = agent(&bench, "founder").await;
    let original: Value = serde_json::from_str(MANIFEST).unwrap();
    let said = bench.post("/api/modules/contest/propose", Some(&key), &original).await.expect(201);
    let location = said.header("location").to_owned();
    assert_eq!(location, format!("/api/modules/contest/{ID}/manifest"));
    for (path, time, status) in [(&location, OPEN, "draft"), (&of("manifest"), ENDED, "judging")] {
        bench.set(time).await;
        let said = bench.get(path, None).await.expect(200);
        assert_eq!(said.json(), original, "the document as it was given");
        assert_eq!(said.header("x-contest-status"), status);
        let list =
            bench.get("/api/modules/contest/list?type=rules-review&limit=1", None).await.expect(200).json();
        assert_eq!((&list["items"][0]["status"], &list["items"][0]["slug"]), (&json!(status), &json!(SLUG)));
        assert_eq!(list["items"][0]["ends_at"], "2026-08-22T21:37:57.80397+00:00");
        let other = bench.get("/api/modules/contest/list?status=closed", None).await.expect(200).json();
        assert_eq!((other["items"].as_array().unwrap().len(), &other["next_cursor"]), (0, &Value::Null));
        if status == "draft" {
            act(&bench, json!({ "action": "activate-contest", "contest_id": SLUG })).await.expect(200);
            assert_eq!(bench.get(path, None).await.header("x-contest-status"), "active");
            bench.set("2026-08-22T21:37:57.803Z").await;
            assert_eq!(bench.get(path, None).await.header("x-contest-status"), "active");
        }
    }
    let told = feed(&bench).await;
    for part in [
        "contest.proposed",
        "\"status\":\"active\"",
        "\"status\":\"judging\"",
        "contest.logged",
        "the platform",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let etag = bench.get(&of("manifest"), None).await.header("etag").to_owned();
    let again =
        request("GET", &of("manifest"), None).header("if-none-match", etag).body(Body::empty()).unwrap();
    assert_eq!(bench.send(again).await.expect(304).header("x-contest-status"), "judging");
    bench.get("/api/modules/contest/list?status=open", None).await.expect(400);
    bench.get("/api/modules/contest/list?order=old", None).await.expect(400);
    bench.get("/api/modules/contest/none/manifest", None).await.expect(404);
}

#[tokio::test]
async fn a_redline_is_read_where_its_location_says_and_by_everybody() {
    let bench = original().await;
    let key = agent(&bench, "amy").await;
    let body = redline("CBR14", "An agent acts with care, and its operator answers for it.");
    let said = bench.post(&of("submit"), Some(&key), &body).await.expect(201);
    assert_eq!(
        (&said.json()["status"], &said.json()["confidence"]),
        (&json!("legality_review"), &json!(100))
    );
    let found = bench.get(said.header("location"), None).await.expect(200).json();
    assert_eq!((&found["body"], &found["agent"]), (&body, &json!("amy")));
    assert_eq!(found["citations"][0]["gate"], "pass");
    for (query, count) in [("", 1), ("?rule_id=CBR14", 1), ("?rule_id=CBR15", 0), ("?status=rejected", 0)] {
        let said = bench.get(&of(&format!("submissions{query}")), None).await.expect(200);
        assert_eq!(ids(&said).len(), count, "{query}");
    }
    bench.get(&of("submissions?status=lost"), None).await.expect(400);
    bench.get(&of("submissions/submission:2"), None).await.expect(404);
    let told = feed(&bench).await;
    assert!(told.contains("submission.received") && told.contains("CBR14"), "{told}");
    assert!(
        !told.contains("answers for it") && !told.contains("who is responsible"),
        "a text is in the feed"
    );
}

#[tokio::test]
async fn what_the_gate_rejected_is_there_for_its_author_and_the_admin_alone() {
    let bench = original().await;
    let (amy, ben) = (agent(&bench, "amy").await, agent(&bench, "ben").await);
    let said = bench.post(&of("submit"), Some(&amy), &invented("CBR99")).await.expect(201);
    assert_eq!(
        (&said.json()["status"], &said.json()["reason"]),
        (&json!("rejected"), &json!("flagged_hallucination"))
    );
    let path = said.header("location").to_owned();
    let id = said.json()["submission"].as_str().unwrap().to_owned();
    for (key, seen) in
        [(None, false), (Some(ben.as_str()), false), (Some(amy.as_str()), true), (Some(ADMIN), true)]
    {
        assert_eq!(ids(&bench.get(&of("submissions"), key).await).contains(&id), seen);
        let said = bench.get(&path, key).await;
        assert_eq!(
            (said.status.as_u16(), said.text.contains(SECRET_TEXT)),
            (if seen { 200 } else { 404 }, seen)
        );
        let consensus = bench.get(&of("consensus"), key).await.expect(200);
        assert_eq!(consensus.text.contains(&id), seen);
        assert!(!bench.get(&of("leaderboard"), key).await.expect(200).text.contains(&id));
    }
    // Nor does it show in what others are told of their own.
    let same = bench.post(&of("submit"), Some(&ben), &redline("CBR99", SECRET_TEXT)).await.expect(201).json();
    assert_eq!(same["near_duplicates"], json!([]));
    let vote = json!({ "submission_id": id, "intent": "for" });
    assert_eq!(bench.post(&of("vote"), Some(&ben), &vote).await.expect(404).code(), "unknown_reference");
    let taken = bench.send_json("POST", &format!("{path}/withdraw"), Some(&ben), &[], &json!("")).await;
    assert_eq!(taken.status.as_u16(), 413, "a withdrawal has no body");
    let taken = request("POST", &format!("{path}/withdraw"), Some(&ben)).body(Body::empty()).unwrap();
    assert_eq!(bench.send(taken).await.expect(404).code(), "unknown_reference");
    let told = feed(&bench).await;
    assert!(!told.contains(SECRET_TEXT) && !told.contains(&format!("\"{id}\"")), "{told}");
    // A key that may only play shows no more than none.
    let made =
        bench.post("/api/v1/agents/amy/keys", Some(ADMIN), &json!({ "scopes": ["play"] })).await.expect(201);
    let playing = made.json()["key"].as_str().unwrap().to_owned();
    bench.get(&path, Some(&playing)).await.expect(404);
}

#[tokio::test]
async fn private_submissions_are_between_their_authors_and_the_admin() {
    let bench = open(&manifest(&json!({ "submissions_private": true }))).await;
    let (amy, ben) = (agent(&bench, "amy").await, agent(&bench, "ben").await);
    let id = submit(&bench, &amy, &redline("CBR14", SECRET_TEXT)).await;
    let other = submit(&bench, &ben, &redline("CBR14", SECRET_TEXT)).await;
    act(
        &bench,
        json!({ "action": "score", "submission_id": id, "score": 7.5, "reason": "good work by far" }),
    )
    .await
    .expect(200);
    let judge = json!({ "action": "judge", "submission_id": id, "decision": "accepted", "reason": "good work by far" });
    act(&bench, judge).await.expect(200);
    for (key, seen) in
        [(None, false), (Some(ben.as_str()), false), (Some(amy.as_str()), true), (Some(ADMIN), true)]
    {
        let said = bench.get(&of("submissions"), key).await;
        assert_eq!(
            (ids(&said).contains(&id), said.text.contains("near_duplicates\":[\"")),
            (seen, key == Some(ADMIN))
        );
        let board = bench.get(&of("leaderboard"), key).await.expect(200).json();
        let first = &board["items"][0];
        assert_eq!(
            (&first["rank"], &first["score"], &first["is_sealed"]),
            (&json!(1), &json!(7.5), &json!(!seen))
        );
        assert_eq!(first["agent"], if seen { json!("amy") } else { Value::Null });
    }
    let told = feed(&bench).await;
    for withheld in [SECRET_TEXT, &format!("\"{id}\""), &format!("\"{other}\""), "good work"] {
        assert!(!told.contains(withheld), "{withheld}: {told}");
    }
    let challenge =
        json!({ "submission_id": id, "kind": "logic", "target": "rationale", "text": "it does not follow" });
    assert_eq!(
        bench.post(&of("challenge"), Some(&ben), &challenge).await.expect(404).code(),
        "unknown_reference"
    );
    // Who has won is told at the end; what was written stays private.
    act(&bench, json!({ "action": "close-submissions", "contest_id": SLUG })).await.expect(200);
    act(&bench, json!({ "action": "close", "contest_id": SLUG, "reason": "it is over" })).await.expect(200);
    let first = bench.get(&of("leaderboard"), None).await.expect(200).json()["items"][0].clone();
    assert_eq!((&first["agent"], &first["submission"]), (&json!("amy"), &Value::Null));
    assert_eq!(ids(&bench.get(&of("submissions"), None).await).len(), 0);
    assert!(!feed(&bench).await.contains("contest.disclosed"));
}

#[tokio::test]
async fn every_refusal_of_the_gate_is_told_with_its_status_and_nothing_is_kept() {
    let bench = original().await;
    let key = agent(&bench, "amy").await;
    let clause = json!({
        "action": "register-clause", "contest_id": ID, "rule_id": "CBR20", "text": "An agent acts with great care.",
    });
    act(&bench, clause).await.expect(200);
    let leak = ["g", "hp_", "R4t8Ym2Kq9Vw3Zx7", "Lc5Nb6Hd1Jf0PsTe", "Ua42"].concat();
    let mut unknown = redline("CBR14", "some other text");
    unknown["more"] = json!(1);
    unknown["legal_basis"][0]["act"] = json!("x".repeat(201));
    for (body, status, code, pointer) in [
        (unknown.clone(), 422, "form", "#/legal_basis/0/act"),
        (unknown, 422, "form", "#/more"),
        (json!([]), 422, "form", "#"),
        (redline("CBR14", "An agent acts with care."), 422, "no_change", "#/proposed_text"),
        (redline("CBR20", "some other text"), 409, "stale_clause", "#/current_text"),
        (
            redline("CBR14", &format!("a text with {leak} in it")),
            422,
            "forbidden_disclosure",
            "#/proposed_text",
        ),
    ] {
        let said = bench.post(&of("submit"), Some(&key), &body).await.expect(status);
        assert_eq!(said.code(), code);
        let errors = said.json()["errors"].as_array().unwrap().clone();
        assert!(errors.iter().any(|error| error["pointer"] == pointer), "{pointer}: {errors:?}");
        assert!(!said.text.contains(&leak));
    }
    assert_eq!(ids(&bench.get(&of("submissions"), Some(ADMIN)).await).len(), 0);
    assert!(!feed(&bench).await.contains(&leak));
    submit(&bench, &key, &redline("CBR14", "some other text")).await;
    let again = bench.post(&of("submit"), Some(&key), &redline("CBR14", "a third text")).await;
    assert_eq!(again.expect(409).code(), "slot_taken");
    submit(&bench, &key, &redline("CBR15", "some other text")).await;
    bench.set(ENDED).await;
    let late = bench.post(&of("submit"), Some(&key), &redline("CBR16", "some other text")).await;
    assert_eq!(late.expect(409).code(), "not_open");
}

#[tokio::test]
async fn reputation_and_components_are_looked_at() {
    let bench = open(&manifest(&json!({ "min_reputation_score": 1, "rules": {} }))).await;
    let key = agent(&bench, "amy").await;
    let said = bench.post(&of("submit"), Some(&key), &redline("CBR14", "some other text")).await;
    assert_eq!(said.expect(403).code(), "reputation_too_low");
    let bench = open(&manifest(&json!({ "contest_type": "strategy" }))).await;
    let key = agent(&bench, "amy").await;
    let entry = json!({ "title": "t", "body": "b", "metadata": { "strategy": "ab".repeat(32) } });
    assert_eq!(bench.post(&of("submit"), Some(&key), &entry).await.expect(422).code(), "not_admitted");
    assert_eq!(bench.get(&of("leaderboard"), None).await.expect(409).code(), "no_leaderboard");
}

#[tokio::test]
async fn the_gate_is_tried_five_times_a_day() {
    let bench = original().await;
    let key = agent(&bench, "amy").await;
    for _ in 0..5 {
        submit(&bench, &key, &invented("CBR14")).await;
    }
    let sixth = bench.post(&of("submit"), Some(&key), &redline("CBR14", "some other text")).await;
    assert_eq!(sixth.expect(429).code(), "too_many_attempts");
    submit(&bench, &key, &redline("CBR15", "some other text")).await;
    bench.set(NEXT_DAY).await;
    submit(&bench, &key, &redline("CBR14", "some other text")).await;
}

#[tokio::test]
async fn nobody_votes_on_or_challenges_what_is_its_own_or_its_operators() {
    let bench = original().await;
    let amy = bench.agent("amy", "hive", &["submit"]).await;
    let bob = bench.agent("bob", "hive", &["submit"]).await;
    let cat = bench.agent("cat", "nest", &["submit"]).await;
    let id = submit(&bench, &amy, &redline("CBR14", "some other text")).await;
    let vote = json!({ "submission_id": id, "intent": "against" });
    let challenge =
        json!({ "submission_id": id, "kind": "logic", "target": "rationale", "text": "it does not follow" });
    for key in [&amy, &bob] {
        assert_eq!(bench.post(&of("vote"), Some(key), &vote).await.expect(403).code(), "own_work");
        assert_eq!(bench.post(&of("challenge"), Some(key), &challenge).await.expect(403).code(), "own_work");
    }
    let voted = bench.post(&of("vote"), Some(&cat), &vote).await.expect(200).json();
    assert_eq!((&voted["intent"], &voted["decides"]), (&json!("against"), &json!(false)));
    assert_eq!(bench.post(&of("vote"), Some(&cat), &vote).await.expect(409).code(), "already_done");
    bench.post(&of("challenge"), Some(&cat), &challenge).await.expect(201);
    assert_eq!(bench.post(&of("challenge"), Some(&cat), &challenge).await.expect(409).code(), "already_done");
    let consensus = bench.get(&of("consensus"), None).await.expect(200).json();
    assert_eq!(consensus["items"][0]["against"], json!({ "votes": 1, "weight": 1 }));
    assert_eq!(consensus["items"][0]["consensus_permille"], -1000);
    assert!(!consensus.to_string().contains("cat"), "who voted is told");
    let found = bench.get(&of(&format!("submissions/{id}")), None).await.expect(200).json();
    assert_eq!(found["challenges"][0]["text"], "it does not follow");
    assert!(!feed(&bench).await.contains("does not follow"));
    let faults =
        bench.post(&of("vote"), Some(&cat), &json!({ "intent": "maybe", "x": 1 })).await.expect(422).json();
    let places: Vec<&str> =
        faults["errors"].as_array().unwrap().iter().map(|fault| fault["pointer"].as_str().unwrap()).collect();
    assert_eq!(places, ["#/x", "#/submission_id", "#/intent"]);
    let other = manifest(&json!({
        "id": "00000000-0000-4000-8000-000000000001", "slug": "OTHER", "contest_type": "module-build",
    }));
    bench.post("/api/modules/contest/propose", Some(ADMIN), &other).await.expect(201);
    let elsewhere = bench.post("/api/modules/contest/OTHER/vote", Some(&cat), &vote).await.expect(404);
    assert_eq!(elsewhere.code(), "unknown_reference");
}

#[tokio::test]
async fn each_thing_is_for_somebody_to_do() {
    let bench = original().await;
    let reader = bench.agent("reader", "op-reader", &["read"]).await;
    let amy = agent(&bench, "amy").await;
    let id = submit(&bench, &amy, &redline("CBR14", "some other text")).await;
    let vote = json!({ "submission_id": id, "intent": "for" });
    let challenge =
        json!({ "submission_id": id, "kind": "logic", "target": "rationale", "text": "it does not follow" });
    let judge = json!({ "submission_id": id, "decision": "accepted", "reason": "it is legal" });
    let draft = manifest(&json!({ "id": "00000000-0000-4000-8000-000000000002", "slug": "TWO" }));
    for (path, body) in [
        (of("submit"), redline("CBR15", "some other text")),
        (of("vote"), vote),
        (of("challenge"), challenge),
        (of("judge"), judge),
        ("/api/modules/contest/propose".to_owned(), draft),
        (ADMIN_PATH.to_owned(), json!({ "action": "activate-contest", "contest_id": ID })),
    ] {
        assert_eq!(bench.post(&path, None, &body).await.expect(401).code(), "unauthorized", "{path}");
        assert_eq!(
            bench.post(&path, Some(&reader), &body).await.expect(403).code(),
            "scope_missing",
            "{path}"
        );
    }
    let withdraw = of(&format!("submissions/{id}/withdraw"));
    let take = |key| bench.send(request("POST", &withdraw, key).body(Body::empty()).unwrap());
    assert_eq!(take(None).await.expect(401).code(), "unauthorized");
    assert_eq!(take(Some(&reader)).await.expect(403).code(), "scope_missing");
    assert_eq!(take(Some(ADMIN)).await.expect(403).code(), "wrong_actor");
    let ben = agent(&bench, "ben").await;
    assert_eq!(take(Some(&ben)).await.expect(403).code(), "wrong_actor");
    assert_eq!(
        bench.post(&of("submit"), Some(ADMIN), &redline("A", "b c d e")).await.expect(403).code(),
        "wrong_actor"
    );
    take(Some(&amy)).await.expect(200);
    assert_eq!(take(Some(&amy)).await.expect(409).code(), "no_way");
    bench.get(&of(&format!("submissions/{id}")), None).await.expect(404);
    submit(&bench, &amy, &redline("CBR14", "some other text")).await;
}

#[tokio::test]
async fn a_stage_is_for_the_agent_that_the_manifest_names() {
    let bench = original().await;
    let amy = agent(&bench, "amy").await;
    let named = bench.agent("invest-claude", "office", &["judge"]).await;
    let judge = bench.agent("somebody", "office", &["judge"]).await;
    let id = submit(&bench, &amy, &redline("CBR14", "some other text")).await;
    let decide = |to: &str| json!({ "submission_id": id, "decision": to, "reason": "it is legal" });
    let path = of("judge");
    assert_eq!(bench.post(&path, Some(&judge), &decide("accepted")).await.expect(403).code(), "wrong_actor");
    assert_eq!(bench.post(&path, Some(&named), &decide("merged")).await.expect(409).code(), "no_way");
    bench.post(&path, Some(&named), &decide("accepted")).await.expect(200);
    let merged = bench.post(&path, Some(&named), &decide("merged")).await.expect(200).json();
    assert_eq!(merged["status"], "merged");
    let log = feed(&bench).await;
    assert!(log.contains("\"by\":\"invest-claude\"") && log.contains("it is legal"), "{log}");
    // Its operator's own redline it does not judge.
    let own = bench.agent("intern", "office", &["submit"]).await;
    let own = submit(&bench, &own, &redline("CBR14", "some other text")).await;
    let decide = json!({ "submission_id": own, "decision": "accepted", "reason": "mine" });
    assert_eq!(bench.post(&path, Some(&named), &decide).await.expect(403).code(), "own_work");
}

#[tokio::test]
async fn the_admin_does_everything_by_its_actions() {
    let bench = original().await;
    let (amy, ben) = (agent(&bench, "amy").await, agent(&bench, "ben").await);
    let id = submit(&bench, &amy, &redline("CBR14", "some other text")).await;
    let other = submit(&bench, &ben, &redline("CBR14", "quite another thing altogether")).await;
    let reason = "as the rules say";
    let done = async |body: Value| act(&bench, body).await.expect(200).json();
    let refused = async |body: Value, status: u16| act(&bench, body).await.expect(status).code();
    let challenge =
        json!({ "submission_id": id, "kind": "harm", "target": "rationale", "text": "it does more harm" });
    let said = bench.post(&of("challenge"), Some(&ben), &challenge).await.expect(201);
    assert_eq!(said.header("location"), format!("/redlines/{id}#challenge-1"));
    let rule = |upheld: bool| json!({ "action": "rule-challenge", "challenge_id": "challenge:1", "upheld": upheld, "reason": reason });
    done(rule(true)).await;
    let again = rule(false);
    assert_eq!(refused(again, 409).await, "not_in_status");
    let score = |id: &str, score: Value| json!({ "action": "score", "submission_id": id, "score": score, "reason": reason });
    assert_eq!(refused(score(&id, json!(10.5)), 422).await, "score_too_high");
    assert_eq!(refused(score(&id, json!(7.25)), 422).await, "form");
    done(score(&id, json!(9))).await;
    done(score(&other, json!("9.0"))).await;
    let board = bench.get(&of("leaderboard"), None).await.expect(200).json();
    let told: Vec<(&Value, &Value)> =
        board["items"].as_array().unwrap().iter().map(|line| (&line["rank"], &line["agent"])).collect();
    assert_eq!(
        told,
        [(&json!(1), &json!("ben")), (&json!(2), &json!("amy"))],
        "an upheld challenge counts against it"
    );
    let judge =
        |to: &str| json!({ "action": "judge", "submission_id": other, "decision": to, "reason": reason });
    assert_eq!(refused(judge("merged"), 409).await, "no_way");
    let promise = json!({
        "action": "promise-reward", "submission_id": other, "kind": "certified-reviewer",
        "expires_at": "2026-10-01T00:00:00Z",
    });
    assert_eq!(refused(promise.clone(), 409).await, "not_in_status");
    done(judge("accepted")).await;
    assert_eq!(done(promise.clone()).await["status"], "pending_defici_approval");
    let move_on = |action: &str| json!({ "action": action, "reward_id": "reward:1", "reason": reason });
    assert_eq!(refused(move_on("fulfil-payout"), 409).await, "no_way");
    done(move_on("approve-payout")).await;
    bench.get("/api/modules/top-promo/ben/credential", None).await.expect(404);
    done(move_on("fulfil-payout")).await;
    done(promise).await;
    done(json!({ "action": "decline-payout", "reward_id": "reward:2", "reason": reason })).await;
    let board = json!({ "action": "record-scorecard", "contest_id": ID, "points": null });
    assert_eq!(refused(board.clone(), 409).await, "not_in_status");
    assert_eq!(
        refused(json!({ "action": "close", "contest_id": ID, "reason": reason }), 409).await,
        "not_in_status"
    );
    done(json!({ "action": "close-submissions", "contest_id": ID })).await;
    assert_eq!(refused(board, 404).await, "unknown_reference");
    let closed = done(json!({ "action": "close", "contest_id": ID, "reason": reason })).await;
    assert_eq!(closed["status"], "closed");
    assert_eq!(
        refused(json!({ "action": "cancel", "contest_id": ID, "reason": reason }), 409).await,
        "not_in_status"
    );
    assert_eq!(
        refused(json!({ "action": "activate-contest", "contest_id": "NONE" }), 404).await,
        "unknown_reference"
    );
    assert_eq!(refused(json!({ "action": "win" }), 422).await, "form");
}

#[tokio::test]
async fn a_credential_is_a_token_that_anybody_can_verify() {
    let bench = original().await;
    let amy = agent(&bench, "amy").await;
    let id = submit(&bench, &amy, &redline("CBR14", "some other text")).await;
    for body in [
        json!({ "action": "judge", "submission_id": id, "decision": "accepted", "reason": "legal" }),
        json!({ "action": "promise-reward", "submission_id": id, "kind": "certified-reviewer", "expires_at": ENDED }),
        json!({ "action": "approve-payout", "reward_id": "reward:1", "reason": "earned" }),
        json!({ "action": "fulfil-payout", "reward_id": "reward:1", "reason": "earned" }),
    ] {
        act(&bench, body).await.expect(200);
    }
    let path = "/api/modules/top-promo/amy/credential";
    let token =
        bench.get(path, None).await.expect(200).json()["credential_token"].as_str().unwrap().to_owned();
    bench.restart();
    assert_eq!(bench.get(path, None).await.expect(200).json()["credential_token"], token.as_str());
    let instance = bench.get("/api/v1/instance", None).await.expect(200).json();
    let key = SignedBy(instance["verification_key"]["key"].as_str().unwrap().to_owned());
    let now = OPEN.parse().unwrap();
    let statement = credential::open(&token, &key, now).unwrap();
    assert_eq!((statement.agent.as_str(), statement.contest.as_str()), ("amy", ID));
    assert!(credential::open(&token, &SignedBy("ab".repeat(32)), now).is_err());
    bench.set(ENDED).await;
    assert_eq!(bench.get(path, None).await.expect(404).code(), "not_found");
    bench.get("/api/modules/top-promo/nobody/credential", None).await.expect(404);
}

#[tokio::test]
async fn a_submission_that_is_sent_again_is_received_once() {
    let bench = original().await;
    let key = agent(&bench, "amy").await;
    let headers = [("idempotency-key", "one")];
    let (path, body) = (of("submit"), redline("CBR14", "some other text"));
    let first = bench.send_json("POST", &path, Some(&key), &headers, &body).await.expect(201);
    let again = bench.send_json("POST", &path, Some(&key), &headers, &body).await.expect(201);
    assert_eq!((first.text, again.header("idempotency-replayed")), (again.text.clone(), "true"));
    let other = bench.send_json("POST", &path, Some(&key), &headers, &redline("CBR15", "x y z a b")).await;
    assert_eq!(other.expect(422).code(), "idempotency_key_reused");
    assert_eq!(ids(&bench.get(&of("submissions"), None).await).len(), 1);
}

#[tokio::test]
async fn everything_is_the_same_after_a_restart() {
    let bench = original().await;
    let (amy, ben) = (agent(&bench, "amy").await, agent(&bench, "ben").await);
    let id = submit(&bench, &amy, &redline("CBR14", "some other text")).await;
    submit(&bench, &ben, &invented("CBR14")).await;
    bench.post(&of("vote"), Some(&ben), &json!({ "submission_id": id, "intent": "for" })).await.expect(200);
    act(&bench, json!({ "action": "score", "submission_id": id, "score": 8, "reason": "good" }))
        .await
        .expect(200);
    let paths =
        [of("manifest"), of("submissions"), of("leaderboard"), of("consensus"), format!("/redlines/{id}")];
    let mut before = Vec::new();
    for path in &paths {
        before.push(bench.get(path, Some(ADMIN)).await.expect(200).text);
    }
    bench.restart();
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(bench.get(path, Some(ADMIN)).await.expect(200).text, before, "{path}");
    }
    bench.set(ENDED).await;
    bench.restart();
    assert_eq!(bench.get(&of("manifest"), None).await.header("x-contest-status"), "judging");
}

#[tokio::test]
async fn lists_come_in_pages() {
    let bench = original().await;
    let amy = agent(&bench, "amy").await;
    for n in 0..12 {
        submit(&bench, &amy, &redline(&format!("CBR{n}"), "some other text")).await;
    }
    let mut path = of("submissions?limit=5");
    let mut all = Vec::new();
    loop {
        let said = bench.get(&path, None).await.expect(200);
        all.extend(ids(&said));
        let Some(cursor) = said.json()["next_cursor"].as_str().map(str::to_owned) else { break };
        path = of(&format!("submissions?limit=5&cursor={cursor}"));
    }
    let expected: Vec<String> = (1..=12).map(|n| format!("submission:{n}")).collect();
    assert_eq!(all, expected, "each once, in the order in which they came");
}

#[tokio::test]
async fn a_proposal_is_checked_and_told_with_every_fault() {
    let bench = original().await;
    let key = agent(&bench, "amy").await;
    let propose =
        async |document: &Value| bench.post("/api/modules/contest/propose", Some(&key), document).await;
    let reserved = manifest(&json!({ "id": "x", "slug": "admin" }));
    let said = propose(&reserved).await.expect(422);
    let places: Vec<String> = said.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["pointer"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        (said.code().as_str(), places),
        ("form", vec!["#/contest/id".to_owned(), "#/contest/slug".to_owned()])
    );
    assert_eq!(propose(&manifest(&json!({}))).await.expect(409).code(), "exists");
    let second = json!({ "id": "00000000-0000-4000-8000-000000000002", "slug": "SECOND" });
    propose(&manifest(&second)).await.expect(201);
    let said = act(&bench, json!({ "action": "activate-contest", "contest_id": "SECOND" })).await;
    assert_eq!(said.expect(409).code(), "type_is_open");
    for n in 0..9 {
        let id = format!("00000000-0000-4000-9000-{n:012}");
        propose(&manifest(&json!({ "id": id, "slug": format!("DRAFT-{n}") }))).await.expect(201);
    }
    let id = "00000000-0000-4000-9000-000000000099";
    let said = propose(&manifest(&json!({ "id": id, "slug": "MORE" }))).await;
    assert_eq!(said.expect(409).code(), "too_many_drafts");
}

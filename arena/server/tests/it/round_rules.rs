//! The rarer ways of a round over HTTP: what is refused by which code, what waits for a person, and what the platform
//! does by time alone.

use serde_json::{Value, json};

use crate::round_bench::{ROUND, Sprint, accepted, at, bare, intent, of, register, terms};
use crate::support::{ADMIN, Bench};

const CLAIM: &str = "Published a planner that three schools installed.";

fn changed(package: &Value, changes: &Value) -> Value {
    let mut package = package.clone();
    for (key, value) in changes.as_object().unwrap() {
        package[key] = value.clone();
    }
    package
}

#[tokio::test]
async fn a_package_is_refused_by_the_rule_that_it_breaks() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "01:00").await;
    let mut own = intent("reach the goal and prove it");
    own["reviewer"] = own["owner"].clone();
    let said = sprint.put("windows/W1/intent", &sprint.ann, Some("\"none\""), &own).await.expect(422);
    assert_eq!(said.code(), "owner_reviews_own_work");
    let mut twice = intent("reach the goal and prove it");
    twice["window"] = json!("W1");
    let said = sprint.put("windows/W1/intent", &sprint.ann, Some("\"none\""), &twice).await.expect(422);
    assert_eq!(said.json()["errors"][0]["pointer"], "#/window");
    sprint.intend(&sprint.ann, "W1").await;
    sprint.set(1, "19:00").await;
    let package = sprint.publish(&sprint.ann, "acme", "W1", CLAIM).await;
    let unplanned =
        sprint.publish(&sprint.bob, "bolt", "W1", "Wrote the alarm service for the pilot site.").await;
    assert_eq!(sprint.submit(&sprint.ann, &package).await.expect(409).code(), "not_the_time");
    sprint.set(1, "20:05").await;
    assert_eq!(sprint.submit(&sprint.bob, &unplanned).await.expect(409).code(), "no_intent_stub");
    for (changes, status, code) in [
        (json!({ "stake_atomic": "1" }), 422, "stake_below_minimum"),
        (json!({ "stake_atomic": "50000001" }), 409, "stake_above_free_hold"),
        (json!({ "operator_intervention": "disclosed", "receipts": ["receipt:9"] }), 422, "unknown_receipt"),
        (json!({ "operator_intervention": "disclosed" }), 422, "form"),
        (json!({ "boards_submission_ref": "boards:x" }), 422, "form"),
        (json!({ "claim_summary": "short" }), 422, "form"),
        (json!({ "more": 1 }), 422, "form"),
    ] {
        let said = sprint.submit(&sprint.ann, &changed(&package, &changes)).await.expect(status);
        assert_eq!(said.code(), code, "{changes}");
    }
    // What refers to what is not there is taken, with what it lacks, and may be mended.
    let broken = changed(&package, &json!({ "town_post_ref": "town:99" }));
    let said = sprint.submit(&sprint.ann, &broken).await.expect(201);
    assert_eq!(said.json()["revisions"][0]["omissions"], json!(["town_post_missing"]));
    let tag = said.header("etag").to_owned();
    sprint.put("windows/W1/submission", &sprint.ann, Some(&tag), &package).await.expect(200);
    sprint.set(1, "22:30").await;
    let said = sprint.judge("acme", "W1", &accepted()).await.expect(422);
    assert_eq!(said.code(), "evidence_above_checks");
    let fair = changed(&accepted(), &json!({ "evidence": 10 }));
    sprint.judge("acme", "W1", &fair).await.expect(201);
    // The frozen package cannot be revised.
    let tag =
        sprint.bench.get(&of("windows/W1/submission"), Some(&sprint.ann)).await.header("etag").to_owned();
    let said = sprint.put("windows/W1/submission", &sprint.ann, Some(&tag), &package).await.expect(409);
    assert_eq!(said.code(), "not_the_time");
    // The same artifact in the next window is a repetition.
    sprint.set(2, "01:00").await;
    sprint.intend(&sprint.ann, "W2").await;
    sprint.set(2, "20:05").await;
    let again = json!({ "window_id": "W2", "intent_stub_ref": "intent:s0-r1:acme:W2" });
    sprint.submit(&sprint.ann, &changed(&package, &again)).await.expect(201);
    sprint.set(2, "22:30").await;
    let verdict = changed(&accepted(), &json!({ "evidence": 0, "delivery": 20 }));
    let said = sprint.judge("acme", "W2", &verdict).await.expect(422);
    assert_eq!(said.code(), "duplicate_needs_penalty");
}

#[tokio::test]
async fn who_leaves_is_out_and_a_wrong_hold_is_no_entry() {
    let sprint = Sprint::announced(false).await;
    let bench = &sprint.bench;
    sprint.set(0, "01:00").await;
    let me = bench.post(&of("entries"), Some(&sprint.ann), &register("me")).await.expect(422);
    assert_eq!(me.code(), "bad_id");
    bench.post(&of("entries"), Some(&sprint.ann), &register("acme")).await.expect(201);
    let post = json!({ "round": 1, "kind": "progress", "body": "we begin our work" });
    let said = bench.post("/api/v1/town/posts", Some(&sprint.ann), &post).await.expect(422);
    assert_eq!(said.json()["errors"][0]["pointer"], "#/round");
    let early = sprint.upload(&sprint.ann, b"too early for this", "").await.expect(409);
    assert_eq!(early.code(), "not_the_time");
    let rules = bench.get(ROUND, None).await.json()["rules_sha256"].clone();
    let rules = json!({ "rules_sha256": rules });
    let path = of("entries/me/acknowledgement");
    bench.post(&path, Some(&sprint.ann), &rules).await.expect(200);
    assert_eq!(bench.post(&path, Some(&sprint.ann), &rules).await.expect(409).code(), "already_done");
    let less = json!({ "hold_cap_atomic": "1" });
    let said = bench.post(&of("entries/me/call"), Some(&sprint.ann), &less).await.expect(422);
    assert_eq!(said.code(), "hold_not_of_the_call");
    bare(bench, &of("entries/me/withdrawal"), &sprint.ann).await.expect(200);
    let said = bench.post(&of("entries/me/call"), Some(&sprint.ann), &less).await.expect(409);
    assert_eq!(said.code(), "round_not_open");
    let none = json!({ "company": "nobody", "reason": "it is not there" });
    assert_eq!(
        bench.post(&of("disqualifications"), Some(ADMIN), &none).await.expect(404).code(),
        "unknown_company"
    );
    let out = json!({ "company": "acme", "reason": "it shared its key" });
    let said = bench.post(&of("disqualifications"), Some(ADMIN), &out).await.expect(200);
    assert_eq!(said.json()["left"], "disqualified");
}

#[tokio::test]
async fn a_submission_that_nobody_judged_holds_the_end_up_until_the_admin_decides() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    sprint.judge("bolt", "W1", &accepted()).await.expect(201);
    // A dispute that nobody rules on lapses, and the awards of both sides wait.
    let ground = json!({ "ground": "The numbers of the claim cannot be found in the artifact." });
    let path = "/api/v1/submissions/boards:s0-r1:bolt:W1/disputes";
    bench.post(path, Some(&sprint.ann), &ground).await.expect(201);
    sprint.set(4, "12:00").await;
    assert_eq!(bench.get(ROUND, None).await.json()["status"], "closing");
    assert_eq!(bare(bench, &of("settle"), ADMIN).await.expect(409).code(), "pending_blocks_final");
    let path = "/api/v1/submissions/boards:s0-r1:acme:W1/judgements";
    let body = json!({ "verdict": accepted() });
    assert_eq!(bench.post(path, Some(&sprint.eva), &body).await.expect(409).code(), "not_the_time");
    bench.post(path, Some(ADMIN), &body).await.expect(201);
    sprint.set(4, "12:01").await;
    assert_eq!(bench.get(ROUND, None).await.json()["status"], "final");
    let awards = bench.get(&of("awards"), None).await.expect(200).json();
    assert!(awards["items"].as_array().unwrap().iter().all(|award| award["status"] == "held"), "{awards}");
    let decide = |pay: bool| json!({ "award": awards["items"][0]["ref"], "pay": pay, "reason": "the dispute had no ground" });
    assert_eq!(
        bench.post(&of("awards"), Some(&sprint.ann), &decide(true)).await.expect(403).code(),
        "scope_missing"
    );
    let said = bench.post(&of("awards"), Some(ADMIN), &decide(true)).await.expect(200);
    assert_eq!(said.json()["status"], "paid");
    assert_eq!(
        bench.post(&of("awards"), Some(ADMIN), &decide(false)).await.expect(409).code(),
        "already_done"
    );
    bench.restart();
    assert_eq!(bench.get(&of("awards"), None).await.json()["items"][0]["status"], "paid");
}

#[tokio::test]
async fn locked_stakes_come_back_by_themselves_after_thirty_days() {
    let bench = Bench::at(crate::round_bench::BEFORE);
    let mut lock = terms(false);
    lock["stake_policy"] = json!("lock");
    bench.post("/api/v1/rounds", Some(ADMIN), &lock).await.expect(201);
    bare(&bench, &of("announce"), ADMIN).await.expect(200);
    let sprint = Sprint::of(bench).await;
    let bench = &sprint.bench;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    sprint.judge("acme", "W1", &accepted()).await.expect(201);
    let bad = changed(&accepted(), &json!({ "state": "rejected", "rationale": "cannot be repeated" }));
    sprint.judge("bolt", "W1", &bad).await.expect(201);
    sprint.set(4, "12:00").await;
    let locked = || async {
        let purse = bench.get("/api/v1/accounts/me", Some(&sprint.bob)).await.expect(200).json();
        purse["items"][0]["locked_atomic"].clone()
    };
    assert_eq!(locked().await, "1000000");
    assert_eq!(bare(bench, &of("release-locked"), ADMIN).await.expect(409).code(), "round_not_over");
    bench.set("2026-08-12T12:00:00Z").await;
    assert_eq!(locked().await, "0");
    let ledger = bench.get("/api/v1/ledger?round=s0-r1", None).await.expect(200).json();
    let sum: i64 = ledger["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|account| account["balance_atomic"].as_str().unwrap().parse::<i64>().unwrap())
        .sum();
    assert_eq!(sum, 0, "{ledger}");
    assert!(bench.get("/api/v1/ledger", None).await.expect(400).text.contains("round"));
}

#[tokio::test]
async fn what_has_its_time_in_the_phase_has_it_to_the_second() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    for (day, time, phase, window, ends) in [
        (0, "11:59", "registration", Value::Null, at(0, "12:00")),
        (0, "12:00", "pre_window", Value::Null, at(1, "00:00")),
        (1, "00:00", "intent", json!("W1"), at(1, "02:00")),
        (2, "20:00", "submission", json!("W2"), at(2, "22:00")),
        (3, "23:59", "evaluation", json!("W3"), at(4, "00:00")),
        (4, "00:00", "closeout", Value::Null, at(4, "12:00")),
    ] {
        sprint.set(day, time).await;
        let ends = ends.replace('Z', ".000Z");
        let said = bench.get(&of("clock"), None).await.expect(200);
        let clock = said.json();
        assert_eq!(
            (&clock["phase"], &clock["window"], &clock["ends"]),
            (&json!(phase), &window, &json!(ends))
        );
        assert_eq!((said.header("x-phase"), said.header("x-phase-ends")), (phase, ends.as_str()));
    }
}

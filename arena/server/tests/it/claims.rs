//! Claims over the API: listed, drawn, run, challenged in secret, settled; and who may see what of it meanwhile.

use crate::support::Bench;
use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::Sealed;
use arena_claims::manifest::Manifest;
use arena_claims::record::{Place, Role, assemble};
use serde_json::json;

use crate::claims_stage::{HOUR, NAMES, START, Stage, amount, digest, secret};

#[tokio::test]
async fn a_claim_lives_from_its_listing_to_its_settlement() {
    let mut stage = Stage::new().await;
    let runner = stage.run("10.0").await;
    stage.bench.restart();
    let challenger = stage.volunteers().await.remove(0);
    stage.commit(&challenger, Sealed::Challenge, "10.0").await.expect(200);
    assert_eq!(
        stage.commit(&challenger, Sealed::Challenge, "10.0").await.expect(409).code(),
        "already_committed"
    );
    stage.wait(30 * HOUR).await;
    assert_eq!(stage.status().await, "revealing");
    assert_eq!(stage.bench.get("/api/v1/claims/c1/settlement", None).await.expect(409).code(), "not_over");
    stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200);
    stage.reveal(&challenger, Sealed::Challenge, "10.0").await.expect(200);
    stage.bench.restart();
    // An auditor that was drawn and did nothing holds it up until the end of the period at most.
    stage.wait(7 * HOUR).await;
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!((&seen["status"], &seen["outcome"]), (&json!("settled"), &json!("reproduced")), "{seen}");
    assert!(seen["run"]["record"].is_object() && seen["challenges"][0]["record"].is_object());
    assert!(!seen["comparisons"][0]["rows"].as_array().unwrap().is_empty());
    let settled = stage.see(None, "/claims/c1/settlement").await;
    let changes = settled["postings"].as_array().unwrap().iter();
    assert_eq!(changes.map(|posting| amount(&posting["change"])).sum::<i64>(), 0);
    assert_eq!(stage.total().await, 240_000, "nothing is lost, nothing is made");
    let about = stage.see(Some(&runner), &format!("/claims/agents/{runner}")).await;
    assert_eq!((amount(&about["free"]), amount(&about["locked"])), (21_000, 0));
    // The journal's genesis holds, whatever is configured since.
    assert_eq!(stage.see(None, "/beacons").await["instance"], "test-lab");
    // A draw verifies for everybody.
    let draws = stage.see(None, "/claims/c1/draws").await;
    let transcripts = draws["transcripts"].as_array().unwrap();
    assert!(transcripts.len() >= 2 && draws["committed"].is_null());
    for transcript in transcripts {
        arena_draw::verify(&json::canonical(transcript)).unwrap();
    }
}

#[tokio::test]
async fn what_is_sealed_is_seen_by_nobody_else() {
    let mut stage = Stage::new().await;
    let runner = stage.run("10.0").await;
    let quiet = stage.see(None, "/claims/c1").await;
    assert_eq!(quiet["challenges_sealed"], true);
    let challenger = stage.volunteers().await.remove(0);
    let other = stage.volunteers().await.remove(1);
    let rest = |agent: &str| format!("/claims/agents/{agent}");
    let before = stage.see(None, &rest(&challenger)).await;
    let done = stage.commit(&challenger, Sealed::Challenge, "11.0").await.expect(200).json();
    assert_eq!(done["events"], json!(["challenge_committed"]));
    // Nothing tells it to anybody else: not the claim, not the agent's balances.
    for viewer in [None, Some(other.as_str()), Some(runner.as_str()), Some("sue")] {
        let seen = stage.see(viewer, "/claims/c1").await;
        assert_eq!(seen["challenges"], json!([]));
        assert!(seen["audit"].is_null() && seen["run"]["record"].is_null());
        if viewer.is_none() {
            assert_eq!(seen, quiet);
        }
        assert_eq!(stage.see(viewer, &rest(&challenger)).await, before);
    }
    let own = stage.see(Some(&challenger), "/claims/c1").await;
    assert_eq!((own["challenges"].as_array().unwrap().len(), &own["you"]["part"]), (1, &json!("challenger")));
    assert_eq!(amount(&own["you"]["locked"]), 2_500);
    assert_eq!(stage.see(Some("admin"), "/claims/c1").await["challenges"].as_array().unwrap().len(), 1);
    // The secret draws have no transcript yet.
    let draws = stage.see(None, "/claims/c1/draws").await;
    assert!(
        draws["transcripts"].as_array().unwrap().iter().all(|transcript| transcript["purpose"] == "runner")
    );
    // An assignment to audit is there only for who has it.
    let audit = stage.see(Some("admin"), "/claims/c1").await["audit"]["auditor"].clone();
    for name in NAMES.iter().filter(|name| audit != **name) {
        let refused = stage.bare(name, "/assignments/c1-auditor/accept").await.expect(404);
        assert_eq!(refused.code(), "not_found");
    }
    assert_eq!(stage.bare(&other, "/claims/c1/draws").await.expect(409).code(), "no_draw_due");
    let feed = stage.feed().await;
    assert!(feed.contains("claim.run_committed") && feed.contains("claim.draw_committed"));
    for told in ["challenge_committed", "coin_tossed", "audit_accepted", "\"events\"", "\"salt\""] {
        assert!(!feed.contains(told), "{told} is in the feed");
    }
    stage.wait(30 * HOUR).await;
    stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200);
    let seen = stage.see(Some(&other), "/claims/c1").await;
    assert_eq!(seen["challenges"][0]["agent"], json!(challenger));
    assert!(seen["run"]["record"].is_null() && seen["run"]["revealed"] == true);
    assert!(stage.see(Some(&runner), "/claims/c1").await["run"]["record"].is_object());
}

#[tokio::test]
async fn a_dispute_of_an_exact_claim_is_settled_by_the_reference() {
    dispute(false).await;
}

#[tokio::test]
async fn a_dispute_of_a_tolerant_claim_is_settled_by_a_panel_and_an_appeal() {
    dispute(true).await;
}

/// A panel is drawn, votes, and the runner appeals.
async fn judge(stage: &mut Stage, runner: &str, challenger: &str) {
    stage.resolve().await;
    let seats = stage.see(None, "/claims/c1").await["panels"][0]["seats"].clone();
    let seats: Vec<String> =
        seats.as_array().unwrap().iter().map(|seat| seat["agent"].as_str().unwrap().to_owned()).collect();
    assert_eq!((seats.len(), stage.status().await.as_str()), (5, "voting"));
    let report = stage.see(Some(&seats[0]), "/claims/c1").await["comparisons"].clone();
    assert_eq!(report[0]["agrees"], false);
    assert_eq!(stage.see(None, "/claims/c1").await["comparisons"], json!([]), "strangers wait");
    let ballot = json!({ "verdict": "runner_wrong", "confirms": [challenger], "rerun_sha256": null,
        "rationale": [{ "cmp": "C3", "metric": "x" }] });
    let document = Digest::of(&json::canonical(&ballot));
    assert_eq!(
        stage
            .post(challenger, "/panels/c1/votes", json!({ "commitment": document }))
            .await
            .expect(403)
            .code(),
        "no_seat"
    );
    for seat in &seats {
        let (sealed, _) = stage.seal(seat, Sealed::Vote, document).await;
        stage.post(seat, "/panels/c1/votes", json!({ "commitment": sealed })).await.expect(200);
    }
    assert_eq!(stage.status().await, "opening");
    for (place, seat) in seats.iter().enumerate() {
        let (_, nonce) = stage.seal(seat, Sealed::Vote, document).await;
        let wrong = json!({ "nonce": document, "ballot": ballot });
        let refused = stage.post(seat, "/panels/c1/votes/reveal", wrong).await.expect(422);
        assert_eq!(refused.code(), "other_commitment");
        let opened = json!({ "nonce": nonce, "ballot": ballot });
        stage.post(seat, "/panels/c1/votes/reveal", opened).await.expect(200);
        if place == 0 {
            let seen = stage.see(Some(&seats[1]), "/claims/c1").await;
            assert!(seen["panels"][0]["seats"][0]["ballot"].is_null(), "votes are told together");
        }
    }
    assert_eq!(stage.status().await, "appealable");
    stage.bare(runner, "/claims/c1/appeal").await.expect(200);
}

async fn dispute(is_tolerant: bool) {
    let mut stage = Stage::new().await;
    stage.is_tolerant = is_tolerant;
    let runner = stage.run("11.0").await;
    let challenger = stage.volunteers().await.remove(0);
    stage.commit(&challenger, Sealed::Challenge, "10.0").await.expect(200);
    stage.wait(30 * HOUR).await;
    stage.reveal(&runner, Sealed::Run, "11.0").await.expect(200);
    stage.reveal(&challenger, Sealed::Challenge, "10.0").await.expect(200);
    if stage.status().await == "revealing" {
        stage.wait(7 * HOUR).await;
    }
    if is_tolerant {
        judge(&mut stage, &runner, &challenger).await;
    }
    assert_eq!(stage.status().await, "reference");
    let record = {
        let seen = stage.see(None, "/claims/c1").await;
        let manifest = Manifest::read(seen["manifest"].clone()).unwrap();
        let job = digest(&seen["job"]);
        let place = Place {
            claim: "c1",
            job,
            role: Role::Reference,
            agent: "operator",
            operator: "operator",
            manifest: &manifest,
        };
        let results = json!({
            "metrics": [{ "name": "x", "kind": "decimal", "value": "10.0" }], "fuel": "7", "log_sha256": Digest::of(b"log"),
        });
        assemble(&place, &results).unwrap().value().clone()
    };
    let records = json!({ "records": [record, record] });
    assert_eq!(
        stage.post("sue", "/claims/c1/reference", records.clone()).await.expect(403).code(),
        "scope_missing"
    );
    let one = json!({ "records": [record] });
    assert_eq!(stage.post("admin", "/claims/c1/reference", one).await.expect(422).code(), "record_count");
    stage.post("admin", "/claims/c1/reference", records).await.expect(200);
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!((&seen["status"], &seen["outcome"]), (&json!("settled"), &json!("reproduced")), "{seen}");
    assert_eq!(seen["ending"], "runner_wrong");
    let about = stage.see(Some(&runner), &format!("/claims/agents/{runner}")).await;
    assert!(amount(&about["free"]) <= 16_000 && amount(&about["locked"]) == 0);
    let before = seen;
    stage.bench.restart();
    assert_eq!(stage.see(None, "/claims/c1").await, before);
}

#[tokio::test]
async fn an_auditor_works_in_secret_and_is_paid() {
    let mut stage = Stage::new().await;
    let runner = stage.run("10.0").await;
    let auditor = |seen: &Value| seen["audit"]["auditor"].as_str().map(str::to_owned);
    // A new operator's first run is audited for certain.
    let first = auditor(&stage.see(Some("admin"), "/claims/c1").await).unwrap();
    let own = stage.see(Some(&first), "/assignments").await;
    assert_eq!(own["items"][0]["assignment"], "c1-auditor");
    let quiet = (stage.see(None, "/claims/c1").await, stage.see(None, "/claims/c1/draws").await);
    stage.post(&first, "/assignments/c1-auditor/decline", json!({ "reason": "busy" })).await.expect(200);
    // Another one is drawn, and nobody sees that.
    assert_eq!((stage.see(None, "/claims/c1").await, stage.see(None, "/claims/c1/draws").await), quiet);
    let draw = stage.see(Some("admin"), "/claims/c1/draws").await["committed"].clone();
    assert_eq!(draw["purpose"], "audit");
    stage.wait(60).await;
    let proof = json!({ "signature": "" });
    assert_eq!(
        stage.post("sue", "/claims/c1/draws/resolve", proof.clone()).await.expect(409).code(),
        "no_draw"
    );
    stage.post("admin", "/claims/c1/draws/resolve", proof).await.expect(200);
    let second = auditor(&stage.see(Some("admin"), "/claims/c1").await).unwrap();
    assert_ne!(first, second);
    let about = format!("/claims/agents/{second}");
    let before = stage.see(None, &about).await;
    let done = stage.bare(&second, "/assignments/c1-auditor/accept").await.expect(200).json();
    assert_eq!((&done["events"], &done["you"]["part"]), (&json!(["audit_accepted"]), &json!("auditor")));
    stage.commit(&second, Sealed::Challenge, "10.0").await.expect(200);
    assert_eq!((stage.see(None, "/claims/c1").await, stage.see(None, "/claims/c1/draws").await), quiet);
    assert_eq!(stage.see(Some("sue"), &about).await, before);
    assert_ne!(stage.see(Some(&second), &about).await["free"], before["free"]);
    stage.bench.restart();
    stage.wait(30 * HOUR).await;
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!(
        (&seen["challenges"][0]["agent"], &seen["challenges"][0]["auditor"]),
        (&json!(second), &Value::Null)
    );
    stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200);
    stage.reveal(&second, Sealed::Challenge, "10.0").await.expect(200);
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!((&seen["status"], &seen["audit"]["auditor"]), (&json!("settled"), &json!(second)));
    assert_eq!(amount(&stage.see(None, &about).await["free"]), 20_600);
    let draws = stage.see(None, "/claims/c1/draws").await;
    let purposes: Vec<&Value> =
        draws["transcripts"].as_array().unwrap().iter().map(|transcript| &transcript["purpose"]).collect();
    assert!(purposes.contains(&&json!("audit-coin")) && purposes.contains(&&json!("audit")), "{purposes:?}");
    assert_eq!(stage.total().await, 240_000);
}

#[tokio::test]
async fn a_canary_is_opened_at_its_end_and_a_flagged_claim_is_listed_again() {
    let mut stage = Stage::new().await;
    let salt = Digest::of(b"salt");
    let mark = arena_claims::commitment::canary_commitment("c1", salt);
    let runner = stage.run_marked("spec_issue", Some(mark)).await;
    stage.wait(30 * HOUR).await;
    stage.reveal(&runner, Sealed::Run, "spec_issue").await.expect(200);
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!((&seen["status"], &seen["outcome"]), (&json!("settled"), &json!("spec_issue")), "{seen}");
    assert!(!seen.to_string().contains(&mark.to_string()), "nobody sees the mark");
    let wrong = json!({ "salt": Digest::of(b"other") });
    assert_eq!(stage.post("admin", "/claims/c1/canary", wrong).await.expect(422).code(), "no_canary");
    let opened = stage.post("admin", "/claims/c1/canary", json!({ "salt": salt })).await.expect(200).json();
    assert_eq!(opened["events"], json!(["canary_opened"]));
    let manifest = stage.manifest().await;
    let list = |manifest: &Value| json!({ "manifest": manifest, "deposit": "500" });
    stage.wait(400 * 24 * HOUR).await;
    assert_eq!(
        stage.post("sue", "/claims/c1/relist", list(&manifest)).await.expect(422).code(),
        "not_corrected"
    );
    let mut corrected = manifest;
    corrected["title"] = json!("x comes to ten, corrected");
    let again = stage.post("sue", "/claims/c1/relist", list(&corrected)).await.expect(200).json();
    assert_eq!((&again["status"], &again["relists"]), (&json!("funding"), &json!(1)));
    let bench = &stage.bench;
    assert_eq!(bench.get("/api/v1/claims/c1/settlement", None).await.expect(409).code(), "not_over");
}

async fn all_faults_are_told(stage: &Stage, manifest: &Value) {
    let mut faulty = manifest.clone();
    faulty["metrics"] = json!([]);
    faulty["title"] = json!(7);
    let refused =
        stage.post("sue", "/claims", json!({ "manifest": faulty, "deposit": "500" })).await.expect(422);
    assert_eq!(refused.code(), "manifest_faults");
    let pointers: Vec<Value> =
        refused.json()["errors"].as_array().unwrap().iter().map(|error| error["pointer"].clone()).collect();
    assert!(pointers.contains(&json!("#/manifest/title")), "{pointers:?}");
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut stage = Stage::new().await;
    let manifest = stage.manifest().await;
    let list = |manifest: &Value, deposit: &str| json!({ "manifest": manifest, "deposit": deposit });
    let refused = stage.bench.post("/api/v1/claims", None, &list(&manifest, "500")).await;
    assert_eq!(refused.expect(401).code(), "unauthorized");
    assert_eq!(stage.post("fay", "/claims", list(&manifest, "500")).await.expect(403).code(), "not_yours");
    assert_eq!(
        stage.post("sue", "/claims", list(&manifest, "499")).await.expect(422).code(),
        "amount_too_small"
    );
    assert_eq!(stage.post("sue", "/claims", list(&manifest, "5x")).await.expect(422).code(), "form");
    all_faults_are_told(&stage, &manifest).await;
    stage.bench.get("/api/v1/claims/c1", None).await.expect(404);
    assert_eq!(
        stage.post("fay", "/deposits", json!({ "agent": "fay", "amount": "1" })).await.expect(403).code(),
        "scope_missing"
    );
    let unknown = json!({ "agent": "nobody", "amount": "1" });
    assert_eq!(stage.post("admin", "/deposits", unknown).await.expect(404).code(), "unknown_agent");
    let much = json!({ "agent": "fay", "amount": "20001" });
    assert_eq!(stage.post("admin", "/payouts", much).await.expect(409).code(), "ledger_refused");
    stage.post("admin", "/payouts", json!({ "agent": "fay", "amount": "1000" })).await.expect(200);
    // Sent twice, listed once.
    let key = [("idempotency-key", "one")];
    for replayed in ["", "true"] {
        let body = list(&manifest, "500");
        let said =
            stage.bench.send_json("POST", "/api/v1/claims", stage.key("sue"), &key, &body).await.expect(201);
        assert_eq!(said.header("idempotency-replayed"), replayed);
    }
    assert_eq!(stage.see(None, "/claims?status=funding").await["items"].as_array().unwrap().len(), 1);
    assert_eq!(stage.see(None, "/claims?status=settled").await["items"], json!([]));
    stage.post("fay", "/claims/c1/fund", json!({ "amount": "100" })).await.expect(200);
    stage.bare("fay", "/claims/c1/withdraw").await.expect(200);
    assert_eq!(stage.bare("amy", "/claims/c1/withdraw").await.expect(403).code(), "not_yours");
    stage.bare("amy", "/claims/c1/positions").await.expect(200);
    assert_eq!(stage.bare("amy", "/claims/c1/draws").await.expect(409).code(), "no_draw_due");
    let proof = json!({ "signature": "" });
    assert_eq!(stage.post("amy", "/claims/c1/draws/resolve", proof).await.expect(409).code(), "no_draw");
    for path in ["/claims/c1/appeal", "/claims/c9/withdraw", "/claims/c1/tick"] {
        let said = stage.bare("amy", path).await;
        let expected = match path {
            "/claims/c1/appeal" => (409, Some("wrong_phase")),
            "/claims/c9/withdraw" => (404, Some("unknown_claim")),
            _ => (200, None),
        };
        assert_eq!(said.status.as_u16(), expected.0);
        if let Some(code) = expected.1 {
            assert_eq!(said.code(), code);
        }
    }
    assert_eq!(stage.bare("amy", "/assignments/c1-runner/accept").await.expect(404).code(), "not_found");
    let future = json!({ "round": "999999999999", "signature": "" });
    assert_eq!(stage.post("amy", "/beacons", future).await.expect(409).code(), "round_not_due");
    stage.post("amy", "/beacons", json!({ "round": "1", "signature": "" })).await.expect(200);
    let canary = json!({ "salt": Digest::of(b"x") });
    assert_eq!(stage.post("admin", "/claims/c1/canary", canary).await.expect(409).code(), "wrong_phase");
    let again = list(&manifest, "500");
    assert_eq!(stage.post("sue", "/claims/c1/relist", again).await.expect(409).code(), "wrong_phase");
    let bound = json!({ "key": secret("amy").public(), "capabilities": [] });
    assert_eq!(stage.post("amy", "/claims/agents", bound).await.expect(409).code(), "agent_exists");
    // Nobody funds it: by time alone everything goes back.
    stage.wait(90 * 24 * HOUR).await;
    assert_eq!(stage.status().await, "withdrawn");
    assert_eq!(stage.total().await, 239_000);
    assert_eq!(stage.see(None, "/claims/c1").await["outcome"], "unfunded");
}

#[tokio::test]
async fn a_shown_round_resolves_the_draw_that_waits_for_it() {
    let mut stage = Stage::new().await;
    let body = json!({ "manifest": stage.manifest().await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    stage.post("fay", "/claims/c1/fund", json!({ "amount": "3500" })).await.expect(200);
    let draw = stage.see(None, "/claims/c1/draws").await["committed"].clone();
    assert_eq!(draw["purpose"], "runner");
    assert!(draw["pool"].as_array().unwrap().len() >= 9);
    let round = json!({ "round": draw["round"], "signature": "" });
    assert_eq!(stage.post("amy", "/beacons", round.clone()).await.expect(409).code(), "round_not_due");
    stage.wait(60).await;
    assert_eq!(stage.status().await, "drawing");
    stage.post("amy", "/beacons", round).await.expect(200);
    stage.wait(1).await;
    assert_eq!(stage.status().await, "offered");
    let runner = stage.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned();
    let own = stage.see(Some(&runner), "/assignments").await;
    assert_eq!(own["items"][0]["assignment"], "c1-runner");
    stage.post(&runner, "/assignments/c1-runner/decline", json!({ "reason": "busy" })).await.expect(200);
    assert_eq!(stage.status().await, "drawing");
    assert_eq!(stage.see(Some(&runner), "/assignments").await["items"], json!([]));
}

#[tokio::test]
async fn a_round_of_drand_is_taken_by_its_signature_alone() {
    const ROUND: &str = "1000";
    const SIGNATURE: &str =
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";
    let bench = Bench::at(START);
    let key = bench.agent("amy", "op-amy", &["submit"]).await;
    let key = Some(key.as_str());
    let about = bench.get("/api/v1/beacons", None).await.expect(200).json();
    assert_eq!((&about["instance"], &about["beacon"]), (&json!("arena"), &json!("drand-quicknet")));
    let round = |round: &str| json!({ "round": round, "signature": SIGNATURE });
    bench.post("/api/v1/beacons", None, &round(ROUND)).await.expect(401);
    // Nobody has a part of drand's rounds to reveal here.
    let preimage = json!({ "round": "1", "preimage": "ab".repeat(32) });
    let refused = bench.post("/api/v1/beacons/preimages", key, &preimage).await.expect(403);
    assert_eq!(refused.code(), "no_party");
    bench.post("/api/v1/beacons/preimages", None, &preimage).await.expect(401);
    bench
        .post("/api/v1/beacons/preimages", key, &json!({ "round": "1", "preimage": "ab" }))
        .await
        .expect(422);
    let other = (ROUND.parse::<u64>().unwrap() + 1).to_string();
    assert_eq!(bench.post("/api/v1/beacons", key, &round(&other)).await.expect(422).code(), "draw_refused");
    assert!(bench.get("/api/v1/beacons", None).await.expect(200).json()["latest"].is_null());
    for _ in 0..2 {
        bench.post("/api/v1/beacons", key, &round(ROUND)).await.expect(200);
        assert_eq!(bench.get("/api/v1/beacons", None).await.expect(200).json()["latest"]["round"], ROUND);
        bench.restart();
    }
}

/// Each command of the life of a claim has exactly one route. A new command does not compile until it is here.
#[tokio::test]
async fn every_command_has_exactly_one_route() {
    use arena_claims::life::Command as C;
    let route = |command: &C| match command {
        C::Register { .. } => "/api/v1/claims/agents",
        C::Deposit { .. } => "/api/v1/deposits",
        C::PayOut { .. } => "/api/v1/payouts",
        C::DeclarePosition { .. } => "/api/v1/claims/{claim}/positions",
        C::List { .. } => "/api/v1/claims",
        C::Fund { .. } => "/api/v1/claims/{claim}/fund",
        C::Withdraw { .. } => "/api/v1/claims/{claim}/withdraw",
        C::RevealRound { .. } => "/api/v1/beacons/preimages",
        C::CommitDraw { .. } => "/api/v1/claims/{claim}/draws",
        C::ResolveDraw { .. } => "/api/v1/claims/{claim}/draws/resolve",
        C::Accept { .. } => "/api/v1/assignments/{assignment}/accept",
        C::Decline { .. } => "/api/v1/assignments/{assignment}/decline",
        C::CheckInputs { .. } => "/api/v1/runs",
        C::CommitRun { .. } => "/api/v1/runs/{run}/commitment",
        C::CommitChallenge { .. } => "/api/v1/runs/{run}/challenges",
        C::Reveal { .. } => "/api/v1/runs/{run}/reveal",
        C::CommitVote { .. } => "/api/v1/panels/{panel}/votes",
        C::RevealVote { .. } => "/api/v1/panels/{panel}/votes/reveal",
        C::Appeal { .. } => "/api/v1/claims/{claim}/appeal",
        C::PublishReference { .. } => "/api/v1/claims/{claim}/reference",
        C::Relist { .. } => "/api/v1/claims/{claim}/relist",
        C::OpenCanary { .. } => "/api/v1/claims/{claim}/canary",
        C::Tick { .. } => "/api/v1/claims/{claim}/tick",
    };
    let (claim, zero, none) = (String::new, Digest::of(b""), || Value::Null);
    let amount = arena_ledger::Amount::ZERO;
    let all = [
        C::Register { operator: claim(), key: zero, capabilities: Vec::new() },
        C::Deposit { amount },
        C::PayOut { amount },
        C::DeclarePosition { claim: claim() },
        C::List { claim: claim(), manifest: none(), deposit: amount, canary: None },
        C::Fund { claim: claim(), amount },
        C::Withdraw { claim: claim() },
        C::RevealRound { round: 1, preimage: zero },
        C::CommitDraw { claim: claim() },
        C::ResolveDraw { claim: claim(), proof: Vec::new() },
        C::Accept { claim: claim() },
        C::Decline { claim: claim(), reason: None },
        C::CheckInputs { claim: claim(), found: Vec::new() },
        C::CommitRun { claim: claim(), digest: zero },
        C::CommitChallenge { claim: claim(), digest: zero },
        C::Reveal { claim: claim(), nonce: zero, envelope: none() },
        C::CommitVote { claim: claim(), digest: zero },
        C::RevealVote { claim: claim(), nonce: zero, ballot: none() },
        C::Appeal { claim: claim() },
        C::PublishReference { claim: claim(), records: Vec::new() },
        C::Relist { claim: claim(), manifest: none(), deposit: amount },
        C::OpenCanary { claim: claim(), salt: zero },
        C::Tick { claim: claim() },
    ];
    let mut routes: Vec<&str> = all.iter().map(route).collect();
    // A round is no command of a claim.
    routes.push("/api/v1/beacons");
    routes.sort_unstable();
    let bench = Bench::at(START);
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let posts = document["paths"].as_object().unwrap().iter().filter(|(_, path)| {
        path["post"]["tags"].as_array().is_some_and(|tags| tags.contains(&json!("claims")))
    });
    let mut documented: Vec<&str> = posts.map(|(path, _)| path.as_str()).collect();
    documented.sort_unstable();
    assert_eq!(documented, routes);
}

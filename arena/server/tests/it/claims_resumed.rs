//! A server that was down while claims were under way: whoever owes something still has a while for it.

use arena_claims::commitment::Sealed;
use arena_contests::Moment;
use serde_json::json;

use crate::claims_stage::{HOUR, Stage, amount, config};

/// A claim whose runner is drawn and has not answered; gives its name.
async fn offered(stage: &mut Stage) -> String {
    let body = json!({ "manifest": stage.manifest().await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    stage.post("fay", "/claims/c1/fund", json!({ "amount": "3500" })).await.expect(200);
    stage.resolve().await;
    stage.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned()
}

async fn free(stage: &Stage, name: &str) -> i64 {
    amount(&stage.see(Some(name), &format!("/claims/agents/{name}")).await["free"])
}

async fn times(stage: &Stage) -> String {
    stage.see(None, "/beacons").await["resumed"]["times"].as_str().unwrap().to_owned()
}

/// Every deadline on the way passes while the server is down.
#[tokio::test]
async fn nobody_loses_anything_by_a_deadline_that_the_server_missed() {
    let mut stage = Stage::new().await;
    stage.bench.restart_with(config()).unwrap();
    assert_eq!(times(&stage).await, "0", "nothing is under way");
    let runner = offered(&mut stage).await;
    stage.down(HOUR, config());
    stage.wait(1).await;
    stage.bare(&runner, "/assignments/c1-runner/accept").await.expect(200);
    stage.post(&runner, "/runs", json!({ "claim": "c1", "inputs": [] })).await.expect(200);
    stage.down(30 * HOUR, config());
    stage.wait(1).await;
    stage.commit(&runner, Sealed::Run, "10.0").await.expect(200);
    stage.resolve().await;
    let audit = stage.see(Some("admin"), "/claims/c1").await["audit"].clone();
    let auditor = audit["auditor"].as_str().expect("a first run is audited").to_owned();
    stage.down(HOUR, config());
    stage.wait(1).await;
    stage.bare(&auditor, "/assignments/c1-auditor/accept").await.expect(200);
    stage.down(30 * HOUR, config());
    stage.wait(1).await;
    assert_eq!(stage.status().await, "committed");
    stage.commit(&auditor, Sealed::Challenge, "10.0").await.expect(200);
    stage.wait(3 * HOUR).await;
    assert_eq!(stage.status().await, "revealing");
    stage.down(10 * HOUR, config());
    stage.wait(1).await;
    stage.reveal(&auditor, Sealed::Challenge, "10.0").await.expect(200);
    stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200);
    stage.wait(1).await;
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!((&seen["status"], &seen["outcome"]), (&json!("settled"), &json!("reproduced")), "{seen}");
    assert_eq!((free(&stage, &runner).await, free(&stage, &auditor).await), (21_000, 20_600));
    // Nothing is under way any more, and nobody is told of a start.
    assert_eq!(times(&stage).await, "5");
    stage.down(HOUR, config());
    assert_eq!(times(&stage).await, "5");
    let feed = stage.feed().await;
    assert_eq!(feed.matches("claim.resumed").count(), 5, "{feed}");
    assert!(!feed.contains("role_vacated"), "{feed}");
}

/// The while is that of an offer, no more, and no deadline comes sooner than it would have.
#[tokio::test]
async fn who_does_nothing_after_a_start_loses_what_it_would_have_lost() {
    let mut stage = Stage::new().await;
    let runner = offered(&mut stage).await;
    let until = |seen: serde_json::Value| -> Moment { seen["until"].as_str().unwrap().parse().unwrap() };
    stage.down(HOUR, config());
    assert_eq!(until(stage.see(None, "/claims/c1").await), stage.now.plus_ms(1_800_000));
    stage.wait(1_799).await;
    assert_eq!((stage.status().await, free(&stage, &runner).await), ("offered".to_owned(), 16_000));
    stage.wait(1).await;
    assert_eq!(stage.status().await, "drawing");
    assert!(stage.feed().await.contains("claim.role_vacated") && free(&stage, &runner).await < 20_000);
    // A week is left for the next draw: a start does not move it.
    let later = until(stage.see(None, "/claims/c1").await);
    stage.down(HOUR, config());
    assert_eq!(until(stage.see(None, "/claims/c1").await), later);
}

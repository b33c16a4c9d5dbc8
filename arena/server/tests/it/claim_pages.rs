//! The pages of claims: what each period shows, to whom, and the forms.

use arena_claims::commitment::Sealed;
use axum::body::Body;
use serde_json::json;

use crate::audit::audit;
use crate::claims_stage::{START, Stage, config};
use crate::play::{Browser, csrf};
use crate::support::{Bench, request};

#[tokio::test]
async fn the_pages_are_there_before_anything_is() {
    let bench = Bench::with(START, config());
    let mut anybody = Browser::new(&bench);
    assert!(anybody.see("/claims").await.expect(200).text.contains("no such claim yet"));
    anybody.see("/claims?status=funding").await.expect(200);
    anybody.see("/claims?status=F").await.expect(400);
    anybody.see("/claims/c1").await.expect(404);
    anybody.see("/claims/nonsense").await.expect(404);
    bench.send(request("POST", "/claims/c1/fund", None).body(Body::empty()).unwrap()).await.expect(415);
}

#[tokio::test]
async fn a_claim_is_told_at_each_of_its_times_and_seals_what_is_sealed() {
    let mut stage = Stage::new().await;
    let runner = stage.run("10.0").await;
    let mut anybody = Browser::new(&stage.bench);
    let quiet = anybody.see("/claims/c1").await.expect(200).text;
    for told in [
        "nobody sees who did",
        "x comes to ten",
        "value=\"4000\"",
        "<pre><code>arena draw verify TRANSCRIPT --log-key KEY</code></pre>",
        "that is pinned below, without any input, finds these metrics",
        "<dt>Component</dt>",
        "<span class=\"quantity\">1\u{202f}000\u{202f}000</span> units of fuel",
        &runner,
        "sealed until the window closes",
    ] {
        assert!(quiet.contains(told), "{told} is missing\n{quiet}");
    }
    let all = anybody.see("/claims").await.expect(200).text;
    let command = "<pre><code>arena verify --receipt FILE --server URL --log-key KEY</code></pre>";
    assert!(all.contains("/claims/c1") && all.contains(command), "{all}");
    for page in [&quiet, &all] {
        assert_eq!(audit(page), Vec::<String>::new());
    }
    let volunteers = stage.volunteers().await;
    stage.commit(&volunteers[0], Sealed::Challenge, "11.0").await.expect(200);
    let mut anybody = Browser::new(&stage.bench);
    assert_eq!(anybody.see("/claims/c1").await.expect(200).text, quiet, "nothing tells of a challenge");
    let mut other = Browser::new(&stage.bench);
    other.sign_in(&volunteers[1]).await.expect(303);
    let page = other.see("/claims/c1").await.expect(200).text;
    assert!(page.contains("What you may do") && page.contains("Who challenges is sealed"));
    let listed = page.split("Run and challenges").nth(1).unwrap();
    assert!(!listed.contains(&volunteers[0]), "{listed}");
    let mut own = Browser::new(&stage.bench);
    own.sign_in(&volunteers[0]).await.expect(303);
    assert!(own.see("/claims/c1").await.expect(200).text.contains("value=\"2500\""));
    stage.wait(30 * 3_600).await;
    stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200);
    let mut anybody = Browser::new(&stage.bench);
    let page = anybody.see("/claims/c1").await.expect(200).text;
    assert!(page.contains("sealed for you") && page.contains("is revealed now"));
    stage.reveal(&volunteers[0], Sealed::Challenge, "11.0").await.expect(200);
    stage.wait(7 * 3_600).await;
    assert_eq!(stage.status().await, "reference");
    let mut anybody = Browser::new(&stage.bench);
    let page = anybody.see("/claims/c1").await.expect(200).text;
    assert!(page.contains("two host configurations") && !page.contains("Row by row"));
    let mut party = Browser::new(&stage.bench);
    party.sign_in(&runner).await.expect(303);
    assert!(party.see("/claims/c1").await.expect(200).text.contains("Row by row"));
    // Nobody publishes: by time alone it ends, and then everybody sees everything.
    stage.wait(60 * 24 * 3_600).await;
    let mut anybody = Browser::new(&stage.bench);
    let page = anybody.see("/claims/c1").await.expect(200).text;
    assert!(
        page.contains("Row by row") && page.contains("Every movement") && page.contains("beyond"),
        "{page}"
    );
    assert_eq!(stage.total().await + treasury(&page), 240_000);
}

/// A claimed binary64 is a number to people and bits to programs.
#[tokio::test]
async fn a_claimed_binary64_is_shown_as_the_number_it_is() {
    let stage = Stage::new().await;
    let mut manifest = stage.manifest().await;
    let exact = json!({ "mode": "exact" });
    manifest["metrics"] = json!([{ "name": "share", "kind": "f64", "claim": "3fd5555555555555",
        "claim_tol": exact, "rerun_tol": exact }]);
    stage.post("sue", "/claims", json!({ "manifest": manifest, "deposit": "500" })).await.expect(201);
    let page = Browser::new(&stage.bench).see("/claims/c1").await.expect(200).text;
    assert!(page.contains("title=\"bits 3fd5555555555555\">0.3333333333333333<"), "{page}");
    assert!(!page.contains(">3fd5555555555555<"), "{page}");
    assert_eq!(audit(&page), Vec::<String>::new());
}

/// What the treasury gained, as the page says.
fn treasury(page: &str) -> i64 {
    let rows = page.split("<tr").filter(|row| row.contains("the treasury"));
    rows.map(|row| {
        let value = row.split("<data").nth(1).and_then(|data| data.split("value=\"").nth(1)).unwrap();
        value.split('"').next().unwrap().parse::<i64>().unwrap()
    })
    .sum()
}

#[tokio::test]
async fn a_person_funds_and_takes_back_and_accepts_with_forms() {
    let mut stage = Stage::new().await;
    let body = serde_json::json!({ "manifest": stage.manifest().await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    let mut fay = Browser::new(&stage.bench);
    fay.sign_in("fay").await.expect(303);
    let page = fay.see("/claims/c1").await.expect(200).text;
    let token = csrf(&page);
    assert!(page.contains("Add to the pool") && !page.contains("Take your contribution back"));
    fay.post("/claims/c1/fund", &[("csrf", "wrong"), ("amount", "100")]).await.expect(403);
    let refused = fay.post("/claims/c1/fund", &[("csrf", &token), ("amount", "x")]).await.expect(422).text;
    assert!(refused.contains("whole number"));
    let refused =
        fay.post("/claims/c1/fund", &[("csrf", &token), ("amount", "999999")]).await.expect(409).text;
    assert!(refused.contains("ledger"), "{refused}");
    fay.post("/claims/c1/fund", &[("csrf", &token), ("amount", "100")]).await.expect(303);
    assert!(fay.see("/claims/c1").await.expect(200).text.contains("Take your contribution back"));
    fay.post("/claims/c1/withdraw", &[("csrf", &token)]).await.expect(303);
    fay.post("/claims/c1/nothing", &[("csrf", &token)]).await.expect(404);
    fay.post("/claims/c1/accept", &[("csrf", &token)]).await.expect(404);
    fay.post("/claims/c1/fund", &[("csrf", &token), ("amount", "3500")]).await.expect(303);
    drop(fay);
    stage.resolve().await;
    let runner = stage.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned();
    let mut own = Browser::new(&stage.bench);
    own.sign_in(&runner).await.expect(303);
    let page = own.see("/claims/c1").await.expect(200).text;
    assert!(page.contains("You were drawn as runner") && page.contains("Accept the assignment"));
    let token = csrf(&page);
    let done = own.post("/claims/c1/accept", &[("csrf", &token)]).await.expect(303);
    assert_eq!(done.header("location"), "/claims/c1");
    assert_eq!(stage.status().await, "running");
}

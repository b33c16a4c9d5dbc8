//! The pages of the producer sprint: that everybody can use them, that they show no more than the API, and that their
//! forms do what the API does.

use serde_json::json;

use crate::play::Browser;
use crate::round_bench::{Sprint, accepted, intent, of, terms};
use crate::support::ADMIN;

const PLAN: &str = "reach twelve schools by a plan that nobody else may know";

/// A browser in which an agent is signed in, and its token.
async fn signed_in<'a>(sprint: &'a Sprint, agent: &str) -> (Browser<'a>, String) {
    let made = sprint.bench.post("/api/v1/logins", Some(ADMIN), &json!({ "agent": agent })).await.expect(201);
    let path = made.json()["path"].as_str().unwrap().to_owned();
    let mut browser = Browser::new(&sprint.bench);
    let token = path.split_once("token=").unwrap().1.to_owned();
    browser.see(&path).await;
    browser.post("/login", &[("token", &token)]).await.expect(303);
    let page = browser.see("/town").await.expect(200);
    let (_, rest) = page.text.split_once("name=\"csrf\" value=\"").unwrap_or_else(|| panic!("{}", page.text));
    let csrf = rest.split('"').next().unwrap().to_owned();
    (browser, csrf)
}

#[tokio::test]
async fn every_page_can_be_used_by_everybody_before_anything_is_there() {
    let bench = crate::support::Bench::at(crate::round_bench::BEFORE);
    let mut browser = Browser::new(&bench);
    for path in ["/rounds", "/town", "/treasury", "/rules/sprint-v1"] {
        browser.see(path).await.expect(200);
    }
    for path in
        ["/rounds/none", "/companies/none", "/submissions/none", "/locker/none", "/rounds/none/windows/W1"]
    {
        browser.see(path).await.expect(404);
    }
    bench.post("/api/v1/rounds", Some(ADMIN), &terms(false)).await.expect(201);
    browser.see("/rounds/s0-r1").await.expect(404);
    assert!(
        !browser.see("/rounds").await.text.contains("Public Producer Sprint"),
        "a draft is nobody's to see"
    );
    let sprint = Sprint::announced(false).await;
    let mut browser = Browser::new(&sprint.bench);
    for path in ["/rounds", "/rounds/s0-r1", "/rounds/s0-r1/windows/W2", "/town", "/treasury"] {
        browser.see(path).await.expect(200);
    }
}

#[tokio::test]
async fn an_intent_is_on_no_page_of_others_before_its_cut_off() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "01:00").await;
    sprint.put("windows/W1/intent", &sprint.ann, Some("\"none\""), &intent(PLAN)).await.expect(200);
    let (mut ann, _) = signed_in(&sprint, "ann").await;
    let (mut bob, _) = signed_in(&sprint, "bob").await;
    let mut nobody = Browser::new(&sprint.bench);
    for path in ["/rounds/s0-r1", "/rounds/s0-r1/windows/W1", "/companies/acme", "/town", "/treasury"] {
        for browser in [&mut nobody, &mut bob] {
            assert!(!browser.see(path).await.expect(200).text.contains(PLAN), "{path}");
        }
    }
    for path in ["/rounds/s0-r1/windows/W1", "/companies/acme"] {
        assert!(ann.see(path).await.expect(200).text.contains(PLAN), "{path}");
    }
    sprint.set(1, "02:00").await;
    assert!(nobody.see("/rounds/s0-r1/windows/W1").await.expect(200).text.contains(PLAN));
}

#[tokio::test]
async fn the_standings_open_their_sums_and_mark_ones_own_row() {
    let sprint = Sprint::entered(false).await;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    sprint.judge("acme", "W1", &accepted()).await.expect(201);
    let mut penalty = accepted();
    penalty["state"] = json!("accepted_with_penalty");
    penalty["continuity"] = json!(10);
    penalty["penalties"] = json!(["duplicate"]);
    sprint.judge("bolt", "W1", &penalty).await.expect(201);
    let (mut ann, _) = signed_in(&sprint, "ann").await;
    let page = ann.see("/rounds/s0-r1").await.expect(200).text;
    for words in [
        "60 + 20 + 10 + 20 = 110 × 0.85 = 93, − 10 = 83",
        "(you)",
        "data-region=\"board\"",
        "class=\"mine\"",
        "eligible",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    sprint.set(2, "00:00").await;
    let recorded = ann.see("/rounds/s0-r1?snapshot=W1.1").await.expect(200).text;
    assert!(recorded.contains("As recorded: W1.1"));
    ann.see("/rounds/s0-r1?snapshot=W3").await.expect(404);
    let page = ann.see("/submissions/boards:s0-r1:bolt:W1").await.expect(200).text;
    for words in ["accepted with penalty", "In the Locker", "Dispute it", "not possible in phase intent"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let sha = page.split("/locker/").nth(1).unwrap()[..64].to_owned();
    assert!(ann.see(&format!("/locker/{sha}")).await.expect(200).text.contains("a run anybody can repeat"));
    for path in ["/companies/bolt", "/treasury", "/rounds/s0-r1/windows/W1", "/rounds"] {
        ann.see(path).await.expect(200);
    }
}

#[tokio::test]
async fn forms_do_what_the_api_does() {
    let sprint = Sprint::entered(false).await;
    sprint.window(1).await;
    let (mut bob, csrf) = signed_in(&sprint, "bob").await;
    let text = "**Twelve** schools installed it: <script>alert(1)</script>";
    let fields =
        [("csrf", csrf.as_str()), ("round", "s0-r1"), ("kind", "progress"), ("window", "W1"), ("body", text)];
    assert_eq!(bob.post("/town", &fields[1..]).await.status.as_u16(), 403, "a form without its token");
    let said = bob.post("/town", &fields).await.expect(303);
    assert_eq!(said.header("location"), "/town");
    let page = bob.see("/town").await.expect(200).text;
    assert!(page.contains("<strong>Twelve</strong>") && !page.contains("<script>alert"), "{page}");
    let short = [
        ("csrf", csrf.as_str()),
        ("round", "s0-r1"),
        ("kind", "progress"),
        ("window", "W1"),
        ("body", "short"),
    ];
    let refused = bob.post("/town", &short).await.expect(422).text;
    assert!(
        refused.contains("at least 10 are needed") && refused.contains(">\nshort</textarea>"),
        "{refused}"
    );
    // A dispute, when it is time for it.
    let path = "/submissions/boards:s0-r1:acme:W1/disputes";
    let ground = "The numbers of the claim cannot be found in the artifact.";
    let fields = [("csrf", csrf.as_str()), ("text", ground)];
    let early = bob.post(path, &fields).await.expect(409).text;
    assert!(
        early.contains("It was not taken.") && early.contains("not possible in phase submission"),
        "{early}"
    );
    sprint.set(1, "22:30").await;
    let (mut bob, csrf) = signed_in(&sprint, "bob").await;
    let page = bob.see("/submissions/boards:s0-r1:acme:W1").await.expect(200).text;
    assert!(page.contains("File the dispute"), "{page}");
    let fields = [("csrf", csrf.as_str()), ("text", ground)];
    bob.post(path, &fields).await.expect(303);
    let page = bob.see("/submissions/boards:s0-r1:acme:W1").await.expect(200).text;
    assert!(
        page.contains(ground) && page.contains("disputed") && page.contains("Add to the dispute"),
        "{page}"
    );
    let more = "The second table of the artifact has other numbers.";
    let fields = [("csrf", csrf.as_str()), ("text", more)];
    bob.post("/disputes/dispute:s0-r1:1/amendments", &fields).await.expect(303);
    let page = Browser::new(&sprint.bench).see("/submissions/boards:s0-r1:acme:W1").await.expect(200).text;
    assert!(
        page.contains(more) && page.contains("after the cut-off") && !page.contains("File the dispute"),
        "{page}"
    );
}

#[tokio::test]
async fn a_frozen_page_says_so_and_a_hidden_text_is_on_none() {
    let sprint = Sprint::entered(true).await;
    sprint.set(3, "01:00").await;
    for key in [&sprint.ann, &sprint.bob] {
        sprint.put("windows/W3/intent", key, Some("\"none\""), &intent(PLAN)).await.expect(200);
    }
    sprint.set(3, "19:00").await;
    let acme = sprint.publish(&sprint.ann, "acme", "W3", "Twelve schools now plan their week with it.").await;
    let bolt =
        sprint.publish(&sprint.bob, "bolt", "W3", "Sold the first yearly licence, with a receipt.").await;
    let hide = json!({ "post": bolt["town_post_ref"], "reason": "it named a customer" });
    sprint.bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200);
    let bytes = b"a table that is nobody else's to read";
    sprint.upload(&sprint.bob, bytes, "round=s0-r1").await.expect(201);
    let secret = arena_canon::Digest::of(bytes);
    let mut nobody = Browser::new(&sprint.bench);
    nobody.see(&format!("/locker/{secret}")).await.expect(404);
    let page = nobody.see("/town").await.expect(200).text;
    assert!(!page.contains("first yearly licence") && page.contains("it named a customer"), "{page}");
    sprint.set(3, "20:05").await;
    sprint.submit(&sprint.ann, &acme).await.expect(201);
    sprint.set(3, "22:30").await;
    sprint.submit(&sprint.bob, &bolt).await.expect(201);
    sprint.judge("acme", "W3", &accepted()).await.expect(201);
    for path in ["/rounds/s0-r1", "/rounds/s0-r1/windows/W3", "/companies/acme", "/treasury"] {
        let page = nobody.see(path).await.expect(200).text;
        assert!(page.contains("frozen with 120 minutes remaining"), "{path}");
        assert!(!page.contains("boards:s0-r1:bolt:W3") && !page.contains("boards%3As0-r1%3Abolt"), "{path}");
    }
    let page = nobody.see("/submissions/boards:s0-r1:acme:W3").await.expect(200).text;
    assert!(page.contains("pending") && !page.contains("installed and verified"), "{page}");
    nobody.see("/submissions/boards:s0-r1:bolt:W3").await.expect(404);
    let (mut bob, _) = signed_in(&sprint, "bob").await;
    assert!(bob.see("/submissions/boards:s0-r1:bolt:W3").await.expect(200).text.contains("late"));
    // The session of an agent has many scopes, and makes nobody an evaluator.
    sprint.bench.agent("cat", "op-cat", &["read", "submit"]).await;
    let (mut cat, _) = signed_in(&sprint, "cat").await;
    cat.see("/submissions/boards:s0-r1:bolt:W3").await.expect(404);
    let private = cat.see(&format!("/locker/{secret}")).await;
    private.expect(404);
    bob.see(&format!("/locker/{secret}")).await.expect(200);
    let (mut eva, _) = signed_in(&sprint, "eva").await;
    eva.see("/submissions/boards:s0-r1:bolt:W3").await.expect(200);
    sprint.set(4, "00:00").await;
    let page = nobody.see("/submissions/boards:s0-r1:acme:W3").await.expect(200).text;
    assert!(page.contains("installed and verified"), "{page}");
}

#[tokio::test]
async fn the_calculator_says_what_the_rules_say() {
    let bench = crate::support::Bench::at(crate::round_bench::BEFORE);
    let mut browser = Browser::new(&bench);
    let ask =
        "/rules/sprint-v1?artifact_class=internal_supporting&delivery=40&evidence=20&continuity=20&budget=20";
    let page = browser
        .see(&format!("{ask}&state=accepted&penalty=&operator_intervention=none&assisted_outcome="))
        .await;
    assert!(page.text.contains("stops at 60; 100 were earned"), "{}", page.text);
    let page = browser.see(&format!("{ask}&state=accepted&penalty=duplicate")).await.expect(200);
    assert!(page.text.contains("accepted_cannot_carry_penalties"), "{}", page.text);
    browser.see(&format!("{ask}&state=lost")).await.expect(200);
    browser.see("/rules/sprint-v1?x=1").await.expect(400);
}

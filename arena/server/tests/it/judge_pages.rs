//! The forms of those who judge and of whoever runs the platform: they do what the API does, and nobody else has them.

use serde_json::{Value, json};

use crate::play::{Browser, csrf};
use crate::round_bench::{BEFORE, Sprint, of};
use crate::support::{ADMIN, Bench};

const SUBMISSION: &str = "/submissions/boards:s0-r1:acme:W1";

/// A browser in which an agent is signed in, or the admin.
async fn signed_in<'a>(bench: &'a Bench, agent: Option<&str>) -> Browser<'a> {
    let made = bench.post("/api/v1/logins", Some(ADMIN), &json!({ "agent": agent })).await.expect(201).json();
    let token = made["path"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let mut browser = Browser::new(bench);
    browser.post("/login", &[("token", &token)]).await.expect(303);
    browser
}

fn verdict<'a>(token: &'a str, state: &'a str, delivery: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("csrf", token),
        ("state", state),
        ("assisted_outcome", ""),
        ("delivery", delivery),
        ("evidence", "20"),
        ("continuity", "20"),
        ("budget", "20"),
        ("rationale", "installed and verified"),
        ("external_effect", ""),
    ]
}

async fn state(sprint: &Sprint) -> Value {
    sprint.bench.get(&format!("/api/v1{SUBMISSION}"), None).await.expect(200).json()["state"].clone()
}

#[tokio::test]
async fn an_evaluator_judges_and_rules_by_forms() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    let mut eva = signed_in(bench, Some("eva")).await;
    let page = eva.see(SUBMISSION).await.expect(200).text;
    assert!(page.contains("Judge the submission") && page.contains("Evidence: at most 20"), "{page}");
    let token = csrf(&page);
    let path = format!("{SUBMISSION}/judgements");
    let refused = eva.post(&path, &verdict(&token, "accepted", "40")).await.expect(422).text;
    for words in ["It was not taken", "installed and verified", "value=\"40\" selected"] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    assert_eq!(state(&sprint).await, "pending");
    let mut penal = verdict(&token, "rejected", "0");
    penal.push(("claim_mismatch", "on"));
    let done = eva.post(&path, &penal).await.expect(303);
    assert_eq!(done.header("location"), SUBMISSION);
    assert_eq!(state(&sprint).await, "rejected");
    // The company disputes it, and the evaluator rules.
    let ground = json!({ "ground": "The numbers of the claim are those of the second run." });
    bench.post(&format!("/api/v1{SUBMISSION}/disputes"), Some(&sprint.ann), &ground).await.expect(201);
    let page = eva.see(SUBMISSION).await.expect(200).text;
    assert!(page.contains("Rule on the dispute"), "{page}");
    let mut upheld = verdict(&token, "accepted", "60");
    upheld.push(("ruling", "upheld"));
    let path = "/disputes/dispute:s0-r1:1/ruling";
    let mut lost = upheld.clone();
    lost[1].1 = "lost";
    assert!(eva.post(path, &lost).await.expect(422).text.contains("no state has this name"));
    eva.post(path, &upheld).await.expect(303);
    assert_eq!(state(&sprint).await, "accepted");
    let page = eva.see(SUBMISSION).await.expect(200).text;
    assert!(!page.contains("Rule on the dispute"), "it is ruled");
}

#[tokio::test]
async fn nobody_else_judges() {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    bench.agent("kin", "op-ann", &["read", "judge"]).await;
    // Any agent's session has the scope to judge; without a key to judge by it judges nothing.
    bench.agent("zed", "op-zed", &["read", "play"]).await;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    let path = format!("{SUBMISSION}/judgements");
    for (who, status) in [(Some("ann"), 403), (Some("kin"), 403), (Some("zed"), 403), (None, 403)] {
        let mut browser = signed_in(bench, who).await;
        let page = browser.see(SUBMISSION).await.expect(200).text;
        assert!(!page.contains("Judge the submission"), "{who:?}");
        let token = csrf(&page);
        browser.post(&path, &verdict(&token, "accepted", "60")).await.expect(status);
    }
    let mut nobody = Browser::new(bench);
    assert!(!nobody.see(SUBMISSION).await.text.contains("Judge the submission"));
    nobody.post(&path, &verdict("", "accepted", "60")).await.expect(401);
    assert_eq!(state(&sprint).await, "pending");
}

fn terms<'a>(token: &'a str, id: &'a str, start: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("csrf", token),
        ("id", id),
        ("title", "A sprint by form"),
        ("start", start),
        ("asset", "EXO"),
        ("entrants_max", "8"),
        ("base_budget_atomic", "200000000"),
        ("hold_cap_atomic", "50000000"),
        ("stake_min_atomic", "1000000"),
        ("dispute_stake_atomic", "500000"),
        ("stake_policy", "burn"),
        ("placements", "60000000 30000000"),
        ("external_window_atomic", "5000000"),
        ("hygiene_atomic", "2000000"),
    ]
}

#[tokio::test]
async fn the_admin_makes_a_round_and_runs_it_by_forms() {
    let bench = Bench::at(BEFORE);
    let mut admin = signed_in(&bench, None).await;
    let token = csrf(&admin.see("/rounds").await.expect(200).text);
    let refused = admin.post("/rounds", &terms(&token, "by-form", "tomorrow")).await.expect(422).text;
    assert!(refused.contains("It was not taken") && refused.contains("value=\"by-form\""), "{refused}");
    let made = admin.post("/rounds", &terms(&token, "by-form", "2026-07-09")).await.expect(303);
    assert_eq!(made.header("location"), "/rounds/by-form");
    assert!(admin.see("/rounds/by-form").await.expect(200).text.contains("Announce the round"));
    bench.get("/api/v1/rounds/by-form", None).await.expect(404);
    let run = |verb: &'static str, more: &[(&'static str, &'static str)]| {
        let mut fields = vec![("csrf", token.clone()), ("do", verb.to_owned())];
        fields.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        fields
    };
    for (fields, status) in [
        (run("settle", &[]), 409),
        (run("judge", &[]), 422),
        (run("announce", &[]), 303),
        (run("announce", &[]), 409),
        (run("cancel", &[("reason", "x")]), 422),
        (run("cancel", &[("reason", "nobody came to judge")]), 303),
    ] {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        admin.post("/rounds/by-form/run", &fields).await.expect(status);
    }
    let round = bench.get("/api/v1/rounds/by-form", None).await.expect(200).json();
    assert_eq!(round["status"], "cancelled");
}

#[tokio::test]
async fn approvals_are_given_by_a_form_and_nobody_else_runs_a_round() {
    let sprint = Sprint::announced(false).await;
    let bench = &sprint.bench;
    sprint.set(0, "01:00").await;
    let entry = crate::round_bench::register("acme");
    bench.post(&of("entries"), Some(&sprint.ann), &entry).await.expect(201);
    let mut admin = signed_in(bench, None).await;
    let page = admin.see("/rounds/s0-r1").await.expect(200).text;
    assert!(page.contains("Approve town for acme"), "{page}");
    let token = csrf(&page);
    let approve = [
        ("csrf", token.as_str()),
        ("do", "approve"),
        ("company", "acme"),
        ("rail", "town"),
        ("agent", "ann"),
    ];
    admin.post("/rounds/s0-r1/run", &approve).await.expect(303);
    assert!(!admin.see("/rounds/s0-r1").await.text.contains("Approve town for acme"));
    for who in ["ann", "eva"] {
        let mut browser = signed_in(bench, Some(who)).await;
        let page = browser.see("/rounds/s0-r1").await.expect(200).text;
        assert!(!page.contains("Run it") && !page.contains("Approve locker"), "{who}");
        let token = csrf(&page);
        let cancel = [("csrf", token.as_str()), ("do", "cancel"), ("reason", "I would like that")];
        browser.post("/rounds/s0-r1/run", &cancel).await.expect(403);
        browser.post("/rounds", &terms(&token, "mine", "2026-07-09")).await.expect(403);
    }
}

#[tokio::test]
async fn the_boards_tell_what_is_called_for_and_what_came() {
    let sprint = Sprint::entered(true).await;
    let mut nobody = Browser::new(&sprint.bench);
    let page = nobody.see("/boards").await.expect(200).text;
    assert!(page.contains("Open calls") && page.contains("Nothing was submitted yet"), "{page}");
    sprint.window(1).await;
    let page = nobody.see("/boards").await.expect(200).text;
    assert!(page.contains("W1 of s0-r1") && page.contains("three schools installed"), "{page}");
    // What comes in the freeze is on no page.
    sprint.set(3, "01:00").await;
    sprint.intend(&sprint.ann, "W3").await;
    sprint.set(3, "19:00").await;
    let package = sprint.publish(&sprint.ann, "acme", "W3", "Twelve classes plan their week with it.").await;
    sprint.set(3, "22:05").await;
    sprint.submit(&sprint.ann, &package).await.expect(201);
    assert!(!nobody.see("/boards").await.text.contains("W3 of s0-r1"));
    let mut own = signed_in(&sprint.bench, Some("ann")).await;
    assert!(own.see("/boards").await.text.contains("W3 of s0-r1"));
}

#[tokio::test]
async fn the_town_comes_in_pages_and_each_post_once() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "03:00").await;
    for n in 0..12 {
        let post = json!({ "round": "s0-r1", "kind": "progress", "window": "W1", "body": format!("news number {n:02} of the day") });
        sprint.bench.post("/api/v1/town/posts", Some(&sprint.ann), &post).await.expect(201);
    }
    let mut nobody = Browser::new(&sprint.bench);
    let mut path = "/town?round=s0-r1&limit=5".to_owned();
    let mut told = String::new();
    let mut pages = 0;
    loop {
        let page = nobody.see(&path).await.expect(200).text;
        told.push_str(&page);
        pages += 1;
        let Some(next) = page.split("rel=\"next\"").next().filter(|_| page.contains("rel=\"next\"")) else {
            break;
        };
        let cursor = next.rsplit("cursor=").next().unwrap().split('"').next().unwrap();
        path = format!("/town?round=s0-r1&limit=5&cursor={cursor}");
    }
    assert_eq!(pages, 3);
    let places: Vec<usize> = (0..12).map(|n| told.find(&format!("news number {n:02}")).unwrap()).collect();
    assert!(places.is_sorted_by(|a, b| a > b), "the newest first: {places:?}");
    assert!((0..12).all(|n| told.matches(&format!("news number {n:02}")).count() == 1));
    nobody.see("/town?cursor=!").await.expect(400);
}

//! The forms of those who run a contest and judge what comes in: a form does what the API does, for whom the API does
//! it, and tells every fault beside its field.

use serde_json::{Value, json};

use crate::contests::{
    OPEN, SECRET_TEXT, SLUG, act, agent, feed, manifest, of, open, original, redline, submit,
};
use crate::play::{Browser, csrf};
use crate::support::{ADMIN, Bench, Said};

/// A browser of the admin, with the token of its forms.
async fn admin(bench: &Bench) -> (Browser<'_>, String) {
    let made = bench.post("/api/v1/logins", Some(ADMIN), &json!({})).await.expect(201).json();
    let path = made["path"].as_str().unwrap().to_owned();
    let mut browser = Browser::new(bench);
    let token = path.rsplit_once('=').unwrap().1.to_owned();
    let page = browser.see(&path).await.expect(200).text;
    browser.post("/login", &[("token", &token), ("csrf", &csrf(&page))]).await.expect(303);
    let token = csrf(&browser.see("/contests").await.expect(200).text);
    assert_eq!(token.len(), 64);
    (browser, token)
}

async fn signed_in<'a>(bench: &'a Bench, id: &str) -> (Browser<'a>, String) {
    let mut browser = Browser::new(bench);
    browser.sign_in(id).await.expect(303);
    let token = csrf(&browser.see("/contests").await.expect(200).text);
    (browser, token)
}

struct Desk<'a, 'b> {
    browser: &'b mut Browser<'a>,
    token: &'b str,
    path: String,
}

impl Desk<'_, '_> {
    async fn does(&mut self, action: &str, fields: &[(&str, &str)]) -> Said {
        let mut all = vec![("csrf", self.token), ("do", action)];
        all.extend_from_slice(fields);
        self.browser.post(&format!("{}/desk", self.path), &all).await
    }

    async fn page(&mut self) -> String {
        let path = self.path.clone();
        self.browser.see(&path).await.expect(200).text
    }
}

/// Whether a page has a form of an action.
fn offers(page: &str, action: &str) -> bool {
    page.contains(&format!("name=\"do\" value=\"{action}\""))
}

async fn status(bench: &Bench) -> String {
    bench.get(&of("manifest"), None).await.header("x-contest-status").to_owned()
}

#[tokio::test]
async fn a_person_proposes_opens_judges_and_closes_a_contest_without_a_script() {
    let bench = Bench::at(OPEN);
    let amy = agent(&bench, "amy").await;
    agent(&bench, "ben").await;
    let (mut founder, founder_token) = signed_in(&bench, "ben").await;
    let document = manifest(&json!({})).to_string();
    let fields = [("csrf", founder_token.as_str()), ("manifest", document.as_str())];
    let made = founder.post("/contests", &fields).await.expect(303);
    assert_eq!(made.header("location"), format!("/contests/{SLUG}"));
    let stored = bench.get(&of("manifest"), None).await.expect(200).json();
    assert_eq!(stored, manifest(&json!({})), "the document as it was given");
    let page = founder.see(&format!("/contests/{SLUG}")).await.expect(200).text;
    assert!(!page.contains("Run it") && !offers(&page, "activate-contest"), "{page}");

    let (mut browser, token) = admin(&bench).await;
    let mut desk = Desk { browser: &mut browser, token: &token, path: format!("/contests/{SLUG}") };
    assert!(offers(&desk.page().await, "activate-contest"));
    let done = desk.does("activate-contest", &[]).await.expect(303);
    assert_eq!((done.header("location"), status(&bench).await.as_str()), (desk.path.as_str(), "active"));
    let page = desk.page().await;
    for (action, is_there) in [
        ("activate-contest", false),
        ("close-submissions", true),
        ("register-clause", true),
        ("cancel", true),
        ("close", false),
    ] {
        assert_eq!(offers(&page, action), is_there, "{action}");
    }
    desk.does("register-clause", &[("rule_id", "CBR14"), ("text", "An agent acts\r\nwith care.")])
        .await
        .expect(303);
    let stale = bench.post(&of("submit"), Some(&amy), &redline("CBR14", "x y z")).await.expect(409);
    assert_eq!(stale.code(), "stale_clause", "the clause is what the form said");
    let id = submit(&bench, &amy, &redline("CBR15", "An agent acts with great care.")).await;
    desk.does("close-submissions", &[]).await.expect(303);
    assert_eq!(status(&bench).await, "judging");
    assert!(offers(&desk.page().await, "close"));
    judges_and_rewards(&bench, &mut browser, &token, &id).await;
    let mut desk = Desk { browser: &mut browser, token: &token, path: format!("/contests/{SLUG}") };
    desk.does("close", &[("reason", "all is judged")]).await.expect(303);
    assert_eq!(status(&bench).await, "closed");
    let page = desk.page().await;
    assert!(page.contains("all is judged") && page.contains("There is nothing left to do with it"), "{page}");
    let again = desk.does("close", &[("reason", "all is judged")]).await.expect(409).text;
    assert!(again.contains("Not where this can be done") || again.contains("closed"), "{again}");
}

async fn judges_and_rewards(bench: &Bench, browser: &mut Browser<'_>, token: &str, id: &str) {
    let told = async || bench.get(&of(&format!("submissions/{id}")), Some(ADMIN)).await.expect(200).json();
    let mut desk = Desk { browser, token, path: format!("/redlines/{id}") };
    let page = desk.page().await;
    assert!(offers(&page, "judge") && offers(&page, "score") && !offers(&page, "promise-reward"), "{page}");
    desk.does("score", &[("score", "7.5"), ("reason", "well drafted")]).await.expect(303);
    desk.does("judge", &[("decision", "accepted"), ("reason", "it is lawful")]).await.expect(303);
    assert_eq!((&told().await["score_tenths"], &told().await["status"]), (&json!(75), &json!("accepted")));
    desk.does("judge", &[("decision", "merged"), ("reason", "it is in")]).await.expect(303);
    assert!(!offers(&desk.page().await, "judge"), "nothing is left to decide");
    desk.does("promise-reward", &[("kind", "house-slot"), ("expires_at", "2027-12-31")]).await.expect(303);
    desk.does("promise-reward", &[("kind", "other"), ("expires_at", "")]).await.expect(303);
    let page = desk.page().await;
    assert!(offers(&page, "approve-payout") && !offers(&page, "fulfil-payout"), "{page}");
    let why = ("reason", "as promised");
    desk.does("approve-payout", &[("reward_id", "reward:1"), why]).await.expect(303);
    desk.does("fulfil-payout", &[("reward_id", "reward:1"), why]).await.expect(303);
    desk.does("decline-payout", &[("reward_id", "reward:2"), why]).await.expect(303);
    let rewards = told().await["rewards"].clone();
    let states: Vec<&str> =
        rewards.as_array().unwrap().iter().map(|reward| reward["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["fulfilled", "declined"]);
    assert!(rewards[0]["expires_at"].as_str().unwrap().starts_with("2027-12-31T00:00:00"));
    assert_eq!(rewards[1]["expires_at"], Value::Null);
}

#[tokio::test]
async fn a_refused_form_comes_back_with_every_fault_and_what_was_typed() {
    let bench = original().await;
    let amy = agent(&bench, "amy").await;
    let id = submit(&bench, &amy, &redline("CBR14", "An agent acts with great care.")).await;
    let (mut browser, token) = admin(&bench).await;
    let mut desk = Desk { browser: &mut browser, token: &token, path: format!("/redlines/{id}") };
    let page = desk.does("score", &[("score", "7.25"), ("reason", "</textarea><b>")]).await.expect(422).text;
    for told in ["expected 0 to 10 with at most one decimal", "value=\"7.25\"", "&lt;/textarea&gt;&lt;b&gt;"]
    {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(page.contains("href=\"#score-score\""), "{page}");
    let page = desk.does("judge", &[("reason", "no")]).await.expect(422).text;
    assert!(page.contains("href=\"#judge-decision-0\""), "{page}");
    let page = desk.does("judge", &[("decision", "accepted"), ("reason", "no")]).await.expect(422).text;
    assert!(page.contains("href=\"#judge-reason\"") && page.contains(">\nno</textarea>"), "{page}");
    let page = desk.does("judge", &[("decision", "merged"), ("reason", "too early")]).await.expect(409).text;
    assert!(page.contains("too early"), "{page}");
    desk.does("win", &[("reason", "because")]).await.expect(422);
    desk.does(
        "rule-challenge",
        &[("challenge_id", "challenge:9"), ("upheld", "true"), ("reason", "because")],
    )
    .await
    .expect(404);
    // A contest's action is no submission's, and the address alone says which it is.
    desk.does("close", &[("contest_id", SLUG), ("reason", "because")]).await.expect(404);
    assert_eq!(status(&bench).await, "active");
    let mut desk = Desk { browser: &mut browser, token: &token, path: format!("/contests/{SLUG}") };
    let page = desk.does("register-clause", &[("rule_id", ""), ("text", "x")]).await.expect(422).text;
    assert!(page.contains("2 fields need another look"), "{page}");
    let page = desk.does("cancel", &[("reason", "no")]).await.expect(422).text;
    assert!(page.contains("href=\"#cancel-reason\""), "{page}");
    let page = desk.does("activate-contest", &[]).await.expect(409).text;
    assert!(page.contains("Run it"), "what the page does not offer any more is told on it\n{page}");
    desk.does("cancel", &[("reason", "nobody came")]).await.expect(303);
    assert_eq!(status(&bench).await, "cancelled");
}

#[tokio::test]
async fn a_manifest_that_is_refused_is_told_fault_by_fault() {
    let bench = Bench::at(OPEN);
    agent(&bench, "amy").await;
    let (mut amy, token) = signed_in(&bench, "amy").await;
    let mut propose =
        async |text: &str| amy.post("/contests", &[("csrf", token.as_str()), ("manifest", text)]).await;
    let page = propose("{\"contest\": \"</textarea><i>\"").await.expect(422).text;
    assert!(
        page.contains("One field needs another look") && page.contains("&lt;/textarea&gt;&lt;i&gt;"),
        "{page}"
    );
    let mut faulty = manifest(&json!({ "ends_at": "soon", "title": "" }));
    faulty["contest"]["color"] = json!("red");
    let page = propose(&faulty.to_string()).await.expect(422).text;
    for told in ["/contest/ends_at: ", "/contest/title: ", "/contest/color: ", "faults, listed above"] {
        assert!(page.contains(told), "{told}: {page}");
    }
    propose(&manifest(&json!({})).to_string()).await.expect(303);
    let page = propose(&manifest(&json!({})).to_string()).await.expect(409).text;
    assert!(page.contains("Propose one") && page.contains(SLUG), "{page}");
}

#[tokio::test]
async fn the_forms_are_for_those_whom_the_api_obeys() {
    let bench = original().await;
    let amy = agent(&bench, "amy").await;
    let id = submit(&bench, &amy, &redline("CBR14", "An agent acts with great care.")).await;
    bench.agent("ben", "op-ben", &["read", "submit", "judge"]).await;
    let contest = format!("/contests/{SLUG}");
    let path = format!("/redlines/{id}");
    let close = |token: &str| {
        [("csrf", token.to_owned()), ("do", "close".to_owned()), ("reason", "because".to_owned())]
    };
    let send = async |browser: &mut Browser<'_>, path: &str, fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post(&format!("{path}/desk"), &fields).await
    };
    let (mut ben, token) = signed_in(&bench, "ben").await;
    for page in [&contest, &path] {
        let page = ben.see(page).await.expect(200).text;
        assert!(!page.contains("Run it") && !page.contains("Judge it"), "{page}");
    }
    send(&mut ben, &contest, &close(&token)).await.expect(403);
    send(&mut ben, &path, &close(&token)).await.expect(403);
    let judged = [
        ("csrf", token.clone()),
        ("do", "judge".to_owned()),
        ("decision", "accepted".to_owned()),
        ("reason", "it is lawful".to_owned()),
    ];
    // It has the scope, and the manifest names somebody else.
    send(&mut ben, &path, &judged).await.expect(403);
    let mut anybody = Browser::new(&bench);
    send(&mut anybody, &contest, &close("")).await.expect(401);
    send(&mut anybody, &path, &close("")).await.expect(401);
    anybody.post("/contests", &[("manifest", "{}")]).await.expect(401);
    let (mut browser, token) = admin(&bench).await;
    send(&mut browser, &contest, &close(&"0".repeat(64))).await.expect(403);
    send(&mut browser, "/contests/none", &close(&token)).await.expect(404);
    send(&mut browser, "/redlines/submission:9", &close(&token)).await.expect(404);
    assert_eq!(status(&bench).await, "active");
    let told = bench.get(&of(&format!("submissions/{id}")), None).await.expect(200).json();
    assert_eq!(told["status"], "legality_review");
}

#[tokio::test]
async fn the_reviewer_whom_a_manifest_names_judges_at_a_form() {
    let mut document = manifest(&json!({}));
    let name = "invest-claude";
    document["contest"]["submissions_private"] = json!(true);
    let bench = open(&document).await;
    let amy = agent(&bench, "amy").await;
    let id = submit(&bench, &amy, &redline("CBR14", SECRET_TEXT)).await;
    bench.agent(name, "op-reviewer", &["read", "judge"]).await;
    let (mut reviewer, token) = signed_in(&bench, name).await;
    let mut desk = Desk { browser: &mut reviewer, token: &token, path: format!("/redlines/{id}") };
    let page = desk.page().await;
    assert!(offers(&page, "judge") && !offers(&page, "score"), "{page}");
    desk.does("score", &[("score", "9"), ("reason", "not for me")]).await.expect(403);
    let page = desk.does("judge", &[("decision", "declined"), ("reason", "x")]).await.expect(422).text;
    assert!(page.contains("href=\"#judge-reason\""), "{page}");
    desk.does("judge", &[("decision", "declined"), ("reason", "it is unlawful")]).await.expect(303);
    let page = desk.page().await;
    assert!(page.contains("declined") && !offers(&page, "judge"), "{page}");
    // What was sealed is sealed for the others, at the form as elsewhere.
    let (mut other, token) = signed_in(&bench, "amy").await;
    other.see(&format!("/redlines/{id}")).await.expect(200);
    agent(&bench, "cyd").await;
    let (mut cyd, cyd_token) = signed_in(&bench, "cyd").await;
    cyd.see(&format!("/redlines/{id}")).await.expect(404);
    let mut desk = Desk { browser: &mut cyd, token: &cyd_token, path: format!("/redlines/{id}") };
    let hidden = desk.does("judge", &[("decision", "declined"), ("reason", "because")]).await.expect(404);
    assert!(!hidden.text.contains(SECRET_TEXT));
    let mut own = Desk { browser: &mut other, token: &token, path: format!("/redlines/{id}") };
    own.does("judge", &[("decision", "accepted"), ("reason", "my own is good")]).await.expect(403);
    assert!(!feed(&bench).await.contains(SECRET_TEXT));
}

#[tokio::test]
async fn a_challenge_is_ruled_on_at_its_own_form() {
    let bench = original().await;
    let (amy, ben, cyd) =
        (agent(&bench, "amy").await, agent(&bench, "ben").await, agent(&bench, "cyd").await);
    let id = submit(&bench, &amy, &redline("CBR14", "An agent acts with great care.")).await;
    for key in [&ben, &cyd] {
        let body = json!({ "submission_id": id, "kind": "logic", "target": "rationale", "text": "it does not follow" });
        bench.post(&of("challenge"), Some(key), &body).await.expect(201);
    }
    let (mut browser, token) = admin(&bench).await;
    let mut desk = Desk { browser: &mut browser, token: &token, path: format!("/redlines/{id}") };
    let page = desk.page().await;
    assert!(page.contains("Rule on challenge 1") && page.contains("Rule on challenge 2"), "{page}");
    let second = ("challenge_id", "challenge:2");
    let page =
        desk.does("rule-challenge", &[second, ("upheld", "true"), ("reason", "")]).await.expect(422).text;
    assert!(
        page.contains("href=\"#rule-challenge-2-reason\"") && !page.contains("#rule-challenge-1-reason\""),
        "{page}"
    );
    desk.does("rule-challenge", &[second, ("upheld", "false"), ("reason", "it follows")]).await.expect(303);
    let page = desk.page().await;
    assert!(page.contains("it follows") && page.contains("Rule on challenge 1"), "{page}");
    assert!(!page.contains("Rule on challenge 2"), "{page}");
    act(&bench, json!({ "action": "rule-challenge", "challenge_id": "challenge:1", "upheld": true, "reason": "so be it" }))
        .await
        .expect(200);
}

#[tokio::test]
async fn the_points_of_a_tournament_are_recorded_at_a_form() {
    let bench = open(&manifest(&json!({ "contest_type": "strategy" }))).await;
    let (mut browser, token) = admin(&bench).await;
    let mut desk = Desk { browser: &mut browser, token: &token, path: format!("/contests/{SLUG}") };
    assert!(!offers(&desk.page().await, "record-scorecard"));
    desk.does("close-submissions", &[]).await.expect(303);
    assert!(offers(&desk.page().await, "record-scorecard"));
    let page = desk.does("record-scorecard", &[("points", "ab 12\r\n")]).await.expect(422).text;
    assert!(page.contains("href=\"#record-scorecard-points\"") && page.contains("ab 12"), "{page}");
    let digest = "ab".repeat(32);
    desk.does("record-scorecard", &[("points", &format!("{digest} 12"))]).await.expect(422);
    desk.does("record-scorecard", &[("points", "")]).await.expect(303);
    assert!(!offers(&desk.page().await, "record-scorecard"));
}

//! The pages of the contest module: what each viewer sees, and that a form does what the API does. Every page
//! is audited as it is fetched.

use serde_json::json;

use crate::contests::{
    OPEN, SECRET_TEXT, SLUG, act, agent, invented, manifest, of, open, original, redline, submit,
};
use crate::play::{Browser, csrf};
use crate::support::Bench;

const BASIS: &str = "GDPR | Art. 6(1)(a) | EU | https://eur-lex.europa.eu/eli/reg/2016/679/oj";

fn fields<'a>(token: &'a str, rule: &'a str, proposed: &'a str, basis: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("csrf", token),
        ("rule_id", rule),
        ("current_text", "An agent acts\r\nwith care."),
        ("proposed_text", proposed),
        ("rationale", "the clause does not say who is responsible"),
        ("risk_reduced", "nobody is responsible"),
        ("legal_basis", basis),
    ]
}

async fn signed_in<'a>(bench: &'a Bench, id: &str) -> (Browser<'a>, String) {
    let mut browser = Browser::new(bench);
    browser.sign_in(id).await.expect(303);
    let token = csrf(&browser.see("/contests").await.expect(200).text);
    assert_eq!(token.len(), 64);
    (browser, token)
}

#[tokio::test]
async fn the_pages_are_there_before_anything_is() {
    let bench = Bench::at(OPEN);
    let mut anybody = Browser::new(&bench);
    assert!(anybody.see("/contests").await.expect(200).text.contains("no such contest yet"));
    anybody.see("/contests?status=draft").await.expect(200);
    anybody.see("/contests?status=lost").await.expect(400);
    anybody.see("/contests/none").await.expect(404);
    anybody.see("/redlines/submission:1").await.expect(404);
}

#[tokio::test]
async fn a_contest_is_told_in_prose_at_each_of_its_times() {
    let bench = original().await;
    let mut anybody = Browser::new(&bench);
    let list = anybody.see("/contests").await.expect(200).text;
    assert!(list.contains(&format!("/contests/{SLUG}")) && list.contains("The Agent Constitution"));
    let path = format!("/contests/{SLUG}");
    let page = anybody.see(&path).await.expect(200).text;
    for told in [
        "Legal-drafting contest",
        "Any AI agent holding a valid Defici agent API key",
        // Both texts of the reward, which differ.
        "The House recognition slot",
        "Primary reward to top-ranked accepted submission",
        "automated-gate",
        "invest-claude",
        "in part by itself",
        "One submission per agent PER RULE",
        "Nothing has come through the gate yet",
        "Sign in",
        "topic=contests%2Fff877226-c52c-4c52-9c9e-8b2a2a076e53",
        // The public log.
        "activated",
    ] {
        assert!(page.contains(told), "{told} is missing");
    }
    assert!(!page.contains("<form class=\"form\" id=\"submit\""), "nobody is signed in");
    bench.set("2026-08-22T21:37:58Z").await;
    let page = anybody.see(&path).await.expect(200).text;
    assert!(page.contains("They are being judged") && page.contains("Nothing can be submitted now"));
    act(&bench, json!({ "action": "close", "contest_id": SLUG, "reason": "it is over" })).await.expect(200);
    assert!(anybody.see(&path).await.expect(200).text.contains("The leaderboard stands"));
}

#[tokio::test]
async fn a_redline_is_submitted_challenged_and_voted_on_without_a_script() {
    let bench = original().await;
    agent(&bench, "amy").await;
    agent(&bench, "ben").await;
    let (mut amy, token) = signed_in(&bench, "amy").await;
    let path = format!("/contests/{SLUG}");
    assert!(amy.see(&path).await.expect(200).text.contains("Submit it"));
    let sent = fields(&token, "CBR14", "An agent acts\r\nwith great care.", BASIS);
    let done = amy.post(&format!("{path}/submit"), &sent).await.expect(303);
    let redline = done.header("location").to_owned();
    assert_eq!(redline, "/redlines/submission:1");
    let page = amy.see(&redline).await.expect(200).text;
    assert!(page.contains("<ins><span class=\"visually-hidden\">put in: </span>great </ins>"), "{page}");
    assert!(page.contains("Withdraw it") && !page.contains("Record the vote"), "its author does not vote");
    // The texts are those that a program would have sent.
    let told = bench.get(&of("submissions/submission:1"), None).await.expect(200).json();
    assert_eq!(told["body"]["current_text"], "An agent acts\nwith care.");
    let (mut ben, token) = signed_in(&bench, "ben").await;
    let page = ben.see(&redline).await.expect(200).text;
    assert!(
        page.contains("Record the vote")
            && page.contains("File the challenge")
            && !page.contains("Withdraw it")
    );
    let short = [("csrf", token.as_str()), ("kind", "logic"), ("target", "rationale"), ("text", "no")];
    let refused = ben.post(&format!("{redline}/challenge"), &short).await.expect(422).text;
    assert!(
        refused.contains("One field needs another look") && refused.contains(">\nno</textarea>"),
        "{refused}"
    );
    let long = [
        ("csrf", token.as_str()),
        ("kind", "logic"),
        ("target", "legal_basis/0"),
        ("text", "it does not follow"),
    ];
    let done = ben.post(&format!("{redline}/challenge"), &long).await.expect(303);
    assert_eq!(done.header("location"), "/redlines/submission:1#challenge-1");
    ben.post(&format!("{redline}/vote"), &[("csrf", &token), ("intent", "maybe")]).await.expect(422);
    ben.post(&format!("{redline}/vote"), &[("csrf", &token), ("intent", "against")]).await.expect(303);
    let rule = json!({ "action": "rule-challenge", "challenge_id": "challenge:1", "upheld": true, "reason": "so be it" });
    act(&bench, rule).await.expect(200);
    let page = ben.see(&redline).await.expect(200).text;
    for told in [
        "it does not follow",
        "upheld",
        "<p><bdi>so be it</bdi></p>",
        "1 vote, weight 1",
        "citation 1",
        "-1000 of 1000",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(!page.contains("Record the vote") && !page.contains("File the challenge"), "once is enough");
    ben.post(&format!("{redline}/vote"), &[("csrf", &token), ("intent", "for")]).await.expect(409);
    ben.post(&format!("{redline}/withdraw"), &[("csrf", &token)]).await.expect(403);
    let page = ben.see(&path).await.expect(200).text;
    assert!(page.contains("Redline of CBR14") && page.contains("not scored"));
}

#[tokio::test]
async fn a_form_that_is_refused_comes_back_with_what_was_sent_and_what_is_wrong() {
    let bench = original().await;
    agent(&bench, "amy").await;
    let (mut amy, token) = signed_in(&bench, "amy").await;
    let path = format!("/contests/{SLUG}/submit");
    let long = format!("{} | Art. 6 | EU | https://x.lt", "x".repeat(201));
    let page = amy.post(&path, &fields(&token, "CBR14", "</textarea><b>", &long)).await.expect(422).text;
    assert!(page.contains("citation 1, act: ") && page.contains("&lt;/textarea&gt;&lt;b&gt;"), "{page}");
    assert!(page.contains("An agent acts\r\nwith care."));
    amy.post(&path, &fields(&token, "CBR14", "another text", BASIS)).await.expect(303);
    let page = amy.post(&path, &fields(&token, "CBR14", "a third text", BASIS)).await.expect(409).text;
    assert!(page.contains("the agent has a submission for this"), "{page}");
    amy.post(&path, &fields("", "CBR15", "a third text", BASIS)).await.expect(403);
    let mut anybody = Browser::new(&bench);
    anybody.post(&path, &fields("", "CBR15", "a third text", BASIS)).await.expect(401);
    // A text of full length, in letters that a form writes at length.
    let full = "\u{5d0}".repeat(5_000);
    amy.post(&path, &fields(&token, "CBR16", &full, BASIS)).await.expect(303);
}

#[tokio::test]
async fn pages_hide_what_the_api_hides() {
    let bench = original().await;
    let key = agent(&bench, "amy").await;
    agent(&bench, "ben").await;
    let id = submit(&bench, &key, &invented("CBR99")).await;
    let path = format!("/redlines/{id}");
    let contest = format!("/contests/{SLUG}");
    let (mut amy, token) = signed_in(&bench, "amy").await;
    let own = amy.see(&path).await.expect(200).text;
    assert!(
        own.contains("The gate rejected it")
            && own.contains("looks invented")
            && own.contains("no such article")
    );
    assert!(amy.see(&contest).await.expect(200).text.contains(&id));
    let (mut ben, ben_token) = signed_in(&bench, "ben").await;
    let mut anybody = Browser::new(&bench);
    for browser in [&mut ben, &mut anybody] {
        browser.see(&path).await.expect(404);
        let page = browser.see(&contest).await.expect(200).text;
        assert!(!page.contains(&id) && !page.contains("CBR99") && !page.contains(SECRET_TEXT));
    }
    ben.post(&format!("{path}/vote"), &[("csrf", &ben_token), ("intent", "for")]).await.expect(404);
    // What is taken back is gone for everybody else.
    let id = submit(&bench, &key, &redline("CBR14", "some other text")).await;
    let path = format!("/redlines/{id}");
    ben.see(&path).await.expect(200);
    amy.post(&format!("{path}/withdraw"), &[("csrf", &token)]).await.expect(303);
    assert!(amy.see(&path).await.expect(200).text.contains("took it back"));
    ben.see(&path).await.expect(404);
}

#[tokio::test]
async fn sealed_contests_show_places_without_names() {
    let bench = open(&manifest(&json!({ "submissions_private": true }))).await;
    let key = agent(&bench, "amy").await;
    let id = submit(&bench, &key, &redline("CBR14", SECRET_TEXT)).await;
    act(&bench, json!({ "action": "score", "submission_id": id, "score": 7.5, "reason": "well drafted" }))
        .await
        .expect(200);
    let contest = format!("/contests/{SLUG}");
    let mut anybody = Browser::new(&bench);
    let page = anybody.see(&contest).await.expect(200).text;
    assert!(page.contains("7.5") && page.contains("sealed"));
    for withheld in [id.as_str(), ">amy<", "well drafted", SECRET_TEXT] {
        assert!(!page.contains(withheld), "{withheld}");
    }
    anybody.see(&format!("/redlines/{id}")).await.expect(404);
    let (mut amy, _) = signed_in(&bench, "amy").await;
    let page = amy.see(&contest).await.expect(200).text;
    assert!(page.contains(&id) && page.contains("well drafted") && page.contains("(you)"));
}

#[tokio::test]
async fn other_kinds_of_submissions_have_pages_and_strangers_text_is_text() {
    let hostile = "<script>alert(1)</script>\u{202e}";
    let bench = open(&manifest(&json!({ "contest_type": "module-build", "title": hostile }))).await;
    agent(&bench, "amy").await;
    let (mut amy, token) = signed_in(&bench, "amy").await;
    let path = format!("/contests/{SLUG}");
    let sent = [
        ("csrf", token.as_str()),
        ("title", hostile),
        ("body", "# Heading\n\n<img src=x onerror=alert(1)>"),
        ("metadata", "{\"<b>\": [1, {\"deep\": true}]}"),
    ];
    let done = amy.post(&format!("{path}/submit"), &sent).await.expect(303);
    let page = amy.see(done.header("location")).await.expect(200).text;
    assert!(page.contains("Metadata") && page.contains("&lt;b&gt;"));
    for page in [page, amy.see(&path).await.expect(200).text, amy.see("/contests").await.expect(200).text] {
        assert!(!page.contains("<script>") && !page.contains("<img") && !page.contains('\u{202e}'));
        assert!(page.contains("&lt;script&gt;"));
    }
    let mut wrong = sent;
    wrong[3].1 = "{";
    let page = amy.post(&format!("{path}/submit"), &wrong).await.expect(422).text;
    assert!(page.contains("expected an object"), "{page}");
}

#[tokio::test]
async fn a_strategy_contest_says_what_it_takes() {
    let bench = open(&manifest(&json!({ "contest_type": "strategy" }))).await;
    agent(&bench, "amy").await;
    let (mut amy, token) = signed_in(&bench, "amy").await;
    let path = format!("/contests/{SLUG}");
    let page = amy.see(&path).await.expect(200).text;
    assert!(
        page.contains("no tournament of this contest has been scored")
            && page.contains("SHA-256 of a component")
    );
    let digest = "ab".repeat(32);
    let sent = [("csrf", token.as_str()), ("title", "t"), ("body", "b"), ("metadata", digest.as_str())];
    let page = amy.post(&format!("{path}/submit"), &sent).await.expect(422).text;
    assert!(page.contains("no component of this digest was uploaded"), "{page}");
}

//! The desk of a round: a company goes from its registration to its evidence at forms alone, those who judge and the
//! admin act at theirs, and a form does what the API does, for whom it does it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arena_canon::Digest;
use arena_server::Config;
use axum::body::{Body, Bytes};
use serde_json::json;

use crate::audit::audit;
use crate::play::{Browser, csrf};
use crate::round_bench::{BEFORE, CLAIMS, PLAN, ROUND, Sprint, accepted, at, bare, of, terms};
use crate::support::{ADMIN, Bench, Said, limitless, request};

const DESK: &str = "/rounds/s0-r1/desk";
const END: &[u8] = b"--xyz--\r\n";

struct Desk<'a> {
    bench: &'a Bench,
    browser: Browser<'a>,
    token: String,
}

impl<'a> Desk<'a> {
    /// Of an agent; of the admin without one.
    async fn of(bench: &'a Bench, agent: Option<&str>) -> Self {
        let body = agent.map_or_else(|| json!({}), |agent| json!({ "agent": agent }));
        let made = bench.post("/api/v1/logins", Some(ADMIN), &body).await.expect(201).json();
        let path = made["path"].as_str().unwrap().to_owned();
        let mut browser = Browser::new(bench);
        let token = path.rsplit_once('=').unwrap().1.to_owned();
        browser.see(&path).await.expect(200);
        browser.post("/login", &[("token", &token)]).await.expect(303);
        let token = csrf(&browser.see("/town").await.expect(200).text);
        Self { bench, browser, token }
    }

    async fn page(&mut self) -> String {
        self.browser.see(DESK).await.expect(200).text
    }

    /// Sends the form of a command as the page has it, with these fields filled in.
    async fn does(&mut self, command: &str, fields: &[(&str, &str)]) -> Said {
        let page = self.page().await;
        let form = form_of(&page, command).unwrap_or_else(|| panic!("no form of {command}\n{page}"));
        let mut all = vec![("csrf", self.token.clone()), ("do", command.to_owned())];
        for name in ["version", "window", "window_id"] {
            if let Some(value) = value_of(form, name) {
                all.push((name, value));
            }
        }
        let given = fields.iter().map(|(name, value)| (*name, (*value).to_owned()));
        all.extend(given);
        let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.browser.post(DESK, &all).await
    }

    async fn raw(&mut self, fields: &[(&str, &str)]) -> Said {
        self.browser.post(DESK, fields).await
    }

    /// Sends a file for the Locker.
    async fn stores(&self, parts: &[(&str, &[u8])]) -> Said {
        self.sends(form_body(parts).into()).await
    }

    async fn sends(&self, body: Body) -> Said {
        let request = request("POST", &format!("{DESK}/artifact"), None)
            .header("accept", "text/html")
            .header("content-type", "multipart/form-data; boundary=xyz")
            .header("cookie", format!("__Host-arena={}", self.browser.cookie.as_ref().unwrap()));
        let said = self.bench.send(request.body(body).unwrap()).await;
        if said.header("content-type").starts_with("text/html") {
            assert_eq!(audit(&said.text), [""; 0], "{}", said.text);
        }
        said
    }
}

/// A form with a file, as a browser sends it.
fn form_body(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, content) in parts {
        let head = format!("--xyz\r\nContent-Disposition: form-data; {disposition}\r\n");
        let kind = if disposition.contains("filename") { "Content-Type: text/markdown\r\n" } else { "" };
        body.extend([head.as_bytes(), kind.as_bytes(), b"\r\n", content, b"\r\n"].concat());
    }
    body.extend(END);
    body
}

/// The form of a command on a page.
fn form_of<'a>(page: &'a str, command: &str) -> Option<&'a str> {
    let marked = format!("name=\"do\" value=\"{command}\"");
    page.split("<form ").find(|form| form.contains(&marked))
}

fn value_of(form: &str, name: &str) -> Option<String> {
    let after = form.split(&format!("name=\"{name}\" value=\"")).nth(1)?;
    after.split('"').next().map(str::to_owned)
}

const TEAM: [(&str, &str); 5] = [
    ("team/principal", "acme-principal"),
    ("team/engineering_coordinator", "acme-coordinator"),
    ("team/engineering_owner", "acme-owner"),
    ("team/quality_reviewer", "acme-reviewer"),
    ("team/stewardship", "acme-steward"),
];

async fn enter(desk: &mut Desk<'_>) {
    let page = desk.page().await;
    assert!(form_of(&page, "register").is_some() && form_of(&page, "withdraw").is_none(), "{page}");
    let short = [("company", "Acme!"), ("canaries", "short")];
    let fields: Vec<_> = TEAM.into_iter().chain(short).collect();
    let refused = desk.does("register", &fields).await.expect(422).text;
    assert!(
        refused.contains("href=\"#register-company\"")
            && refused.contains("value=\"Acme!\"")
            && refused.contains("value=\"acme-owner\""),
        "{refused}"
    );
    let fields: Vec<_> =
        TEAM.into_iter().chain([("company", "acme"), ("canaries", "canary-acme-5d2f\r\n")]).collect();
    desk.does("register", &fields).await.expect(303);
    let page = desk.page().await;
    assert!(form_of(&page, "register").is_none() && !page.contains("canary-acme"), "{page}");
    let rules = value_of(form_of(&page, "acknowledge_rules").unwrap(), "rules_sha256").unwrap();
    let refused = desk.does("acknowledge_rules", &[("rules_sha256", &"0".repeat(64))]).await.expect(422).text;
    assert!(refused.contains("href=\"#acknowledge_rules-rules_sha256\""), "{refused}");
    desk.does("acknowledge_rules", &[("rules_sha256", &rules)]).await.expect(303);
    let hold = value_of(form_of(&desk.page().await, "enter_call").unwrap(), "hold_cap_atomic").unwrap();
    desk.does("enter_call", &[("hold_cap_atomic", &hold)]).await.expect(303);
    for rail in ["locker", "town", "boards"] {
        let approval = json!({ "company": "acme", "rail": rail, "agent": "ann" });
        desk.bench.post(&of("approvals"), Some(ADMIN), &approval).await.expect(200);
    }
    let goal = [("objective", "a planner for schools"), ("profile", "acme builds tools")];
    desk.does("publish_kickoff", &goal).await.expect(303);
    assert!(desk.page().await.contains("a planner for schools"));
}

#[tokio::test]
async fn a_company_goes_from_registration_to_its_evidence_at_forms_alone() {
    let sprint = Sprint::announced(false).await;
    sprint.set(0, "01:00").await;
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    enter(&mut desk).await;
    sprint.set(1, "01:00").await;
    // Sessions end after half a day.
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let planned = [
        ("objective", PLAN),
        ("planned_artifact_class", "external"),
        ("declared_posture_exo", "1000"),
        ("owner", "the owner"),
    ];
    let same: Vec<_> = planned.into_iter().chain([("reviewer", "the owner")]).collect();
    let refused = desk.does("put_intent", &same).await.expect(422).text;
    assert!(refused.contains("href=\"#put_intent-W1-reviewer\"") && refused.contains(PLAN), "{refused}");
    let good: Vec<_> = planned.into_iter().chain([("reviewer", "the reviewer")]).collect();
    desk.does("put_intent", &good).await.expect(303);
    assert!(desk.page().await.contains(PLAN), "one's own intent is filled in");
    // What others read meanwhile is what the API shows them.
    let mut bob = Desk::of(&sprint.bench, Some("bob")).await;
    assert!(!bob.page().await.contains(PLAN));
    sprint.set(1, "19:00").await;
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let claim = CLAIMS[0][0];
    let bytes = format!("acme W1: {claim}\n").into_bytes();
    let artifact = Digest::of(&bytes).to_string();
    let token = desk.token.clone();
    let csrf = ("name=\"csrf\"", token.as_bytes());
    let file = ("name=\"file\"; filename=\"../plan.md\"", bytes.as_slice());
    let stored = desk.stores(&[csrf, ("name=\"public_read\"", b"on"), file]).await.expect(303);
    assert_eq!(stored.header("location"), format!("/locker/{artifact}"));
    let told =
        sprint.bench.get(&format!("/api/v1/locker/artifacts/{artifact}"), None).await.expect(200).json();
    assert_eq!(
        (&told["media_type"], &told["public_read"], &told["size_bytes"]),
        (&json!("text/markdown"), &json!(true), &json!(bytes.len()))
    );
    let evidence = [
        ("artifact_hash", artifact.as_str()),
        ("kind", "benchmark"),
        ("description", "a run anybody can repeat"),
    ];
    let done = desk.does("put_evidence", &evidence).await.expect(303);
    assert!(
        desk.browser.see(done.header("location")).await.expect(200).text.contains("a run anybody can repeat")
    );
    let post = format!("{claim} Artifact {artifact}.");
    let post = [
        ("csrf", token.as_str()),
        ("round", "s0-r1"),
        ("kind", "progress"),
        ("window", "W1"),
        ("body", post.as_str()),
    ];
    desk.browser.post("/town", &post).await.expect(303);
    submits(&sprint, &mut desk, &artifact, claim).await;
}

async fn submits(sprint: &Sprint, desk: &mut Desk<'_>, artifact: &str, claim: &str) {
    sprint.set(1, "20:05").await;
    let evidence = sprint.bench.get(&format!("/locker/{artifact}"), None).await.expect(200).text;
    let evidence = evidence
        .split("evidence:")
        .nth(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap())
        .unwrap();
    let (evidence, locker) = (format!("evidence:{evidence}"), format!("locker:{artifact}"));
    let posts = sprint.bench.get("/api/v1/town/posts?round=s0-r1", None).await.expect(200).json();
    let town = posts["items"][0]["ref"].as_str().unwrap().to_owned();
    let intent = value_of(form_of(&desk.page().await, "submit").unwrap(), "intent_stub_ref").unwrap();
    let package = |stake: &'static str| {
        vec![
            ("intent_stub_ref", intent.as_str()),
            ("artifact_class", "external"),
            ("artifact_hash", artifact),
            ("locker_artifact_ref", locker.as_str()),
            ("locker_evidence_ref", evidence.as_str()),
            ("town_post_ref", town.as_str()),
            ("claim_summary", claim),
            ("verification_summary", "Run the script in the artifact; it prints the numbers."),
            ("operator_intervention", "none"),
            ("receipts", ""),
            ("budget_impact/spent_exo", "900"),
            ("budget_impact/declared_posture_exo", "1000"),
            ("budget_impact/note", ""),
            ("stake_atomic", stake),
        ]
    };
    let refused = desk.does("submit", &package("much")).await.expect(422).text;
    assert!(refused.contains("href=\"#submit-W1-stake_atomic\"") && refused.contains(claim), "{refused}");
    let before = desk.page().await;
    let stale = value_of(form_of(&before, "submit").unwrap(), "version").unwrap();
    assert_eq!(stale, "none");
    let done = desk.does("submit", &package("1000000")).await.expect(303);
    assert_eq!(done.header("location"), "/submissions/boards:s0-r1:acme:W1");
    let told = sprint.bench.get("/api/v1/submissions/boards:s0-r1:acme:W1", None).await.expect(200).json();
    assert_eq!(
        (&told["package"]["claim_summary"], &told["package"]["receipts"]),
        (&json!(claim), &json!([]))
    );
    // A form that was opened before it cannot replace it unseen.
    let mut old = vec![
        ("csrf", desk.token.as_str()),
        ("do", "submit"),
        ("window_id", "W1"),
        ("version", stale.as_str()),
    ];
    old.extend(package("1000000"));
    let fields: Vec<(String, String)> =
        old.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    desk.raw(&fields).await.expect(412);
    let page = desk.page().await;
    assert!(page.contains("Revise the submission") && page.contains(claim), "{page}");
    let done = desk.does("submit", &package("1000000")).await.expect(303);
    assert!(desk.browser.see(done.header("location")).await.expect(200).text.contains("Run the script"));
    desk.does("withdraw", &[]).await.expect(303);
    assert!(form_of(&desk.page().await, "withdraw").is_none());
}

#[tokio::test]
async fn an_intervention_is_made_public_by_those_who_judge_and_by_the_admin() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "19:00").await;
    for agent in [Some("eva"), None] {
        let mut desk = Desk::of(&sprint.bench, agent).await;
        let fields = [("company", "acme"), ("window", "W1"), ("text", "x")];
        let refused = desk.does("record_intervention", &fields).await.expect(422).text;
        assert!(
            refused.contains("href=\"#record_intervention-text\"") && refused.contains("value=\"acme\""),
            "{refused}"
        );
        let unknown = [("company", "none"), ("window", "W1"), ("text", "the database was repaired")];
        desk.does("record_intervention", &unknown).await.expect(404);
        let fields = [("company", "acme"), ("window", "W1"), ("text", "the database was repaired")];
        desk.does("record_intervention", &fields).await.expect(303);
    }
    let receipts = sprint.bench.get(&of("receipts"), None).await.expect(200).json();
    let kinds: Vec<&str> =
        receipts["items"].as_array().unwrap().iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(kinds.iter().filter(|text| text.contains("the database was repaired")).count(), 2);
}

#[tokio::test]
async fn a_post_and_an_artifact_are_hidden_at_a_form() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "01:00").await;
    sprint.intend(&sprint.ann, "W1").await;
    sprint.set(1, "19:00").await;
    let package = sprint.publish(&sprint.ann, "acme", "W1", CLAIMS[0][0]).await;
    let (post, artifact) =
        (package["town_post_ref"].as_str().unwrap(), package["artifact_hash"].as_str().unwrap());
    let mut eva = Desk::of(&sprint.bench, Some("eva")).await;
    let mut bob = Desk::of(&sprint.bench, Some("bob")).await;
    let link = format!("/rounds/s0-r1/desk?target={post}");
    assert!(!bob.browser.see("/town").await.text.contains("desk?target="));
    assert!(eva.browser.see("/town").await.expect(200).text.contains(&link));
    let filled = eva.browser.see(&link).await.expect(200).text;
    assert!(filled.contains(&format!("value=\"{post}\"")), "{filled}");
    let odd = eva.browser.see("/rounds/s0-r1/desk?target=%22%3E%3Cb%3E").await.expect(200).text;
    assert!(odd.contains("value=\"&quot;&gt;&lt;b&gt;\""), "{odd}");
    let why = ("reason", "it named a customer");
    let refused = eva.does("hide", &[("target", ""), why]).await;
    assert!(
        refused.status.is_client_error() && refused.text.contains("it named a customer"),
        "{}",
        refused.text
    );
    let refused = eva.does("hide", &[("target", post), ("reason", "")]).await.expect(422).text;
    assert!(
        refused.contains("href=\"#hide-reason\"") && refused.contains(&format!("value=\"{post}\"")),
        "{refused}"
    );
    let done = eva.does("hide", &[("target", post), why]).await.expect(303);
    let town = bob.browser.see(done.header("location")).await.expect(200).text;
    assert!(!town.contains(CLAIMS[0][0]) && town.contains("it named a customer"), "{town}");
    eva.does("hide", &[("target", post), why]).await.expect(409);
    assert!(!eva.browser.see("/town").await.text.contains(&link), "once is enough");
    let page = eva.browser.see(&format!("/locker/{artifact}")).await.expect(200).text;
    assert!(page.contains(&format!("desk?target={artifact}")), "{page}");
    let done = eva.does("hide", &[("target", artifact), why]).await.expect(303);
    assert_eq!(done.header("location"), format!("/locker/{artifact}"));
    sprint.bench.get(&format!("/api/v1/locker/blobs/{artifact}"), Some(&sprint.ann)).await.expect(410);
}

#[tokio::test]
async fn what_is_not_for_somebody_is_neither_offered_nor_done() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "19:00").await;
    let mut ann = Desk::of(&sprint.bench, Some("ann")).await;
    let page = ann.page().await;
    for command in
        ["record_intervention", "hide", "invalidate", "take_snapshot", "release_locked", "register"]
    {
        assert!(form_of(&page, command).is_none(), "{command}");
    }
    let token = ann.token.clone();
    let why = ("reason", "because");
    let tries: [&[(&str, &str)]; 4] = [
        &[("do", "record_intervention"), ("company", "bolt"), ("window", "W1"), ("text", "they were helped")],
        &[("do", "hide"), ("target", "town:1"), why],
        &[("do", "invalidate"), ("company", "bolt"), ("window", "W1"), ("rationale", "because")],
        &[("do", "take_snapshot"), ("after", "W1")],
    ];
    for fields in tries {
        let fields: Vec<_> = [("csrf", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        let status = ann.raw(&fields).await.status.as_u16();
        assert!(status == 403, "{fields:?}: {status}");
    }
    ann.raw(&[("csrf", token.as_str()), ("do", "announce")]).await.expect(422);
    ann.raw(&[("csrf", token.as_str())]).await.expect(422);
    ann.raw(&[("csrf", &"0".repeat(64)), ("do", "withdraw")]).await.expect(403);
    let mut anybody = Browser::new(&sprint.bench);
    assert!(anybody.see(DESK).await.expect(200).text.contains("Sign in to act here"));
    anybody.post(DESK, &[("do", "withdraw")]).await.expect(401);
    anybody.see("/rounds/none/desk").await.expect(404);
    anybody.see(&format!("{DESK}?color=red")).await.expect(400);
    // Eva judges; what the operator alone does is not hers.
    let mut eva = Desk::of(&sprint.bench, Some("eva")).await;
    let page = eva.page().await;
    assert!(form_of(&page, "hide").is_some() && form_of(&page, "invalidate").is_none(), "{page}");
    let token = eva.token.clone();
    eva.raw(&[("csrf", &token), ("do", "take_snapshot"), ("after", "W1")]).await.expect(403);
    eva.raw(&[("csrf", &token), ("do", "withdraw")]).await.expect(404);
    // The file of somebody without a company is not taken in.
    let csrf = ("name=\"csrf\"", token.as_bytes());
    let file: (&str, &[u8]) = ("name=\"file\"; filename=\"a\"", b"bytes");
    assert_eq!(eva.stores(&[csrf, file]).await.status.as_u16(), 404);
    assert_eq!(sprint.bench.get(&of("entries/acme"), None).await.expect(200).json()["left"], json!(null));
}

#[tokio::test]
async fn the_admin_reverses_records_and_gives_back() {
    let sprint = Sprint::entered(false).await;
    for day in 1..=3 {
        sprint.window(day).await;
        sprint.set(day, "22:30").await;
        for company in ["acme", "bolt"] {
            sprint.judge(company, &format!("W{day}"), &accepted()).await;
        }
    }
    let mut admin = Desk::of(&sprint.bench, None).await;
    let fields =
        [("company", "acme"), ("window", "W3"), ("reversal", "on"), ("rationale", "it was not theirs")];
    admin.does("invalidate", &fields).await.expect(303);
    let told = sprint.bench.get("/api/v1/submissions/boards:s0-r1:acme:W3", None).await.expect(200).json();
    assert_eq!(told["record"]["state"], "reversed");
    sprint.set(4, "01:00").await;
    let before = sprint.bench.get(&of("snapshots"), None).await.json()["items"].as_array().unwrap().len();
    admin.does("take_snapshot", &[("after", "W3")]).await.expect(303);
    let after = sprint.bench.get(&of("snapshots"), None).await.json()["items"].as_array().unwrap().len();
    assert_eq!(after, before + 1);
    assert!(form_of(&admin.page().await, "release_locked").is_none());
}

#[tokio::test]
async fn a_file_for_the_locker_is_bounded_screened_and_of_this_session() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "19:00").await;
    let ann = Desk::of(&sprint.bench, Some("ann")).await;
    let token = ann.token.clone();
    let csrf: (&str, &[u8]) = ("name=\"csrf\"", token.as_bytes());
    let file: (&str, &[u8]) = ("name=\"file\"; filename=\"a.txt\"", b"what it says");
    let wrong: (&str, &[u8]) = ("name=\"csrf\"", b"no");
    for parts in [vec![file], vec![wrong, file], vec![file, csrf], vec![]] {
        ann.stores(&parts).await.expect(403);
    }
    for parts in [vec![csrf, file, file], vec![csrf, ("name=\"color\"", b"red".as_slice())]] {
        ann.stores(&parts).await.expect(400);
    }
    for parts in [vec![csrf], vec![csrf, ("name=\"file\"; filename=\"\"", b"".as_slice())]] {
        let page = ann.stores(&parts).await.expect(422).text;
        assert!(page.contains("File: choose a file"), "{page}");
    }
    // The canary of the company itself.
    let leak: (&str, &[u8]) = ("name=\"file\"; filename=\"a.txt\"", b"see canary-acme-5d2f");
    let page = ann.stores(&[csrf, ("name=\"public_read\"", b"on"), leak]).await.expect(422).text;
    assert!(page.contains("href=\"#artifact-file\"") && page.contains("checked"), "{page}");
    assert!(!page.contains("canary-acme"), "{page}");
    let stored = ann.stores(&[csrf, file]).await.expect(303);
    let path = stored.header("location").to_owned();
    let mut anybody = Browser::new(&sprint.bench);
    anybody.see(&path).await.expect(404);
    // The same bytes again are the same artifact; then everybody may read it.
    assert_eq!(ann.stores(&[csrf, file]).await.expect(303).header("location"), path);
    let mut ann = ann;
    let digest = path.rsplit_once('/').unwrap().1.to_owned();
    ann.does("grant_public_read", &[("artifact_hash", &digest)]).await.expect(303);
    anybody.see(&path).await.expect(200);
    let mut bob = Desk::of(&sprint.bench, Some("bob")).await;
    let taken = bob.does("grant_public_read", &[("artifact_hash", &"0".repeat(64))]).await.expect(404);
    assert!(!taken.text.contains("acme"));
    assert_eq!(sprint.bench.get(ROUND, None).await.status.as_u16(), 200, "{}", at(1, "19:00"));
}

/// A sprint on a server with limits of its own.
async fn limited(limit: impl FnOnce(&mut Config)) -> Sprint {
    let mut config = limitless();
    limit(&mut config);
    let bench = Bench::with(BEFORE, config);
    bench.post("/api/v1/rounds", Some(ADMIN), &terms(false)).await.expect(201);
    bare(&bench, &of("announce"), ADMIN).await.expect(200);
    Sprint::of(bench).await
}

/// A package of its form, whose references lead nowhere.
fn any_package<'a>(digest: &'a str, claim: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("intent_stub_ref", "intent:s0-r1:acme:W1"),
        ("artifact_class", "external"),
        ("artifact_hash", digest),
        ("locker_artifact_ref", "locker:none"),
        ("locker_evidence_ref", "evidence:1"),
        ("town_post_ref", "town:1"),
        ("claim_summary", claim),
        ("verification_summary", "Run the script in the artifact; it prints the numbers."),
        ("operator_intervention", "none"),
        ("receipts", ""),
        ("budget_impact/spent_exo", "900"),
        ("budget_impact/declared_posture_exo", "1000"),
        ("budget_impact/note", ""),
        ("stake_atomic", "1000000"),
    ]
}

#[tokio::test]
async fn as_many_submissions_a_minute_are_taken_at_the_desk_as_by_the_api() {
    let sprint = limited(|config| config.limits.submits_per_minute = 1).await;
    sprint.set(1, "20:05").await;
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let digest = "0".repeat(64);
    let package = any_package(&digest, "what was claimed in the package");
    // What is not of its form is none yet.
    let mut odd = package.clone();
    odd[13].1 = "much";
    desk.does("submit", &odd).await.expect(422);
    let first = desk.does("submit", &package).await.status.as_u16();
    assert!(first < 500 && first != 429, "{first}");
    let refused = desk.does("submit", &package).await.expect(429);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    // Nothing has to be typed again.
    assert!(
        form_of(&refused.text, "submit").unwrap().contains("what was claimed in the package"),
        "{}",
        refused.text
    );
    // The other forms are no submissions.
    for _ in 0..3 {
        desk.does("grant_public_read", &[("artifact_hash", &digest)]).await.expect(404);
    }
}

#[tokio::test]
async fn a_registration_without_its_company_is_told_so_beside_its_other_faults() {
    let sprint = Sprint::announced(false).await;
    sprint.set(0, "01:00").await;
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let token = desk.token.clone();
    for company in [None, Some(""), Some("  ")] {
        for left_out in 0..=1 {
            let mut fields = vec![("csrf", token.as_str()), ("do", "register"), ("canaries", "")];
            fields.extend(company.map(|company| ("company", company)));
            fields.extend(&TEAM[left_out..]);
            let refused = desk.raw(&fields).await.expect(422).text;
            assert!(refused.contains("href=\"#register-company\""), "{company:?}: {refused}");
            let faults = refused.matches("href=\"#register-").count();
            assert_eq!(faults, 1 + left_out, "{company:?}: {refused}");
            assert!(refused.contains("value=\"acme-owner\""), "{refused}");
        }
    }
}

#[tokio::test]
async fn of_a_form_with_something_wrong_after_its_file_nothing_is_kept() {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "19:00").await;
    let ann = Desk::of(&sprint.bench, Some("ann")).await;
    let token = ann.token.clone();
    let after: [&[u8]; 5] = [
        b"--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b\"\r\n\r\nother\r\n--xyz--\r\n",
        b"--xyz\r\nContent-Disposition: form-data; name=\"color\"\r\n\r\nred\r\n--xyz--\r\n",
        b"--xyz\r\nContent-Dispo",
        b"--xyz",
        b"",
    ];
    for (n, after) in after.into_iter().enumerate() {
        let bytes = format!("what form {n} says");
        let parts: [(&str, &[u8]); 2] =
            [("name=\"csrf\"", token.as_bytes()), ("name=\"file\"; filename=\"a.txt\"", bytes.as_bytes())];
        let mut body = form_body(&parts);
        body.truncate(body.len() - END.len());
        body.extend(after);
        let refused = ann.sends(body.into()).await;
        assert!(matches!(refused.status.as_u16(), 400 | 422), "{n}: {}", refused.text);
        let digest = Digest::of(bytes.as_bytes());
        for what in ["artifacts", "blobs"] {
            let path = format!("/api/v1/locker/{what}/{digest}");
            assert_eq!(sprint.bench.get(&path, Some(&sprint.ann)).await.status.as_u16(), 404, "{n}: {what}");
        }
        // The form as it has to be.
        ann.stores(&parts).await.expect(303);
    }
}

#[tokio::test]
async fn a_file_that_is_refused_is_read_to_its_end_if_it_is_not_far_too_long() {
    const LIMIT: usize = 64 << 10;
    let sprint = limited(|config| config.limits.blob_bytes = LIMIT).await;
    // In the round; after it.
    for (day, bytes, status, is_read_out) in [
        (1, LIMIT, 303, true),
        (1, LIMIT + 40_000, 413, true),
        (1, LIMIT * 9, 413, false),
        (9, LIMIT, 409, true),
        (9, LIMIT * 9, 409, false),
    ] {
        sprint.set(day, "19:00").await;
        let ann = Desk::of(&sprint.bench, Some("ann")).await;
        let content = vec![b'a'; bytes];
        let parts: [(&str, &[u8]); 2] =
            [("name=\"csrf\"", ann.token.as_bytes()), ("name=\"file\"; filename=\"a.txt\"", &content)];
        let body = Bytes::from(form_body(&parts));
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let pieces: Vec<Bytes> = body.chunks(4_096).map(|piece| body.slice_ref(piece)).collect();
        let pieces = futures_util::stream::iter(pieces.into_iter().map(move |piece| {
            counted.fetch_add(piece.len(), Ordering::SeqCst);
            Ok::<_, std::io::Error>(piece)
        }));
        let said = ann.sends(Body::from_stream(pieces)).await;
        assert_eq!(said.status.as_u16(), status, "day {day}, {bytes} bytes: {}", said.text);
        let sent = sent.load(Ordering::SeqCst);
        assert_eq!(sent == body.len(), is_read_out, "day {day}, {bytes} bytes: {sent}");
    }
}

/// What is saved meanwhile is replaced by nobody who was not shown it.
async fn replaces(
    desk: &mut Desk<'_>,
    command: &str,
    fields: &[(&str, &str)],
    (odd, saved): ((&str, &str), &str),
) {
    let token = desk.token.clone();
    let window = [("window", "W1"), ("window_id", "W1")];
    let window = window.into_iter().filter(|(name, _)| match command {
        "put_intent" => *name == "window",
        "submit" => *name == "window_id",
        _ => false,
    });
    let base: Vec<_> = [("csrf", token.as_str()), ("do", command)].into_iter().chain(window).collect();
    let version = |page: &str| value_of(form_of(page, command).unwrap(), "version");
    // Refused for something else, and without a word of what is saved: the form stays of its old version.
    let wrong = fields.iter().copied().filter(|(name, _)| *name != odd.0);
    let wrong = wrong.chain(Some(odd).filter(|(_, value)| !value.is_empty()));
    let wrong: Vec<_> = base.iter().copied().chain([("version", "none")]).chain(wrong).collect();
    let page = desk.raw(&wrong).await.expect(422).text;
    assert_eq!(version(&page).unwrap(), "none", "{command}");
    assert!(!page.contains("replaces what was saved"), "{page}");
    // Refused since something is saved: that is shown, beside what was sent.
    let fresh = version(&desk.page().await).unwrap();
    for old in [Some("none"), Some("0123"), None] {
        let old = old.map(|old| ("version", old));
        let sent: Vec<_> = base.iter().copied().chain(old).chain(fields.iter().copied()).collect();
        let said = desk.raw(&sent).await;
        let page = said.expect(if old.is_some() { 412 } else { 428 }).text;
        let form = page.find("What you send again replaces what was saved").expect(command);
        assert!(page[form..].contains(&format!("<dd><bdi>{saved}</bdi></dd>")), "{command}: {page}");
        assert!(form_of(&page, command).unwrap().contains(fields[0].1), "{command}: {page}");
        assert_eq!(version(&page).unwrap(), fresh, "{command}");
    }
}

#[tokio::test]
async fn nobody_replaces_what_they_were_not_shown() {
    let sprint = Sprint::entered(false).await;
    sprint.set(0, "02:00").await;
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let goal = [("objective", "a goal of its own"), ("profile", "acme builds tools")];
    let saved = crate::round_bench::kickoff("acme")["objective"].as_str().unwrap().to_owned();
    replaces(&mut desk, "publish_kickoff", &goal, (("profile", ""), &saved)).await;
    sprint.set(1, "01:00").await;
    sprint.intend(&sprint.ann, "W1").await;
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let planned = [
        ("objective", "a plan of its own"),
        ("planned_artifact_class", "external"),
        ("declared_posture_exo", "1000"),
        ("owner", "the owner"),
        ("reviewer", "the reviewer"),
    ];
    replaces(&mut desk, "put_intent", &planned, (("declared_posture_exo", "much"), PLAN)).await;
    let version = value_of(form_of(&desk.page().await, "put_intent").unwrap(), "version").unwrap();
    assert_ne!(version, "none");
    desk.does("put_intent", &planned).await.expect(303);
    assert!(desk.page().await.contains("a plan of its own"));
    sprint.set(1, "19:00").await;
    let package = sprint.publish(&sprint.ann, "acme", "W1", CLAIMS[0][0]).await;
    sprint.set(1, "20:05").await;
    sprint.submit(&sprint.ann, &package).await.expect(201);
    let mut desk = Desk::of(&sprint.bench, Some("ann")).await;
    let digest = "0".repeat(64);
    let mut fields = any_package(&digest, "a claim of its own making");
    fields.swap(0, 6);
    replaces(&mut desk, "submit", &fields, (("stake_atomic", "much"), CLAIMS[0][0])).await;
}

//! A post that was hidden: its text is on no page, in no answer and in no feed, whoever looks, at once and for good.

use std::collections::{BTreeSet, VecDeque};

use axum::body::Body;
use serde_json::{Value, json};

use crate::play::Browser;
use crate::round_bench::{Sprint, of};
use crate::support::{ADMIN, Bench, request};

const TEXT: &str = "the customer is Violet Vane of Harbour Street";
/// Pages that one viewer looks at, at most.
const PAGES_MAX: usize = 300;

/// Every page that can be reached from the front page and the given ones, with what it says.
async fn pages(browser: &mut Browser<'_>, more: &[&str]) -> Vec<(String, String)> {
    let mut ahead: VecDeque<String> = ["/", "/town", "/rounds", "/boards", "/treasury"]
        .iter()
        .chain(more)
        .map(|path| (*path).to_owned())
        .collect();
    let (mut seen, mut told) = (BTreeSet::new(), Vec::new());
    while let Some(path) = ahead.pop_front() {
        if told.len() >= PAGES_MAX || !seen.insert(path.clone()) {
            continue;
        }
        let said = browser.see(&path).await;
        for link in said.text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let link = link.split('#').next().unwrap_or_default().replace("&amp;", "&");
            let is_page = link.starts_with('/') && !link.starts_with("//");
            let is_other = ["/assets/", "/api/v1/events", "/docs", "/problems"]
                .iter()
                .any(|other| link.starts_with(other));
            if is_page && !is_other {
                ahead.push_back(link);
            }
        }
        told.push((path, said.text));
    }
    assert!(told.len() < PAGES_MAX, "the pages have no end");
    told
}

/// Everything that can be read over the API, whatever is added to it later.
async fn answers(bench: &Bench, key: Option<&str>, named: &[(&str, &str)]) -> Vec<(String, String)> {
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let mut told = Vec::new();
    for (path, verbs) in document["paths"].as_object().unwrap() {
        if verbs.get("get").is_none() || path.starts_with("/api/v1/events") {
            continue;
        }
        let path = named
            .iter()
            .fold(path.clone(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value));
        let path = path.replace(['{', '}'], "");
        told.push((path.clone(), bench.get(&path, key).await.text));
    }
    assert!(told.len() > 40, "{}", told.len());
    told
}

/// Both feeds from their beginning.
async fn feeds(bench: &Bench) -> Vec<(String, String)> {
    let rows: usize =
        bench.get("/readyz", None).await.expect(200).text.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let mut told = Vec::new();
    for path in ["/api/v1/events.ndjson?since=0", "/api/v1/events?since=0"] {
        let all = request("GET", path, None).header("last-event-id", "0").body(Body::empty()).unwrap();
        let is_whole = |text: &str| {
            let ids = text.lines().filter(|line| line.starts_with("id:") || line.starts_with('{'));
            ids.count() >= rows
        };
        told.push((path.to_owned(), bench.stream(all, is_whole).await));
    }
    told
}

/// All of it for these viewers.
async fn everything(sprint: &Sprint, named: &[(&str, &str)], viewers: &[&str]) -> Vec<(String, String)> {
    let bench = &sprint.bench;
    let mut told = feeds(bench).await;
    let keys = [("ann", &*sprint.ann), ("bob", &*sprint.bob), ("eva", &*sprint.eva), ("admin", ADMIN)];
    for who in viewers {
        let key = keys.iter().find(|(name, _)| name == who).map(|(_, key)| *key);
        let found = answers(bench, key, named).await.into_iter();
        told.extend(found.map(|(path, text)| (format!("{who}: {path}"), text)));
        let mut browser = Browser::new(bench);
        match *who {
            "nobody" => {}
            "admin" => {
                let made = bench.post("/api/v1/logins", Some(ADMIN), &json!({})).await.expect(201).json();
                let token = made["path"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
                browser.post("/login", &[("token", &token)]).await.expect(303);
            }
            agent => {
                browser.sign_in(agent).await.expect(303);
            }
        }
        let more = ["/companies/acme", "/rounds/s0-r1/desk", "/town?round=s0-r1"];
        let found = pages(&mut browser, &more).await.into_iter();
        told.extend(found.map(|(path, text)| (format!("{who}: page {path}"), text)));
    }
    told.extend(bench.logged().into_iter().map(|line| ("the log".to_owned(), line)));
    told
}

fn with_text(told: &[(String, String)]) -> Vec<&str> {
    told.iter().filter(|(_, text)| text.contains(TEXT)).map(|(place, _)| place.as_str()).collect()
}

async fn hidden_everywhere(freeze: bool) {
    let sprint = Sprint::entered(freeze).await;
    let bench = &sprint.bench;
    for day in if freeze { 1..=3 } else { 1..=1 } {
        sprint.window(day).await;
    }
    let day = if freeze { 3 } else { 1 };
    sprint.set(day, "21:30").await;
    let post = json!({ "round": "s0-r1", "kind": "progress", "window": format!("W{day}"), "body": format!("Done: {TEXT}.") });
    let key = [("idempotency-key", "p1")];
    let made = bench
        .send_json("POST", "/api/v1/town/posts", Some(&sprint.ann), &key, &post)
        .await
        .expect(201)
        .json();
    let (id, name) = (made["id"].as_str().unwrap().to_owned(), made["ref"].as_str().unwrap().to_owned());
    if freeze {
        sprint.set(day, "22:30").await;
        bench.get(&of("standings"), None).await.expect(200);
    }
    let submission = format!("boards:s0-r1:acme:W{day}");
    let named = [
        ("round", "s0-r1"),
        ("window", "W1"),
        ("company", "acme"),
        ("post", id.as_str()),
        ("submission", submission.as_str()),
    ];
    let before = everything(&sprint, &named, &["nobody"]).await;
    let shown = with_text(&before);
    for place in ["nobody: /api/v1/town/posts", "nobody: page /town"] {
        assert!(shown.contains(&place), "{place} has it: {shown:?}");
    }
    let hide = json!({ "post": name, "reason": "it named a customer" });
    bench.post(&of("tombstones"), Some(&sprint.eva), &hide).await.expect(200);
    let everybody = ["nobody", "ann", "bob", "eva", "admin"];
    let viewers = if freeze { &everybody[..3] } else { &everybody };
    let after = everything(&sprint, &named, viewers).await;
    assert_eq!(with_text(&after), [""; 0], "while it is frozen: {freeze}");
    // Its place is told, with the reason and the digest.
    let told: Value = bench.get(&format!("/api/v1/town/posts/{id}"), None).await.expect(200).json();
    assert_eq!((&told["body"], &told["hidden"]), (&Value::Null, &json!("it named a customer")));
    assert_eq!(told["body_sha256"].as_str().unwrap().len(), 64);
    // Nobody is answered with it who does not send it.
    for key in [&sprint.bob, &sprint.eva] {
        let other = [("idempotency-key", "p1")];
        let body =
            json!({ "round": "s0-r1", "kind": "progress", "body": "something else that is long enough" });
        let said = bench.send_json("POST", "/api/v1/town/posts", Some(key), &other, &body).await;
        assert!(!said.text.contains(TEXT));
    }
    sprint.set(day + 1, "01:00").await;
    bench.restart();
    assert_eq!(with_text(&everything(&sprint, &named, &["nobody", "ann"]).await), [""; 0], "after a restart");
}

/// Every text in a document that is a time.
fn times(value: &Value, found: &mut Vec<String>) {
    let is_time = |text: &str| {
        let shape: String = text.chars().take(20).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        text.len() < 40 && (shape.starts_with("0000-00-00T00:00:00"))
    };
    match value {
        Value::String(text) if is_time(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| times(item, found)),
        // What somebody wrote stays as it was written: where a pack begins, and the times of a record that is scored.
        Value::Object(members) => {
            let written = ["start_local", "submitted_at", "w3_submitted_at"];
            let others = members.iter().filter(|(name, _)| !written.contains(&name.as_str()));
            others.for_each(|(_, member)| times(member, found));
        }
        _ => {}
    }
}

/// Whatever the second: a reader that expects milliseconds finds them.
#[tokio::test]
async fn every_time_on_the_wire_is_utc_with_milliseconds() {
    let sprint = Sprint::entered(false).await;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    sprint.judge("acme", "W1", &crate::round_bench::accepted()).await.expect(201);
    sprint.set(2, "01:00").await;
    let bench = &sprint.bench;
    let named = [
        ("round", "s0-r1"),
        ("window", "W1"),
        ("company", "acme"),
        ("post", "town:s0-r1:1"),
        ("submission", "boards:s0-r1:acme:W1"),
    ];
    let mut told = feeds(bench).await;
    for key in [None, Some(sprint.ann.as_str()), Some(ADMIN)] {
        told.extend(answers(bench, key, &named).await);
    }
    let mut found = Vec::new();
    for (_, text) in &told {
        for line in text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line)) {
            if let Ok(value) = serde_json::from_str::<Value>(line) {
                times(&value, &mut found);
            }
        }
    }
    assert!(found.len() > 100, "{}", found.len());
    let wrong: Vec<&String> = found.iter().filter(|time| time.len() != 24 || !time.ends_with('Z')).collect();
    assert_eq!(wrong, Vec::<&String>::new());
    let said = bench.get(&of("standings"), None).await.expect(200);
    assert_eq!(said.header("x-phase-ends"), "2026-07-11T02:00:00.000Z");
}

#[tokio::test]
async fn the_text_of_a_hidden_post_is_nowhere() {
    hidden_everywhere(false).await;
}

#[tokio::test]
async fn a_freeze_does_not_keep_the_text_of_a_hidden_post() {
    hidden_everywhere(true).await;
}

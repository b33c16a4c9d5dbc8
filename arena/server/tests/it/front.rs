//! The pages that belong to no area.

use arena_server::problem::CODES;
use serde_json::json;

use crate::audit::audit;
use crate::contests::{SLUG, act, manifest};
use crate::episodes::{join, play_to_the_end};
use crate::round_bench::{PLAN, Sprint};
use crate::support::{ADMIN, Bench, request};

const NOW: &str = "2026-12-01T00:00:00Z";

async fn page(bench: &Bench, path: &str) -> String {
    let asked =
        request("GET", path, None).header("accept", "text/html").body(axum::body::Body::empty()).unwrap();
    let said = bench.send(asked).await.expect(200);
    assert_eq!(said.header("content-type"), "text/html; charset=utf-8", "{path}");
    assert_eq!(audit(&said.text), [""; 0], "{path}");
    said.text
}

/// Targets of the links in the part of a page that is its own.
fn links(page: &str) -> Vec<&str> {
    let main = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    main.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[tokio::test]
async fn an_empty_server_says_that_nothing_has_happened() {
    let bench = Bench::at(NOW);
    let page = page(&bench, "/").await;
    for words in ["No round runs", "No contest is open", "You play no episode", "Nothing has happened yet"] {
        assert!(page.contains(words), "{words}");
    }
}

#[tokio::test]
async fn what_happened_last_is_told_and_what_is_sealed_is_not() {
    let bench = Bench::at(NOW);
    for n in 0..12 {
        bench.agent(&format!("bees-{n}"), "hive", &["read"]).await;
    }
    let page = page(&bench, "/").await;
    assert_eq!(page.matches("An agent was made known").count(), 10);
    assert!(page.contains("bees-11") && page.contains("bees-2<") && !page.contains("bees-1<"), "{page}");
    assert!(!page.contains("key_issued") && !page.contains("agents.fact"));
}

/// With a round, a contest, a finished episode and an open one.
async fn busy() -> Sprint {
    let sprint = Sprint::entered(false).await;
    let bench = &sprint.bench;
    sprint.window(1).await;
    bench.post("/api/modules/contest/propose", Some(ADMIN), &manifest(&json!({}))).await.expect(201);
    act(bench, json!({ "action": "activate-contest", "contest_id": SLUG })).await.expect(200);
    let key = bench.agent("bees", "hive", &["read", "play"]).await;
    play_to_the_end(bench, &key, |_| json!({})).await;
    join(bench, &key).await;
    sprint
}

#[tokio::test]
async fn what_runs_is_shown_with_its_next_time_and_nothing_that_is_sealed() {
    let sprint = busy().await;
    let text = page(&sprint.bench, "/").await;
    for told in [
        "href=\"/rounds/s0-r1\"",
        "Public Producer Sprint",
        &format!("href=\"/contests/{SLUG}\""),
        "href=\"/episodes/e1\"",
        "An episode was finished",
        "An episode was started",
    ] {
        assert!(text.contains(told), "{told} is missing in {text}");
    }
    assert!(!text.contains(PLAN) && !text.contains("href=\"/episodes/e2\"") && !text.contains("/play/e2"));
}

#[tokio::test]
async fn every_link_of_these_pages_leads_somewhere() {
    let sprint = busy().await;
    let bench = &sprint.bench;
    for path in ["/", "/docs", "/problems", "/problems/not_json"] {
        let text = page(bench, path).await;
        for target in
            links(&text).into_iter().filter(|target| target.starts_with('/') && !target.contains("ndjson"))
        {
            let said = bench.get(target, None).await;
            assert!(
                said.status.is_success() || said.status.is_redirection(),
                "{target} of {path}: {}",
                said.status
            );
        }
    }
}

#[tokio::test]
async fn every_code_has_a_page_for_people_and_a_document_for_programs() {
    let bench = Bench::at(NOW);
    let all = page(&bench, "/problems").await;
    for code in CODES {
        let path = format!("/problems/{}", code.name);
        assert!(all.contains(&format!("href=\"{path}\"")), "{path}");
        page(&bench, &path).await;
        let said = bench.get(&path, None).await.expect(200).json();
        assert_eq!((&said["code"], &said["status"]), (&json!(code.name), &json!(code.status)));
    }
    bench.get("/problems/no_such_code", None).await.expect(404);
}

#[tokio::test]
async fn the_docs_name_every_route_and_every_example_that_makes_something_has_its_key() {
    let bench = Bench::at(NOW);
    let text = page(&bench, "/docs").await;
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("<code>{path}</code>")), "{path}");
    }
    let posts: Vec<&str> = text.split("<pre>").filter(|part| part.contains("curl -X POST")).collect();
    assert!(posts.len() >= 2);
    for post in posts {
        assert!(post.split("</pre>").next().unwrap().contains("Idempotency-Key: "), "{post}");
    }
    let key = bench.agent("bees", "hive", &["read", "play"]).await;
    let text = text.replace("&quot;", "\"");
    let mut made = 0;
    for post in text.split("curl -X POST \"$ARENA").skip(1) {
        let path = post.split('"').next().unwrap();
        let body = post.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
        bench.post(path, Some(&key), &serde_json::from_str(body).unwrap()).await.expect(201);
        made += 1;
    }
    assert!(made >= 2, "{made} examples");
    assert!(
        text.contains("256 KiB") && text.contains("1000000 a minute"),
        "limits are those of the configuration"
    );
    for bound in ["limits.streams_max", "limits.connections_max", "tournaments.turns_max"] {
        assert!(text.contains(&format!("<code>{bound}</code>")), "{bound}");
    }
}

#[tokio::test]
async fn a_session_sees_who_it_is_and_a_stranger_is_refused_with_a_page() {
    let bench = Bench::at(NOW);
    let asked = request("GET", "/nothing", Some(ADMIN)).header("accept", "text/html");
    let said = bench.send(asked.body(axum::body::Body::empty()).unwrap()).await.expect(404);
    assert_eq!(audit(&said.text), [""; 0]);
    assert!(said.text.contains("/problems/not_found"));
}

//! The demo: a season is played through the real door, and every page of it can be used.

use std::path::Path;

use arena_contests::Moment;
use arena_server::demo::{SIGHTS, fill};
use arena_store::{Journal, Wanted, verify};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::audit::audit;
use crate::support::{ADMIN, Bench, limitless, packs, request};

const NOW: &str = "2026-12-01T15:30:00Z";
/// Pages that are looked at; there are more replays than anybody looks at.
const PAGES_MAX: usize = 300;

async fn filled(now: &str, key: u8) -> TempDir {
    let folder = TempDir::new().unwrap();
    let now: Moment = now.parse().unwrap();
    fill(folder.path(), packs(), [key; 64], now).await.unwrap();
    folder
}

fn head(folder: &Path) -> String {
    Journal::open(folder).unwrap().head().unwrap().hash.to_string()
}

/// Where the links of a page's own part lead on this site, without what follows a `#`.
fn links(page: &str) -> Vec<String> {
    let main = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let targets = main.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let own = targets.filter(|target| target.starts_with('/') && !target.starts_with("/api/"));
    own.map(|target| target.split('#').next().unwrap().replace("&amp;", "&")).collect()
}

#[tokio::test]
async fn the_same_moment_gives_the_same_living_site_whose_keys_are_good_no_more() {
    let folders = (filled(NOW, 1).await, filled(NOW, 2).await);
    assert_eq!(head(folders.0.path()), head(folders.1.path()));
    // Only what the server signs by is another.
    let key = |folder: &TempDir| std::fs::read(folder.path().join("keys/instance")).unwrap();
    assert_ne!(key(&folders.0), key(&folders.1));
    let report = verify(folders.0.path(), &Wanted { blobs: true, ..Wanted::default() }).unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    let bench = Bench::over(folders.0, NOW, limitless());
    everything_is_in_it(&bench).await;
    no_key_is_good(&bench).await;
    every_page_can_be_used(&bench).await;
}

async fn no_key_is_good(bench: &Bench) {
    for agent in ["bees", "eva", "ada"] {
        let path = format!("/api/v1/agents/{agent}/keys");
        let fresh = bench.post(&path, Some(ADMIN), &json!({ "scopes": ["read"] })).await.expect(201).json();
        let keys = bench.get("/api/v1/keys", fresh["key"].as_str()).await.expect(200).json();
        let old: Vec<&Value> =
            keys["items"].as_array().unwrap().iter().filter(|key| key["key_id"] != fresh["key_id"]).collect();
        assert!(!old.is_empty() && old.iter().all(|key| key["expires_at"] == NOW), "{old:?}");
    }
}

/// From the first pages on, every page of ours that a page leads to.
async fn every_page_can_be_used(bench: &Bench) {
    let mut found: Vec<String> = SIGHTS.iter().map(|sight| sight.path.to_owned()).collect();
    let mut looked = 0;
    while looked < found.len().min(PAGES_MAX) {
        let path = found[looked].clone();
        let asked = request("GET", &path, None).header("accept", "text/html");
        let said = bench.send(asked.body(axum::body::Body::empty()).unwrap()).await;
        assert!(
            matches!(said.status.as_u16(), 200 | 303 | 307 | 410),
            "{path}: {} {}",
            said.status,
            said.text
        );
        if said.status == 200 && said.header("content-type").starts_with("text/html") {
            assert_eq!(audit(&said.text), [""; 0], "{path}");
            for link in links(&said.text) {
                if !found.contains(&link) {
                    found.push(link);
                }
            }
        }
        looked += 1;
    }
    assert!(looked > 150, "{looked} pages");
}

async fn everything_is_in_it(bench: &Bench) {
    let told = crate::contests::feed(bench).await;
    for kind in [
        "entrant.registered",
        "entrant.entered",
        "intent.counted",
        "town.posted",
        "submission.received",
        "submission.judged",
        "dispute.filed",
        "dispute.ruled",
        "intervention.recorded",
        "standings.snapshot",
        "award.paid",
        "round.closed",
        "contest.proposed",
        "contest.scored",
        "contest.reward_moved",
        "match.finished",
        "claim.claim_listed",
        "claim.settled",
    ] {
        assert!(told.contains(&format!("\"{kind}\"")), "{kind} is not in the feed");
    }
    let claims = bench.get("/api/v1/claims", None).await.expect(200).json();
    let states: Vec<(&str, Option<&str>)> = claims["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| (claim["status"].as_str().unwrap(), claim["outcome"].as_str()))
        .collect();
    assert!(states.contains(&("settled", Some("reproduced"))), "{states:?}");
    assert!(states.iter().any(|(status, _)| *status == "committed"), "{states:?}");
    let round = bench.get("/api/v1/rounds/season-0-round-1", None).await.expect(200).json();
    assert_eq!(round["status"], "final");
    for (path, at_least) in [
        ("/api/v1/episodes", 5),
        ("/api/v1/rounds", 3),
        ("/api/modules/contest/list", 4),
        ("/api/v1/town/posts?round=season-0-round-1", 30),
    ] {
        let listed = bench.get(path, None).await.expect(200).json()["items"].as_array().unwrap().len();
        assert!(listed >= at_least, "{path}: {listed}");
    }
}

#[tokio::test]
async fn a_season_ends_at_any_time_of_the_day() {
    for now in ["2026-12-01T00:00:00.001Z", "2026-12-01T23:59:59Z"] {
        let bench = Bench::over(filled(now, 1).await, now, limitless());
        let round = bench.get("/api/v1/rounds/season-0-round-2", None).await.expect(200).json();
        assert_eq!(round["status"], "running", "{now}");
    }
}

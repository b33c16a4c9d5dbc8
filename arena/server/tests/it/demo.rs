//! The demo: a season is played through the real door, and every page of it can be used.

use std::cell::RefCell;
use std::path::Path;

use arena_canon::Digest;
use arena_claims::manifest::Manifest;
use arena_contests::Moment;
use arena_server::demo::{Experiment, Lab, Props, SEASON_DAYS, SIGHTS, fill};
use arena_store::{Journal, Wanted, verify};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::audit::audit;
use crate::support::{ADMIN, Bench, limitless, packs, request};
use crate::workshop::{Script, component, until};

pub(crate) const NOW: &str = "2026-12-01T15:30:00Z";
/// Pages that are looked at; there are more replays than anybody looks at.
const PAGES_MAX: usize = 300;

/// Gives each experiment's figure as its component says it.
struct Paper;

impl Lab for Paper {
    fn engine(&self) -> Value {
        json!({ "wasmtime": "48.0.8", "config_sha256": "0".repeat(64) })
    }

    fn run(&self, of: &Experiment, manifest: &Manifest, job: Digest) -> Result<Value, String> {
        assert_eq!(manifest.inputs.len(), of.inputs.len());
        let value = std::str::from_utf8(&of.component).unwrap().rsplit(' ').next().unwrap();
        Ok(json!({
            "metrics": [{ "name": "x", "kind": "decimal", "value": value }], "fuel": "734118",
            "log_sha256": job,
        }))
    }
}

fn experiment(gives: &str, inputs: &[&str]) -> Experiment {
    let inputs = inputs.iter().map(|name| ((*name).to_owned(), format!("{name}: 1, 2, 3").into_bytes()));
    Experiment {
        component: format!("an experiment that gives {gives}").into_bytes(),
        inputs: inputs.collect(),
        claim: json!({
            "title": "x is ten", "arguments": {},
            "metrics": [{
                "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
                "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" },
            }],
            "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 60 },
        }),
    }
}

pub(crate) async fn filled(now: &str, key: u8) -> TempDir {
    let folder = TempDir::new().unwrap();
    let now: Moment = now.parse().unwrap();
    let strategies = [("Nice", "matrix nice"), ("Mean", "matrix defect"), ("Echo", "matrix copy")];
    let days = RefCell::new(Vec::new());
    let props = Props {
        packs: packs(),
        strategies: strategies.map(|(name, text)| (name.to_owned(), component(text))).to_vec(),
        workshop: Some(Script::new()),
        settled: experiment("10.4", &["a.csv", "b.csv"]),
        open: experiment("11.0", &[]),
        lab: &Paper,
        on_day: &|day| days.borrow_mut().push(day),
    };
    fill(folder.path(), &props, [key; 64], now).await.unwrap();
    assert_eq!(days.into_inner(), (0..=SEASON_DAYS).collect::<Vec<_>>(), "it is told how far it is");
    folder
}

/// What happened, but for what the server signed of it.
fn told(folder: &Path) -> Vec<(String, String, Value)> {
    let journal = Journal::open(folder).unwrap();
    let mut told = Vec::new();
    while let events = journal.after(told.len() as u64, 1_000).unwrap()
        && !events.is_empty()
    {
        told.extend(events.iter().map(|event| {
            let mut body: Value = event.read().unwrap();
            if let Some(log) = body.get_mut("log").and_then(Value::as_object_mut) {
                log.retain(|member, _| !["checkpoint", "key"].contains(&member.as_str()));
            }
            (event.topic.clone(), event.kind.clone(), body)
        }));
    }
    told
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
    assert_eq!(told(folders.0.path()), told(folders.1.path()));
    // Only what the server signs by is another.
    for key in ["keys/instance", "keys/log"] {
        let read = |folder: &TempDir| std::fs::read(folder.path().join(key)).unwrap();
        assert_ne!(read(&folders.0), read(&folders.1), "{key}");
    }
    let report = verify(folders.0.path(), &Wanted { blobs: true, ..Wanted::default() }).unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    let bench = Bench::over(folders.0, NOW, limitless());
    the_tournament_is_played_by_whoever_opens_it(&bench).await;
    what_is_claimed_can_be_run(&bench).await;
    everything_is_in_it(&bench).await;
    no_key_is_good(&bench).await;
    every_page_can_be_used(&bench).await;
}

async fn the_tournament_is_played_by_whoever_opens_it(bench: &Bench) {
    let told = async || bench.get("/api/v1/tournaments/t1", None).await.expect(200).json();
    assert_eq!(told().await["status"], "started");
    bench.bring(Script::new());
    until("it is over", async || !told().await["terminal"].is_null()).await;
    let over = told().await;
    assert_eq!(over["status"], "success", "{over}");
    let matrix = bench.get("/api/v1/tournaments/t1/matrix", None).await.expect(200).json();
    assert_eq!(matrix["standings"].as_array().unwrap().len(), 3);
    assert!(matrix["identities"].as_array().unwrap().iter().all(|it| it["verified"] == true));
}

/// Whatever a claim of the season pins is kept, and its records are those of whoever runs it.
async fn what_is_claimed_can_be_run(bench: &Bench) {
    for claim in ["c1", "c2"] {
        let told = bench.get(&format!("/api/v1/claims/{claim}/blobs"), None).await.expect(200).json();
        let items = told["items"].as_array().unwrap();
        assert_eq!(items.len(), if claim == "c1" { 3 } else { 1 });
        assert!(items.iter().all(|item| !item["bytes"].is_null()), "{told}");
    }
    let settled = bench.get("/api/v1/claims/c1", None).await.expect(200).json();
    assert_eq!(settled["run"]["record"]["metrics"][0]["value"], "10.4", "{settled}");
    assert_eq!(settled["comparisons"][0]["agrees"], true);
    let open = bench.get("/api/v1/claims/c2", None).await.expect(200).json();
    assert_eq!((&open["status"], &open["challenges_open"]), (&json!("committed"), &json!(true)));
    assert_eq!(open["run"]["record"], Value::Null);
}

async fn no_key_is_good(bench: &Bench) {
    for agent in ["bees", "eva", "ada"] {
        let path = format!("/api/v1/agents/{agent}/keys");
        let fresh = bench.post(&path, Some(ADMIN), &json!({ "scopes": ["read"] })).await.expect(201).json();
        let keys = bench.get("/api/v1/keys", fresh["key"].as_str()).await.expect(200).json();
        let old: Vec<&Value> =
            keys["items"].as_array().unwrap().iter().filter(|key| key["key_id"] != fresh["key_id"]).collect();
        assert!(
            !old.is_empty() && old.iter().all(|key| key["expires_at"] == NOW.replace('Z', ".000Z")),
            "{old:?}"
        );
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
        "tournament.terminal",
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

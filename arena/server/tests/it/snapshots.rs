//! A server that starts from a snapshot is the server that folded everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arena_canon::json::Value;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};
use arena_server::Keeper;
use arena_server::auth::Viewer;
use arena_server::demo::SIGHTS;
use arena_server::instance::claims::Genesis;
use arena_server::instance::{Instance, Known};
use arena_server::play::Shelf;
use arena_store::{Domain as _, Event, Journal, Options, SNAPSHOTS, Store};
use serde_json::json;

use crate::demo::{NOW, filled};
use crate::support::{ADMIN, Bench, limitless, packs};

/// Places at which a snapshot is taken.
const CUTS: usize = 4;

fn keeper() -> Keeper {
    Keeper::new(Arc::new(Known {
        registry: Registry::v2().clone(),
        scanner: Scanner::new(&[], MARKERS).unwrap(),
        packs: Shelf::read(&packs()).unwrap(),
        claims: Genesis::new("arena", false).unwrap(),
        log: arena_claims::envelope::SecretKey::from_seed(&[7; 32]),
    }))
}

fn events(folder: &Path) -> Vec<Event> {
    let journal = Journal::open(folder).unwrap();
    let mut events = Vec::new();
    loop {
        let more = journal.after(events.len() as u64, 1_000).unwrap();
        if more.is_empty() {
            return events;
        }
        events.extend(more);
    }
}

/// Everything that an instance knows, field by field; of episodes, whose open seats are a cache, what a snapshot holds
/// of them and what follows from it.
fn told(keeper: &Keeper, instance: &Instance) -> Vec<(&'static str, String)> {
    let Instance { agents, claims, contests, episodes, rounds, strategies, tournaments, now, seq } = instance;
    let by = Viewer::Admin { name: "ada".to_owned() };
    let mut lists = Vec::new();
    let ids = |list: Vec<&arena_server::instance::episodes::Record>| {
        list.iter().map(|record| format!("{} {:?}", record.to_json(), record.end)).collect::<Vec<_>>()
    };
    lists.push(("all", ids(episodes.list(&by, None, None).collect())));
    for agent in agents.all().keys() {
        lists.push((agent, ids(episodes.list(&by, Some(agent), None).collect())));
        lists.push((agent, ids(episodes.open_by(agent).collect())));
    }
    vec![
        ("agents", format!("{agents:#?}")),
        ("claims", format!("{claims:#?}")),
        ("contests", format!("{contests:#?}")),
        ("episodes and agents", format!("{:?}", keeper.snapshot(instance))),
        ("lists of episodes", format!("{lists:#?}")),
        ("rounds", format!("{rounds:#?}")),
        ("strategies", format!("{strategies:#?}")),
        ("tournaments", format!("{tournaments:#?}")),
        ("time and place", format!("{now:?} {seq}")),
    ]
}

#[track_caller]
fn assert_same(keeper: &Keeper, left: &Instance, right: &Instance, when: &str) {
    for ((part, left), (_, right)) in told(keeper, left).iter().zip(&told(keeper, right)) {
        let differ = left.lines().zip(right.lines()).find(|(left, right)| left != right);
        assert!(left == right, "{part} {when}: {differ:?}");
    }
}

/// As the store does it: restored, what was left out folded again, then what came after.
fn resumed(keeper: &Keeper, snapshot: &[u8], before: &[Event], after: &[Event]) -> Instance {
    let mut state = keeper.restore(snapshot).expect("it is a snapshot");
    for event in before.iter().filter(|event| !keeper.is_in_snapshot(&event.kind)) {
        keeper.refold(&mut state, event).unwrap();
    }
    for event in after {
        keeper.evolve(&mut state, event).unwrap();
    }
    state
}

#[tokio::test]
async fn a_snapshot_and_what_came_after_is_the_fold_of_everything_wherever_it_is_taken() {
    let folder = filled(NOW, 1).await;
    let events = events(folder.path());
    let kinds: BTreeSet<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    for (fact, _) in Instance::FACTS {
        assert!(kinds.contains(fact), "the season has no {fact}");
    }
    let keeper = keeper();
    let mut state = keeper.initial();
    let (mut snapshots, every) = (Vec::new(), events.len() / CUTS);
    for (place, event) in events.iter().enumerate() {
        if place % every == every / 2 {
            let snapshot = keeper.snapshot(&state).expect("it is written");
            let again = resumed(&keeper, &snapshot, &events[..place], &[]);
            assert_same(&keeper, &state, &again, &format!("at {place}"));
            snapshots.push((place, snapshot));
        }
        keeper.evolve(&mut state, event).unwrap();
    }
    snapshots.push((events.len(), keeper.snapshot(&state).expect("it is written")));
    for (place, snapshot) in &snapshots {
        let (before, after) = events.split_at(*place);
        let again = resumed(&keeper, snapshot, before, after);
        assert_same(&keeper, &state, &again, &format!("from {place} on"));
    }
}

/// What many addresses answer, to anybody and to the admin. The id of a request is in every problem, and another each
/// time: of those only the status counts.
async fn answers(bench: &Bench) -> BTreeMap<String, String> {
    let mut paths: Vec<String> = SIGHTS.iter().map(|sight| sight.path.to_owned()).collect();
    let api = [
        "keys",
        "packs",
        "episodes",
        "episodes/e1",
        "episodes?limit=3",
        "rounds",
        "rounds/season-0-round-1",
        "rounds/season-0-round-1/standings",
        "rounds/season-0-round-2",
        "claims",
        "claims/c1/draws",
        "log/checkpoint",
        "log/receipts/3",
        "strategies",
        "tournaments",
        "tournaments/t1",
        "town/posts",
    ];
    paths.extend(api.iter().map(|path| format!("/api/v1/{path}")));
    paths.extend(["/api/modules/contest/list", "/healthz", "/readyz"].map(str::to_owned));
    let mut said = BTreeMap::new();
    for path in &paths {
        for key in [None, Some(ADMIN)] {
            let answer = bench.get(path, key).await;
            let text = if answer.status.is_success() { answer.text } else { String::new() };
            said.insert(format!("{path} {key:?}"), format!("{} {text}", answer.status));
        }
    }
    said
}

/// The lines of the log about snapshots since it had `since` lines.
fn notes(bench: &Bench, since: usize) -> Vec<(String, u64, String)> {
    let lines = bench.logged().into_iter().skip(since);
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let notes = lines.filter(|line| line["snapshot"].is_string()).map(|line| {
        assert_eq!(line["time"], NOW);
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        (text("snapshot"), line["seq"].as_u64().unwrap(), text("detail"))
    });
    notes.collect()
}

async fn assert_answers(bench: &Bench, before: &BTreeMap<String, String>) {
    for (path, said) in answers(bench).await {
        assert!(before[&path] == said, "{path}: {said}\nbefore: {}", before[&path]);
    }
}

#[tokio::test]
async fn a_server_from_a_snapshot_answers_as_it_did_and_one_from_a_damaged_one_as_well() {
    let bench = Bench::over(filled(NOW, 1).await, NOW, limitless());
    let before = answers(&bench).await;
    let good = before.values().filter(|said| said.starts_with("200") && said.len() > 50).count();
    assert!(good > before.len() / 2, "{good} of {}", before.len());
    assert!(notes(&bench, 0).is_empty());
    drop(bench.take());
    let store = Store::open(bench.folder(), keeper(), Vec::new(), Options::default()).unwrap();
    store.snapshot().unwrap();
    let seq = store.look(|instance| instance.seq).unwrap();
    drop(store);
    let since = bench.logged().len();
    bench.restart();
    let used = notes(&bench, since);
    assert_eq!((used.len(), used[0].0.as_str(), used[0].1), (1, "used", seq));
    assert!(used[0].2.ends_with("and 0 after it"), "{used:?}");
    assert_answers(&bench, &before).await;
    // What is played on an episode that was open is played as it would have been.
    let key = bench.agent("late", "late", &["play"]).await;
    let pack = json!({ "pack": "two-spikes", "version": "0.1.0" });
    let joined = bench.post("/api/v1/episodes", Some(&key), &pack).await.expect(201).json();
    let act =
        |turn: u32| format!("/api/v1/episodes/{}/turns/{turn}/action", joined["episode"].as_str().unwrap());
    let action = json!({ "curtail_mw": 1.25, "battery_mw": null });
    let put =
        async |turn: u32| bench.send_json("PUT", &act(turn), Some(&key), &[], &action).await.expect(200).text;
    let first = put(0).await;
    drop(bench.take());
    let store = Store::open(bench.folder(), keeper(), Vec::new(), Options::default()).unwrap();
    store.snapshot().unwrap();
    let seq = store.look(|instance| instance.seq).unwrap();
    drop(store);
    let since = bench.logged().len();
    bench.restart();
    assert_eq!(put(0).await, first, "told again from a seat that was made again");
    put(1).await;
    assert_eq!(notes(&bench, since)[0].1, seq);
    // A damaged one is removed, the one before it is used, and what came after that is folded.
    drop(bench.take());
    let path = bench.folder().join(SNAPSHOTS).join(format!("{seq:020}.snapshot"));
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let since = bench.logged().len();
    bench.restart();
    let told = notes(&bench, since);
    assert_eq!((told.len(), told[0].0.as_str(), told[1].0.as_str()), (2, "dropped", "used"), "{told:?}");
    assert!(told[0].2.contains("it is damaged") && !path.exists(), "{told:?}");
    assert_eq!(put(1).await, put(1).await);
}

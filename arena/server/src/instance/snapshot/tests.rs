//! What is in a snapshot, to its last field. Whole seasons are in the integration tests.

use std::sync::{Arc, Mutex};

use arena_canon::Digest;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};
use arena_store::{Options, SnapshotNote, Store};
use serde_json::{Value, json};

use super::super::{Known, Row};
use super::*;
use crate::instance::claims::Genesis;
use crate::keeper::Keeper;
use crate::play::Shelf;

fn packs() -> Vec<Vec<u8>> {
    let sources = [
        include_str!("../../../../../scenarios/sunny-sunday.json"),
        include_str!("../../../../../scenarios/two-spikes.json"),
        include_str!("../../../../../scenarios/cap-to-floor.json"),
    ];
    sources.map(|source| source.as_bytes().to_vec()).to_vec()
}

fn known() -> Arc<Known> {
    Arc::new(Known {
        registry: Registry::v2().clone(),
        scanner: Scanner::new(&[], MARKERS).unwrap(),
        packs: Shelf::read(&packs()).unwrap(),
        claims: Genesis::new("arena", false).unwrap(),
    })
}

/// Every field of it, but for the seats that are kept ready.
fn told(instance: &Instance) -> Vec<(&'static str, String)> {
    let Instance { agents, claims, contests, episodes, rounds, strategies, tournaments, now, seq } = instance;
    vec![
        ("agents", format!("{agents:#?}")),
        ("claims", format!("{claims:#?}")),
        ("contests", format!("{contests:#?}")),
        ("episodes", format!("{:#?}", episodes.without_seats())),
        ("rounds", format!("{rounds:#?}")),
        ("strategies", format!("{strategies:#?}")),
        ("tournaments", format!("{tournaments:#?}")),
        ("time and place", format!("{now:?} {seq}")),
    ]
}

#[track_caller]
fn assert_same(left: &Instance, right: &Instance, when: &str) {
    for ((part, left), (_, right)) in told(left).iter().zip(&told(right)) {
        let differ = left.lines().zip(right.lines()).find(|(left, right)| left != right);
        assert!(left == right, "{part} {when}: {differ:?}");
    }
}

fn row(kind: &str, body: Value) -> Row {
    let at = Moment::from_unix_ms(1_796_000_000_123);
    Row::fact(at, "a", kind, body)
}

/// Agents and episodes in every state that a season need not have.
fn unusual() -> Instance {
    let known = known();
    let mut instance = Instance::default();
    let sha256 = Digest::of(b"a token");
    let (key, other) = ("aaaaaaaaaa", "bbbbbbbbbb");
    let keys = |key: &str, expires_at_ms: Option<i64>, scopes: &[&str]| {
        json!({ "event": "key_issued", "key": key, "agent": "ann", "sha256": sha256, "scopes": scopes,
                "expires_at_ms": expires_at_ms })
    };
    for body in [
        json!({ "event": "created", "id": "ann", "operator": "op", "guest": false }),
        json!({ "event": "created", "id": "guest-1", "operator": "guest-1", "guest": true }),
        json!({ "event": "reputation_set", "id": "ann", "reputation": 77 }),
        keys(key, Some(1_796_000_000_999), &["read", "play", "submit", "judge", "admin"]),
        keys(other, None, &["play"]),
        json!({ "event": "key_revoked", "key": key }),
        json!({ "event": "login_issued", "sha256": sha256, "agent": "ann", "until_ms": 1_796_000_900_000_i64 }),
        json!({ "event": "login_issued", "sha256": Digest::of(b"b"), "agent": null, "until_ms": 1_796_000_900_000_i64 }),
    ] {
        instance.evolve(&row(agents::FACT, body), &known).unwrap();
    }
    let pack = known.packs.all()[0].clone();
    for (episode, engine) in [(1, ENGINE_VERSION), (2, "0")] {
        let pins = json!({
            "pack_id": pack.pack.document().pack_id, "pack_version": "1", "pack_sha256": pack.pack.sha256(), "turns": 24,
            "engine_version": engine, "score_version": "1", "limits_version": 1,
        });
        let body = json!({ "episode": episode, "agent": "ann", "pins": pins });
        instance.evolve(&row(episodes::JOINED, body), &known).unwrap();
    }
    let actions = [
        json!({}),
        json!({ "curtail_mw": null, "battery_mw": -1.5, "diesel_mw": 1e-300, "accept_offer": null }),
        json!({ "curtail_mw": 0.1, "accept_offer": true }),
    ];
    for (turn, action) in actions.iter().enumerate() {
        let body = json!({ "episode": 1, "turn": turn, "action": action, "end": null });
        instance.evolve(&row(episodes::ACTED, body), &known).unwrap();
    }
    let end = json!({
        "log_sha256": sha256, "log_bytes": 5, "stars": 3, "clamps": 9,
        "metrics": [{ "id": "cost_usd_per_mwh", "value": 0.1 }, { "id": "relief_share", "value": null }],
    });
    let body = json!({ "episode": 2, "turn": 0, "action": {}, "end": end });
    instance.evolve(&row(episodes::ACTED, body), &known).unwrap();
    instance
}

#[test]
fn what_a_season_need_not_have_is_in_it_as_well() {
    let instance = unusual();
    let bytes = write(&instance).unwrap();
    assert_same(&instance, &read(&bytes).unwrap(), "with everything");
    assert_same(&Instance::default(), &read(&write(&Instance::default()).unwrap()).unwrap(), "with nothing");
}

/// The store gives whole snapshots of this build only; whatever else it gave, nothing would break.
#[test]
fn bytes_that_are_none_are_refused_or_read_and_never_a_panic() {
    let bytes = write(&unusual()).unwrap();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_none(), "{length} bytes");
    }
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert!(read(&longer).is_none());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let _ = read(&changed);
        }
    }
}

#[test]
fn it_is_told_what_a_snapshot_holds() {
    let held: Vec<&str> = Instance::FACTS.iter().map(|(fact, _)| *fact).filter(|fact| holds(fact)).collect();
    assert_eq!(held, [agents::FACT, episodes::JOINED, episodes::ACTED]);
    // Announcements are counted and never folded.
    assert!(holds("match.turn"));
    assert_eq!((discriminator().len(), discriminator()), ("instance/".len() + 64, discriminator()));
}

/// One that another build wrote is not read, whatever is in it.
#[test]
fn a_snapshot_of_another_build_goes() {
    let folder = tempfile::tempdir().unwrap();
    let notes: Arc<Mutex<Vec<SnapshotNote>>> = Arc::default();
    let open = || {
        let notes = Arc::clone(&notes);
        let on_note = Arc::new(move |note: &SnapshotNote| notes.lock().unwrap().push(note.clone()));
        let options = Options { on_note, ..Options::default() };
        Store::open(folder.path(), Keeper::new(known()), Vec::new(), options).unwrap()
    };
    drop(open());
    let path = folder.path().join(arena_store::SNAPSHOTS).join(format!("{:020}.snapshot", 1));
    let mut bytes = b"arena.snapshot.1\n".to_vec();
    bytes.extend_from_slice(&10_u64.to_be_bytes());
    bytes.extend_from_slice(b"instance/1");
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(digest.as_bytes());
    std::fs::write(&path, bytes).unwrap();
    drop(open());
    let why = "another build wrote it".to_owned();
    assert_eq!(*notes.lock().unwrap(), [SnapshotNote::Dropped { seq: 1, why }]);
}

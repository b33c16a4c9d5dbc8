//! What is in a snapshot, to its last field. Whole seasons are in the integration tests.

use std::sync::{Arc, Mutex};

use arena_canon::Digest;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};
use arena_engine::ENGINE_VERSION;
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
        log: arena_claims::envelope::SecretKey::from_seed(&[7; 32]),
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

/// A workspace of the crates server, a and b, which are built one with the other, and c, which none of them is.
fn workspace() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("Cargo.lock", "version = 4"),
        ("Cargo.toml", "[workspace]"),
        (
            "arena/server/Cargo.toml",
            "[dependencies]\narena-a = { workspace = true }\nserde = \"1\"\n[dev-dependencies]\narena-c = \"1\"",
        ),
        ("arena/server/build.rs", "fn main() {}"),
        ("arena/server/src/lib.rs", "mod deep;"),
        ("arena/server/src/deep/types.rs", "struct A;"),
        ("arena/server/assets/page.css", "p {}"),
        (
            "arena/a/Cargo.toml",
            "[dependencies]\narena-b.workspace = true\n[build-dependencies]\narena-b = \"1\"",
        ),
        ("arena/a/src/lib.rs", "struct B;"),
        ("arena/a/tests/it.rs", "fn test() {}"),
        ("arena/b/Cargo.toml", "[package]\nname = \"arena-b\""),
        ("arena/b/data/acts.json", "[]"),
        ("arena/b/src/lib.rs", ""),
        ("arena/c/Cargo.toml", ""),
        ("arena/c/src/lib.rs", ""),
    ] {
        put(root.path(), name, content);
    }
    root
}

fn put(root: &std::path::Path, name: &str, content: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn taken(root: &std::path::Path) -> String {
    sources::Sources::below(root, "server").unwrap().sha256(&["rustc 1", "here"]).unwrap()
}

/// Whatever may change what a snapshot's bytes mean makes another build of it; what cannot does not.
#[test]
fn a_change_of_any_covered_source_is_another_build() {
    let decides = [
        "Cargo.lock",
        "Cargo.toml",
        "arena/server/Cargo.toml",
        "arena/server/build.rs",
        "arena/server/src/deep/types.rs",
        "arena/a/src/lib.rs",
        "arena/b/data/acts.json",
        "arena/b/src/lib.rs",
    ];
    let (first, second) = (workspace(), workspace());
    let before = taken(first.path());
    assert_eq!(
        (before.len(), &before),
        (64, &taken(second.path())),
        "where it lies and when is nothing to it"
    );
    for name in decides {
        let (root, is_other) = (workspace(), |root: &std::path::Path| taken(root) != before);
        let path = root.path().join(name);
        let content = std::fs::read_to_string(&path).unwrap();
        put(root.path(), name, &format!("{content} "));
        assert!(is_other(root.path()), "{name} with another byte");
        put(root.path(), name, &content);
        assert_eq!(taken(root.path()), before, "{name} as it was");
        if name.ends_with(".rs") {
            let renamed = path.with_file_name("renamed.rs");
            std::fs::rename(&path, &renamed).unwrap();
            assert!(is_other(root.path()), "{name} under another name");
            std::fs::remove_file(&renamed).unwrap();
            assert!(is_other(root.path()), "without {name}");
            put(root.path(), name, &content);
            put(root.path(), &name.replace(".rs", "/more.rs"), "");
            assert!(is_other(root.path()), "one more beside {name}");
        }
    }
    for name in [
        "arena/server/assets/page.css",
        "arena/server/src/.lib.rs.swp",
        "arena/a/tests/it.rs",
        "arena/b/examples/shown.rs",
        "arena/c/src/lib.rs",
        "README.md",
    ] {
        put(first.path(), name, "changed");
        assert_eq!(taken(first.path()), before, "{name} decides nothing");
    }
    let sources = sources::Sources::below(second.path(), "server").unwrap();
    for besides in [&["rustc 2", "here"], &["rustc 1", "there"]] {
        assert_ne!(sources.sha256(besides).unwrap(), before, "{besides:?}");
    }
}

/// Two files are not one, wherever the border is between a name and a content.
#[test]
fn no_other_files_have_the_same_digest() {
    let with = |files: &[(&str, &str)]| {
        let root = workspace();
        files.iter().for_each(|(name, content)| put(root.path(), &format!("arena/b/src/{name}"), content));
        taken(root.path())
    };
    let all = [
        with(&[("x.rs", "ab")]),
        with(&[("x.rs", "a"), ("y.rs", "b")]),
        with(&[("x.rs", "b"), ("y.rs", "a")]),
        with(&[("x.rsa", "b")]),
        with(&[("x.rs", ""), ("y.rs", "ab")]),
    ];
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

/// The sources of this program: every crate below the server, and of each whatever it is built from.
#[test]
fn the_sources_of_this_program_are_covered() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = sources::Sources::below(&root, "server").unwrap();
    assert!(sources.paths().all(|path| path.exists()), "all of it is watched");
    let covered = sources.covered;
    for name in
        ["canon", "claims", "contests", "cow", "draw", "engine", "ledger", "server", "store", "tournament"]
    {
        for entry in ["src", "Cargo.toml"] {
            let name = format!("arena/{name}/{entry}");
            assert!(covered.contains(&name), "{name}");
        }
    }
    for name in ["Cargo.lock", "arena/claims/schema", "arena/contests/data", "arena/server/build.rs"] {
        assert!(covered.contains(name), "{name}");
    }
    let is_of = |name: &str| covered.iter().any(|covered| covered.starts_with(name));
    for name in ["arena/cli", "arena/sandbox", "arena/verifier", "arena/server/assets", "arena/server/tests"]
    {
        assert!(!is_of(name), "{name}");
    }
}

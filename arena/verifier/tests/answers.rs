//! What the module answers on its own; that a server answers the same is tested with the server.

use std::path::Path;

use arena_canon::json::Value;
use arena_engine::campus::{EpisodeLog, Pack, RawAction};
use arena_verifier::{LOG_BYTES_MAX, PACK_BYTES_MAX, answer};

fn told(pack: &[u8], log: &[u8]) -> Value {
    serde_json::from_slice(&answer(pack, log)).expect("an answer is JSON")
}

/// Every pack that is shipped, with the log of doing nothing on it.
fn packs() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("the packs are here").flatten().map(|entry| entry.path());
    let mut packs: Vec<_> = files.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    packs.sort();
    let logged = packs.into_iter().map(|path| {
        let bytes = std::fs::read(&path).expect("it can be read");
        let pack = Pack::parse(&bytes).expect("a pack");
        let actions = vec![RawAction::default(); pack.turns() as usize];
        let log = EpisodeLog::replay(&pack, &actions, &[]).to_bytes();
        (path.display().to_string(), bytes, log)
    });
    logged.collect()
}

#[test]
fn every_pack_is_replayed() {
    let packs = packs();
    assert!(packs.len() >= 6, "{} packs", packs.len());
    for (name, pack, log) in &packs {
        let told = told(pack, log);
        assert_eq!(told["verdict"], "verified", "{name}: {told}");
        assert_eq!(told["stored"], told["replayed"], "{name}");
        assert_eq!(answer(pack, log), answer(pack, log), "{name}");
    }
}

#[test]
fn a_log_is_held_to_its_own_pack() {
    let packs = packs();
    for (of, _, log) in &packs {
        for (name, pack, _) in packs.iter().filter(|(name, ..)| name != of) {
            assert_eq!(told(pack, log)["code"], "unknown_reference", "the log of {of} on {name}");
        }
    }
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_cause() {
    let (_, pack, log) = packs().swap_remove(0);
    let (long_pack, long_log) = (vec![b' '; PACK_BYTES_MAX + 1], vec![b' '; LOG_BYTES_MAX + 1]);
    let mut endless: Value = serde_json::from_slice(&pack).expect("JSON");
    endless["time"]["turns"] = 2_001.into();
    let endless = serde_json::to_vec(&endless).expect("JSON");
    for (pack, log, code) in [
        (&pack[..], &b"{"[..], "not_json"),
        (&pack, b"{}", "unknown_reference"),
        (b"{}", &log, "pack"),
        (&endless, &log, "pack"),
        (&long_pack, &log, "body_too_large"),
        (&pack, &long_log, "body_too_large"),
    ] {
        let told = told(pack, log);
        assert_eq!((&told["verdict"], &told["code"]), (&"refused".into(), &code.into()), "{told}");
        assert!(told["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{told}");
    }
}

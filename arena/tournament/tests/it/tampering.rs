//! What changes after the fact is named, and there is no scorecard of it.

use std::path::Path;

use arena_canon::{Digest, json};
use arena_tournament::{Class, verify};
use serde_json::{Value, json};

use super::natives::{self, in_process, plan, play, resume};

fn played() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("matrix", &["cooperator", "lucky", "talker"], "self_play = true");
    let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
    assert_eq!(ended.ending.class, Class::Success);
    folder
}

/// Verification names `word`.
#[track_caller]
fn differs(root: &Path, word: &str) {
    let difference = verify(root, &natives::pins()).expect("read").err().expect("a difference");
    assert!(difference.contains(word), "{difference}");
}

/// Verification names `word`; a resumed run is blocked, and leaves no scorecard.
#[track_caller]
fn is_refused(root: &Path, word: &str) {
    differs(root, word);
    let ended = resume(root, &mut in_process()).expect("ended");
    assert_eq!(ended.ending.class, Class::Blocked, "{word}");
    assert!(ended.ending.reason.contains(word) || !ended.ending.mismatches.is_empty(), "{:?}", ended.ending);
    for name in ["scorecard.json", "scorecard.md", "scorecard.json.tmp"] {
        assert!(!root.join(name).exists(), "{name} after {word}");
    }
    assert!(root.join("receipt.json").exists());
}

fn edit(root: &Path, name: &str, change: impl FnOnce(&mut Value)) {
    let mut value = natives::json(root, name);
    change(&mut value);
    std::fs::write(root.join(name), json::canonical(&value)).expect("written");
}

/// Gives a record a digest of its own again, and the journal a chain that holds it.
fn reseal(root: &Path, id: &str) {
    let name = format!("matches/{id}.json");
    let mut record = natives::json(root, &name);
    record.as_object_mut().expect("an object").remove("digest");
    let digest = Digest::of(&json::canonical(&record));
    record["digest"] = json!(digest);
    std::fs::write(root.join(&name), json::canonical(&record)).expect("written");
    let frozen = std::fs::read(root.join("frozen.json")).expect("there");
    let journal = std::fs::read_to_string(root.join("journal.ndjson")).expect("there");
    let mut head = Digest::of(&frozen);
    let mut chain = String::new();
    for line in journal.lines() {
        let mut entry: Value = serde_json::from_str(line).expect("an entry");
        if entry["id"] == id {
            entry["digest"] = json!(digest);
        }
        entry["prev"] = json!(head);
        let line = String::from_utf8(json::canonical(&entry)).expect("UTF-8");
        head = Digest::of(line.as_bytes());
        chain += &(line + "\n");
    }
    std::fs::write(root.join("journal.ndjson"), chain).expect("written");
}

#[test]
fn an_edited_record_is_named() {
    let folder = played();
    edit(folder.path(), "matches/m00004.json", |record| record["scores"][0] = json!(99));
    is_refused(folder.path(), "m00004");
}

#[test]
fn an_edited_record_with_new_digests_does_not_follow_from_its_moves() {
    for (pointer, value) in [
        ("/scores/0", json!(99)),
        ("/outcome", json!("seat_0")),
        ("/seats/0", json!("p0002")),
        ("/strategies/0", json!(natives::sha256("defector"))),
        ("/fuel/0/total", json!(1)),
        ("/fuel/1/turns", json!([1])),
        ("/moves/0", json!("CCCCC")),
        ("/moves/1", json!("CCCCCX")),
        ("/id", json!("m00005")),
        ("/frozen_sha256", json!(natives::sha256("x"))),
        ("/schema", json!("lucky")),
    ] {
        let folder = played();
        edit(folder.path(), "matches/m00004.json", |record| {
            *record.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone();
        });
        reseal(folder.path(), "m00004");
        is_refused(folder.path(), "m00004");
    }
}

#[test]
fn a_name_in_a_record_is_a_leak() {
    for member in ["note", "winner"] {
        let folder = played();
        edit(folder.path(), "matches/m00002.json", |record| record[member] = json!("lucky"));
        reseal(folder.path(), "m00002");
        is_refused(folder.path(), "m00002");
    }
}

#[test]
fn two_records_that_change_places_are_named() {
    let folder = played();
    let [a, b] = ["m00002", "m00003"].map(|id| folder.path().join(format!("matches/{id}.json")));
    let other = folder.path().join("other");
    std::fs::rename(&a, &other).and_then(|()| std::fs::rename(&b, &a)).expect("renamed");
    std::fs::rename(&other, &b).expect("renamed");
    is_refused(folder.path(), "m00002");
}

#[test]
fn a_file_that_belongs_to_no_matchup_is_named() {
    let folder = played();
    std::fs::copy(folder.path().join("matches/m00001.json"), folder.path().join("matches/m00099.json"))
        .expect("copied");
    let ended = resume(folder.path(), &mut in_process()).expect("ended");
    assert_eq!(ended.ending.class, Class::Blocked);
    assert!(ended.ending.reason.contains("m00099"), "{}", ended.ending.reason);
}

#[test]
fn a_broken_chain_is_named() {
    for change in ["swap", "drop", "digest"] {
        let folder = played();
        let path = folder.path().join("journal.ndjson");
        let journal = std::fs::read_to_string(&path).expect("there");
        let mut lines: Vec<String> = journal.lines().map(|line| format!("{line}\n")).collect();
        match change {
            "swap" => lines.swap(1, 2),
            "drop" => drop(lines.remove(1)),
            _ => lines[1] = lines[1].replace("\"turns\":6", "\"turns\":7"),
        }
        std::fs::write(&path, lines.concat()).expect("written");
        is_refused(folder.path(), "journal.ndjson");
    }
}

#[test]
fn what_guests_said_is_held_to_its_digest() {
    let folder = played();
    let guest = std::fs::read_dir(folder.path().join("guest")).expect("a folder").next();
    let path = guest.expect("a talker talks").expect("an entry").path();
    let text = std::fs::read_to_string(&path).expect("there").replace("defector", "cooperate");
    std::fs::write(&path, text).expect("written");
    is_refused(folder.path(), "guest/");
}

#[test]
fn an_identity_that_does_not_open_or_is_told_is_named() {
    let alter = |change: &dyn Fn(&mut Value)| {
        let folder = played();
        edit(folder.path(), "identities.commit.json", change);
        folder
    };
    is_refused(
        alter(&|it| it["commitments"][1]["commitment"] = json!(natives::sha256("x"))).path(),
        "alias p0001",
    );
    is_refused(alter(&|it| it["note"] = json!("lucky")).path(), "identities.commit.json");
    is_refused(alter(&|it| it["commitments"][0]["alias"] = json!("p0002")).path(), "alias p0000");
    is_refused(alter(&|it| it["commitments"].as_array_mut().unwrap().swap(0, 1)).path(), "alias p0000");
}

#[test]
fn a_strategy_or_pack_that_changed_is_named() {
    let folder = played();
    let component = folder.path().join(format!("components/{}.wasm", natives::sha256("lucky")));
    std::fs::write(&component, "unlucky").expect("written");
    is_refused(folder.path(), "`lucky` is not what was frozen");
    std::fs::remove_file(&component).expect("removed");
    std::os::unix::fs::symlink("/etc/hostname", &component).expect("linked");
    assert!(verify(folder.path(), &natives::pins()).is_err(), "a link is no component");
}

/// Who has no components checks everything but what they play; a change elsewhere is found all the same.
#[test]
fn components_that_are_not_there_are_told_and_their_matches_not_chosen() {
    let folder = played();
    let component = |name: &str| folder.path().join(format!("components/{}.wasm", natives::sha256(name)));
    let lucky = std::fs::read(component("lucky")).expect("there");
    std::fs::remove_file(component("lucky")).expect("removed");
    let mut found = verify(folder.path(), &natives::pins()).expect("read").expect("it holds");
    let names = |found: &arena_tournament::Verification| {
        found.absent().iter().map(|pin| pin.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&found), ["lucky"]);
    let all: Vec<_> = (1..=found.records() as u32).map(arena_tournament::MatchId).collect();
    let chosen = found.choose(None, 7);
    assert!(!chosen.is_empty() && chosen.len() < all.len(), "{chosen:?}");
    let scorecard = natives::json(folder.path(), "scorecard.json");
    for pair in scorecard["pairs"].as_array().expect("pairs") {
        let id = pair["id"].as_str().expect("an id").parse().expect("an id");
        let is_lucky = pair["a"] == "lucky" || pair["b"] == "lucky";
        assert_eq!(chosen.contains(&id), !is_lucky, "{pair}");
    }
    for sample in [1, 2, 100] {
        let sampled = found.choose(Some(sample), 5);
        assert_eq!(sampled.len(), sample.min(chosen.len()));
        assert!(sampled.iter().all(|id| chosen.contains(id)));
    }
    let played = found.replay(&chosen, &mut natives::in_process(), &mut |_| {}).expect("played");
    assert_eq!(played.expect("equal").replayed, chosen.len());
    assert_eq!(found.lend(natives::sha256("a stranger"), 3), Ok(false));
    assert_eq!(found.lend(natives::sha256("lucky"), lucky.len() as u64), Ok(true));
    assert!(names(&found).is_empty());
    assert_eq!(found.choose(None, 7), all);
    // One of another size cannot be what the receipt lists.
    let mut found = verify(folder.path(), &natives::pins()).expect("read").expect("it holds");
    let told = found.lend(natives::sha256("lucky"), 1).expect_err("another size");
    assert!(told.contains(&format!(
        "{}.wasm has {} bytes, and it has 1",
        natives::sha256("lucky"),
        lucky.len()
    )));
    drop(found);
    edit(folder.path(), "matches/m00002.json", |it| it["repetition"] = json!(7));
    differs(folder.path(), "m00002");
}

/// A receipt still has to list a component that is not there, as it was frozen.
#[test]
fn a_component_that_is_not_there_and_not_listed_is_named() {
    let path = format!("components/{}.wasm", natives::sha256("lucky"));
    for (change, wanted) in [
        (
            &(|files: &mut Vec<Value>, at: usize| drop(files.remove(at))) as &dyn Fn(&mut Vec<Value>, usize),
            "is not listed",
        ),
        (&|files, at| files[at]["sha256"] = json!(natives::sha256("x")), "is not the file"),
        (&|files, at| files[at]["bytes"] = json!(7), "record_digest"),
    ] {
        let folder = played();
        std::fs::remove_file(folder.path().join(&path)).expect("removed");
        edit(folder.path(), "receipt.json", |it| {
            let files = it["files"].as_array_mut().expect("files");
            let at = files.iter().position(|file| file["path"] == path.as_str()).expect("listed");
            change(files, at);
        });
        differs(folder.path(), wanted);
    }
}

#[test]
fn a_scorecard_disclosure_or_receipt_that_changed_is_named() {
    for (name, from, to) in [
        ("scorecard.json", "\"wins\":", "\"wins\": "),
        ("scorecard.md", "success", "Success"),
        ("identities.json", "\"index\":0", "\"index\":1"),
        ("receipt.json", "\"completed\": 6", "\"completed\": 5"),
        ("receipt.json", "\"reason\": \"the", "\"reason\": \"a"),
        ("frozen.json", "Native", "Nativ3"),
    ] {
        let folder = played();
        let path = folder.path().join(name);
        let text = std::fs::read_to_string(&path).expect("there");
        assert!(text.contains(from), "{name}: {from}");
        std::fs::write(&path, text.replacen(from, to, 1)).expect("written");
        let found = verify(folder.path(), &natives::pins()).expect("read");
        assert!(found.is_err(), "{name}: {from}");
    }
}

#[test]
fn pins_of_another_host_are_refused() {
    let folder = played();
    for pins in [
        arena_tournament::Pins { wasmtime: "1".to_owned(), ..natives::pins() },
        arena_tournament::Pins { limits_version: 2, ..natives::pins() },
    ] {
        let difference = verify(folder.path(), &pins).expect("read").err().expect("refused");
        assert!(difference.starts_with("frozen for "), "{difference}");
    }
}

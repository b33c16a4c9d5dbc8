//! Runs that hold together by themselves and are not what they say.

use std::path::Path;
use std::time::Duration;

use arena_canon::{Digest, json};
use arena_tournament::{Class, Run, RunFault, verify};
use serde_json::{Value, json};

use super::natives::{self, TestClock, in_process, plan, play, resume};

fn played(rest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("matrix", &["cooperator", "lucky", "panics-3"], rest);
    play(folder.path(), &plan, &mut in_process()).expect("played");
    folder
}

/// Changes a receipt and gives it a digest of its own again.
fn forge_receipt(root: &Path, change: impl FnOnce(&mut Value)) {
    let mut receipt = natives::json(root, "receipt.json");
    change(&mut receipt);
    let mut content = receipt.clone();
    for member in ["run_id", "started_at", "finished_at", "record_digest"] {
        content.as_object_mut().expect("an object").remove(member);
    }
    content["budget"].as_object_mut().expect("an object").remove("wall_seconds");
    receipt["record_digest"] = json!(Digest::of(&json::canonical(&content)));
    std::fs::write(root.join("receipt.json"), receipt.to_string()).expect("written");
}

fn difference(root: &Path) -> String {
    verify(root, &natives::pins()).expect("read").err().expect("a difference")
}

#[test]
fn a_class_that_the_run_did_not_end_in_is_refused() {
    for class in ["stalled", "blocked", "exhausted"] {
        let folder = played("");
        for name in ["scorecard.json", "scorecard.md"] {
            std::fs::remove_file(folder.path().join(name)).expect("removed");
        }
        forge_receipt(folder.path(), |receipt| {
            receipt["terminal"] = json!(class);
            receipt["scorecard"] = Value::Null;
            receipt["identities"]["verified"] = json!(false);
            receipt["files"]
                .as_array_mut()
                .expect("files")
                .retain(|file| !file["path"].as_str().expect("a path").starts_with("scorecard"));
        });
        assert_eq!(
            difference(folder.path()),
            format!("receipt.json says {class}, and the matrix is complete, and everything holds")
        );
    }
    for (pointer, value) in [
        ("/reason", json!("well played")),
        ("/matchup", json!("m00001")),
        ("/identities/mismatches", json!(["x"])),
    ] {
        let folder = played("");
        forge_receipt(folder.path(), |receipt| *receipt.pointer_mut(pointer).expect("there") = value);
        assert!(difference(folder.path()).starts_with("receipt.json says success, and gives another reason"));
    }
}

#[test]
fn an_exhaustion_without_a_spent_budget_is_refused_and_so_is_another_class_with_one() {
    let folder = played("[budget]\nmatchups = 2");
    assert!(verify(folder.path(), &natives::pins()).expect("read").is_ok());
    forge_receipt(folder.path(), |receipt| receipt["reason"] = json!("we stopped"));
    assert_eq!(difference(folder.path()), "receipt.json says exhausted, and no budget is spent that says so");
    for class in ["stalled", "blocked"] {
        let folder = played("[budget]\nmatchups = 2");
        forge_receipt(folder.path(), |receipt| receipt["terminal"] = json!(class));
        assert_eq!(difference(folder.path()), format!("receipt.json says {class}, and a budget is spent"));
    }
}

/// Records that are right, journaled beyond what the budget allows.
#[test]
fn what_counts_beyond_a_budget_blocks() {
    let (whole, bounded) = (played(""), played("[budget]\nmatchups = 2"));
    let frozen = std::fs::read(bounded.path().join("frozen.json")).expect("there");
    // The records of the same matches under this frozen file, made by a run whose budget was lifted and put
    // back: sealed and chained as they should be.
    let mut head = Digest::of(&frozen);
    let mut chain = String::new();
    for id in ["m00001", "m00002", "m00003"] {
        let mut record = natives::json(whole.path(), &format!("matches/{id}.json"));
        record["frozen_sha256"] = json!(head_of(&frozen));
        record.as_object_mut().expect("an object").remove("digest");
        let digest = Digest::of(&json::canonical(&record));
        record["digest"] = json!(digest);
        std::fs::write(bounded.path().join(format!("matches/{id}.json")), json::canonical(&record))
            .expect("written");
        let fuel: u64 =
            [0, 1].iter().map(|seat| record["fuel"][*seat]["total"].as_u64().expect("fuel")).sum();
        let used = json!({ "fuel": fuel, "turns": record["turns"] });
        let line = json::canonical(&json!({ "digest": digest, "id": id, "prev": head, "used": used }));
        head = Digest::of(&line);
        chain += &(String::from_utf8(line).expect("UTF-8") + "\n");
    }
    std::fs::write(bounded.path().join("journal.ndjson"), chain).expect("written");
    let ended = resume(bounded.path(), &mut in_process()).expect("ended");
    assert_eq!((ended.ending.class, ended.ending.matchup.map(|id| id.0)), (Class::Blocked, Some(3)));
    assert!(ended.ending.reason.contains("although a budget was spent"), "{}", ended.ending.reason);
    assert!(verify(bounded.path(), &natives::pins()).expect("read").is_err());
}

fn head_of(frozen: &[u8]) -> Digest {
    Digest::of(frozen)
}

/// A digest is as good a leak as a name: nothing in a record may be chosen freely.
#[test]
fn every_digest_in_a_record_is_held_to_what_it_is_of() {
    let folder = played("");
    let (name, seat) = (1..=3)
        .flat_map(|n| [(format!("matches/m0000{n}.json"), 0), (format!("matches/m0000{n}.json"), 1)])
        .find(|(name, seat)| !natives::json(folder.path(), name)["forfeits"][*seat].is_null())
        .expect("one panics");
    let mut record = natives::json(folder.path(), &name);
    record["forfeits"][seat]["text_sha256"] = json!(natives::sha256("lucky"));
    record.as_object_mut().expect("an object").remove("digest");
    let digest = Digest::of(&json::canonical(&record));
    record["digest"] = json!(digest);
    std::fs::write(folder.path().join(&name), json::canonical(&record)).expect("written");
    std::fs::remove_file(folder.path().join("journal.ndjson")).expect("removed");
    let before = folder.path().join("receipt.json").exists();
    let ended = resume(folder.path(), &mut in_process()).expect("ended");
    // It is no valid record, so the match is played again.
    assert_eq!((ended.ending.class, before), (Class::Success, true));
    assert_ne!(natives::json(folder.path(), &name)["digest"], json!(digest));
}

#[test]
fn a_sample_is_drawn_and_covers_everything_in_time() {
    let folder = played("self_play = true\nrepetitions = 5");
    let verified = verify(folder.path(), &natives::pins()).expect("read").expect("it holds");
    let of = |luck| verified.choose(Some(4), luck);
    assert_ne!(of(1), of(2));
    let mut seen = std::collections::BTreeSet::new();
    for luck in 0..200 {
        let ids = of(luck);
        assert!(ids.len() == 4 && ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]));
        seen.extend(ids);
    }
    assert_eq!(seen.len(), 30, "no match is left alone");
    assert_eq!(verified.choose(Some(99), 3).len(), 30);
}

/// Nothing in a stranger's folder makes a reader wait.
#[test]
fn what_is_no_regular_file_is_an_error_and_no_wait() {
    for name in
        ["matches/m00001.json", "journal.ndjson", "scorecard.json", "identities.commit.json", "frozen.json"]
    {
        let folder = played("");
        let path = folder.path().join(name);
        std::fs::remove_file(&path).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo starts");
        assert!(made.success());
        let (tell, told) = std::sync::mpsc::channel();
        let root = folder.path().to_owned();
        std::thread::spawn(move || {
            let found = verify(&root, &natives::pins());
            tell.send(matches!(found, Err(_) | Ok(Err(_)))).ok();
        });
        assert!(told.recv_timeout(Duration::from_secs(20)).expect("it does not wait"), "{name}");
    }
}

#[test]
fn a_set_up_that_was_killed_is_no_run_and_is_not_in_the_way() {
    let plan = plan("matrix", &["cooperator", "lucky"], "");
    let create = |root: &Path| {
        let clock = TestClock::default();
        Run::create(
            root,
            natives::frozen(&plan),
            &natives::secret(),
            &natives::inputs(&plan),
            &natives::pins(),
            &clock,
        )
    };
    // In the order in which they are written, the frozen file last.
    for written in
        [&["state.json"][..], &["state.json", "secret"], &["state.json", "secret", "identities.commit.json"]]
    {
        let folder = tempfile::tempdir().expect("a folder");
        drop(create(folder.path()).expect("set up"));
        for entry in std::fs::read_dir(folder.path()).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_file() && !written.contains(&name.as_str()) {
                std::fs::remove_file(entry.path()).expect("removed");
            }
        }
        if written == ["state.json"] {
            let state = folder.path().join("state.json");
            std::fs::rename(&state, folder.path().join("state.json.tmp")).expect("renamed");
        }
        assert!(matches!(Run::resume(folder.path(), &natives::pins()), Err(RunFault::NoRun { .. })));
        assert!(create(folder.path()).expect("set up again").is_ok(), "{written:?}");
    }
    let others = tempfile::tempdir().expect("a folder");
    std::fs::write(others.path().join("secret"), "somebody's").expect("written");
    assert!(matches!(create(others.path()), Err(RunFault::NoRun { .. })));
    assert!(others.path().join("secret").exists(), "what is not ours stays");
}

#[test]
fn an_edited_frozen_file_blocks_before_anything_is_played() {
    for (from, to) in [
        ("\"repetition\":1", "\"repetition\":2"),
        ("\"title\":\"Native\"", "\"title\":\"Foreign\""),
        ("\"host_retries\":2", "\"host_retries\":3"),
        ("\"budget\":{}", "\"budget\":{\"matchups\":1}"),
        ("\"rounds\":6", "\"rounds\":7"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = plan("matrix", &["cooperator", "lucky"], "");
        let clock = TestClock::default();
        drop(Run::create(
            folder.path(),
            natives::frozen(&plan),
            &natives::secret(),
            &natives::inputs(&plan),
            &natives::pins(),
            &clock,
        ));
        let path = folder.path().join("frozen.json");
        let text = std::fs::read_to_string(&path).expect("there");
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replace(from, to)).expect("written");
        let ended = resume(folder.path(), &mut in_process()).expect("ended");
        assert_eq!(ended.ending.class, Class::Blocked, "{to}");
        assert_eq!(std::fs::read_dir(folder.path().join("matches")).expect("a folder").count(), 0, "{to}");
    }
}

#[test]
fn a_missing_record_of_an_exhausted_run_is_played_again() {
    let folder = played("[budget]\nmatchups = 2");
    let before = natives::files(folder.path());
    std::fs::remove_file(folder.path().join("matches/m00001.json")).expect("removed");
    let ended = resume(folder.path(), &mut in_process()).expect("ended");
    assert_eq!(ended.ending.class, Class::Exhausted);
    assert_eq!(natives::files(folder.path()), before);
}

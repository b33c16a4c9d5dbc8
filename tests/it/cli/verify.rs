//! `arena verify`

use arena_cli::Exit;
use serde_json::{Value, json};

use super::{Folder, guests};

/// A folder with a strategy and the log of its episode.
fn played(body: &str) -> Folder {
    let folder = Folder::new();
    folder.file("guest.wasm", guests::component(body));
    folder.arena("play two-spikes {}/guest.wasm --log {}/log.json");
    folder
}

fn log_of(folder: &Folder) -> Value {
    serde_json::from_slice(&std::fs::read(folder.at("log.json")).expect("written")).expect("JSON")
}

/// The log without its seal, so that a change is found where it was made.
fn changed(folder: &Folder, change: impl FnOnce(&mut Value)) {
    let mut log = log_of(folder);
    log.as_object_mut().expect("an object").remove("content_sha256");
    change(&mut log);
    folder.file("changed.json", log.to_string());
}

#[test]
fn a_log_replays_to_its_score_and_its_strategy_repeats_it() {
    let folder = played(guests::TRADER);
    insta::assert_snapshot!(folder.arena("verify {}/log.json --strategy {}/guest.wasm").told());
    let result = folder.arena("verify {}/log.json --json").json();
    assert_eq!(result[0]["verified"], true);
    assert_eq!(result[0]["rerun"], Value::Null);
}

#[test]
fn one_flipped_bit_anywhere_shows() {
    let folder = played(guests::TRADER);
    let bytes = std::fs::read(folder.at("log.json")).expect("written");
    for at in (0..bytes.len()).step_by(bytes.len() / 60) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        folder.file("flipped.json", flipped);
        let ran = folder.arena("verify {}/flipped.json");
        assert_ne!(ran.exit, Exit::Success, "byte {at}");
    }
}

#[test]
fn a_change_is_named_by_its_place() {
    let folder = played(guests::TRADER);
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 7] = [
        ("/settlement/stars", |log| log["settlement"]["stars"] = json!(3)),
        ("/turns/3/resolution/turn_cost_usd", |log| {
            log["turns"][3]["resolution"]["turn_cost_usd"] = json!(1.0)
        }),
        ("/turns/3/action/battery_mw", |log| log["turns"][3]["action"]["battery_mw"] = json!("much")),
        ("/pins/pack_sha256", |log| log["pins"]["pack_sha256"] = json!("0".repeat(64))),
        ("/pins/engine_version", |log| log["pins"]["engine_version"] = json!("2")),
        ("/run/fuel", |log| log["run"]["fuel"] = json!([1])),
        ("/turns", |log| {
            log["turns"].as_array_mut().expect("an array").remove(5);
        }),
    ];
    for (pointer, change) in changes {
        changed(&folder, change);
        let ran = folder.arena("verify {}/changed.json");
        assert_eq!(ran.exit, Exit::Rejected, "{pointer}");
        assert!(ran.out.contains(&format!("  {{}}/changed.json#{pointer}")), "{pointer}: {}", ran.out);
    }
}

#[test]
fn playing_again_finds_what_a_replay_cannot_see() {
    let folder = played(guests::TRADER);
    changed(&folder, |log| log["run"]["fuel"][4] = json!(1));
    assert_eq!(folder.arena("verify {}/changed.json").exit, Exit::Success);
    let ran = folder.arena("verify {}/changed.json --strategy {}/guest.wasm");
    assert_eq!(ran.exit, Exit::Rejected);
    assert!(ran.out.contains("#/run/fuel/4: the log says 1, playing again gives "), "{}", ran.out);
}

#[test]
fn another_strategy_is_not_the_one_that_played() {
    let folder = played(guests::TRADER);
    folder.file("other.wasm", guests::component(guests::LOST));
    let ran = folder.arena("verify {}/log.json --strategy {}/other.wasm");
    assert_eq!(ran.exit, Exit::Rejected);
    assert!(ran.out.contains("#/run/strategy_sha256: the log says "), "{}", ran.out);
}

/// An ending that another build may see otherwise is no reason to doubt a log.
#[test]
fn an_ending_that_depends_on_the_build_is_a_warning() {
    let folder = played(guests::BROKEN);
    changed(&folder, |log| {
        log["run"]["forfeit"]["build_dependent"] = json!(true);
        log["run"]["forfeit"]["ending"] = json!("overtime");
        log["run"]["forfeit"]["detail"] = json!({ "limit_seconds": 600 });
    });
    let ran = folder.arena("verify {}/changed.json --strategy {}/guest.wasm");
    assert_eq!(ran.exit, Exit::Success);
    insta::assert_snapshot!(ran.told());
}

/// The mark excuses the ending and what follows from it, never what came before.
#[test]
fn a_mark_of_the_build_does_not_cover_earlier_turns() {
    let folder = played(guests::BROKEN);
    changed(&folder, |log| {
        log["run"]["forfeit"]["build_dependent"] = json!(true);
        log["run"]["forfeit"]["ending"] = json!("overtime");
        log["run"]["forfeit"]["detail"] = json!({ "limit_seconds": 600 });
        log["run"]["fuel"][0] = json!(1);
    });
    assert_eq!(folder.arena("verify {}/changed.json").exit, Exit::Success);
    assert_eq!(folder.arena("verify {}/changed.json --strategy {}/guest.wasm").exit, Exit::Rejected);
}

#[test]
fn a_bare_episode_is_verified_too() {
    let folder = Folder::new();
    folder.file("actions.json", r#"[{"battery_mw": 12.5}]"#);
    let mut episode = folder.arena("replay --pack two-spikes --actions {}/actions.json").json();
    episode.as_object_mut().expect("an object").remove("pins");
    folder.file("episode.json", episode.to_string());
    assert_eq!(folder.arena("verify {}/episode.json --pack two-spikes").exit, Exit::Success);
    assert_eq!(folder.arena("verify {}/episode.json").exit, Exit::Success);
    assert_eq!(folder.arena("verify {}/episode.json --pack dunkelflaute").exit, Exit::Rejected);
}

#[test]
fn a_pack_that_is_not_built_in_is_asked_for() {
    let folder = Folder::new();
    folder.file("log.json", r#"{"schema": "episode.v0", "pack_id": "mine\u001b", "pack_version": "1"}"#);
    folder.file("text.json", "episode");
    let ran = folder.arena("verify {}/log.json {}/text.json {}/none.json");
    assert_eq!(ran.exit, Exit::Usage);
    insta::assert_snapshot!(ran.told());
}

/// Whatever else lies beside a receipt is named in a line, and told what to do with it.
#[test]
fn what_is_no_receipt_is_named_for_what_it_is() {
    let folder = Folder::new();
    let digest = "0".repeat(64);
    let documents = [
        (
            json!({ "schema": "tournament.receipt.v1", "slug": "s", "run_id": "id", "terminal": "success" }),
            "this is the receipt of a tournament's run",
            "`arena verify DIR` checks the folder that it lies in",
        ),
        (
            json!({ "claim": "c1", "beacon": "test", "committed": null, "transcripts": [{ "v": "draw/v1" }] }),
            "these are the draws of a claim",
            "save one entry of its `transcripts` as a file of its own",
        ),
        (
            json!({ "origin": "o", "instance_id": digest, "public_key": digest, "size": "0", "checkpoint": null }),
            "this is a checkpoint",
            "/api/v1/log/receipts/SEQ",
        ),
        (
            json!({ "schema": "episode.v0", "\u{1b}": 1 }),
            "this is no receipt of a server",
            "/api/v1/log/receipts/SEQ",
        ),
    ];
    for (document, why, hint) in &documents {
        folder.file("it.json", document.to_string());
        for line in ["", " --server http://127.0.0.1:9", " {}"] {
            let ran = folder.arena(&format!("verify --receipt {{}}/it.json{line}"));
            assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
            assert!(ran.err.contains(why) && ran.err.contains(hint), "{}", ran.err);
            assert_eq!((ran.err.lines().count(), ran.out.as_str()), (2, ""), "{}", ran.err);
        }
    }
}

#[test]
fn a_receipt_is_held_against_a_server_or_a_folder_and_it_is_said_which_is_missing() {
    let folder = Folder::new();
    folder.file("it.json", r#"{"v": "arena-receipt/v1"}"#);
    folder.file("log.json", "{}");
    for (line, why) in [
        ("verify --receipt {}/it.json", "there is nothing to hold it against"),
        ("verify --receipt {}/it.json --json", "there is nothing to hold it against"),
        ("verify --receipt {}/it.json {}/log.json", "none of these is the folder of an instance of claims"),
    ] {
        let ran = folder.arena(line);
        assert_eq!(ran.exit, Exit::Usage, "{line}: {}", ran.err);
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
        assert!(ran.err.contains("--server URL, or the folder of the instance"), "{line}: {}", ran.err);
    }
    // Without anything, a log is what is missing.
    assert!(folder.arena("verify").err.contains("<LOG|DIR>"));
    let ran = folder.arena("verify --receipt {}/it.json --server http://127.0.0.1:9 --log-key zz");
    assert_eq!(ran.exit, Exit::Usage);
    let why = "the public key of a log is 64 lower-case hexadecimal digits";
    assert!(ran.err.contains("--log-key") && ran.err.contains(why), "{}", ran.err);
}

//! `arena draw`

use arena_canon::Digest;
use arena_cli::Exit;
use serde_json::{Value, json};

use super::{arena, by_other_beacons, request, resolved, with};
use crate::cli::Folder;

#[test]
fn a_transcript_is_one_canonical_line() {
    let ran = arena("draw resolve -", &request());
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""));
    let canonical = arena_canon::json::canonical(&ran.json());
    assert_eq!(ran.out, format!("{}\n", String::from_utf8(canonical).expect("UTF-8")));
}

#[test]
fn a_transcript_is_drawn_again() {
    let folder = Folder::new();
    folder.file("panel.json", resolved(&request()).to_string());
    folder.file("test.json", resolved(&by_other_beacons()[0]).to_string());
    insta::assert_snapshot!(folder.arena("draw verify {}/panel.json {}/test.json").told());
    let result = folder.arena("draw verify {}/panel.json --json").json();
    assert_eq!(result[0]["verified"], true);
    assert_eq!(result[0]["picks"], json!(["agent-a", "agent-f", "agent-d", "agent-c", "agent-e"]));
    assert_eq!(result[0]["seed"], "1bccab85c3995a7c00c29af214f8cafe6a2707888309addbe09bd6b04d0b4e9c");
}

#[test]
fn a_change_is_named_by_its_place() {
    let transcript = resolved(&request());
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 13] = [
        ("/root", |t| t["entries"][2][2] = json!("2")),
        ("/n", |t| t["n"] = json!("8")),
        ("/total", |t| t["total"] = json!("22")),
        ("/beacon/chain", |t| t["beacon"]["chain"] = t["seed"].clone()),
        ("/beacon/randomness", |t| t["beacon"]["randomness"] = t["seed"].clone()),
        ("/beacon/signature", |t| t["beacon"]["round"] = json!("1001")),
        ("/last_round_seen", |t| t["last_round_seen"] = json!("1000")),
        ("/committed_at", |t| t["committed_at"] = json!("2023-08-23T15:59:24Z")),
        ("/instance_name", |t| t["instance_name"] = json!("another instance")),
        ("/seed", |t| t["purpose"] = json!("panel2")),
        ("/picks/1/agent", |t| t["picks"][1]["agent"] = json!("agent-g")),
        ("/picks", |t| t["seats"] = json!(6)),
        ("/words_consumed", |t| t["words_consumed"] = json!("6")),
    ];
    let folder = Folder::new();
    for (pointer, change) in changes {
        folder.file("changed.json", with(transcript.clone(), change).to_string());
        let ran = folder.arena("draw verify {}/changed.json");
        assert_eq!(ran.exit, Exit::Rejected, "{pointer}: {}", ran.err);
        assert!(ran.out.contains(&format!("  {{}}/changed.json#{pointer}: ")), "{pointer}: {}", ran.out);
        let result = folder.arena("draw verify {}/changed.json --json").json();
        assert_eq!(result[0]["verified"], false);
        assert_eq!(result[0]["findings"][0]["pointer"], pointer);
    }
}

#[test]
fn every_fault_of_a_request_is_told_at_once() {
    let wrong = with(request(), |request| {
        request["purpose"] = json!("reviewer\u{1b}[2J");
        request["seats"] = json!("5");
        request["entries"][1] = json!(["agent-a", "", "04"]);
        request["beacon"]["signature"] = json!("b446");
        request["picks\u{202e}"] = json!([]);
        request.as_object_mut().expect("an object").remove("subject");
    });
    let ran = arena("draw resolve -", &wrong);
    assert_eq!(ran.exit, Exit::Usage);
    insta::assert_snapshot!(ran.told());
    let ran = arena("draw verify -", &wrong);
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""));
}

#[test]
fn what_may_not_be_drawn_is_refused_without_a_result() {
    let [by_test, by_ecvrf, by_hashchain] = by_other_beacons();
    for (place, request) in [
        (
            "#/last_round_seen: the commitment knew round 1000 already",
            with(request(), |r| r["last_round_seen"] = json!("1000")),
        ),
        (
            "#/beacon/signature: the proof is not the one of drand-quicknet",
            with(request(), |r| r["beacon"]["round"] = json!("1001")),
        ),
        (
            "#/beacon/signature: the proof is not the one of ecvrf-operator",
            with(by_ecvrf, |r| r["beacon"]["round"] = json!("1001")),
        ),
        (
            "#/beacon/signature: the proof is not the one of hashchain",
            with(by_hashchain, |r| r["beacon"]["round"] = json!("1001")),
        ),
        (
            "#/instance_name: a `test` beacon is only for instances",
            with(by_test, |r| {
                r["instance"] = json!(Digest::of(b"bench"));
                r["instance_name"] = json!("bench");
            }),
        ),
    ] {
        let ran = arena("draw resolve -", &request);
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Rejected, ""), "{place}");
        assert!(ran.err.contains(&format!("  (standard input){place}")), "{}", ran.err);
    }
}

#[test]
fn a_short_panel_is_told() {
    let ran = arena("draw resolve -", &with(request(), |request| request["seats"] = json!(9)));
    assert_eq!(ran.exit, Exit::Success);
    assert_eq!(ran.err, "warning: 6 of 9 seats are filled; no other operator is eligible\n");
    let ran = arena("draw verify -", &ran.json());
    assert!(ran.out.starts_with("ok: (standard input) · panel · 6 of 9 seats · "), "{}", ran.out);
}

#[test]
fn names_of_agents_do_not_reach_the_terminal_raw() {
    let request = with(by_other_beacons()[0].clone(), |request| {
        request["entries"] = json!([["\u{1b}[2Jagent\n", "op", "1"], ["\u{202e}tnega", "po", "1"]]);
    });
    let ran = arena("draw verify -", &resolved(&request));
    assert_eq!(ran.exit, Exit::Success);
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{}", ran.out);
    assert!(ran.out.contains(r"\u{1b}[2Jagent\n") && ran.out.contains(r"\u{202e}tnega"), "{}", ran.out);
}

#[test]
fn files_that_cannot_be_used_are_told_apart_from_those_that_are_wrong() {
    let folder = Folder::new();
    folder.file("good.json", resolved(&request()).to_string());
    folder.file("text.json", "a transcript");
    folder.file("twice.json", r#"{"v": "draw/v1", "v": "draw/v1"}"#);
    for line in [
        "draw verify {}/none.json",
        "draw verify {}/text.json",
        "draw resolve {}/twice.json",
        "draw resolve {}",
    ] {
        let ran = folder.arena(line);
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{line}");
        assert!(ran.err.starts_with("error: cannot "), "{}", ran.err);
    }
    let ran = folder.arena("draw verify {}/text.json {}/good.json");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.out.starts_with("ok: {}/good.json"), "{}", ran.out);
}

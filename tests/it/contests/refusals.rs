//! What a command cannot use is exit code 2, with every fault at its place.

use arena_cli::{Env, Exit};
use serde_json::json;

use super::ask;
use crate::cli::{Folder, arena_in};

#[test]
fn every_fault_is_told_at_its_place() {
    for (command, question, places) in [
        ("sprint score", json!({}), &["#/window: missing"][..]),
        (
            "sprint score",
            json!({ "entrants": [{ "id": "", "windows": { "W1": 1 }, "x": 0 }] }),
            &[
                "#/entrants/0/x: unknown field",
                "#/entrants/0/windows/W1:",
                "#/entrants/0/windows/W3: missing",
                "#/entrants/0/id:",
            ],
        ),
        (
            "sprint phase",
            json!({ "round_start": "2026", "now": 3, "action": "fly", "window": "W9" }),
            &["#/round_start:", "#/now:", "#/action:", "#/window:"],
        ),
        ("sprint stake", json!({ "window": {} }), &["#/window/state: missing"]),
        (
            "contest cite",
            json!({ "act": 1, "article": "Art. 1", "jurisdiction": "EU", "link": "x" }),
            &["#/link: unknown field", "#/act:", "#/url: missing"],
        ),
        ("contest overlap", json!({ "a": null, "c": "x" }), &["#/c: unknown field", "#/a:", "#/b: missing"]),
        ("contest manifest -", json!({ "module": "x" }), &["#/module:", "#/contest: missing"]),
    ] {
        let ran = ask(command, &question);
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{command} {question}");
        for place in places {
            assert!(ran.err.contains(place), "{command}: {place} is not in {}", ran.err);
        }
    }
}

#[test]
fn what_is_no_document_is_told() {
    for command in [
        "sprint score",
        "sprint phase",
        "sprint stake",
        "contest cite",
        "contest overlap",
        "contest manifest -",
    ] {
        for bytes in [&b""[..], b"{", b"[] []", b"{\"a\":1,\"a\":1}", b"\xff"] {
            let ran = arena_in(Env::default(), bytes, command.split(' '));
            assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{command} {bytes:?}");
            assert!(ran.err.starts_with("error: cannot "), "{}", ran.err);
        }
    }
}

#[test]
fn a_question_may_be_a_file() {
    let folder = Folder::new();
    folder.file("window.json", r#"{"window": {"state": "pending"}}"#);
    let ran = folder.arena("sprint stake {}/window.json");
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Success, "{\"result\":\"held\"}\n"));
    let missing = folder.arena("sprint stake {}/none.json");
    assert_eq!(missing.exit, Exit::Usage);
    assert!(missing.err.contains("no such file"), "{}", missing.err);
}

#[test]
fn what_is_told_of_hostile_text_is_bounded_and_escaped() {
    let question = json!({ "window": { "state": "pending", "\u{1b}[31m".repeat(1_000): 0 } });
    let ran = ask("sprint stake", &question);
    assert_eq!(ran.exit, Exit::Usage);
    assert!(!ran.err.contains('\u{1b}') && ran.err.len() < 2_000, "{} bytes", ran.err.len());
}

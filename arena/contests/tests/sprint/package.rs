//! The evidence package as a document: its thirteen fields, their bounds, and every fault at once.

use arena_canon::json::Value;
use arena_contests::sprint::Window;
use arena_contests::sprint::example::{Stage, at, of};
use arena_contests::sprint::record::ArtifactClass;
use arena_contests::sprint::round::{
    Command, Event, Omission, Package, PostKind, Stamped, Target, locker_reference,
};
use serde_json::json;

fn package() -> Value {
    json!({
        "window_id": "W1",
        "intent_stub_ref": "intent:s0-r1:acme:W1",
        "artifact_class": "external",
        "artifact_hash": "0f".repeat(32),
        "locker_artifact_ref": "locker:1",
        "locker_evidence_ref": "evidence:1",
        "town_post_ref": "town:1",
        "claim_summary": "x".repeat(20),
        "verification_summary": "x".repeat(20),
        "operator_intervention": "none",
        "budget_impact": { "spent_exo": "900", "declared_posture_exo": "1000", "note": "" },
        "stake_atomic": "1000000",
    })
}

fn faults(package: &Value) -> Vec<String> {
    let faults = Package::read(package).err().map(|faults| faults.0).unwrap_or_default();
    faults.into_iter().map(|fault| fault.pointer.to_string()).collect()
}

#[test]
fn every_field_is_needed_and_nothing_else_is_taken() {
    assert_eq!(faults(&package()), Vec::<String>::new());
    for key in package().as_object().expect("an object").keys() {
        let mut without = package();
        without.as_object_mut().expect("an object").remove(key);
        assert_eq!(faults(&without), [format!("/{key}")]);
    }
    for (key, value) in [
        ("boards_submission_ref", json!("boards:1")),
        ("note", json!("x")),
        ("window_id", json!("W4")),
        ("artifact_class", json!("internal")),
        ("artifact_hash", json!("0F".repeat(32))),
        ("operator_intervention", json!("maybe")),
        ("stake_atomic", json!(1_000_000)),
        ("stake_atomic", json!("-1")),
        ("receipts", json!(["receipt:1"])),
    ] {
        let mut changed = package();
        changed[key] = value.clone();
        assert_eq!(faults(&changed), [format!("/{key}")], "{value}");
    }
    assert_eq!(faults(&json!([])), [""]);
}

#[test]
fn texts_are_counted_in_characters_after_their_ends_are_trimmed() {
    for (key, min, max) in [("claim_summary", 20, 1_000), ("verification_summary", 20, 2_000)] {
        for (letter, padding) in [("x", ""), ("é", "  "), ("😀", "\u{3000}"), ("e\u{301}", "\n")] {
            let letters = letter.chars().count();
            for (count, ok) in [(min - letters, false), (min, true), (max, true), (max + letters, false)] {
                let mut changed = package();
                changed[key] = json!(format!("{padding}{}{padding}", letter.repeat(count / letters)));
                assert_eq!(faults(&changed).is_empty(), ok, "{key} {count} of {letter:?}");
            }
        }
    }
    let mut padded = package();
    padded["claim_summary"] = json!(format!("{}{}", "x".repeat(20), " ".repeat(100_000)));
    assert_eq!(faults(&padded), ["/claim_summary"], "what is stored is bounded with its white space");
}

#[test]
fn all_faults_are_told_at_once() {
    let many = json!({"window_id": 1, "claim_summary": "short", "x": 0, "budget_impact": {"spent_exo": "x"}});
    let found = faults(&many);
    for place in [
        "/x",
        "/window_id",
        "/stake_atomic",
        "/budget_impact/spent_exo",
        "/budget_impact/declared_posture_exo",
    ] {
        assert!(found.contains(&place.to_owned()), "{place} is not in {found:?}");
    }
}

/// What a package lacks that is submitted as things are.
fn omissions(stage: &Stage, package: &Package) -> Vec<Omission> {
    let command = Command::Submit(package.clone());
    let events = stage.round.decide(&Stamped { at: at(1, 20, 0), by: of("acme"), command }).expect("taken");
    match &events[0].event {
        Event::Submitted { revision, .. } => revision.omissions.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_post_binds_only_what_it_is_about() {
    let mut stage = Stage::default();
    stage.enter_all();
    stage.intend("acme", Window::W1, ArtifactClass::External);
    let package = stage.publish("acme", Window::W1, "Published a planner for three schools.", true);
    let post = |window, body: &str, refs| Command::Post {
        kind: PostKind::Progress,
        window,
        body: body.into(),
        refs,
        corrects: None,
    };
    let digest = package.artifact.to_string();
    for (command, lacks) in [
        (post(Some(Window::W1), &format!("see {digest}"), vec![]), vec![]),
        (post(Some(Window::W1), "see the Locker", vec![locker_reference(&package.artifact)]), vec![]),
        (post(Some(Window::W1), "see the Locker", vec![]), vec![Omission::TownPostDoesNotNameTheHash]),
        (post(None, &format!("see {digest}"), vec![]), vec![Omission::TownPostOfAnotherWindow]),
    ] {
        assert!(stage.step(at(1, 19, 30), of("acme"), command.clone(), "posts"));
        let reference = stage.round.town().posts().last().map(|(name, _)| name.clone()).expect("posted");
        let bound = Package { town_post_ref: reference, ..package.clone() };
        assert_eq!(omissions(&stage, &bound), lacks, "{command:?}");
    }
}

#[test]
fn what_was_hidden_binds_nothing() {
    let mut stage = Stage::default();
    stage.enter_all();
    stage.intend("acme", Window::W1, ArtifactClass::External);
    let package = stage.publish("acme", Window::W1, "Published a planner for three schools.", true);
    for (target, lacks) in [
        (Target::Post(package.town_post_ref.clone()), Omission::TownPostMissing),
        (Target::Artifact(package.artifact), Omission::ArtifactMissing),
    ] {
        let mut stage = stage.clone();
        let hide = Command::Hide { target, reason: "it names a customer".to_owned() };
        assert!(stage.step(at(1, 19, 30), arena_contests::sprint::example::evaluator(), hide, "hides"));
        assert_eq!(omissions(&stage, &package), [lacks]);
    }
}

//! `arena replay`

use arena_canon::json;
use arena_cli::{Env, Exit};
use arena_tests::repository;

use super::{Folder, arena_in};

#[test]
fn the_vectors_come_out_of_the_command() {
    let folder = Folder::new();
    for name in ["golden_0", "golden_3", "worked_12"] {
        let path = repository().join(format!("tests/vectors/campus/{name}.json"));
        let vector = json::read(&std::fs::read(path).expect("there"), 1 << 20).expect("JSON");
        folder.file("pack.json", vector["pack"].to_string());
        folder.file("actions.json", vector["actions"].to_string());
        let ran = folder.arena("replay --pack {}/pack.json --actions {}/actions.json");
        assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
        let episode = ran.json();
        for (member, expected) in vector["episode"].as_object().expect("an object") {
            if member != "engine_version" {
                let difference = json::first_difference(&episode[member], expected);
                assert!(difference.is_none(), "{name} {member}: {difference:?}");
            }
        }
    }
}

#[test]
fn every_fault_of_the_actions_is_told_at_once() {
    let actions = br#"[{"curtail": 1}, {"battery_mw": "5"}, {"islanding_agreement": true}, null,
        {"accept_offer": 1, "diesel_mw": [], "a/b~c\u001b": 0}]"#;
    let args = ["replay", "--pack", "two-spikes", "--actions", "-"];
    let ran = arena_in(Env::default(), actions, args);
    insta::assert_snapshot!(ran.told());
    let too_many = format!("[{}{{}}]", "{},".repeat(24));
    let ran = arena_in(Env::default(), too_many.as_bytes(), args);
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.contains("(standard input)#/24: 25 actions for an episode of 24 turns"), "{}", ran.err);
}

#[test]
fn what_is_no_array_of_actions_is_refused() {
    let args = ["replay", "--pack", "two-spikes", "--actions", "-"];
    for wrong in ["", "{}", "[", "[1e999]", r#"[{"curtail_mw": 1, "curtail_mw": 2}]"#, "[] []", "\u{0}"] {
        let ran = arena_in(Env::default(), wrong.as_bytes(), args);
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{wrong}");
        assert!(
            ran.err.starts_with("error: cannot replay actions `(standard input)`: 1 fault\n"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn no_actions_are_the_same_as_doing_nothing() {
    let args = ["replay", "--pack", "dunkelflaute", "--actions", "-"];
    let settlement = arena_in(Env::default(), b"[]", args).json()["settlement"].clone();
    assert_eq!(settlement["metrics"], settlement["do_nothing"]["metrics"]);
}

/// A sign that JSON can hold is kept, though no rule asks for it.
#[test]
fn minus_zero_stays_what_it_is() {
    let args = ["replay", "--pack", "two-spikes", "--actions", "-"];
    let ran = arena_in(Env::default(), br#"[{"battery_mw": -0.0}]"#, args);
    assert!(ran.out.contains(r#""action":{"battery_mw":-0.0}"#));
}

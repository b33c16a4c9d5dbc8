//! What is admitted as a matrix strategy, and what is said of the rest: `tests/golden/admission-matrix.txt`.

use std::fmt::Write as _;

use arena_sandbox::{Game, admit};
use arena_tests::repository;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

use super::guest::{component, host};
use crate::sandbox::hostile::check_golden;

/// One input: its name, its bytes, and the codes it is refused with; none if it is admitted.
type Case = (&'static str, Vec<u8>, &'static [&'static str]);

const WRONG_TYPE: &[&str] = &["admit.wrong_type"];
const WRONG_WORLD: &[&str] = &["admit.wrong_world"];
const OTHER_VERSION: &[&str] = &["admit.other_version"];
const NOT_ALLOWED: &[&str] = &["admit.import_not_allowed"];

#[test]
fn every_input_is_refused_for_what_is_wrong_with_it() {
    let mut found = String::new();
    for (name, bytes, expected) in [worlds(), types(), imports()].concat() {
        let told = match admit(&bytes) {
            Ok(admitted) => {
                assert_eq!(admitted.game(), Game::Matrix, "{name}");
                let strategy = host().load(&admitted).unwrap_or_else(|why| panic!("{name}: {why}"));
                assert_eq!(strategy.game(), Game::Matrix, "{name}");
                assert!(expected.is_empty(), "{name}: admitted, not refused with {expected:?}");
                format!("admitted, {}, {}\n", admitted.linker(), admitted.world())
            }
            Err(rejection) => {
                let codes: Vec<&str> = rejection.refusals.iter().map(|refusal| refusal.code).collect();
                assert_eq!(codes, expected, "{name}: {rejection}");
                let lines = rejection.refusals.iter().map(|refusal| {
                    let hint = refusal.hint.as_deref().unwrap_or("no hint");
                    format!("\n  {}: {}\n    {hint}", refusal.code, refusal.message)
                });
                lines.collect::<String>() + "\n"
            }
        };
        write!(found, "{name}: {told}").expect("writing to a string");
    }
    check_golden("admission-matrix.txt", &found);
}

fn worlds() -> Vec<Case> {
    let player = "export arena:matrix/player@0.1.0;";
    let campus = "export arena:campus/player@0.1.0;";
    let version = ("arena:matrix@0.1.0", "arena:matrix@0.2.0");
    vec![
        ("a fine strategy", component("(module)"), &[]),
        ("a world with the player alone", of_world(player), &[]),
        ("both games' players", of_world(&format!("{player} {campus}")), WRONG_WORLD),
        ("no player", of_world("export arena:matrix/types@0.1.0;"), WRONG_WORLD),
        ("nothing at all", of_world(""), WRONG_WORLD),
        ("built for another version", edited(&[version]), OTHER_VERSION),
        ("a later patch of this version", edited(&[("matrix@0.1.0", "matrix@0.1.1")]), OTHER_VERSION),
    ]
}

/// Strategies built against a WIT that departs from ours by one edit each.
fn types() -> Vec<Case> {
    vec![
        ("a player without `act`", edited(&[("act: func", "play: func")]), WRONG_TYPE),
        ("a player without `brief`", edited(&[("  brief: func", "  told: func")]), WRONG_TYPE),
        ("a player with more functions", edited(&[("act: func", "notice: func();\n act: func")]), &[]),
        ("a score of another type", edited(&[("own-score: s64", "own-score: f64")]), WRONG_TYPE),
        ("a payoff of another type", edited(&[("t: s32", "t: u32")]), WRONG_TYPE),
        ("a field of another name", edited(&[("other-last: move", "their-last: move")]), WRONG_TYPE),
        ("a field too many", edited(&[("played: bool,", "played: bool, name: string,")]), WRONG_TYPE),
        ("a field too few", edited(&[("    other-score: s64,", "")]), WRONG_TYPE),
        ("a third move", edited(&[("    defect,", "    defect, pass,")]), WRONG_TYPE),
        (
            "the moves the other way round",
            edited(&[("    cooperate,\n    defect,", "    defect,\n    cooperate,")]),
            WRONG_TYPE,
        ),
        ("a move that may be missing", edited(&[(") -> move;", ") -> option<move>;")]), WRONG_TYPE),
        ("a log of numbers", edited(&[("text: string", "text: u32")]), WRONG_TYPE),
        ("another level of the log", edited(&[("    warn,", "    warning,")]), WRONG_TYPE),
    ]
}

fn imports() -> Vec<Case> {
    let player = "export arena:matrix/player@0.1.0;";
    let with = |import: &str| of_world(&format!("import {import} {player}"));
    let luck = r#"(module (import "wasi:random/random@0.2.6" "get-random-u64" (func (result i64))))"#;
    vec![
        ("luck of WASI", component(luck), &[]),
        ("the game's own host", with("arena:matrix/host@0.1.0;"), &[]),
        ("the other game's host", with("arena:campus/host@0.1.0;"), NOT_ALLOWED),
        ("a function of nobody's", with("give-me: func();"), NOT_ALLOWED),
        ("an own interface of nobody's", with("other: interface { f: func(); }"), NOT_ALLOWED),
    ]
}

/// A component of a world with these imports and exports, whose functions do nothing.
#[track_caller]
fn of_world(items: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    for folder in ["wit/campus", "wit/matrix"] {
        resolve.push_path(repository().join(folder)).expect("the WIT parses");
    }
    let text = format!("package test:worlds; world made {{ {items} }}");
    let package = resolve.push_str("made.wit", &text).expect("the world parses");
    dummy(&resolve, package, "made")
}

/// A component of the game's world as an edited WIT has it.
#[track_caller]
fn edited(edits: &[(&str, &str)]) -> Vec<u8> {
    let text = std::fs::read_to_string(repository().join("wit/matrix/matrix.wit"));
    let mut text = text.expect("a readable file");
    for (from, to) in edits {
        assert!(text.contains(from), "the WIT has no `{from}`");
        text = text.replace(from, to);
    }
    let mut resolve = Resolve::default();
    let package = resolve.push_str("edited.wit", &text).expect("the edited WIT parses");
    dummy(&resolve, package, "matrix-strategy")
}

#[track_caller]
fn dummy(resolve: &Resolve, package: wit_parser::PackageId, world: &str) -> Vec<u8> {
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    let mut module = wit_component::dummy_module(resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).expect("metadata fits");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

//! Guests of the matrix world written as WAT: a core module that says only what matters, made into a
//! component. Whatever of `memory`, `cabi_realloc`, `brief` and `act` it does not export is added;
//! the `brief` does nothing and the `act` cooperates.

use std::sync::OnceLock;

use arena_canon::Digest;
use arena_engine::matrix::{Payoffs, Rules};
use arena_sandbox::{Host, HostOptions, PlayedMatrix, Seats, Strategy, admit, matrix_play};
use arena_tests::repository;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

/// The types of the functions a guest exports, for `(type $act)` and the like.
const TYPES: &str = "
    (type $act (func (param i32 i32 i32 i32 i64 i64) (result i32)))
    (type $brief (func (param i32 i32 i32 i32 i32)))";

/// What is added if the guest has none of its own, by the name of the export.
const DEFAULTS: [(&str, &str); 4] = [
    ("memory", r#"(memory (export "memory") 1)"#),
    (
        "cabi_realloc",
        r#"(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))"#,
    ),
    ("brief", r#"(func (export "brief") (type $brief))"#),
    ("act", r#"(func (export "act") (type $act) i32.const 0)"#),
];

/// Short names of exports, and what the canonical ABI calls them.
const NAMES: [(&str, &str); 3] = [
    ("brief", "arena:matrix/player@0.1.0#brief"),
    ("act", "arena:matrix/player@0.1.0#act"),
    ("after_act", "cabi_post_arena:matrix/player@0.1.0#act"),
];

/// The component of a guest written as WAT.
#[track_caller]
pub(crate) fn component(wat: &str) -> Vec<u8> {
    let mut module = core_module(wat);
    let (resolve, world) = world(wat.contains("wasi:"));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    let mut encoder = ComponentEncoder::default().module(&module).expect("a module of the world");
    encoder.encode().expect("a component")
}

/// The core module: with its defaults added and its exports called as the canonical ABI calls them.
#[track_caller]
fn core_module(wat: &str) -> Vec<u8> {
    let open = wat.trim_end().strip_suffix(')').expect("a guest is one (module …)");
    let mut text = format!("{open}{TYPES}");
    for (name, default) in DEFAULTS {
        if !wat.contains(&format!("(export \"{name}\")")) {
            text += default;
        }
    }
    text.push(')');
    for (short, long) in NAMES {
        text = text.replace(&format!("(export \"{short}\")"), &format!("(export \"{long}\")"));
    }
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The game's world; with WASI, the one of the hostile guests with this game's in place of theirs.
fn world(with_wasi: bool) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let (mut package, _) = resolve.push_path(repository().join("wit/matrix")).expect("the WIT parses");
    let mut name = "matrix-strategy";
    if with_wasi {
        let text = std::fs::read_to_string(repository().join("tests/hostile/wit/hostile.wit"));
        let text = text.expect("a readable file");
        let own = text.replace("arena:campus/campus-strategy@", "arena:matrix/matrix-strategy@");
        assert_ne!(own, text, "the world of the hostile guests has another game in it");
        package = resolve.push_str("hostile.wit", &own).expect("the WIT parses");
        name = "with-wasi";
    }
    let world = resolve.select_world(&[package], Some(name)).expect("the world is there");
    (resolve, world)
}

/// A host that pools, shared by every test of this process.
pub(super) fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::new(&HostOptions::new(Seats::Pooled(16))).expect("a host"))
}

/// A host that maps every seat anew, shared likewise.
pub(super) fn host_on_demand() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::new(&HostOptions::new(Seats::OnDemand)).expect("a host"))
}

/// Admits and loads a component that must be fit to play.
#[track_caller]
pub(super) fn load(host: &Host, component: &[u8]) -> Strategy {
    let admitted = admit(component).unwrap_or_else(|rejection| panic!("not admitted: {rejection}"));
    host.load(&admitted).unwrap_or_else(|error| panic!("not loaded: {error}"))
}

/// A strategy written as WAT, loaded into the host that pools.
#[track_caller]
pub(super) fn strategy(wat: &str) -> Strategy {
    load(host(), &component(wat))
}

/// An example strategy, loaded into the host that pools.
#[track_caller]
pub(super) fn example(name: &str) -> Strategy {
    load(host(), &arena_tests::guest(name))
}

/// The usual payoffs over so many rounds.
pub(super) fn rules(rounds: u32) -> Rules {
    Rules::new(Payoffs::default(), rounds).expect("a number of rounds that is allowed")
}

/// The seed all games here are played with.
pub(super) fn seed() -> Digest {
    Digest::of(b"matrix")
}

/// A game of two strategies; the host must not fail.
#[track_caller]
pub(super) fn play(first: &Strategy, second: &Strategy, rounds: u32) -> PlayedMatrix {
    matrix_play(&[first.clone(), second.clone()], &rules(rounds), seed()).expect("no host fault")
}

/// The same game as the seats see it after they changed places.
pub(super) fn mirrored(mut played: PlayedMatrix) -> PlayedMatrix {
    played.moves.reverse();
    played.scores.reverse();
    played.forfeits.reverse();
    played.usage.reverse();
    played
}

//! Guests written as WAT: a core module that says only what matters, made into a component of the
//! campus world. Whatever of `memory`, `cabi_realloc`, `brief`, `notice` and `act` it does not
//! export is added and does nothing.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arena_canon::Digest;
use arena_engine::campus::Pack;
use arena_sandbox::{Host, HostOptions, Played, Seats, Strategy, admit, play};
use arena_tests::repository;
use serde_json::json;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

/// The types of the functions a guest exports, for `(type $act)` and the like.
const TYPES: &str = "
    (type $act (func (param i32 f64 f64 f64 f64 i32 i32 i32 i32 f64 f64 f64 f64 f64 f64 f64) (result i32)))
    (type $brief (func (param i32)))
    (type $notice (func (param i32 i32 i64 i64 i32 f64 i32 i32)))";

/// What is added if the guest has none of its own, by the name of the export.
const DEFAULTS: [(&str, &str); 5] = [
    ("memory", r#"(memory (export "memory") 1)"#),
    (
        "cabi_realloc",
        r#"(global $heap (mut i32) (i32.const 32768))
           (func (export "cabi_realloc") (param $old i32) (param i32) (param $align i32) (param $size i32) (result i32)
             (local $at i32)
             (local.set $at (i32.and (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
                                     (i32.sub (i32.const 0) (local.get $align))))
             (global.set $heap (i32.add (local.get $at) (local.get $size)))
             (local.get $at))"#,
    ),
    ("brief", r#"(func (export "brief") (type $brief))"#),
    ("notice", r#"(func (export "notice") (type $notice))"#),
    ("act", r#"(func (export "act") (type $act) i32.const 0)"#),
];

/// Short names of exports, and what the canonical ABI calls them.
const NAMES: [(&str, &str); 6] = [
    ("brief", "arena:campus/player@0.1.0#brief"),
    ("notice", "arena:campus/player@0.1.0#notice"),
    ("act", "arena:campus/player@0.1.0#act"),
    ("after_act", "cabi_post_arena:campus/player@0.1.0#act"),
    ("after_brief", "cabi_post_arena:campus/player@0.1.0#brief"),
    ("init", "_initialize"),
];

/// The component of a guest written as WAT.
#[track_caller]
pub(crate) fn component(wat: &str) -> Vec<u8> {
    let world = if wat.contains("wasi:") { "with-wasi" } else { "campus-strategy" };
    encode(core_module(wat), world, StringEncoding::UTF8)
}

#[track_caller]
pub(crate) fn encode(mut module: Vec<u8>, world: &str, encoding: StringEncoding) -> Vec<u8> {
    let (resolve, world) = world_of(world);
    embed_component_metadata(&mut module, &resolve, world, encoding).expect("metadata fits a module");
    let mut encoder = ComponentEncoder::default().module(&module).expect("a module of the world");
    encoder.encode().expect("a component")
}

/// The core module: with its defaults added and its exports called as the canonical ABI calls them.
#[track_caller]
pub(crate) fn core_module(wat: &str) -> Vec<u8> {
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

fn world_of(name: &str) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let mut push = |folder: &str| resolve.push_path(repository().join(folder)).expect("the WIT parses").0;
    let packages = [push("wit/campus"), push("tests/hostile/wit")];
    let package = packages[usize::from(name == "with-wasi")];
    let world = resolve.select_world(&[package], Some(name)).expect("the world is there");
    (resolve, world)
}

/// A host that pools, shared by every test of this process.
pub(crate) fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::new(&HostOptions::new(Seats::Pooled(16))).expect("a host"))
}

/// A host that maps every seat anew, shared likewise.
pub(crate) fn host_on_demand() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::new(&HostOptions::new(Seats::OnDemand)).expect("a host"))
}

/// Admits and loads a component that must be fit to play.
#[track_caller]
pub(crate) fn load(host: &Host, component: &[u8]) -> Strategy {
    let admitted = admit(component).unwrap_or_else(|rejection| panic!("not admitted: {rejection}"));
    host.load(&admitted).unwrap_or_else(|error| panic!("not loaded: {error}"))
}

/// Plays a guest on the pack of the hostile guests.
#[track_caller]
pub(crate) fn play_wat(wat: &str) -> Played {
    play_component(host(), &component(wat))
}

#[track_caller]
pub(crate) fn play_component(host: &Host, component: &[u8]) -> Played {
    play(&load(host, component), &pack(), seed()).expect("no host fault")
}

/// The seed all hostile guests are played with.
pub(crate) fn seed() -> Digest {
    Digest::of(b"hostile")
}

/// The pack all hostile guests are played on: twelve hours, an appeal and an order.
pub(crate) fn pack() -> Arc<Pack> {
    pack_of(12)
}

/// The same with another number of turns.
pub(crate) fn pack_of(turns: usize) -> Arc<Pack> {
    let value = json!({
        "schema": "scenario-pack.v0", "pack_id": "hostile", "pack_version": "1", "name": "Hostile",
        "brief_md": "For guests that mean no good.", "score_version": "cost-relief.v1",
        "time": { "start_local": "2024-01-15T10:00:00-06:00", "turns": turns, "step_minutes": 60 },
        "site": {
            "it_demand_mw": vec![100.0; turns], "sla_usd_per_mwh": 1000.0,
            "battery": { "capacity_mwh": 40.0, "power_mw": 20.0, "round_trip_efficiency": 0.8,
                         "initial_soc_mwh": 10.0 },
            "generator": { "capacity_mw": 30.0, "fuel_usd_per_mwh": 100.0, "permit_hours": 2.0 },
        },
        "grid": { "price_usd_per_mwh": vec![50.0; turns], "system_status": vec!["normal"; turns] },
        "events": [
            { "id": "appeal", "kind": "conservation_appeal", "notice_turn": 0, "start_turn": 1,
              "end_turn": 3, "credit_usd_per_mwh": 500.0 },
            { "id": "order", "kind": "curtailment_order", "notice_turn": 1, "start_turn": 2,
              "end_turn": 5, "requested_mw": 30.0 },
        ],
        "scoring": { "metrics": [
            { "id": "cost_usd_per_mwh", "stars": [400.0, 300.0, 250.0] },
            { "id": "relief_share", "stars": [0.5, 0.8, 0.95] },
        ] },
    });
    Pack::from_value(&value).expect("a valid pack")
}

/// Every guest of `tests/hostile`: its name and its text, by name.
pub(crate) fn hostile() -> Vec<(String, String)> {
    let folder = repository().join("tests/hostile");
    let files = std::fs::read_dir(folder).expect("the guests are in the repository");
    let paths = files.map(|file| file.expect("a readable folder").path());
    let mut guests: Vec<(String, String)> = paths.filter_map(|path| guest(&path)).collect();
    guests.sort();
    guests
}

fn guest(path: &PathBuf) -> Option<(String, String)> {
    let name = path.file_name()?.to_str()?.strip_suffix(".wat")?.to_owned();
    Some((name, std::fs::read_to_string(path).expect("a readable guest")))
}

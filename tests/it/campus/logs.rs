//! A written log is the very bytes that were written: a flipped bit, a cut, a reformatted file and a
//! changed number are found, whether its seal is left or made anew.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_engine::campus::{
    Action, Episode, EpisodeLog, LogLevel, LogLine, Pack, Pins, Recorder, Run, Witness, verify,
};
use arena_engine::{During, Forfeit, ForfeitRecord, Frame, TrapKind};
use serde_json::json;

use super::pack_faults::{good, put};

/// A log with everything a log can have: a sandboxed run of three turns that asked for what is not
/// finite, said something and trapped on its last turn.
pub(crate) fn sandboxed() -> (Arc<Pack>, EpisodeLog) {
    let mut short = good();
    put(&mut short, "/time/turns", Some(json!(3)));
    for strip in ["site/it_demand_mw", "grid/price_usd_per_mwh", "grid/system_status", SLOPE] {
        put(&mut short, &format!("/{strip}/3"), None);
    }
    let pack = Pack::from_value(&short).expect("a valid pack");
    let asked = [
        Some(Action {
            curtail_mw: f64::NAN,
            battery_mw: f64::NEG_INFINITY,
            diesel_mw: 7.25,
            accept_offer: true,
        }),
        Some(Action { curtail_mw: 10.5, battery_mw: 25.0, diesel_mw: f64::INFINITY, accept_offer: true }),
        None,
    ];
    let mut episode = Episode::new(Arc::clone(&pack));
    let mut recorder = Recorder::new(pack.turns());
    for action in asked {
        recorder.seen(&episode.observe().expect("a turn is left"));
        let resolution = episode.commit(action.unwrap_or(Action::EMPTY));
        recorder.resolved(action.as_ref(), resolution, &pack);
    }
    let frames = vec![Frame { function: "plan".to_owned(), at: Some("lib.rs:7".to_owned()) }];
    let why = Forfeit::Trapped { kind: TrapKind::Unreachable, frames };
    let forfeit = Some(ForfeitRecord::new(2, During::Turn, why));
    let line = |turn, text: &str| LogLine { turn, level: LogLevel::Info, text: text.to_owned() };
    let run = Run {
        strategy_sha256: Digest::of(b"strategy"),
        world: "arena:campus/campus-strategy@0.1.0".to_owned(),
        seed: Digest::of(b"seed"),
        linker: "lean".to_owned(),
        brief_fuel: 1_234,
        fuel: vec![500, 600, 700],
        forfeit,
        log: vec![line(0, "hello"), line(0, "\u{e9}\u{1b}[1m\n"), line(2, "bye")],
        log_dropped_bytes: 9,
    };
    let settlement = episode.settle().expect("an episode is played to its end");
    let pins = Pins::of_run(&pack, 1, "48.0.8");
    let log = EpisodeLog::new(&pack, recorder, settlement, pins, Some(run));
    (pack, log)
}

const SLOPE: &str = "grid/price_slope_usd_per_mwh_per_mw";

/// The document as a file, with a seal that fits it.
pub(crate) fn sealed(document: &Value) -> Vec<u8> {
    let mut document = document.clone();
    document.as_object_mut().map(|members| members.remove("content_sha256"));
    let digest = Digest::of(&json::canonical(&document)).to_string();
    document["content_sha256"] = json!(digest);
    written(&document)
}

pub(crate) fn written(document: &Value) -> Vec<u8> {
    let mut bytes = json::canonical(document);
    bytes.push(b'\n');
    bytes
}

pub(crate) fn told(bytes: &[u8], pack: &Arc<Pack>) -> String {
    match verify(bytes, pack) {
        Ok(_) => "verified".to_owned(),
        Err(faults) => faults.to_string(),
    }
}

#[test]
fn a_log_is_one_line_and_verifies() {
    let (pack, log) = sandboxed();
    let bytes = log.to_bytes();
    assert_eq!(told(&bytes, &pack), "verified");
    assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
    let document = json::read(&bytes, bytes.len()).expect("JSON");
    assert_eq!(sealed(&document), bytes);
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let (pack, log) = sandboxed();
    let bytes = log.to_bytes();
    let mut flipped = bytes.clone();
    for at in 0..bytes.len() {
        for mask in [0x01, 0x20] {
            flipped[at] = bytes[at] ^ mask;
            let near = String::from_utf8_lossy(&bytes[at.saturating_sub(20)..(at + 20).min(bytes.len())]);
            assert!(verify(&flipped, &pack).is_err(), "byte {at} ^ {mask:#x} is not found: {near}");
        }
        flipped[at] = bytes[at];
    }
}

#[test]
fn a_log_that_was_cut_or_grew_is_found() {
    let (pack, log) = sandboxed();
    let bytes = log.to_bytes();
    for length in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        assert!(verify(&bytes[..length], &pack).is_err(), "cut to {length} bytes");
    }
    for more in ["\n", " ", "{}", "\0"] {
        let grown = [&bytes, more.as_bytes()].concat();
        assert!(verify(&grown, &pack).is_err(), "{more:?} more");
    }
    let before = [b" ", &bytes[..]].concat();
    assert!(told(&before, &pack).contains("departs from its canonical form at byte 0"));
}

#[test]
fn a_reformatted_log_is_told_apart_from_a_forged_one() {
    let (pack, log) = sandboxed();
    let bytes = log.to_bytes();
    let document = json::read(&bytes, bytes.len()).expect("JSON");
    let pretty = format!("{document:#}\n");
    let told = told(pretty.as_bytes(), &pack);
    let words =
        "(document): the file departs from its canonical form at byte 1: it was reformatted or edited";
    assert_eq!(told, words);
}

#[test]
fn seal_and_pins_may_be_missing_and_the_rest_not() {
    let (pack, log) = sandboxed();
    let bytes = log.to_bytes();
    let whole = json::read(&bytes, bytes.len()).expect("JSON");
    let without = |members: &[&str]| {
        let mut document = whole.clone();
        for member in members {
            document.as_object_mut().expect("an object").remove(*member);
        }
        document
    };
    let seal = "content_sha256";
    for fine in [&[seal][..], &[seal, "pins", "run"]] {
        assert_eq!(told(&written(&without(fine)), &pack), "verified", "{fine:?}");
        assert_eq!(told(format!("{:#}", without(fine)).as_bytes(), &pack), "verified", "{fine:?}");
    }
    let unpinned = "/pins: missing: a run is pinned to its limits and its runtime";
    assert_eq!(told(&written(&without(&[seal, "pins"])), &pack), unpinned);
    let limits = "/pins/wasmtime: expected the runtime's version for a run, and null without one\n\
                  /pins/limits_version: expected null: nothing was limited in a replay without a sandbox";
    assert_eq!(told(&written(&without(&[seal, "run"])), &pack), limits);
    for member in ["schema", "pack_id", "pack_version", "engine_version", "score_version", "turns"] {
        assert!(told(&sealed(&without(&[member])), &pack).starts_with(&format!("/{member}: ")), "{member}");
    }
    let told = told(&sealed(&without(&["settlement"])), &pack);
    assert!(told.starts_with("/settlement: the log says null, its replay gives {"), "{told}");
}

#[test]
fn what_is_not_a_log_is_refused() {
    let (pack, _) = sandboxed();
    for (text, words) in [
        ("", "EOF while parsing"),
        ("null", "expected an object, found null"),
        ("[]", "expected an object, found an array"),
        ("{}", "/turns: expected an array of turns"),
        (r#"{"turns":[],"turns":[]}"#, "the key \"turns\" stands twice"),
        (r#"{"turns":{"0":1}}"#, "/turns: expected an array of turns"),
        (
            r#"{"turns":[null,{},{"action":[]}]}"#,
            "/turns/2/action: expected an action object, found an array",
        ),
    ] {
        let told = told(text.as_bytes(), &pack);
        assert!(told.contains(words), "{text}: {told}");
    }
}

#[test]
fn a_log_of_another_pack_names_its_pin() {
    let (pack, log) = sandboxed();
    let mut other = serde_json::to_value(pack.document()).expect("JSON");
    other["brief_md"] = json!("The same, in other words.");
    let other = Pack::from_value(&other).expect("a valid pack");
    let told = told(&log.to_bytes(), &other);
    assert!(told.starts_with("/pins/pack_sha256: expected "), "{told}");
    assert_eq!(told.lines().count(), 1);
}

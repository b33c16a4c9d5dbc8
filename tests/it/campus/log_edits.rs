//! Whatever is changed in a log and sealed again: what follows from its actions is found, and what
//! does not is listed here, member by member. Only playing again can tell about those.

use std::collections::BTreeSet;
use std::sync::Arc;

use arena_canon::json::{self, Value};
use arena_engine::campus::{EpisodeLog, Pack, episode_schema, verify};
use serde_json::json;

use super::logs::{sandboxed, sealed, told, written};
use super::pack_faults::put;

/// One pointer for every value in the document, and the value.
fn places(value: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    found.push((at.to_owned(), value.clone()));
    match value {
        Value::Object(members) => {
            for (key, inner) in members {
                places(inner, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}

/// Makes every change `edits` gives for a value, each in a log of its own, and compares the places
/// where nothing is found with `hidden` (`*` for a number). The seal is taken off, which finds as much
/// as one that was made anew and is quicker. What verifies is in the schema.
#[track_caller]
fn check(edits: impl Fn(&str, &Value) -> Vec<Option<Value>>, hidden: &[&str]) {
    let (pack, log) = sandboxed();
    let mut document = document(&log);
    document.as_object_mut().map(|members| members.remove("content_sha256"));
    let schema = jsonschema::validator_for(&episode_schema()).expect("a valid schema");
    let mut all = Vec::new();
    places(&document, "", &mut all);
    let mut passed = BTreeSet::new();
    for (place, value) in all.iter().filter(|(place, _)| !place.is_empty()) {
        for edit in edits(place, value) {
            let mut edited = document.clone();
            put(&mut edited, place, edit.clone());
            if verify(edited.to_string().as_bytes(), &pack).is_ok() {
                assert!(
                    verify(&sealed(&edited), &pack).is_ok(),
                    "{place} {edit:?}: found with a new seal only"
                );
                passed.insert(pattern(place));
                assert!(schema.is_valid(&edited), "{place} {edit:?} verifies, and the schema refuses it");
            }
        }
    }
    assert_eq!(passed, hidden.iter().map(|place| (*place).to_owned()).collect());
}

fn document(log: &EpisodeLog) -> Value {
    let bytes = log.to_bytes();
    json::read(&bytes, bytes.len()).expect("a log is JSON")
}

/// `/run/fuel/3` as `/run/fuel/*`.
fn pattern(place: &str) -> String {
    let part = |part: &str| if part.parse::<u32>().is_ok() { "*".to_owned() } else { part.to_owned() };
    place.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// The next number either way, one more and one less, and of another sign.
fn other_numbers(value: &Value) -> Vec<Option<Value>> {
    let Some(number) = value.as_f64() else { return Vec::new() };
    let mut changed = vec![json!(number.next_up()), json!(number.next_down()), json!(-1.0 - number)];
    match value.as_u64() {
        Some(whole) => {
            changed.extend([json!(whole + 1), json!(whole.saturating_sub(1)), json!(number + 0.5)])
        }
        None => changed.extend([json!(number + 1.0), json!(number as i64)]),
    }
    changed.into_iter().filter(|other| other.as_f64() != value.as_f64()).map(Some).collect()
}

#[test]
fn a_changed_number_is_found() {
    check(
        |_, value| other_numbers(value),
        &["/run/brief_fuel", "/run/fuel/*", "/run/log/*/turn", "/run/log_dropped_bytes"],
    );
}

#[test]
fn an_old_seal_fits_no_other_number() {
    let (pack, log) = sandboxed();
    let document = document(&log);
    let mut all = Vec::new();
    places(&document, "", &mut all);
    for (place, value) in all {
        for edit in other_numbers(&value).into_iter().take(1) {
            let mut edited = document.clone();
            put(&mut edited, &place, edit);
            let told = told(&written(&edited), &pack);
            assert!(told.contains("/content_sha256: the content has the digest "), "{place}: {told}");
        }
    }
    let mut edited = document;
    put(&mut edited, "/turns/1/resolution/soc_mwh", Some(json!(7.5)));
    let told = told(&written(&edited), &pack);
    let [seal, place] = &told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    assert!(seal.starts_with("/content_sha256: "), "{seal}");
    assert!(place.starts_with("/turns/1/resolution/soc_mwh: the log says 7.5, its replay gives "), "{place}");
}

#[test]
fn a_changed_text_is_found() {
    let changes = |_: &str, value: &Value| {
        let Some(text) = value.as_str() else { return Vec::new() };
        let mut hex = text.to_owned();
        let last = hex.pop().unwrap_or_default();
        hex.push(if last == '0' { '1' } else { '0' });
        vec![Some(json!(format!("{text}x"))), Some(json!(hex)), Some(json!(""))]
    };
    check(
        changes,
        &[
            "/pins/wasmtime",
            "/run/forfeit/detail/frames/*/at",
            "/run/forfeit/detail/frames/*/function",
            "/run/log/*/text",
            "/run/seed",
            "/run/strategy_sha256",
            "/run/world",
        ],
    );
}

/// Words that stand somewhere in a log, so that each could be taken for another.
const WORDS: [&str; 25] = [
    "normal",
    "watch",
    "curtail_mw",
    "diesel_mw",
    "below_zero",
    "no_export",
    "conservation_appeal",
    "curtailment_order",
    "cost_usd_per_mwh",
    "it_served_share",
    "lower",
    "higher",
    "NaN",
    "-Infinity",
    "lean",
    "wasi",
    "info",
    "error",
    "start",
    "turn",
    "trapped",
    "overtime",
    "unreachable",
    "stack",
    "native_stack",
];

#[test]
fn one_word_for_another_is_found() {
    let changes = |place: &str, value: &Value| {
        // Free text takes any word; the test above has it.
        let free = ["text", "world", "wasmtime", "function", "at"].iter().any(|name| place.ends_with(name));
        let other = WORDS.iter().filter(|word| value.is_string() && !free && Some(**word) != value.as_str());
        other.map(|word| Some(json!(word))).collect()
    };
    // Whether it was NaN or infinite that was asked, the game does the same.
    check(changes, &["/nonfinite/*/value", "/run/forfeit/detail/kind", "/run/linker", "/run/log/*/level"]);
}

#[test]
fn a_value_of_another_kind_is_found() {
    let changes = |_: &str, value: &Value| {
        let others = [json!(null), json!(true), json!(false), json!(0), json!("0"), json!([]), json!({})];
        others.into_iter().filter(|other| other != value && !is_number_zero(value, other)).map(Some).collect()
    };
    // Fuel and dropped bytes may be 0, a text any text, a list of what was said or where empty.
    check(
        changes,
        &[
            "/pins/wasmtime",
            "/run/brief_fuel",
            "/run/forfeit/detail/frames",
            "/run/forfeit/detail/frames/*/at",
            "/run/forfeit/detail/frames/*/function",
            "/run/fuel/*",
            "/run/log",
            "/run/log/*/text",
            "/run/log/*/turn",
            "/run/log_dropped_bytes",
            "/run/world",
        ],
    );
}

fn is_number_zero(value: &Value, other: &Value) -> bool {
    value.is_number() && other.is_number() && value.as_f64() == other.as_f64()
}

#[test]
fn a_missing_member_is_found() {
    check(
        |_, _| vec![None],
        &["/run/forfeit/detail/frames/*", "/run/forfeit/detail/frames/*/at", "/run/log/*"],
    );
}

#[test]
fn an_unknown_member_is_found() {
    let changes = |_: &str, value: &Value| match value {
        Value::Object(members) => {
            let mut more = members.clone();
            more.insert("score".to_owned(), json!(3));
            vec![Some(Value::Object(more))]
        }
        Value::Array(items) => [json!(null), items.first().cloned().unwrap_or_default()]
            .into_iter()
            .map(|item| Some(Value::Array(items.iter().cloned().chain([item]).collect())))
            .collect(),
        _ => Vec::new(),
    };
    check(changes, &["/run/forfeit/detail/frames"]);
}

/// Pinned and unsealed, an unknown member may be the seal with a letter changed.
#[test]
fn members_of_others_are_carried_where_a_seal_covers_them() {
    let (pack, log) = sandboxed();
    let mut document = document(&log);
    document["score"] = json!(3);
    document["runs"] = json!(3);
    assert_eq!(told(&sealed(&document), &pack), "verified");
    let mut unsealed = document.clone();
    unsealed.as_object_mut().map(|members| members.remove("content_sha256"));
    let told = told(&json::canonical(&unsealed), &pack);
    assert!(
        told.starts_with(
            "/runs: unknown member; did you mean \"run\"?\n/score: unknown member; known here: schema, "
        ),
        "{told}"
    );
}

#[test]
fn another_order_is_found() {
    let changes = |_: &str, value: &Value| {
        let Value::Array(items) = value else { return Vec::new() };
        let swapped = (1..items.len()).map(|i| {
            let mut items = items.clone();
            items.swap(i - 1, i);
            Value::Array(items)
        });
        swapped.filter(|other| other != value).map(Some).collect()
    };
    check(changes, &["/run/fuel", "/run/log"]);
}

/// One edit, sealed anew, and what is said of it.
#[track_caller]
fn edited(pack: &Arc<Pack>, document: &Value, edits: &[(&str, Option<Value>)], words: &str) {
    let mut document = document.clone();
    for (pointer, value) in edits {
        put(&mut document, pointer, value.clone());
    }
    let told = told(&sealed(&document), pack);
    let edits: String = format!("{edits:?}").chars().take(300).collect();
    assert!(told.contains(words), "{edits}: {told:?} does not say {words:?}");
}

#[test]
fn every_finding_says_where_and_what() {
    let (pack, log) = sandboxed();
    let document = document(&log);
    let check =
        |pointer: &str, value: Value, words: &str| edited(&pack, &document, &[(pointer, Some(value))], words);
    let turns = document["turns"].as_array().expect("turns").clone();
    check("/engine_version", json!("2"), "/engine_version: expected \"1\", found \"2\"");
    check("/pins/pack_sha256", json!("0".repeat(64)), "/pins/pack_sha256: expected ");
    check("/pins/engine_version", json!("0"), "/pins/engine_version: expected \"1\", found \"0\"");
    check("/pins/limits_version", json!(2), "/pins/limits_version: there are no limits of version 2");
    check("/pins/limits_version", json!(null), "/pins/limits_version: expected the version of the limits");
    check("/turns", json!(turns[1..]), "/turns: has 2 turns, the pack has 3");
    check("/turns", json!([&turns[..], &turns[2..]].concat()), "/turns: has 4 turns, the pack has 3");
    check("/turns/1/action/curtail_mw", json!(3.25), "/turns/1/resolution/applied/curtail_mw: the log says ");
    check("/turns/2/action/der_contract", json!(1), "/turns/2/action/der_contract: this move is reserved");
    check(
        "/turns/1/resolution/soc_mwh",
        json!(7.5),
        "/turns/1/resolution/soc_mwh: the log says 7.5, its replay gives ",
    );
    check("/settlement/stars", json!(3), "/settlement/stars: the log says 3, its replay gives 1");
    check("/run/fuel", json!([1, 2]), "/run/fuel: expected one count of fuel for each of 3 turns, found 2");
    check(
        "/run/fuel/1",
        json!(20_000_001),
        "/run/fuel/1: 20000001 is more than the 20000000 that this turn had",
    );
    check("/run/brief_fuel", json!(200_000_001), "/run/brief_fuel: more than the 200000000 of the limits");
    check("/run/linker", json!("static"), "/run/linker: expected lean or wasi");
    check("/run/seed", json!("luck"), "/run: a SHA-256 digest is 64 lower-case hexadecimal digits");
    check("/run/log/2/turn", json!(3), "/run/log/2/turn: expected a turn from 0 to 2, found 3");
    check("/run/log/0/turn", json!(1), "/run/log/1/turn: expected a turn from 1 to 2, found 0");
    check(
        "/run/log/0/text",
        json!("x".repeat(300_000)),
        "/run/log: 300013 bytes of text, more than the 262144",
    );
    check("/run/forfeit/turn", json!(1), "/run/forfeit/turn: forfeited on turn 1, yet turn 1 has an action");
    check(
        "/run/forfeit/turn",
        json!(3),
        "/run/forfeit/turn: turn 2 has no whole action, yet it was not forfeited",
    );
    check("/run/forfeit", json!(null), "/run/forfeit: turn 2 has no whole action, yet it was not forfeited");
    check(
        "/run/forfeit/during",
        json!("brief"),
        "/run/forfeit/turn: what ends before the first turn forfeits from turn 0",
    );
    check("/run/forfeit/build_dependent", json!(true), "/run/forfeit/build_dependent: expected false");
    check("/run/forfeit/ending", json!("bored"), "/run: unknown variant `bored`");
    check("/run/forfeit/note", json!("x"), "/run/forfeit/note: expected nothing, found \"x\"");
    check("/run/world", json!("\u{1b}".repeat(9_000)), "verified");
    check("/run/linker", json!(["\u{1b}".repeat(9_000)]), "/run: invalid type: sequence");
}
#[test]
fn endings_are_held_to_the_limits() {
    let (pack, log) = sandboxed();
    let document = document(&log);
    let ends = |ending: &str, detail: Value, words: &str| {
        let forfeit = json!({ "turn": 2, "during": "turn", "ending": ending, "detail": detail, "build_dependent": ending == "overtime" });
        edited(&pack, &document, &[("/run/forfeit", Some(forfeit))], words);
    };
    ends("fuel_spent", json!({ "scope": "turn", "budget": 20_000_000 }), "verified");
    ends(
        "fuel_spent",
        json!({ "scope": "turn", "budget": 20_000_001 }),
        "/run/forfeit/detail/budget: expected 20000000, found 20000001",
    );
    ends("fuel_spent", json!({ "scope": "episode", "budget": 500_000_000 }), "verified");
    ends(
        "fuel_spent",
        json!({ "scope": "brief", "budget": 200_000_000 }),
        "/run/forfeit/detail/scope: not the budget",
    );
    let capped = |limit: u32| json!({ "limit": limit, "then": "unreachable", "frames": [] });
    ends("memory_capped", capped(64 << 20), "verified");
    ends("memory_capped", capped(10_000), "verified");
    ends(
        "memory_capped",
        capped(10_001),
        "/run/forfeit/detail/limit: expected 67108864 or 10000, found 10001",
    );
    ends("unreadable", json!({ "why": "bad text" }), "verified");
    ends("overtime", json!({ "limit_seconds": 600 }), "verified");
}

#[test]
fn what_json_cannot_hold_is_listed_exactly() {
    let (pack, log) = sandboxed();
    let document = document(&log);
    let stored = document["nonfinite"].as_array().expect("an array").clone();
    let check = |listed: Vec<Value>, words: &str| {
        edited(&pack, &document, &[("/nonfinite", Some(json!(listed)))], words);
    };
    check(stored[1..].to_vec(), "/run/forfeit/turn: turn 0 has no whole action, yet it was not forfeited");
    check(
        [&stored[..1], &stored[..]].concat(),
        "/nonfinite/1: out of order: entries are sorted by turn and field, each once",
    );
    check(stored.iter().rev().cloned().collect(), "/nonfinite/1: out of order");
    let with = |more: Value| stored.iter().cloned().chain([more]).collect::<Vec<_>>();
    let end = stored.len();
    for (more, words) in [
        (
            json!({ "turn": 2, "field": "diesel_mw", "value": "NaN" }),
            format!("/nonfinite/{end}: turn 2, diesel_mw: the action does not show null there"),
        ),
        (
            json!({ "turn": 9, "field": "diesel_mw", "value": "NaN" }),
            format!("/nonfinite/{end}: turn 9, diesel_mw: the action does not show null there"),
        ),
        (
            json!({ "turn": 2, "field": "accept_offer", "value": "NaN" }),
            format!("/nonfinite/{end}: turn 2, accept_offer: the action does not show null"),
        ),
        (
            json!({ "turn": 2, "field": "diesel_mw", "value": "nan" }),
            format!("/nonfinite/{end}: expected {{turn, field, value}}"),
        ),
        (
            json!({ "turn": 2, "field": "diesel_mw", "value": "NaN", "note": 1 }),
            format!("/nonfinite/{end}: expected {{turn, field, value}}"),
        ),
        (json!(null), format!("/nonfinite/{end}: expected {{turn, field, value}}")),
    ] {
        check(with(more), &words);
    }
    edited(
        &pack,
        &document,
        &[("/nonfinite", Some(json!({})))],
        "/nonfinite: expected an array, found an object",
    );
    // A bare replay may hold a null that stands for nothing; then the clamp is one too many.
    let bare = [("/run", None), ("/pins", None), ("/nonfinite", None)];
    edited(
        &pack,
        &document,
        &bare,
        "/turns/0/resolution/clamps/0/applied: the log says 0, its replay gives false",
    );
}

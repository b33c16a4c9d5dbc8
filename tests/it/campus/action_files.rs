//! Files of actions: what they may leave out, and what is said of everything they may not contain.

use arena_canon::json;
use arena_engine::campus::{EpisodeLog, Given, RESERVED_MOVES, RawAction, read_actions};
use serde_json::json;

use super::pack_faults::good;

const TURNS: u32 = 3;

/// Every finding of an action file for three turns, as its author reads it.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let document = json::read(text.as_bytes(), 1 << 20).unwrap_or_else(|why| panic!("{text}: {why}"));
    let told: Vec<String> = match read_actions(&document, TURNS) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.0.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(told, expected, "{text}");
}

#[test]
fn anything_may_be_left_out() {
    for fine in [
        "[]",
        "[{}]",
        "[{}, {}, {}]",
        r#"[{"curtail_mw": null, "battery_mw": null, "diesel_mw": null, "accept_offer": null}]"#,
        r#"[{"curtail_mw": -1e308, "battery_mw": 5e-324, "diesel_mw": 18446744073709551615, "accept_offer": false}]"#,
    ] {
        check(fine, &[]);
    }
}

#[test]
fn a_file_is_an_array_of_objects_one_a_turn() {
    check("{}", &["(document): expected an array of action objects, found an object"]);
    check("null", &["(document): expected an array of action objects, found null"]);
    check("\"[]\"", &["(document): expected an array of action objects, found a string"]);
    check("12", &["(document): expected an array of action objects, found a number"]);
    check("[{}, {}, {}, {}, {}]", &["/3: 5 actions for an episode of 3 turns"]);
    check(
        "[null, 3, [{}]]",
        &[
            "/0: expected an action object, found null",
            "/1: expected an action object, found a number",
            "/2: expected an action object, found an array",
        ],
    );
}

#[test]
fn wrong_types_are_told_with_their_place() {
    check(
        r#"[{}, {"curtail_mw": "5", "battery_mw": [1], "diesel_mw": {"mw": 1}, "accept_offer": 1}]"#,
        &[
            "/1/accept_offer: expected true or false, found a number",
            "/1/battery_mw: expected a number in MW, found an array",
            "/1/curtail_mw: expected a number in MW, found a string",
            "/1/diesel_mw: expected a number in MW, found an object",
        ],
    );
    check(r#"[{"accept_offer": "true"}]"#, &["/0/accept_offer: expected true or false, found a string"]);
    check(r#"[{"curtail_mw": true}]"#, &["/0/curtail_mw: expected a number in MW, found a boolean"]);
    check(r#"[{"curtail_mw": "NaN"}]"#, &["/0/curtail_mw: expected a number in MW, found a string"]);
}

#[test]
fn unknown_fields_are_refused_with_what_was_meant() {
    let known = "known here: curtail_mw, battery_mw, diesel_mw, accept_offer";
    for (field, hint) in [
        ("curtail", "did you mean \"curtail_mw\"?".to_owned()),
        ("battery_mwh", "did you mean \"battery_mw\"?".to_owned()),
        ("acceptoffer", "did you mean \"accept_offer\"?".to_owned()),
        ("gas_mw", known.to_owned()),
        ("x_note", known.to_owned()),
        ("", known.to_owned()),
    ] {
        check(&format!(r#"[{{"{field}": 1}}]"#), &[&format!("/0/{field}: unknown field; {hint}")]);
    }
    check(r#"[{"a/b~c": 1}]"#, &[&format!("/0/a~1b~0c: unknown field; {known}")]);
    let long = "z".repeat(1 << 19);
    let told = read_actions(&json!([{ long: 1 }]), TURNS).map_err(|faults| faults.to_string());
    assert!(told.is_err_and(|told| told.contains(known) && told.len() < 500));
}

#[test]
fn reserved_moves_are_refused_by_name() {
    for name in RESERVED_MOVES {
        let told = format!("/0/{name}: this move is reserved by the contract; no pack plays it yet");
        check(&format!(r#"[{{"{name}": {{}}}}]"#), &[&told]);
    }
}

#[test]
fn everything_wrong_is_told_at_once() {
    check(
        r#"[{"curtail_mw": "5"}, 7, {"batery_mw": 1, "der_contract": null}, {}]"#,
        &[
            "/3: 4 actions for an episode of 3 turns",
            "/0/curtail_mw: expected a number in MW, found a string",
            "/1: expected an action object, found a number",
            "/2/batery_mw: unknown field; did you mean \"battery_mw\"?",
            "/2/der_contract: this move is reserved by the contract; no pack plays it yet",
        ],
    );
}

#[test]
fn what_is_missing_or_null_counts_as_nothing_and_stays_as_it_was_written() {
    let pack = arena_engine::campus::Pack::from_value(&good()).expect("a valid pack");
    let written = json!([{}, { "curtail_mw": null, "accept_offer": null }, { "battery_mw": 2 }]);
    let actions = read_actions(&written, pack.turns()).expect("valid actions");
    let log = EpisodeLog::replay(&pack, &actions, &[]);
    assert!(log.turns.iter().all(|turn| turn.resolution.clamps.is_empty()));
    let shown: Vec<_> = log.turns.iter().map(|turn| json!(turn.action)).collect();
    assert_eq!(
        json!(shown),
        json!([{}, { "curtail_mw": null, "accept_offer": null }, { "battery_mw": 2.0 }, {}])
    );
    let empty = EpisodeLog::replay(&pack, &[RawAction::default(); 2], &[]);
    assert_eq!(empty.to_bytes(), EpisodeLog::replay(&pack, &[], &[]).to_bytes());
    assert_eq!(actions[1].curtail_mw, Given::Null);
}

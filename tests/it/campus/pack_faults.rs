//! What is wrong with a pack: each fault alone, by the place it is at, and all of them at once.

use arena_canon::json::{self, Value};
use arena_engine::campus::{Faults, Finding, Pack};
use arena_tests::{committed, packs};
use serde_json::json;

/// A pack of four turns without a fault or a warning.
pub(crate) fn good() -> Value {
    json!({
        "schema": "scenario-pack.v0",
        "pack_id": "small",
        "pack_version": "1.0.0",
        "name": "Small",
        "brief_md": "Four turns.",
        "score_version": "cost-relief.v1",
        "time": { "start_local": "2024-02-28T22:00:00+01:00", "turns": 4, "step_minutes": 30 },
        "site": {
            "it_demand_mw": [80.0, 82.5, 81.0, 79.0],
            "sla_usd_per_mwh": 1000.0,
            "battery": { "capacity_mwh": 40.0, "power_mw": 20.0, "round_trip_efficiency": 0.8, "initial_soc_mwh": 10.0 },
            "generator": { "capacity_mw": 25.0, "fuel_usd_per_mwh": 95.0, "permit_hours": 1.0 }
        },
        "grid": {
            "price_usd_per_mwh": [40.0, 900.5, -20.0, 60.0],
            "system_status": ["normal", "emergency", "watch", "normal"],
            "price_slope_usd_per_mwh_per_mw": [0.5, 2.0, 0.0, 0.5]
        },
        "events": [
            { "id": "appeal-a", "kind": "conservation_appeal", "notice_turn": 0, "start_turn": 1, "end_turn": 3, "credit_usd_per_mwh": 500.0 },
            { "id": "order-b", "kind": "curtailment_order", "start_turn": 1, "end_turn": 4, "requested_mw": 30.0 }
        ],
        "scoring": { "metrics": [
            { "id": "cost_usd_per_mwh", "stars": [500.0, 400.0, 300.0] },
            { "id": "relief_share", "stars": [0.5, 0.8, 0.95] }
        ] }
    })
}

/// The good pack with something else at one place. `None` removes what is there.
pub(crate) fn with(pointer: &str, value: Option<Value>) -> Value {
    let mut document = good();
    put(&mut document, pointer, value);
    document
}

pub(crate) fn put(document: &mut Value, pointer: &str, value: Option<Value>) {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer to a member");
    let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}: no parent"));
    match (parent, value) {
        (Value::Object(members), Some(value)) => _ = members.insert(last.to_owned(), value),
        (Value::Object(members), None) => _ = members.remove(last),
        (Value::Array(items), Some(value)) if last == "-" => items.push(value),
        (Value::Array(items), Some(value)) => items[last.parse::<usize>().expect("an index")] = value,
        (Value::Array(items), None) => _ = items.remove(last.parse().expect("an index")),
        _ => panic!("{pointer}: its parent has no members"),
    }
}

fn faults(document: &Value) -> Vec<Finding> {
    match Pack::from_value(document) {
        Ok(pack) => panic!("{pack} is accepted: {document}"),
        Err(Faults(findings)) => findings,
    }
}

#[test]
fn the_good_pack_is_good() {
    let pack = Pack::from_value(&good()).expect("a valid pack");
    assert_eq!(pack.warnings(), []);
}

/// One change makes exactly one finding, at that place and with those words.
#[track_caller]
fn check(pointer: &str, value: Option<Value>, at: &str, words: &str) {
    let change = value.as_ref().map_or("removed".to_owned(), |value| {
        let text = value.to_string();
        text.chars().take(80).collect()
    });
    let found = faults(&with(pointer, value));
    let [Finding { pointer: found_at, message }] = &found[..] else {
        panic!("{pointer} {change}: {found:?}");
    };
    assert_eq!(found_at, at, "{pointer} {change}: {message}");
    assert!(message.contains(words), "{pointer} {change}: {message:?} does not say {words:?}");
}

#[test]
fn texts_and_times() {
    let id = "expected 1 to 64 printable ASCII characters";
    let time = "expected an RFC 3339 local time in whole seconds with a numeric offset";
    for (pointer, value, words) in [
        (
            "/schema",
            json!("scenario-pack.v1"),
            "this reads \"scenario-pack.v0\", the file says \"scenario-pack.v1\"",
        ),
        ("/schema", json!(0), "expected a string, found a number"),
        ("/pack_id", json!(""), id),
        ("/pack_id", json!("a".repeat(65)), id),
        ("/pack_id", json!("two\nlines"), id),
        ("/pack_version", json!("1.0.0-\u{e9}"), id),
        ("/score_version", json!(null), "expected a string, found null"),
        ("/name", json!(""), "0 characters; a name has 1 to 200"),
        ("/name", json!("\u{e9}".repeat(201)), "201 characters; a name has 1 to 200"),
        ("/brief_md", json!("\u{e9}".repeat(32_769)), "65538 bytes; a brief has at most 65536"),
        ("/time", json!([]), "expected an object, found an array"),
        ("/time/start_local", json!("2024-02-28T22:00:00"), time),
        ("/time/start_local", json!("2024-02-28T22:00:00Z"), time),
        ("/time/start_local", json!("2024-02-28T22:00:00+0100"), time),
        ("/time/start_local", json!("2024-02-28T22:00:00+24:00"), time),
        ("/time/start_local", json!("2024-02-28T22:00:00+01:60"), time),
        ("/time/start_local", json!("2024-02-28T22:00:00.5+01:00"), time),
        ("/time/start_local", json!("2016-12-31T23:59:60+00:00"), time),
        ("/time/start_local", json!("2023-02-29T22:00:00+01:00"), time),
        ("/time/start_local", json!("2024-02-28T24:00:00+01:00"), time),
        ("/time/start_local", json!("2024-02-28 22:00:00+01:00"), time),
        ("/time/start_local", json!("2024-2-28T22:00:00+01:00"), time),
        ("/time/start_local", json!("\u{662}024-02-28T22:00:00+01:00"), time),
        ("/time/start_local", json!(1_709_154_000), "expected a string, found a number"),
        ("/time/step_minutes", json!(0), "expected an integer from 1 to 525600, found 0"),
        ("/time/step_minutes", json!(7.5), "expected an integer from 1 to 525600, found 7.5"),
        ("/time/step_minutes", json!(525_601), "expected an integer from 1 to 525600, found 525601"),
    ] {
        check(pointer, Some(value), pointer, words);
    }
}

#[test]
fn turns_are_counted() {
    for (turns, words) in [
        (json!(0), "expected an integer from 1 to 100000, found 0"),
        (json!(-4), "found -4"),
        (json!(1.5), "found 1.5"),
        (json!(100_001), "found 100001"),
        (json!("4"), "expected an integer from 1 to 100000, found a string"),
    ] {
        check("/time/turns", Some(turns), "/time/turns", words);
    }
    check(
        "/time/start_local",
        Some(json!("9999-12-31T22:00:00+01:00")),
        "/time",
        "would end after the year 9999",
    );
    let last = Pack::from_value(&with("/time/start_local", Some(json!("9999-12-31T21:59:59+01:00"))));
    assert_eq!(last.map(|pack| pack.local_time(3)).ok().as_deref(), Some("9999-12-31T23:29:59+01:00"));
    let first = Pack::from_value(&with("/time/start_local", Some(json!("0000-01-01T00:00:00-23:59"))));
    assert_eq!(first.map(|pack| pack.local_time(0)).ok().as_deref(), Some("0000-01-01T00:00:00-23:59"));
}

#[test]
fn numbers_have_ranges() {
    let (any, positive) = (
        "expected a number from -1000000000000 to 1000000000000",
        "expected a number from 0 to 1000000000000",
    );
    for (pointer, value, words) in [
        ("/site/it_demand_mw/2", json!(-1e-9), positive),
        ("/site/it_demand_mw/2", json!(1_000_000_000_001.0), positive),
        ("/site/it_demand_mw/2", json!(null), "found null"),
        ("/site/sla_usd_per_mwh", json!(-1.0000001e12), any),
        (
            "/site/sla_usd_per_mwh",
            json!("1000"),
            "expected a number from -1000000000000 to 1000000000000, found a string",
        ),
        ("/site/sla_usd_per_mwh", json!(1e300), "found 1e+300"),
        ("/site/sla_usd_per_mwh", json!(u64::MAX), "found 18446744073709551615"),
        ("/site/battery/capacity_mwh", json!(true), positive),
        ("/site/battery/power_mw", json!(-20.0), positive),
        ("/site/battery/round_trip_efficiency", json!(0.0), "expected a number above 0 to 1, found 0"),
        ("/site/battery/round_trip_efficiency", json!(1.0000000000000002), "found 1.0000000000000002"),
        ("/site/battery/initial_soc_mwh", json!(-0.5), positive),
        (
            "/site/battery/initial_soc_mwh",
            json!(40.000001),
            "40.000001 MWh is above the battery's capacity of 40 MWh",
        ),
        ("/site/generator/capacity_mw", json!(-25), positive),
        ("/site/generator/fuel_usd_per_mwh", json!(2e12), any),
        ("/site/generator/permit_hours", json!(-1), positive),
        ("/grid/price_usd_per_mwh/0", json!([40.0]), "found an array"),
        ("/grid/price_slope_usd_per_mwh_per_mw/3", json!({}), "found an object"),
        ("/scoring/metrics/0/stars/1", json!(1e13), any),
    ] {
        check(pointer, Some(value), pointer, words);
    }
    check("/site/battery/capacity_mwh", Some(json!(-40)), "/site/battery/capacity_mwh", positive);
}

#[test]
fn strips_have_one_element_a_turn() {
    for strip in [
        "/site/it_demand_mw",
        "/grid/price_usd_per_mwh",
        "/grid/system_status",
        "/grid/price_slope_usd_per_mwh_per_mw",
    ] {
        check(&format!("{strip}/3"), None, strip, "has 3 elements, expected 4");
        let again = good().pointer(&format!("{strip}/0")).cloned();
        check(&format!("{strip}/-"), again, strip, "has 5 elements, expected 4");
        check(strip, Some(json!("flat")), strip, "expected an array, found a string");
    }
    check(
        "/grid/price_slope_usd_per_mwh_per_mw",
        Some(json!(null)),
        "/grid/price_slope_usd_per_mwh_per_mw",
        "expected an array, found null",
    );
    check("/scoring/metrics/1/stars/2", None, "/scoring/metrics/1/stars", "has 2 elements, expected 3");
    let found = faults(&with("/site/it_demand_mw", Some(json!(vec![-1.0; 4]))));
    assert_eq!(found.len(), 4);
    let mut long = good();
    put(&mut long, "/time/turns", Some(json!(300)));
    put(&mut long, "/site/it_demand_mw", Some(json!(vec!["80"; 300])));
    let of_demand: Vec<_> = faults(&long).into_iter().filter(|it| it.pointer.contains("demand")).collect();
    assert_eq!(of_demand.len(), 6, "a strip in another unit is not told 300 times: {of_demand:?}");
    assert_eq!(of_demand[5].message, "295 more faults in this array");
}

#[test]
fn events_and_metrics() {
    let event = |member: &str| format!("/events/0/{member}");
    for (member, value, words) in [
        (
            "kind",
            json!("blackout"),
            "unknown kind \"blackout\"; known: conservation_appeal, curtailment_order",
        ),
        ("kind", json!(7), "expected a string, found a number"),
        ("id", json!(""), "expected 1 to 64 printable ASCII characters"),
        ("id", json!("order-\u{202e}b"), "found \"order-\\u{202e}b\""),
        ("start_turn", json!(-1), "expected an integer from 0 to 1000000, found -1"),
        ("start_turn", json!(1.25), "found 1.25"),
        ("end_turn", json!(0), "ends on turn 0, before it starts on turn 1"),
        ("end_turn", json!(1_000_001), "found 1000001"),
        ("notice_turn", json!(null), "expected an integer from 0 to 1000000, found null"),
        ("credit_usd_per_mwh", json!("500"), "found a string"),
    ] {
        check(&event(member), Some(value), &event(member), words);
    }
    check(
        "/events/1/id",
        Some(json!("appeal-a")),
        "/events/1/id",
        "the id \"appeal-a\" is already that of event 0",
    );
    check(
        "/events/1/requested_mw",
        Some(json!(-30)),
        "/events/1/requested_mw",
        "expected a number from 0 to",
    );
    check("/events/0", Some(json!("appeal")), "/events/0", "expected an object, found a string");
    check("/events", Some(json!({})), "/events", "expected an array, found an object");
    let many: Vec<Value> = (0..1_001)
        .map(|i| json!({ "id": format!("e{i}"), "kind": "curtailment_order", "start_turn": 0, "end_turn": 1, "requested_mw": 1 }))
        .collect();
    check("/events", Some(json!(many)), "/events", "1001 events; a pack has at most 1000");

    let metrics = "/scoring/metrics";
    check(&format!("{metrics}/1"), None, metrics, "a pack declares exactly two metrics, this one 1");
    let third = json!({ "id": "it_served_share", "stars": [0.9, 0.95, 1.0] });
    check(&format!("{metrics}/-"), Some(third), metrics, "a pack declares exactly two metrics, this one 3");
    check(
        &format!("{metrics}/0/id"),
        Some(json!("relief_share")),
        &format!("{metrics}/1/id"),
        "the metric \"relief_share\" is named twice",
    );
    check(
        &format!("{metrics}/0/id"),
        Some(json!("profit")),
        &format!("{metrics}/0/id"),
        "unknown metric \"profit\"; known: cost_usd_per_mwh, relief_share, it_served_share",
    );
    check(
        "/grid/system_status/2",
        Some(json!("Watch")),
        "/grid/system_status/2",
        "expected one of normal, watch, emergency, found \"Watch\"",
    );
}

#[test]
fn every_member_but_two_is_needed() {
    let mut pointers = Vec::new();
    members(&good(), "", &mut pointers);
    for pointer in pointers {
        let optional = pointer.ends_with("/notice_turn") || pointer == "/grid/price_slope_usd_per_mwh_per_mw";
        if optional {
            assert!(Pack::from_value(&with(&pointer, None)).is_ok(), "{pointer}");
        } else {
            check(&pointer, None, &pointer, "missing");
        }
    }
}

/// Pointers to every member of every object.
fn members(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                found.push(format!("{at}/{key}"));
                members(inner, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                members(inner, &format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}

/// One document with every fault the rules name, and the list that its author reads.
#[test]
fn every_fault_at_once() {
    let mut document = good();
    for (pointer, value) in [
        ("/schema", json!("scenario-pack.v9")),
        ("/pack_id", json!("sm\u{e4}ll")),
        ("/pack_version", json!("")),
        ("/name", json!("")),
        ("/brief_md", json!("x".repeat(65_537))),
        ("/score_version", json!(1)),
        ("/time/start_local", json!("2024-02-28T22:00:00Z")),
        ("/time/step_minutes", json!(0)),
        ("/site/it_demand_mw", json!([80.0, -1.0, "81"])),
        ("/site/sla_usd_per_mwh", json!(1e13)),
        ("/site/battery/capacity_mwh", json!(40.0)),
        ("/site/battery/power_mw", json!(-20.0)),
        ("/site/battery/round_trip_efficiency", json!(1.2)),
        ("/site/battery/initial_soc_mwh", json!(41.0)),
        ("/site/generator", json!({ "capacity_mw": -1, "fuel_usd_per_mwh": null })),
        ("/grid/price_usd_per_mwh", json!([1.0, 2.0, 3.0, 4.0, 5.0])),
        ("/grid/system_status", json!(["normal", "alarm", "watch", 4])),
        ("/grid/price_slope_usd_per_mwh_per_mw", json!({})),
        ("/events/0/kind", json!("blackout")),
        ("/events/0/end_turn", json!(0)),
        ("/events/1/id", json!("appeal-a")),
        ("/events/1/requested_mw", json!(-1)),
        ("/events/-", json!({ "id": "late", "kind": "curtailment_order", "start_turn": 1.5 })),
        (
            "/scoring/metrics",
            json!([
                { "id": "relief_share", "stars": [0.5, 0.8] },
                { "id": "relief_share", "stars": [0.5, 0.8, true] },
                { "id": "profit", "stars": [1, 2, 3] }
            ]),
        ),
    ] {
        put(&mut document, pointer, Some(value));
    }
    let listed: String = faults(&document).iter().map(|finding| format!("{finding}\n")).collect();
    committed("tests/golden/pack-every-fault.txt", &listed);
}

#[test]
fn a_number_of_turns_that_is_wrong_hides_no_other_fault() {
    let mut document = with("/time/turns", Some(json!(0)));
    put(&mut document, "/grid/system_status/1", Some(json!("alarm")));
    let found: Vec<String> = faults(&document).into_iter().map(|finding| finding.pointer).collect();
    assert_eq!(found, ["/time/turns", "/grid/system_status/1"]);
}

#[test]
fn faults_beyond_what_anybody_reads_are_counted() {
    let events: Vec<Value> = (0..900).map(|_| json!({})).collect();
    let found = faults(&with("/events", Some(json!(events))));
    assert_eq!(found.len(), 201);
    assert_eq!(found[200].to_string(), "(document): 3400 more findings are not shown");
}

#[test]
fn text_from_a_pack_is_cut_and_escaped() {
    let key = format!("\u{1b}[2J{}", "k".repeat(10_000));
    let mut document = with("/schema", Some(json!("\u{1b}]0;title\u{7}".repeat(500))));
    put(&mut document, &format!("/{key}"), Some(json!(1)));
    put(&mut document, "/events/0/kind", Some(json!("\u{202e}".repeat(100_000))));
    for finding in faults(&document) {
        let shown = finding.to_string();
        assert!(shown.chars().count() < 1_000, "{} characters", shown.chars().count());
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown}");
    }
}

#[test]
fn a_shipped_pack_has_nothing_to_say() {
    for (name, bytes) in packs() {
        let pack = Pack::parse(&bytes).unwrap_or_else(|faults| panic!("{name}: {faults}"));
        assert_eq!(pack.warnings(), [], "{name}");
        assert_eq!(pack.document().pack_id, name);
        let value = json::read(&bytes, bytes.len()).expect("JSON");
        let document = serde_json::to_value(pack.document()).expect("JSON");
        for (key, stored) in value.as_object().expect("an object") {
            if !key.starts_with("x_") {
                assert_eq!(json::first_difference(&document[key], stored), None, "{name} {key}");
            }
        }
    }
}

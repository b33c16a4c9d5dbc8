//! `arena sprint demo`

use arena_cli::Exit;
use serde_json::{Value, json};

use super::answer;
use crate::cli::arena;

#[test]
fn a_whole_round_is_shown_with_its_arithmetic() {
    let ran = arena(["sprint", "demo"]);
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""));
    insta::assert_snapshot!(ran.out);
}

#[test]
fn no_money_is_made_or_lost() {
    let round = arena(["sprint", "demo", "--json"]).json();
    let accounts = round["accounts"].as_object().expect("accounts");
    let balance =
        |value: &Value| value.as_str().and_then(|text| text.parse::<i64>().ok()).expect("an amount");
    assert_eq!(accounts.values().map(balance).sum::<i64>(), 0);
    assert_eq!(round["sum"], "0");
    let negative = accounts.iter().filter(|(_, value)| balance(value) < 0).map(|(name, _)| name.as_str());
    assert_eq!(negative.collect::<Vec<_>>(), ["external:EXO"]);
}

#[test]
fn its_refusals_are_those_of_the_rules() {
    let round = arena(["sprint", "demo", "--json"]).json();
    let steps = round["steps"].as_array().expect("steps").iter();
    let refused: Vec<&Value> =
        steps.filter(|step| !step["refused"].is_null()).map(|step| &step["refused"]["code"]).collect();
    assert_eq!(refused, [&json!("forbidden_disclosure"), &json!("no_intent_stub")]);
}

/// The last standings, asked of the calculator, come out the same.
#[test]
fn the_final_standings_are_what_the_calculator_says() {
    let round = arena(["sprint", "demo", "--json"]).json();
    let last = round["standings"].as_array().and_then(|all| all.last()).expect("standings");
    let external = |delivery: u8, evidence: u8, continuity: u8, budget: u8| {
        json!({
            "state": "accepted", "artifact_class": "external", "delivery": delivery, "evidence": evidence,
            "continuity": continuity, "budget": budget, "penalties": [], "operator_intervention": "none",
        })
    };
    let at = |mut window: Value, time: &str| {
        window["submitted_at"] = json!(time);
        window
    };
    let mut reversed = external(60, 20, 20, 20);
    (reversed["state"], reversed["penalties"]) = (json!("reversed"), json!(["claim_mismatch"]));
    let mut late = external(0, 0, 0, 0);
    late["state"] = json!("late");
    let mut report = external(40, 10, 20, 20);
    report["artifact_class"] = json!("internal_supporting");
    let mut manual = external(40, 20, 20, 20);
    manual["artifact_class"] = json!("internal_supporting");
    let mut helped = external(60, 20, 20, 10);
    (helped["state"], helped["assisted_outcome"]) = (json!("operator_assisted"), json!("accepted"));
    helped["operator_intervention"] = json!("disclosed");
    let full = || external(60, 20, 20, 20);
    let entrants = json!([
        { "id": "acme", "windows": { "W1": full(), "W2": full(), "W3": at(full(), "2026-07-12T20:10:00Z") } },
        { "id": "bolt", "windows": { "W1": report, "W2": helped, "W3": at(manual, "2026-07-12T20:20:00Z") } },
        { "id": "cobalt", "windows": {
            "W1": external(20, 20, 20, 20), "W2": reversed, "W3": at(full(), "2026-07-12T20:30:00Z"),
        }},
        { "id": "dune", "windows": { "W1": late, "W2": full(), "W3": { "state": "missing" } } },
    ]);
    assert_eq!(answer("sprint score", &json!({ "entrants": entrants })), last["rows"]);
}

//! Every way in which a record or a question is refused.

use arena_canon::json::Value;
use arena_contests::sprint::record::RecordError;
use arena_contests::sprint::wire::{self, Said};
use serde_json::json;

fn accepted() -> Value {
    json!({
        "state": "accepted", "artifact_class": "external", "delivery": 60, "evidence": 20,
        "continuity": 20, "budget": 20, "penalties": [], "operator_intervention": "none",
    })
}

fn with(changes: &Value) -> Value {
    let mut record = accepted();
    for (key, value) in changes.as_object().expect("an object") {
        record[key] = value.clone();
    }
    record
}

fn error_of(record: &Value) -> Option<RecordError> {
    match wire::score(&json!({ "window": record, "previous": null })).expect("read") {
        Said::Answer(_) => None,
        Said::Refused(why, _) => Some(why),
    }
}

/// In the order of the checks, so that each change is the first fault of its record.
fn broken() -> Vec<(&'static str, Value)> {
    let penal = json!({"state": "accepted_with_penalty", "penalties": ["duplicate"]});
    let and = |base: &Value, more: Value| {
        let mut both = base.clone();
        both.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        both
    };
    vec![
        ("unknown_state", json!({"state": "submitted"})),
        ("penalty_without_judged_submission", json!({"state": "pending", "penalties": ["no such"]})),
        ("unknown_artifact_class", json!({"artifact_class": "External"})),
        ("delivery_not_allowed_for_class", json!({"delivery": 40})),
        ("delivery_not_allowed_for_class", json!({"delivery": 59.5})),
        ("delivery_not_allowed_for_class", json!({"delivery": 1e300})),
        ("evidence_not_in_set", json!({"evidence": 15})),
        ("continuity_not_in_set", json!({"continuity": -10})),
        ("budget_not_in_set", json!({"budget": 30})),
        ("penalty_repeated", json!({"penalties": ["no such", "no such"]})),
        ("unknown_penalty", json!({"penalties": ["no such"]})),
        ("unknown_operator_intervention", json!({"operator_intervention": ""})),
        ("assisted_outcome_required", json!({"state": "operator_assisted"})),
        ("assisted_outcome_required", json!({"state": "operator_assisted", "assisted_outcome": "late"})),
        (
            "operator_assisted_without_intervention",
            json!({"state": "operator_assisted", "assisted_outcome": "accepted"}),
        ),
        ("assisted_outcome_only_for_operator_assisted", json!({"assisted_outcome": "accepted"})),
        ("intervention_requires_operator_assisted", json!({"operator_intervention": "disclosed"})),
        ("intervention_requires_operator_assisted", json!({"penalties": ["undisclosed_intervention"]})),
        (
            "undisclosed_but_declared",
            json!({"state": "rejected", "operator_intervention": "required",
                   "penalties": ["undisclosed_intervention"]}),
        ),
        ("accepted_cannot_carry_penalties", json!({"penalties": ["duplicate"]})),
        ("penalty_state_needs_a_penalty", json!({"state": "accepted_with_penalty"})),
        ("reversal_only_for_reversed", json!({"state": "rejected", "penalties": ["reversal"]})),
        ("disclosure_invalidates_window", and(&penal, json!({"penalties": ["disclosure_violation"]}))),
        ("accepted_needs_delivery", and(&penal, json!({"delivery": 0}))),
        ("accepted_needs_evidence", json!({"evidence": 0})),
        (
            "delivery_40_needs_proof",
            and(&penal, json!({"artifact_class": "internal_supporting", "delivery": 40, "evidence": 0})),
        ),
        ("before_only_for_disputed", json!({"before": "rejected"})),
        ("before_only_for_disputed", json!({"state": "disputed", "before": "missing"})),
    ]
}

#[test]
fn every_refusal_names_its_rule_and_every_rule_can_refuse() {
    assert_eq!(error_of(&accepted()), None);
    let mut met = Vec::new();
    for (name, change) in broken() {
        let error = error_of(&with(&change)).unwrap_or_else(|| panic!("{name}: {change} is taken"));
        assert_eq!(error.name(), name, "{change}");
        met.push(error);
    }
    met.sort_unstable();
    met.dedup();
    assert_eq!(met, RecordError::ALL);
}

#[test]
fn of_two_broken_rules_the_earlier_check_is_named() {
    let broken = broken();
    let mut pairs = 0;
    let rank = |name: &str| RecordError::ALL.iter().position(|error| error.name() == name);
    for (i, (earlier, first)) in broken.iter().enumerate() {
        for (_, second) in broken.iter().skip(i + 1) {
            // A later change of the same members would undo the earlier one.
            let keys =
                |change: &Value| change.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
            if keys(first).iter().any(|key| keys(second).contains(key)) {
                continue;
            }
            let mut both = with(first);
            for (key, value) in second.as_object().expect("an object") {
                both[key] = value.clone();
            }
            // Two faults may mend each other, as an outcome and the state that has one.
            let Some(error) = error_of(&both) else { continue };
            // And one may take away the ground of the other, as a state that is looked at less closely.
            pairs += usize::from(error.name() == *earlier);
            assert!(
                rank(error.name()) <= rank(earlier)
                    || second.get("state").is_some()
                    || first.get("state").is_some(),
                "{both}: {error} stands after {earlier}"
            );
        }
    }
    assert!(pairs > 100, "{pairs} pairs name their earlier fault");
}

#[test]
fn every_fault_of_a_question_is_told_with_its_place() {
    let question = json!({ "entrants": [
        { "id": "a", "windows": { "W1": accepted(), "W2": {"state": "missing"}, "W4": {} }, "x": 1 },
        { "id": "a", "windows": {
            "W1": with(&json!({"delivery": "60"})),
            "W2": with(&json!({"submitted_at": "yesterday"})),
            "W3": 3,
        }},
    ]});
    let faults = wire::score(&question).expect_err("refused");
    let places: Vec<&str> = faults.0.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(
        places,
        [
            "/entrants/0/x",
            "/entrants/0/windows/W4",
            "/entrants/0/windows/W3",
            "/entrants/1/windows/W1/delivery",
            "/entrants/1/windows/W2/submitted_at",
            "/entrants/1/windows/W3",
            "/entrants/1/id",
        ]
    );
    for wrong in [json!({}), json!([]), json!({"window": accepted(), "entrants_": []})] {
        assert!(wire::score(&wrong).is_err(), "{wrong}");
    }
    for wrong in [
        json!({"round_start": "2026-07-09T00:00:00Z"}),
        json!({"round_start": "2026-07-09", "now": "2026-07-09T00:00:00Z"}),
        json!({"round_start": "2026-07-09T00:00:00Z", "now": "2026-07-09T00:00:00Z", "action": "fly"}),
        json!({"round_start": "2026-07-09T00:00:00Z", "now": "2026-07-09T00:00:00Z", "window": "W1"}),
    ] {
        assert!(wire::phase(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_hostile_question_is_told_a_bounded_number_of_faults() {
    let many: serde_json::Map<String, Value> = (0..5_000).map(|i| (format!("k{i}"), json!(0))).collect();
    let faults = wire::score(&Value::Object(many)).expect_err("refused");
    assert_eq!(faults.0.len(), 101);
}

#[test]
fn a_dispute_caps_by_what_it_put_aside() {
    for (before, cap) in [
        (None, 10),
        (Some("accepted"), 10),
        (Some("operator_assisted"), 10),
        (Some("pending"), 10),
        (Some("rejected"), 0),
        (Some("late"), 0),
        (Some("reversed"), 0),
        (Some("operator_assisted_rejected"), 0),
    ] {
        let previous = with(&json!({"state": "disputed", "before": before}));
        let question = json!({ "window": accepted(), "previous": previous });
        let Said::Answer(answer) = wire::score(&question).expect("read") else { panic!("{before:?}") };
        assert_eq!(answer["continuity"], json!(cap), "{before:?}");
        assert_eq!(answer["caps"], json!(["continuity_prev_window"]));
    }
}

#[test]
fn a_disclosure_burns_the_stake_whatever_the_state() {
    for state in ["rejected", "late", "disputed", "reversed", "accepted"] {
        let window = with(&json!({"state": state, "penalties": ["disclosure_violation"]}));
        let said = wire::stake(&json!({ "window": window })).expect("read");
        assert_eq!(said, Said::Answer(json!({"result": "burned"})), "{state}");
    }
    // Also where a record cannot have a penalty, which is what its score says.
    for state in ["missing", "pending"] {
        for penalties in [json!(["disclosure_violation"]), json!(["duplicate", "disclosure_violation"])] {
            let question = json!({ "window": { "state": state, "penalties": penalties } });
            let said = wire::stake(&question).expect("read");
            assert_eq!(said, Said::Answer(json!({"result": "burned"})), "{question}");
            assert_eq!(error_of(&question["window"]), Some(RecordError::PenaltyWithoutJudgedSubmission));
        }
        let question = json!({ "window": { "state": state, "penalties": ["duplicate"] } });
        let said = wire::stake(&question).expect("read");
        assert!(matches!(said, Said::Refused(RecordError::PenaltyWithoutJudgedSubmission, _)), "{question}");
    }
    let unknown = json!({ "window": { "state": "lost", "penalties": ["disclosure_violation"] } });
    let said = wire::stake(&unknown).expect("read");
    assert!(matches!(said, Said::Refused(RecordError::UnknownState, _)));
}

#[test]
fn hygiene_needs_every_window_in_order() {
    let late = json!({"state": "late"});
    for (change, has_it) in [
        (json!({}), true),
        (json!({"state": "rejected"}), true),
        (json!({"state": "reversed"}), true),
        (json!({"state": "accepted_with_penalty", "penalties": ["duplicate"]}), true),
        (json!({"state": "rejected", "penalties": ["disclosure_violation"]}), false),
        (json!({"state": "rejected", "penalties": ["claim_mismatch"]}), false),
        (json!({"state": "rejected", "evidence": 0}), false),
        (json!({"state": "disputed"}), false),
        (json!({"state": "pending"}), false),
        (json!({"state": "missing"}), false),
        (late, false),
    ] {
        let windows = json!({ "W1": accepted(), "W2": with(&change), "W3": accepted() });
        let question = json!({ "entrants": [{ "id": "a", "windows": windows }] });
        let Said::Answer(rows) = wire::score(&question).expect("read") else { panic!("{change}") };
        assert_eq!(rows[0]["hygiene_award"], json!(has_it), "{change}");
    }
}

#[test]
fn interventions_count_whatever_the_state() {
    for (change, counts) in [
        (json!({"state": "rejected", "operator_intervention": "disclosed"}), 2),
        (json!({"state": "late", "penalties": ["undisclosed_intervention"]}), 2),
        (json!({"state": "pending", "operator_intervention": "required"}), 2),
        (json!({"state": "rejected"}), 0),
    ] {
        let windows = json!({ "W1": with(&change), "W2": with(&change), "W3": accepted() });
        let question = json!({ "entrants": [{ "id": "a", "windows": windows }] });
        let Said::Answer(rows) = wire::score(&question).expect("read") else { panic!("{change}") };
        assert_eq!(rows[0]["interventions"], json!(counts), "{change}");
        let reasons = if counts == 2 { json!(["two_or_more_interventions"]) } else { json!([]) };
        assert_eq!(rows[0]["ineligible_reasons"], reasons, "{change}");
    }
}

#[test]
fn every_state_has_its_end_of_the_stake() {
    for (change, end) in [
        (json!({}), "returned"),
        (json!({"state": "accepted_with_penalty", "penalties": ["duplicate"]}), "returned"),
        (json!({"state": "late"}), "returned"),
        (json!({"state": "rejected"}), "burned"),
        (json!({"state": "reversed"}), "burned"),
        (json!({"state": "disputed"}), "held"),
        (json!({"state": "pending"}), "held"),
        (json!({"state": "missing"}), "none"),
        (assisted("accepted"), "returned"),
        (assisted("rejected"), "burned"),
    ] {
        let said = wire::stake(&json!({ "window": with(&change) })).expect("read");
        assert_eq!(said, Said::Answer(json!({ "result": end })), "{change}");
    }
}

fn assisted(outcome: &str) -> Value {
    json!({
        "state": "operator_assisted", "assisted_outcome": outcome, "operator_intervention": "disclosed",
    })
}

/// Ranks of companies that differ in their Window 3 alone.
fn ranks(thirds: &[(&str, Value)]) -> Vec<(String, u64)> {
    let entrants = thirds.iter().map(|(id, third)| {
        json!({ "id": id, "windows": { "W1": accepted(), "W2": accepted(), "W3": with(third) } })
    });
    let question = json!({ "entrants": entrants.collect::<Vec<_>>() });
    let Said::Answer(rows) = wire::score(&question).expect("read") else { panic!("refused") };
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| (row["id"].as_str().expect("an id").to_owned(), row["rank"].as_u64().expect("a rank")))
        .collect()
}

#[test]
fn the_last_tie_break_compares_moments_and_no_moment_is_the_latest() {
    let at = |time: &str| json!({ "submitted_at": time });
    let ranked = ranks(&[
        ("a-none", json!({})),
        ("b-late", at("2026-07-12T21:00:00.001Z")),
        ("c-east", at("2026-07-12T23:00:00+02:00")),
        ("d-zulu", at("2026-07-12T21:00:00Z")),
        ("e-none", json!({})),
        ("f-west", at("2026-07-12T15:59:59.999-05:00")),
    ]);
    let ranked: Vec<(&str, u64)> = ranked.iter().map(|(id, rank)| (&**id, *rank)).collect();
    let expected = [("f-west", 1), ("c-east", 2), ("d-zulu", 2), ("b-late", 4), ("a-none", 5), ("e-none", 5)];
    assert_eq!(ranked, expected);
}

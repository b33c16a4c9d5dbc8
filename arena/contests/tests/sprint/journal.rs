//! A journal of commands gives the round again, and a line that is wrong is told.

use arena_canon::json::{self, Value};
use arena_contests::sprint::example::{four_companies, terms};
use arena_contests::sprint::round::{Round, wire};
use serde_json::json;

#[test]
fn the_round_is_derived_again_from_its_lines() {
    let stage = four_companies();
    let mut round = Round::draft(terms());
    let mut names = std::collections::BTreeSet::new();
    for step in &stage.steps {
        let line = json::canonical(&wire::write(&step.stamped));
        let line = json::read(&line, 1 << 20).expect("JSON");
        let stamped = wire::read(&line).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert_eq!(stamped, step.stamped);
        names.insert(line["do"].as_str().expect("a name").to_owned());
        for happened in round.decide(&stamped).unwrap_or_default() {
            round = round.evolve(&happened);
        }
    }
    assert_eq!(round, stage.round);
    assert!(names.len() >= 20, "{names:?}");
}

/// One line of each command that the example does not have, and odd ones.
#[test]
fn every_command_is_read_as_it_is_written() {
    let verdict = json!({
        "state": "operator_assisted", "assisted_outcome": "rejected", "delivery": 20, "evidence": 0,
        "continuity": 10, "budget": 0, "penalties": ["duplicate"], "rationale": "why",
        "external_effect": "another",
    });
    for (name, with) in [
        ("cancel", json!({ "reason": "why" })),
        ("withdraw", json!({})),
        (
            "keep_artifact",
            json!({
                "artifact_hash": "0f".repeat(32), "size_bytes": 5, "media_type": "text/plain", "public_read": true,
                "findings": [{ "field": "artifact", "offset": 2, "rule": "marker", "severity": "review" }],
            }),
        ),
        ("release_locked", json!({})),
        ("disqualify", json!({ "company": "acme", "reason": "why" })),
        ("decide_award", json!({ "award": "award:1", "pay": false, "reason": "why" })),
        ("hide", json!({ "artifact_hash": "0f".repeat(32), "reason": "why" })),
        ("judge", json!({ "company": "acme", "window": "W2", "verdict": verdict })),
        (
            "rule_dispute",
            json!({ "dispute": "dispute:1", "ruling": "baseless", "verdict": null, "rationale": "why" }),
        ),
        (
            "rule_dispute",
            json!({ "dispute": "dispute:1", "ruling": "upheld", "verdict": verdict, "rationale": "why" }),
        ),
    ] {
        let line = json!({
            "version": 1, "at": "2026-07-09T00:00:00.000000001Z", "by": { "operator": "olga" },
            "do": name, "with": with,
        });
        let stamped = wire::read(&line).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(wire::write(&stamped), line);
    }
}

#[test]
fn every_fault_of_a_line_has_its_place() {
    let line = |name: &str, with: Value| json!({ "version": 1, "at": "2026-07-09T00:00:00Z", "by": { "system": true }, "do": name, "with": with });
    for (line, places) in [
        (json!({}), &["/version"][..]),
        (
            json!({ "version": 2, "at": "x", "by": {}, "do": "settle", "with": {} }),
            &["/version", "/at", "/by"],
        ),
        (line("fly", json!({})), &["/with"]),
        (line("settle", json!({ "x": 1 })), &["/with/x"]),
        (line("cancel", json!({})), &["/with/reason"]),
        (
            line("approve", json!({ "company": 1, "rail": "sea" })),
            &["/with/company", "/with/agent", "/with/rail"],
        ),
        (
            line("register", json!({ "team": {}, "canaries": [1] })),
            &["/with/canaries/0", "/with/team/principal"],
        ),
        (line("enter_call", json!({ "hold_cap_atomic": 5 })), &["/with/hold_cap_atomic"]),
        (line("submit", json!({ "window_id": "W1" })), &["/with/intent_stub_ref"]),
        (
            line("store_artifact", json!({ "base64url": "=", "media_type": "x", "public_read": 1 })),
            &["/with/public_read", "/with/base64url"],
        ),
        (line("hide", json!({ "reason": "x" })), &["/with"]),
        (
            line(
                "judge",
                json!({ "company": "a", "window": "W1", "verdict": {
                "state": "accepted", "assisted_outcome": "accepted", "delivery": 300, "evidence": -1,
                "continuity": 0, "budget": 0, "penalties": ["duplicate", "duplicate", "x"], "rationale": "y",
            } }),
            ),
            &[
                "/with/verdict/assisted_outcome",
                "/with/verdict/delivery",
                "/with/verdict/evidence",
                "/with/verdict/penalties/1",
                "/with/verdict/penalties/2",
            ],
        ),
    ] {
        let faults = wire::read(&line).expect_err("refused").0;
        let found: Vec<&str> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
        for place in places {
            assert!(found.contains(place), "{place} is not in {found:?} of {line}");
        }
    }
}

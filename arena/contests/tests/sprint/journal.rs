//! A journal of commands gives the round again, and a line that is wrong is told.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_contests::sprint::Window;
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

fn post(body: Value) -> Value {
    json!({ "kind": "progress", "window": null, "body": body, "refs": [], "corrects": null })
}

fn kept_text() -> Value {
    json!({ "sha256": "0f".repeat(32), "bytes": 12, "names": ["1f".repeat(32)], "findings": [] })
}

/// The same round follows from lines that hold no text: a text is looked at when it comes, and never again.
#[test]
fn the_round_is_derived_from_lines_whose_texts_lie_elsewhere() {
    let stage = four_companies();
    let (mut round, mut elsewhere) = (Round::draft(terms()), Vec::new());
    for step in &stage.steps {
        let mut stamped = step.stamped.clone();
        let said = round.decide(&stamped);
        stamped.command = round.laid_by(stamped.command, &mut |text| {
            elsewhere.push(text.to_owned());
            Digest::of_parts(&[b"salt", text.as_bytes()])
        });
        let line = wire::write(&stamped);
        let newest = if stamped == step.stamped { 1 } else { wire::JOURNAL_VERSION };
        assert_eq!(line["version"], json!(newest));
        assert_eq!(wire::read(&line).expect("a line"), stamped);
        let kept = round.decide(&stamped);
        assert_eq!(said.is_ok(), kept.is_ok(), "{line}");
        for happened in kept.unwrap_or_default() {
            round = round.evolve(&happened);
        }
    }
    let now = terms().end();
    assert_eq!(round.standings(now), stage.round.standings(now));
    assert_eq!(round.flagged(), stage.round.flagged());
    let omissions = |round: &Round| -> Vec<_> {
        let all = round
            .entrants()
            .values()
            .flat_map(|entrant| Window::ALL.iter().map(|window| entrant.submission(*window)));
        all.flatten().map(|submission| submission.frozen().omissions.clone()).collect()
    };
    assert_eq!(omissions(&round), omissions(&stage.round));
    assert!(elsewhere.len() >= 8, "{elsewhere:?}");
    for (_, post) in round.town().posts() {
        let body = post.body.as_ref();
        assert!(body.is_none_or(|body| body.said().is_none() && body.sha256() == post.body_sha256));
    }
}

/// Taken from a request, it would show what somebody else wrote.
#[test]
fn a_request_has_no_text_that_lies_elsewhere() {
    let faults = wire::command("post", &post(kept_text())).expect_err("refused").0;
    assert_eq!(faults[0].pointer.as_str(), "/body");
    assert!(wire::command("post", &post(json!("a text that is here"))).is_ok());
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
        ("post", post(kept_text())),
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
        let version = if name == "post" { 2 } else { 1 };
        let line = json!({
            "version": version, "at": "2026-07-09T00:00:00.000000001Z", "by": { "operator": "olga" },
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
            json!({ "version": 3, "at": "x", "by": {}, "do": "settle", "with": {} }),
            &["/version", "/at", "/by"],
        ),
        (json!({ "version": 0, "at": "x", "by": {}, "do": "settle", "with": {} }), &["/version"]),
        (line("post", post(kept_text())), &["/with/body"]),
        (
            json!({
                "version": 2, "at": "2026-07-09T00:00:00Z", "by": { "system": true }, "do": "post",
                "with": post(json!({ "sha256": "0f", "names": ["x"], "findings": [{}], "text": "" })),
            }),
            &["/with/body/sha256", "/with/body/bytes", "/with/body/names", "/with/body/text"],
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

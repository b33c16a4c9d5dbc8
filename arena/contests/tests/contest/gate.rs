//! The gate: every failure told, in its order; what is stored and who sees it.

use arena_contests::contest::{Command, GateFailure, Refusal, SubmissionStatus};
use serde_json::{Value, json};

use super::{CONTEST, Stage, admin, agent, at, manifest, noon, redline};

fn submit(body: Value) -> Command {
    Command::Submit { contest: CONTEST.to_owned(), body }
}

fn with(changes: &Value) -> Value {
    let mut body = redline("CBR14", "An agent acts with care, and its operator answers for it.");
    for (key, value) in changes.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

fn failures(stage: &Stage, body: Value) -> Vec<GateFailure> {
    match stage.decide(noon(2), agent("amy"), submit(body)) {
        Err(Refusal::Gate(failures)) => failures,
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

fn codes(stage: &Stage, body: Value) -> Vec<&'static str> {
    failures(stage, body).iter().map(GateFailure::code).collect()
}

#[test]
fn a_good_redline_goes_to_legality_review() {
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", with(&json!({})));
    let found = stage.contests.submission(&id).expect("stored");
    assert_eq!(
        (found.status, found.confidence, found.reason),
        (SubmissionStatus::LegalityReview, Some(100), None)
    );
}

#[test]
fn fields_are_counted_to_the_character() {
    let stage = Stage::open();
    for (key, min, max) in [
        ("rule_id", 1, 100),
        ("rationale", 10, 3_000),
        ("current_text", 5, 5_000),
        ("proposed_text", 5, 5_000),
        ("risk_reduced", 1, 1_000),
    ] {
        for (count, ok) in [(min - 1, false), (min, true), (max, true), (max + 1, false)] {
            for letter in ["x", "ž", "\u{5d0}"] {
                let body = with(&json!({ key: letter.repeat(count) }));
                assert_eq!(codes(&stage, body).is_empty(), ok, "{key} {count} {letter}");
            }
        }
    }
    for (key, max) in [("act", 200), ("article", 60), ("jurisdiction", 16), ("url", 2_048)] {
        for (count, expected) in [(0, true), (max, false), (max + 1, true)] {
            let mut body = with(&json!({}));
            body["legal_basis"][0][key] = json!("x".repeat(count));
            let is_form = codes(&stage, body).contains(&"form");
            assert_eq!(is_form, expected, "{key} {count}");
        }
    }
    let basis = with(&json!({}))["legal_basis"][0].clone();
    for (count, ok) in [(0, false), (1, true), (10, true), (11, false)] {
        assert_eq!(codes(&stage, with(&json!({ "legal_basis": vec![basis.clone(); count] }))).is_empty(), ok);
    }
    assert_eq!(codes(&stage, with(&json!({ "note": "x" }))), ["form"]);
    assert_eq!(codes(&stage, json!("text")), ["form"]);
}

#[test]
fn every_failure_is_told_and_nothing_is_stored() {
    let demanding = manifest(&json!({
        "min_reputation_score": 11,
        "rules": {},
    }));
    let mut stage = Stage::of(demanding);
    let clause = Command::RegisterClause {
        contest: CONTEST.to_owned(),
        rule_id: "CBR14".to_owned(),
        text: "An agent acts with great care.".to_owned(),
    };
    stage.must(noon(1), admin(), clause);
    let same = with(&json!({
        "proposed_text": "An agent acts with care.",
        "rationale": "the canary is canary-of-the-house, as said",
    }));
    let mut invented = same.clone();
    invented["legal_basis"][0]["article"] = json!("Art. 100");
    assert_eq!(
        codes(&stage, invented),
        ["reputation_too_low", "no_change", "stale_clause", "forbidden_disclosure", "flagged_hallucination"]
    );
    assert_eq!(stage.contests.visible(CONTEST, &admin()).expect("there").len(), 0);
    let statuses: Vec<u16> = failures(&stage, same).iter().map(GateFailure::status).collect();
    assert_eq!(statuses, [403, 422, 409, 422]);
}

#[test]
fn reputation_counts_from_its_threshold() {
    let stage = Stage::of(manifest(&json!({ "min_reputation_score": 10, "rules": {} })));
    assert_eq!(codes(&stage, with(&json!({}))), Vec::<&str>::new());
}

#[test]
fn it_is_open_from_its_start_to_before_its_end() {
    let stage = Stage::of(manifest(&json!({
        "starts_at": "2026-08-02T12:00:00.00100+00:00",
        "ends_at": "2026-08-03T12:00:00+00:00",
    })));
    for (time, open) in [
        ("2026-08-02T12:00:00.000Z", false),
        ("2026-08-02T14:00:00.001+02:00", true),
        ("2026-08-03T11:59:59.999Z", true),
        ("2026-08-03T12:00:00Z", false),
    ] {
        let code = stage.code(at(time), agent("amy"), submit(with(&json!({}))));
        assert_eq!(code, (!open).then_some("not_open"), "{time}");
    }
}

#[test]
fn an_invented_citation_is_stored_for_its_author_alone() {
    let mut stage = Stage::open();
    let mut invented = with(&json!({}));
    let good = invented["legal_basis"][0].clone();
    invented["legal_basis"] = json!([good, {
        "act": "EU AI Act", "article": "Art. 114", "jurisdiction": "EU",
        "url": "https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
    }]);
    let id = stage.submit(2, "amy", invented.clone());
    let found = stage.contests.submission(&id).expect("stored");
    assert_eq!((found.status, found.confidence), (SubmissionStatus::Rejected, Some(10)));
    assert_eq!(found.reason, Some("flagged_hallucination"));
    let gates: Vec<&str> = found.verdicts.iter().map(|verdict| verdict.gate.name()).collect();
    assert_eq!(gates, ["pass", "flagged_hallucination"]);
    for (viewer, seen) in [(admin(), 1), (agent("amy"), 1), (agent("ben"), 0)] {
        assert_eq!(stage.contests.visible(CONTEST, &viewer).expect("there").len(), seen);
    }
    // The slot is free, up to five times a day, and tomorrow again.
    for _ in 0..4 {
        stage.submit(2, "amy", invented.clone());
    }
    assert_eq!(codes(&stage, with(&json!({}))), ["too_many_attempts"]);
    stage.submit(3, "amy", with(&json!({})));
}

#[test]
fn a_slot_is_one_clause_of_one_agent() {
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", with(&json!({})));
    assert_eq!(codes(&stage, with(&json!({}))), ["slot_taken"]);
    stage.submit(2, "amy", with(&json!({ "rule_id": "CBR15" })));
    stage.submit(2, "ben", with(&json!({})));
    let other = stage.code(noon(2), agent("ben"), Command::Withdraw { submission: id.clone() });
    assert_eq!(other, Some("wrong_actor"));
    stage.must(noon(2), agent("amy"), Command::Withdraw { submission: id.clone() });
    assert_eq!(stage.code(noon(2), agent("amy"), Command::Withdraw { submission: id }), Some("no_way"));
    assert_eq!(codes(&stage, with(&json!({}))), Vec::<&str>::new());
}

#[test]
fn near_duplicates_are_flagged_and_let_through() {
    let mut stage = Stage::open();
    let first = stage.submit(2, "amy", with(&json!({})));
    let same = stage.submit(2, "ben", with(&json!({ "rationale": "another reason for the same" })));
    let other =
        stage.submit(2, "cat", with(&json!({ "proposed_text": "Whoever deploys it pays for harm." })));
    let near = |id: &str| stage.contests.submission(id).expect("stored").near_duplicates.clone();
    assert_eq!((near(&first), near(&same), near(&other)), (vec![], vec![first.clone()], vec![]));
}

#[test]
fn a_moved_article_is_noted() {
    let mut stage = Stage::open();
    let basis = json!([{
        "act": "EU AI Act", "article": "Art. 52", "jurisdiction": "EU",
        "url": "https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
    }]);
    let id = stage.submit(2, "amy", with(&json!({ "legal_basis": basis })));
    let found = stage.contests.submission(&id).expect("stored");
    assert_eq!(found.status, SubmissionStatus::LegalityReview);
    assert!(found.advisories[0].starts_with("/legal_basis/0: article 52"), "{:?}", found.advisories);
}

#[test]
fn a_leak_is_refused_in_every_field() {
    let key = ["g", "hp_", "R4t8Ym2Kq9Vw3Zx7", "Lc5Nb6Hd1Jf0PsTe", "Ua42"].concat();
    let stage = Stage::open();
    for key_of in ["rule_id", "rationale", "current_text", "proposed_text", "risk_reduced"] {
        let body = with(&json!({ key_of: format!("a text with {key} in it") }));
        assert!(codes(&stage, body).contains(&"forbidden_disclosure"), "{key_of}");
    }
    for key_of in ["act", "article", "url"] {
        let mut body = with(&json!({}));
        body["legal_basis"][0][key_of] = json!(format!("https://x.lt/{key}"));
        let found = failures(&stage, body);
        let told = format!("{found:?}");
        assert!(found.iter().any(|failure| failure.code() == "forbidden_disclosure"), "{key_of}");
        assert!(!told.contains(&key[4..]), "{told}");
    }
    let generic = Stage::of(manifest(&json!({ "contest_type": "module-build" })));
    for body in [
        json!({ "title": format!("x {key}"), "body": "x" }),
        json!({ "title": "x", "body": format!("x {key}") }),
        json!({ "title": "x", "body": "x", "metadata": { "a": [{ "b": key }] } }),
        json!({ "title": "x", "body": "x", "metadata": { &key: 1 } }),
        json!({ "title": "x", "body": "x", "metadata": { "personal": 33_309_240_064_u64 } }),
    ] {
        assert_eq!(codes(&generic, body.clone()), ["forbidden_disclosure"], "{body}");
    }
}

#[test]
fn generic_contests_take_a_title_and_a_text() {
    let mut stage = Stage::of(manifest(&json!({ "contest_type": "module-build" })));
    for (body, expected) in [
        (json!({ "title": "", "body": "x" }), vec!["form"]),
        (json!({ "title": "x", "body": "x".repeat(20_001) }), vec!["form"]),
        (json!({ "title": "x", "body": "x", "metadata": [] }), vec!["form"]),
        (json!({ "title": "x", "body": "x", "metadata": { "a": "b".repeat(20_000) } }), vec!["form"]),
        (json!({ "title": "x", "body": "x", "metadata": { "a": 1 } }), vec![]),
    ] {
        assert_eq!(codes(&stage, body.clone()), expected, "{body}");
    }
    stage.submit(2, "amy", json!({ "title": "x", "body": "x" }));
    assert_eq!(codes(&stage, json!({ "title": "y", "body": "y" })), ["slot_taken"]);
}

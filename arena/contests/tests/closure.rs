//! Every rule that can refuse is met by a test that names it.

use std::collections::BTreeSet;

/// The names that `code` gives, as they stand in its source.
fn codes(source: &str) -> BTreeSet<&str> {
    let arms = source.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split_once(" => \""));
    arms.filter_map(|(_, code)| code.split_once('"')).map(|(code, _)| code).collect()
}

/// Those that no test expects.
fn unmet<'a>(codes: &BTreeSet<&'a str>, tests: &[&str]) -> Vec<&'a str> {
    let is_met = |code: &str| tests.iter().any(|test| test.contains(&format!("\"{code}\"")));
    codes.iter().copied().filter(|code| !is_met(code)).collect()
}

#[test]
fn every_refusal_of_a_round_is_met() {
    let codes = codes(include_str!("../src/sprint/round/refusal.rs"));
    assert_eq!(codes.len(), 41);
    let tests = [
        include_str!("sprint/round.rs"),
        include_str!("sprint/example.rs"),
        include_str!("sprint/money.rs"),
        include_str!("sprint/package.rs"),
        include_str!("sprint/rails.rs"),
    ];
    assert_eq!(unmet(&codes, &tests), Vec::<&str>::new());
    assert_eq!(unmet(&codes, &[]).len(), codes.len());
}

#[test]
fn every_refusal_of_a_contest_and_of_its_gate_is_met() {
    let refusals = codes(include_str!("../src/contest/refusal.rs"));
    let gate = codes(include_str!("../src/contest/gate.rs"));
    assert_eq!((refusals.len(), gate.len()), (17, 11));
    let tests = [
        include_str!("contest/gate.rs"),
        include_str!("contest/lifecycle.rs"),
        include_str!("contest/mod.rs"),
    ];
    assert_eq!(unmet(&refusals, &tests), Vec::<&str>::new());
    assert_eq!(unmet(&gate, &tests), Vec::<&str>::new());
}

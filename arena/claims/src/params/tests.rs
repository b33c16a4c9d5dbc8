use arena_canon::json::Value;
use arena_ledger::Amount;

use super::{ExploreError, Odds, Params, stake_min, stake_min_by_search};
use crate::settle::testing::SplitMix;

fn odds(p_ppm: u64, q_ppm: u64) -> Odds {
    Odds { fee: 1_000, cost: 400, fake_cost: 0, p_ppm, q_ppm, slash_bps: 10_000 }
}

#[test]
fn the_published_table_of_stakes_comes_out() {
    for (p, row) in [
        (50_000, [15_001, 9_001, 7_889, 7_164]),
        (100_000, [7_001, 4_001, 3_445, 3_082]),
        (150_000, [4_334, 2_334, 1_963, 1_722]),
        (250_000, [2_201, 1_001, 778, 633]),
        (500_000, [601, 1, 0, 0]),
    ] {
        for (q, want) in [750_000, 900_000, 950_000, 990_000].into_iter().zip(row) {
            assert_eq!(stake_min(&odds(p, q)), Ok(want), "p {p} q {q}");
            assert_eq!(stake_min_by_search(&odds(p, q)), Ok(want), "p {p} q {q}");
            let half = Odds { slash_bps: 5_000, ..odds(p, q) };
            assert_eq!(stake_min(&half), Ok(2 * want), "half slashed, p {p} q {q}");
        }
    }
}

#[test]
fn the_closed_form_agrees_with_search_everywhere() {
    let mut rng = SplitMix::new(7);
    for case in 0..20_000 {
        let odds = Odds {
            fee: rng.below(5_000),
            cost: rng.below(3_000),
            fake_cost: rng.below(500),
            p_ppm: rng.below(1_000_001),
            q_ppm: rng.below(1_000_001),
            slash_bps: rng.below(10_001),
        };
        let (closed, search) = (stake_min(&odds), stake_min_by_search(&odds));
        assert_eq!(closed, search, "case {case}: {odds:?}");
        if let Ok(stake) = closed {
            assert!(odds.honest_beats_fake(stake));
            assert!(stake == 0 || !odds.honest_beats_fake(stake - 1), "case {case}: {odds:?}");
        }
    }
}

#[test]
fn hopeless_odds_say_why() {
    assert_eq!(stake_min(&odds(0, 950_000)), Err(ExploreError::NeverChecked));
    assert_eq!(stake_min(&odds(1, 500_000)), Err(ExploreError::BlindChecks { q_ppm: 500_000 }));
    let unslashed = Odds { slash_bps: 0, ..odds(100_000, 950_000) };
    assert_eq!(stake_min(&unslashed), Err(ExploreError::NothingSlashed));
    assert_eq!(stake_min_by_search(&unslashed), Err(ExploreError::NothingSlashed));
    let huge = Odds { cost: u64::MAX >> 1, ..odds(1, 500_001) };
    assert_eq!(stake_min(&huge), Err(ExploreError::TooLarge));
    assert_eq!(stake_min_by_search(&huge), Err(ExploreError::TooLarge));
    assert!(matches!(stake_min(&odds(1_000_001, 1)), Err(ExploreError::OutOfRange { name: "p", .. })));
}

#[test]
fn payoffs_are_exact() {
    let odds = odds(100_000, 950_000);
    let at = |stake| {
        let payoffs = odds.payoffs(stake);
        (payoffs.honest.to_string(), payoffs.fake.to_string())
    };
    assert_eq!(at(3_445), ("577.775".into(), "577.725".into()));
    assert_eq!(at(4_000), ("575".into(), "525".into()));
    assert!(odds.honest_profits(4_000));
}

#[test]
fn the_published_set_meets_every_condition_with_the_published_slack() {
    let params = Params::published();
    assert_eq!(params.violations(), []);
    let slack: Vec<String> = params.inequalities().iter().map(|i| format!("{} {}", i.id, i.slack)).collect();
    assert_eq!(
        slack.join(", "),
        "I1 2037, I2 350, I3 100, I4 1000, I4' 5100, I4'' 2420, I5 0, I5' 0, I6 400, I6' 0, I7 1200, I8 0, I9 60, \
         I9' 310, I9'' 500, I10 400, I11 100, I11' 100, I12 100, I12' 100, I13 1000, I14 200, I14' 400, I15 0, \
         I16 500, audit 50000, quorum 2, pool 9223372036854771807"
    );
}

/// A set from before parties had stakes reads as it did and keeps its digest; with one, the digest is another.
#[test]
fn a_set_without_a_party_slash_is_what_it_was() {
    let plain = Params::published();
    assert!(plain.to_json().get("party_slash").is_none());
    let staked = Params::published_with_parties();
    assert_eq!(staked.violations(), []);
    assert_ne!(plain.digest(), staked.digest());
    for set in [plain, staked.clone()] {
        let bytes = arena_canon::json::canonical(&set.to_json());
        assert_eq!(Params::parse(&bytes).expect("a set"), set);
    }
    let last = staked.inequalities().pop().expect("conditions");
    assert_eq!((last.id, last.slack.to_string().as_str()), ("I17", "500"));
    let mut wrong = staked.to_json();
    wrong["party_slash"] = 6_000.into();
    let why = Params::parse(&arena_canon::json::canonical(&wrong)).expect_err("a number").to_string();
    assert!(why.contains("/party_slash: must be an amount"), "{why}");
}

/// For every condition there is a set that breaks it: none of them is idle.
#[test]
fn every_condition_can_fail() {
    let broken = |change: &str| {
        let change: Value = serde_json::from_str(change).expect("JSON");
        let params = Params::overridden(&change).expect("in range");
        params.violations().into_iter().map(|i| i.id).collect::<Vec<_>>()
    };
    for (id, change) in [
        ("I1", r#"{"S": 100}"#),
        ("I1", r#"{"audit_floor_ppm": 1000000, "audit_floor_new_ppm": 88888}"#),
        ("I1", r#"{"audit_floor_new_ppm": 1000000, "audit_floor_ppm": 88888}"#),
        ("I2", r#"{"assumptions": {"C": 999}}"#),
        ("I3", r#"{"R_c": 1400}"#),
        ("I4", r#"{"S_c": 1500}"#),
        ("I4'", r#"{"S_c": 700}"#),
        ("I4''", r#"{"assumptions": {"Q": 100000}}"#),
        ("I5", r#"{"tax": 101}"#),
        ("I5'", r#"{"k2": 8}"#),
        ("I6", r#"{"W_r": 901}"#),
        ("I6'", r#"{"abst": 99}"#),
        ("I7", r#"{"S_r": 300}"#),
        ("I8", r#"{"S_r": 1499}"#),
        ("I9", r#"{"assumptions": {"a": 916000}}"#),
        ("I9'", r#"{"assumptions": {"a": 700000}}"#),
        ("I9''", r#"{"abst": 600}"#),
        ("I10", r#"{"S_r": 1366}"#),
        ("I11", r#"{"tax": 0}"#),
        ("I17", r#"{"party_slash": 5500}"#),
        ("I11'", r#"{"S": 3900}"#),
        ("I12", r#"{"rho": 3999}"#),
        ("I12'", r#"{"rho": 6000}"#),
        ("I13", r#"{"runner_no_show_bps": 0}"#),
        ("I14", r#"{"A": 400}"#),
        ("I14'", r#"{"A": 1001}"#),
        ("I15", r#"{"V": 2399}"#),
        ("I16", r#"{"S_c": 2000}"#),
        ("audit", r#"{"audit_floor_ppm": 99999}"#),
        ("quorum", r#"{"quorum": 6}"#),
        ("pool", r#"{"V": "9223372036854775807"}"#),
    ] {
        assert!(broken(change).contains(&id), "{change} should break {id}, broke {:?}", broken(change));
    }
}

#[test]
fn a_set_reads_back_and_its_digest_pins_every_member() {
    let params = Params::published();
    let bytes = arena_canon::json::canonical(&params.to_json());
    assert_eq!(Params::parse(&bytes).expect("whole"), params);
    let more = Params { tax: Amount::new(101).expect("an amount"), ..params.clone() };
    assert_ne!(more.digest(), params.digest());
    let slower = Params::overridden(&serde_json::json!({ "clocks": { "reveal_s": 1 } })).expect("in range");
    assert_ne!(slower.digest(), params.digest());
}

#[test]
fn every_fault_of_a_set_is_named() {
    let mut document = Params::published().to_json();
    document["fee"] = 1_000.into();
    document["slots"] = 0.into();
    document["clocks"]["rest"] = 1.into();
    document["assumptions"] = Value::Null;
    document.as_object_mut().expect("an object").remove("tax");
    let bytes = arena_canon::json::canonical(&document);
    let text = Params::parse(&bytes).expect_err("faults").to_string();
    for want in [
        "/fee: must be an amount",
        "/slots: must be an integer from 1 to 16",
        "/clocks/rest: unknown member",
        "/assumptions: must be an object",
        "(document): the member `tax` is missing",
    ] {
        assert!(text.contains(want), "{want} is not in:\n{text}");
    }
}

#[test]
fn audits_follow_the_record_of_the_operator() {
    let params = Params::published();
    for (valid_runs, watched, want) in [
        (0, false, 1_000_000),
        (10, false, 1_000_000),
        (20, false, 500_000),
        (66, false, 151_515),
        (67, false, 150_000),
        (1_000_000, false, 150_000),
        (67, true, 250_000),
        (20, true, 500_000),
    ] {
        assert_eq!(params.audit_ppm(valid_runs, watched), want, "{valid_runs} {watched}");
    }
}

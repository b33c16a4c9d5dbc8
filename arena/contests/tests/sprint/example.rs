//! The demonstration is what it says it is.

use arena_contests::sprint::example::{self, four_companies};
use arena_contests::sprint::round::{Award, AwardKind, DisputeStatus};

fn codes() -> Vec<(String, &'static str)> {
    let stage = four_companies();
    let refused =
        stage.steps.iter().filter_map(|step| Some((step.what.clone(), step.outcome.as_ref().err()?.code())));
    refused.collect()
}

#[test]
fn only_what_should_be_refused_is() {
    let refused = codes();
    let refused: Vec<(&str, &str)> = refused.iter().map(|(what, code)| (&**what, *code)).collect();
    assert_eq!(
        refused,
        [
            ("cobalt submits W1 with a key in it", "forbidden_disclosure"),
            ("dune submits W3", "no_intent_stub"),
        ]
    );
}

#[test]
fn the_standings_are_these_after_each_window() {
    let stage = four_companies();
    let told: Vec<String> = stage
        .round
        .snapshots()
        .iter()
        .map(|snapshot| {
            let rows = snapshot.rows.as_array().expect("rows").iter().map(|row| {
                format!("{} {} {}", row["rank"], row["id"].as_str().expect("a name"), row["round_score"])
            });
            format!(
                "{:?} v{}: {}",
                snapshot.after.map(|window| window.name()),
                snapshot.version,
                rows.collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "Some(\"W1\") v1: 1 acme 140, 2 cobalt 100, 3 bolt 60, 4 dune 0",
            "Some(\"W2\") v1: 1 cobalt 220, 2 bolt 162, 3 acme 140, 4 dune 120",
            "Some(\"W2\") v2: 1 acme 260, 2 cobalt 220, 3 bolt 162, 4 dune 120",
            "Some(\"W3\") v1: 1 acme 380, 2 cobalt 340, 3 bolt 222, 4 dune 120",
            "None v1: 1 acme 380, 2 bolt 222, 3 cobalt 165, 4 dune 120",
        ]
    );
}

#[test]
fn the_reversal_reaches_the_window_after_it() {
    let stage = four_companies();
    let rows = &stage.round.snapshots().last().expect("recorded").rows;
    let cobalt = &rows[2];
    assert_eq!(cobalt["windows"]["W2"]["penalties"], serde_json::json!(["claim_mismatch", "reversal"]));
    assert_eq!(cobalt["windows"]["W2"]["window_score"], -35);
    assert_eq!(cobalt["windows"]["W3"]["caps"], serde_json::json!(["continuity_prev_window"]));
    assert_eq!(cobalt["windows"]["W3"]["window_score"], 100);
    assert_eq!(stage.round.disputes()["dispute:1"].status, DisputeStatus::Upheld);
    assert_eq!(stage.round.disputes()["dispute:1"].amendments.len(), 1);
}

#[test]
fn awards_are_paid_and_no_money_is_made_or_lost() {
    let stage = four_companies();
    let round = &stage.round;
    assert_eq!(round.ledger().sum(&round.terms().asset), 0);
    let paid = |kind, company: &str| -> u64 {
        let of = |award: &&Award| award.kind == kind && award.company == company;
        round.awards().values().filter(of).map(|award| award.amount.units()).sum()
    };
    let all = |company| {
        [AwardKind::Placement, AwardKind::ExternalWindow, AwardKind::Hygiene].map(|kind| paid(kind, company))
    };
    assert_eq!(all("acme"), [60_000_000, 15_000_000, 2_000_000]);
    assert_eq!(all("bolt"), [30_000_000, 5_000_000, 2_000_000]);
    assert_eq!(all("cobalt"), [10_000_000, 10_000_000, 0]);
    assert_eq!(all("dune"), [0, 5_000_000, 0]);
    // The stake of the reversed window is burned; every other one came back with the hold.
    let stake = round.terms().stake_min.units();
    assert_eq!(round.burned_stakes().units(), stake);
    for company in example::COMPANIES {
        let lost = if company == "cobalt" { stake } else { 0 };
        let expected = 200_000_000 + all(company).iter().sum::<u64>() - lost;
        let purse = round.purse(company).expect("there");
        assert_eq!(purse.available.units(), expected, "{company}");
        assert!(purse.hold.is_zero());
    }
}

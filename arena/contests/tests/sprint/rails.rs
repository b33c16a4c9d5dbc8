//! What the platform and the accounts refuse.

use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::example::{Stage, at, evaluator, of, operator, terms};
use arena_contests::sprint::record::ArtifactClass;
use arena_contests::sprint::round::{Actor, Command, Stamped, Terms};
use arena_ledger::Amount;

const W1: Window = Window::W1;

fn code(stage: &Stage, time: Moment, by: Actor, command: Command) -> Option<&'static str> {
    stage.round.decide(&Stamped { at: time, by, command }).err().map(|why| why.code())
}

/// Day 0 is over, and acme has submitted in W1.
fn submitted(terms: Terms) -> Stage {
    let mut stage = Stage::new(terms);
    stage.enter_all();
    assert!(stage.intend("acme", W1, ArtifactClass::External));
    let package = stage.publish("acme", W1, "Published a planner that three schools installed.", true);
    assert!(stage.submit("acme", package, 5));
    stage
}

#[test]
fn standings_are_kept_from_the_moment_the_day_is_over() {
    let stage = submitted(terms());
    let snapshot = Command::TakeSnapshot { after: W1 };
    let last = at(2, 0, 0).plus_ms(-1);
    assert_eq!(code(&stage, last, Actor::System, snapshot.clone()), Some("window_not_over"));
    assert_eq!(code(&stage, at(2, 0, 0), Actor::System, snapshot.clone()), None);
    for by in [of("acme"), evaluator(), operator()] {
        assert_eq!(code(&stage, at(2, 0, 0), by, snapshot.clone()), Some("wrong_actor"));
    }
}

#[test]
fn a_dispute_costs_what_the_hold_has() {
    let ground = "The numbers of the claim cannot be found in the artifact.".to_owned();
    let dispute = Command::FileDispute { company: "acme".to_owned(), window: W1, ground };
    let hold = terms().hold_cap.units();
    for (stake, expected) in [(hold, None), (hold + 1, Some("money"))] {
        let dispute_stake = Amount::new(stake).expect("an amount");
        let stage = submitted(Terms { dispute_stake, ..terms() });
        assert_eq!(code(&stage, at(1, 22, 10), of("bolt"), dispute.clone()), expected, "{stake}");
    }
}

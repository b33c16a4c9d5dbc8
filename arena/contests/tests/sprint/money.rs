//! Whatever happens in a round, no money is made or lost, and its events give the same round again.

use arena_contests::sprint::Window;
use arena_contests::sprint::example::{COMPANIES, Stage, at, evaluator, of, operator, parts, terms, verdict};
use arena_contests::sprint::record::{ArtifactClass, Penalty, State};
use arena_contests::sprint::round::{
    Actor, AwardKind, AwardStatus, Command, Prizes, Round, Ruling, StakePolicy, Terms,
};
use arena_ledger::{Account, Amount};
use proptest::prelude::*;

fn units(units: u64) -> Amount {
    Amount::new(units).expect("a small amount")
}

/// The sum over the ledger, without the world outside; and what came in from there.
fn totals(round: &Round) -> (i64, i64) {
    let outside = round.ledger().signed_balance(&Account::external(&round.terms().asset));
    let all: i64 = round.ledger().accounts().map(|(_, balance)| balance).sum();
    (all - outside, -outside)
}

/// What one company does in one window, as digits of dice.
#[derive(Debug, Clone, Copy)]
struct Luck {
    plans: bool,
    submits: u8,
    judged: u8,
    disputed: u8,
}

fn luck() -> impl Strategy<Value = Luck> {
    (prop::bool::weighted(0.9), 0..4_u8, 0..5_u8, 0..6_u8)
        .prop_map(|(plans, submits, judged, disputed)| Luck { plans, submits, judged, disputed })
}

fn play(terms: Terms, luck: &[[Luck; 4]; 3]) -> Stage {
    let mut stage = Stage::new(terms);
    stage.enter_all();
    for (window, luck) in Window::ALL.iter().zip(luck) {
        let window = *window;
        let day = window.index() as i64 + 1;
        for (company, _) in COMPANIES.iter().zip(luck).filter(|(_, luck)| luck.plans) {
            stage.intend(company, window, ArtifactClass::External);
        }
        let packages = COMPANIES.map(|company| {
            let claim = format!("{company} built the thing of {window} which {company}-{window} uses");
            stage.publish(company, window, &claim, true)
        });
        for ((company, package), luck) in COMPANIES.iter().zip(packages).zip(luck) {
            match luck.submits {
                0 => {}
                1 => _ = stage.step(at(day, 22, 1), of(company), Command::Submit(package), "late"),
                _ => _ = stage.submit(company, package, 5),
            }
        }
        for (company, luck) in COMPANIES.iter().zip(luck) {
            let judged = match luck.judged {
                0 => verdict(State::Rejected, parts(0, 0, 0, 0), &[Penalty::DisclosureViolation], "leaks"),
                1 => {
                    verdict(State::AcceptedWithPenalty, parts(20, 20, 10, 10), &[Penalty::Duplicate], "again")
                }
                2 => verdict(State::Rejected, parts(0, 20, 0, 20), &[], "nothing there"),
                _ => verdict(State::Accepted, parts(60, 20, 20, 20), &[], "there"),
            };
            stage.judge(company, window, judged);
        }
        for (n, (company, luck)) in COMPANIES.iter().zip(luck).enumerate() {
            dispute(&mut stage, (company, window), COMPANIES[(n + 1) % 4], luck.disputed);
        }
        stage.snapshot(window);
    }
    stage
}

fn dispute(stage: &mut Stage, of_whom: (&str, Window), filer: &str, luck: u8) {
    let (company, window) = of_whom;
    let day = window.index() as i64 + 1;
    let ground = "The numbers of the claim cannot be found in the artifact.".to_owned();
    let file = Command::FileDispute { company: company.to_owned(), window, ground: ground.into() };
    if luck < 2 || !stage.step(at(day, 23, 0), of(filer), file, "disputes") {
        return;
    }
    let ruling = match luck {
        2 => Ruling::Dismissed,
        3 => Ruling::Baseless,
        4 => Ruling::Upheld(verdict(State::Rejected, parts(0, 0, 0, 0), &[Penalty::ClaimMismatch], "wrong")),
        _ => return,
    };
    let dispute = format!("dispute:{}", stage.round.disputes().len());
    let rule = Command::RuleDispute { dispute, ruling, rationale: "looked again".to_owned() };
    stage.step(at(day, 23, 0), evaluator(), rule, "rules");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn money_is_conserved_and_events_replay(
        luck in prop::array::uniform3(prop::array::uniform4(luck())),
        is_locked in any::<bool>(),
        is_cancelled in prop::bool::weighted(0.2),
    ) {
        let policy = if is_locked { StakePolicy::Lock } else { StakePolicy::Burn };
        let terms = Terms { stake_policy: policy, ..terms() };
        let cost = terms.cost_max().expect("small").signed();
        let mut stage = play(terms.clone(), &luck);
        let before_end = totals(&stage.round);
        prop_assert_eq!(before_end, (cost, cost));
        if is_cancelled {
            let cancel = Command::Cancel { reason: "a fire in the house".to_owned() };
            prop_assert!(stage.step(at(4, 1, 0), operator(), cancel, "cancels"));
        } else {
            prop_assert!(stage.step(at(4, 12, 0), Actor::System, Command::Settle, "settles"));
        }
        prop_assert_eq!(totals(&stage.round), (cost, cost));
        for company in COMPANIES {
            let purse = stage.round.purse(company).expect("there");
            prop_assert!(purse.hold.is_zero() && purse.stakes.iter().all(|stake| stake.is_zero()), "{purse:?}");
        }
        // Nothing is below zero but the world outside.
        let is_below = |(account, balance): &(&Account, i64)| *balance < 0 && !account.may_be_negative();
        prop_assert_eq!(stage.round.ledger().accounts().find(is_below), None);
        // What waits for a decision is still there to be paid.
        let waiting: Vec<String> = stage.round.awards().iter()
            .filter(|(_, award)| award.status == AwardStatus::Held)
            .map(|(name, _)| name.clone())
            .collect();
        for (n, award) in waiting.into_iter().enumerate() {
            let decide = Command::DecideAward { award, pay: n % 2 == 0, reason: "decided".to_owned() };
            prop_assert!(stage.step(at(5, 0, 0), operator(), decide, "decides"));
        }
        if !is_cancelled {
            stage.step(at(40, 0, 0), Actor::System, Command::ReleaseLocked, "releases");
        }
        prop_assert_eq!(totals(&stage.round), (cost, cost));
        let events = stage.steps.iter().filter_map(|step| step.outcome.as_ref().ok()).flatten();
        let again = events.fold(Round::draft(terms), |round, happened| round.evolve(happened));
        prop_assert_eq!(&again, &stage.round);
    }
}

fn prizes(placements: &[u64]) -> Terms {
    let placements = placements.iter().map(|amount| units(*amount)).collect();
    Terms { prizes: Prizes { placements, external_window: Amount::ZERO, hygiene: Amount::ZERO }, ..terms() }
}

fn placements(stage: &Stage) -> Vec<(String, u64)> {
    let awards = stage.round.awards().values().filter(|award| award.kind == AwardKind::Placement);
    awards.map(|award| (award.company.clone(), award.amount.units())).collect()
}

#[test]
fn equals_share_the_places_they_span_and_the_rest_stays() {
    let all = Luck { plans: true, submits: 2, judged: 3, disputed: 0 };
    let mut stage = play(prizes(&[60, 30, 11, 0]), &[[all; 4]; 3]);
    stage.step(at(4, 12, 0), Actor::System, Command::Settle, "settles");
    let expected = COMPANIES.map(|company| (company.to_owned(), 25));
    assert_eq!(placements(&stage), expected, "101 in four parts");
    let treasury = Account::treasury(&stage.round.terms().asset);
    let budgets = 4 * 200_000_000;
    assert_eq!(stage.round.ledger().balance(&treasury).units(), budgets + 1, "of four who never came, and 1");
}

#[test]
fn nobody_gets_the_first_prize_where_the_first_place_is_vacant() {
    let none = Luck { plans: true, submits: 2, judged: 2, disputed: 0 };
    let mut stage = play(prizes(&[60, 30]), &[[none; 4]; 3]);
    stage.step(at(4, 12, 0), Actor::System, Command::Settle, "settles");
    // Four share the places 2 to 5, of which only the second is paid.
    assert_eq!(placements(&stage), COMPANIES.map(|company| (company.to_owned(), 7)));
}

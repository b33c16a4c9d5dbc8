use std::collections::BTreeMap;

use arena_ledger::{Account, Amount, Asset, Ledger, apply, deposit, transfer};

use super::{Axis, Config, Population, Report, cleared, simulate, simulate_with, sweep};
use crate::params::{PPM, Params};

fn run(config: &Config) -> Report {
    simulate(config).expect("the rules refuse nothing that the agents are asked to do")
}

/// Profit per run, in hundredths.
fn per_run(report: &Report, population: Population) -> i128 {
    let tally = &report.tallies[&population];
    tally.runs.estimate(tally.claims.times).expect("it ran").mean
}

fn field<const N: usize>(agents: [(Population, u64); N]) -> BTreeMap<Population, u64> {
    agents.into()
}

#[test]
fn a_seed_repeats_to_the_last_event() {
    let config = Config::mixed(7, 40);
    let (one, two) = (run(&config), run(&config));
    assert_eq!(one, two);
    assert_ne!(one.history, run(&Config::mixed(8, 40)).history);
}

/// Faster ways of doing the same are the same.
#[test]
fn a_seed_gives_what_it_always_gave() {
    let history = "c623c051d5badaf9a73e2d26630f24f0896c3ac68be47e3e26930b93bb851b4d";
    assert_eq!(run(&Config::mixed(7, 40)).history.to_string(), history);
}

/// What a rehearsal leaves out is in no event.
#[test]
fn signatures_change_no_event() {
    let config = Config::mixed(2, 25);
    assert_eq!(run(&config), run(&Config { signed: true, ..config }));
}

/// The point of it all: whoever is drawn does best by doing what it was drawn for.
#[test]
fn the_honest_are_best_off_per_drawn_seat() {
    for seed in 1..=3 {
        let report = run(&Config::mixed(seed, 200));
        let standing = report.standing().expect("all were drawn");
        assert!(standing.honest.low() > 0, "seed {seed}: {standing:?}");
        assert!(standing.lead() > 0 && standing.is_clear(), "seed {seed}: {standing:?}");
        let tally = |population| &report.tallies[&population];
        // Nobody honest was overturned for good, since an honest party can ask for the reference.
        assert_eq!(tally(Population::Honest).overturned, 0, "seed {seed}");
        for faker in [Population::Lazy, Population::Echoing, Population::Colluding, Population::Bribing] {
            assert!(tally(faker).runs.times > 0, "seed {seed}: {} never ran", faker.name());
            assert!(per_run(&report, faker) < 0, "seed {seed}: {}", faker.name());
            assert!(tally(faker).claims.profit < 0, "seed {seed}: {}", faker.name());
        }
        assert!(tally(Population::Griefing).claims.profit < 0, "seed {seed}");
    }
}

/// A copy is refused in every part, so that whoever only copies never voted and was never paid for an audit.
#[test]
fn copies_are_refused_in_every_part() {
    let populations = field([(Population::Honest, 16), (Population::Copying, 8), (Population::Griefing, 4)]);
    let report = run(&Config { populations, ..Config::mixed(4, 60) });
    let copying = &report.tallies[&Population::Copying];
    assert!(copying.copies_refused > copying.audits.times, "{copying:?}");
    assert!(copying.audits.times > 0 && copying.audits.profit == 0, "{copying:?}");
    assert!(copying.reviews.times > 0);
    assert_eq!(copying.reviews.profit, -300 * i128::from(copying.reviews.times));
    assert_eq!(copying.challenges, 0);
}

/// Without the rows that only running shows, an echo of a true claim is not told from a run.
#[test]
fn an_echo_is_told_from_a_run_by_its_traces_alone() {
    let populations = field([(Population::Honest, 24), (Population::Echoing, 12)]);
    let config = Config { populations, wrong_ppm: 0, ..Config::mixed(3, 80) };
    let with = run(&config);
    let without = run(&Config { traces: false, ..config });
    assert!(per_run(&with, Population::Echoing) < 0);
    assert_eq!(without.tallies[&Population::Echoing].overturned, 0);
    assert_eq!(per_run(&without, Population::Echoing), 100_000);
    assert!(without.standing().expect("both were drawn").lead() < 0, "this is what the traces are for");
}

/// Reviewers that see worse than the conditions ask for lose: here the scheme breaks, and it says so.
#[test]
fn careless_reviewers_lose() {
    let populations = field([(Population::Honest, 24), (Population::Lazy, 12)]);
    let config = Config { populations, ..Config::mixed(5, 120) };
    let review = |reviewer_ppm: u64| {
        let report = run(&Config { reviewer_ppm, ..config.clone() });
        report.tallies[&Population::Honest].per_review().expect("they reviewed")
    };
    assert!(review(PPM).low() > 0);
    assert!(review(PPM * 7 / 10).high() < 0);
}

/// Whoever waits until nobody looks any more is held back by the audit floor alone.
#[test]
fn the_audit_floor_is_for_the_patient() {
    let populations = field([(Population::Honest, 12), (Population::Patient, 24)]);
    let lead = |floor: u64, slash_bps: u64| {
        let mut config =
            Config { populations: populations.clone(), established: true, ..Config::mixed(6, 120) };
        Axis::Audit.set(&mut config, floor);
        Axis::Slash.set(&mut config, slash_bps);
        let standing = run(&config).standing().expect("both were drawn");
        assert_eq!(standing.other, Population::Patient);
        (standing.lead(), standing.is_clear())
    };
    // Nobody is audited: what running costs is all that honesty brings.
    assert_eq!(lead(0, 10_000), (-40_000, true));
    assert!(matches!(lead(PPM / 2, 10_000), (1.., true)));
    assert!(matches!(lead(PPM / 4, 0), (..0, _)));
    // Before it has a record it is as honest as anybody.
    let young = Config { populations, ..Config::mixed(6, 60) };
    assert_eq!(run(&young).tallies[&Population::Patient].overturned, 0);
}

/// The closed forms, as they are published.
#[test]
fn the_conditions_say_where_it_stops() {
    let published = Params::published();
    let said = |axis: Axis| {
        let predicted = axis.predicted(&published);
        (predicted.id, predicted.least, predicted.with_sure_checks)
    };
    assert_eq!(said(Axis::Audit), ("I1", Some(88_889), Some(80_001)));
    assert_eq!(said(Axis::Slash), ("I1", Some(4_908), Some(4_168)));
    assert_eq!(said(Axis::Accuracy), ("I9", Some(916_667), None));
    let mut hopeless = Params::published();
    hopeless.assumptions.cost = hopeless.fee.checked_mul(10).expect("small");
    assert_eq!(Axis::Audit.predicted(&hopeless).least, None);
}

#[test]
fn a_sweep_goes_through_its_grid() {
    let agents = field([(Population::Honest, 6), (Population::Patient, 6)]);
    let mut heard = Vec::new();
    let base = Config::mixed(9, 8);
    let swept =
        sweep(&base, Axis::Slash, Some(&agents), &mut |claims| heard.push(claims)).expect("no refusal");
    assert_eq!(heard, (1..=88).collect::<Vec<u64>>());
    let values: Vec<u64> = swept.points.iter().map(|point| point.value).collect();
    assert_eq!(values, Axis::Slash.grid());
    // The last point is the set as it is.
    let here = Config { populations: agents.clone(), established: true, ..base };
    assert_eq!(swept.points.last().expect("points").standing, run(&here).standing());
    let document = swept.to_json();
    assert_eq!(document["points"].as_array().map(Vec::len), Some(11));
    assert_eq!(document["agents"]["patient"], 6);
    assert_eq!(document["predicted"]["least"], 4_908);
    for axis in Axis::ALL {
        assert!(axis.grid().is_sorted() && axis.grid().last() <= Some(&axis.whole()), "{axis:?}");
        assert!(axis.field().contains_key(&Population::Honest), "{axis:?}");
        let mut config = Config::mixed(1, 1);
        axis.set(&mut config, axis.grid()[1]);
        assert_eq!(axis.value(&config), axis.grid()[1], "{axis:?}");
    }
}

/// Under a set that could not pay what must be paid, every claim still ends.
#[test]
fn unsound_sets_are_simulated_to_the_end() {
    let mut config = Config::mixed(3, 40);
    Axis::Slash.set(&mut config, 0);
    assert!(!config.params.violations().is_empty());
    let report = run(&config);
    assert_eq!(report.endings.values().sum::<u64>(), 40);
}

/// Larger stakes than the ordinary ones are there to be locked.
#[test]
fn a_set_on_another_scale_is_simulated_alike() {
    let mut config = Config::mixed(1, 30);
    let whole = config.params.to_json();
    let times = 1_000_000;
    let scaled = |value: &serde_json::Value| value.as_str().and_then(|text| text.parse::<u64>().ok());
    let mut change = serde_json::Map::new();
    for (name, value) in whole.as_object().expect("an object") {
        if let Some(units) = scaled(value) {
            change.insert(name.clone(), (units * times).to_string().into());
        }
    }
    change.insert("assumptions".into(), serde_json::json!({ "C": "400000000", "C_r": "150000000" }));
    change.insert("fast_referee".into(), false.into());
    let ordinary = run(&config).standing().expect("all were drawn");
    config.params = Params::overridden(&change.into()).expect("a set");
    let large = run(&config).standing().expect("all were drawn");
    assert!(large.honest.mean > ordinary.honest.mean * 100_000, "{large:?} {ordinary:?}");
    assert!(large.lead() > 0);
}

/// Nothing but empty accounts is forgotten.
#[test]
fn clearing_keeps_every_balance() {
    let asset = Asset::new("units").expect("a name");
    let avail = |agent: &str| Account::avail(&asset, agent).expect("a name");
    let amount = |units| Amount::new(units).expect("an amount");
    let mut ledger = Ledger::new();
    for transaction in [
        deposit(&avail("amy"), amount(70)),
        deposit(&avail("ben"), amount(5)),
        transfer(&avail("amy"), &Account::treasury(&asset), amount(30)),
        transfer(&avail("ben"), &avail("amy"), amount(5)),
    ] {
        apply(&mut ledger, &transaction).expect("covered");
    }
    let kept = cleared(&ledger);
    for (account, balance) in ledger.accounts() {
        assert_eq!(kept.signed_balance(account), balance, "{account}");
    }
    assert_eq!((kept.accounts().count(), kept.sum(&asset)), (3, 0));
}

#[test]
#[ignore = "three thousand claims take a minute in a debug build"]
fn thousands_of_claims() {
    let mut over = 0;
    let report = simulate_with(&Config::mixed(11, 3_000), &mut |claims| over = claims).expect("no refusal");
    assert_eq!(over, 3_000);
    assert!(report.standing().expect("all were drawn").is_clear());
}

use super::{Config, Population, Report, simulate};
use crate::params::PPM;

fn run(config: &Config) -> Report {
    simulate(config).expect("the rules refuse nothing that the agents are asked to do")
}

fn per_run(report: &Report, population: Population) -> i64 {
    let tally = &report.tallies[&population];
    tally.run_profit / i64::try_from(tally.runs.max(1)).expect("few")
}

#[test]
fn a_seed_repeats_to_the_last_event() {
    let config = Config::mixed(7, 40);
    let (one, two) = (run(&config), run(&config));
    assert_eq!(one, two);
    assert_ne!(one.history, run(&Config::mixed(8, 40)).history);
}

/// The point of it all: per drawn run, honesty earns, and nothing else does.
#[test]
fn honest_running_beats_every_way_of_faking() {
    let report = run(&Config::mixed(1, 150));
    println!("{}", serde_json::to_string_pretty(&report.to_json()).expect("JSON"));
    let honest = per_run(&report, Population::Honest);
    assert!(honest > 0, "{honest}");
    for faker in [Population::Lazy, Population::Echoing, Population::Colluding, Population::Bribing] {
        let tally = &report.tallies[&faker];
        assert!(tally.runs > 0, "{} never ran", faker.name());
        assert!(per_run(&report, faker) < 0, "{}: {}", faker.name(), per_run(&report, faker));
        assert!(tally.profit < 0, "{}: {}", faker.name(), tally.profit);
    }
    assert!(report.tallies[&Population::Griefing].profit < 0);
    assert!(report.tallies[&Population::Copying].copies_refused > 0);
    // Nobody honest was overturned for good, since an honest party can ask for the reference.
    assert_eq!(report.tallies[&Population::Honest].overturned, 0);
}

/// Without the rows that only running shows, an echo of a true claim is not told from a run.
#[test]
fn an_echo_is_told_from_a_run_by_its_traces_alone() {
    let field = [(Population::Honest, 24), (Population::Echoing, 12)];
    let config = Config { populations: field.into(), wrong_ppm: 0, ..Config::mixed(3, 80) };
    let with = run(&config);
    let without = run(&Config { traces: false, ..config });
    assert!(per_run(&with, Population::Echoing) < 0, "{}", per_run(&with, Population::Echoing));
    assert_eq!(without.tallies[&Population::Echoing].overturned, 0);
    assert_eq!(per_run(&without, Population::Echoing), 1_000);
}

/// Reviewers that see worse than the conditions ask for lose: here the scheme breaks, and it says so.
#[test]
fn careless_reviewers_lose() {
    let field = [(Population::Honest, 24), (Population::Lazy, 12)];
    let config = Config { populations: field.into(), ..Config::mixed(5, 120) };
    let review = |reviewer_ppm: u64| {
        let report = run(&Config { reviewer_ppm, ..config.clone() });
        let tally = &report.tallies[&Population::Honest];
        tally.review_profit / i64::try_from(tally.reviews.max(1)).expect("few")
    };
    assert!(review(PPM) > 0);
    assert!(review(PPM * 7 / 10) < 0);
}

#[test]
#[ignore = "three thousand claims take a minute in a debug build"]
fn thousands_of_claims() {
    let report = run(&Config::mixed(11, 3_000));
    println!("{}", serde_json::to_string_pretty(&report.to_json()).expect("JSON"));
    assert!(per_run(&report, Population::Honest) > 0);
}

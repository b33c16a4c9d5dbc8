use std::collections::BTreeMap;

use arena_claims::simulate::{Config, Population, Report, Tally, simulate};
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// Simulate honest and dishonest agents over many claims
///
/// Everybody is drawn, slashed and paid by the real rules and the real ledger; only behaviour is made up. The same
/// seed gives the same result. A unit of money is a thousandth of the fee.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// How many claims
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    claims: u64,

    /// What all luck follows from
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// How often a reviewer that looks sees right, in parts per million
    #[arg(long, value_name = "PPM", default_value_t = 950_000, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    reviewer_ppm: u64,

    /// Do not compare what only running shows (fuel, log)
    #[arg(long)]
    without_traces: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena claim simulate --claims 200
  arena claim simulate --claims 200 --seed 7 --without-traces --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let config = Config {
        reviewer_ppm: args.reviewer_ppm,
        traces: !args.without_traces,
        ..Config::mixed(args.seed, args.claims)
    };
    let report = simulate(&config).map_err(|refusal| Failure::internal("simulate", refusal))?;
    if args.output.json {
        let mut document = report.to_json();
        document["seed"] = json!(args.seed);
        document["claims"] = json!(args.claims);
        document["reviewer_breaks_below_ppm"] = json!(917_000);
        io.print_json(&document);
        return Ok(Exit::Success);
    }
    show(&report, &config.populations, io);
    Ok(Exit::Success)
}

fn show(report: &Report, populations: &BTreeMap<Population, u64>, io: &mut Io<'_>) {
    let columns = [
        Column::left("population").after(0),
        Column::right("agents"),
        Column::right("runs"),
        Column::right("overturned"),
        Column::right("per run"),
        Column::right("reviews"),
        Column::right("per review"),
        Column::right("challenges"),
        Column::right("profit"),
    ];
    let mut table = Table::new(columns);
    for (population, tally) in &report.tallies {
        let each = |profit: i64, times: u64| match i64::try_from(times) {
            Ok(times) if times > 0 => profit.div_euclid(times).to_string(),
            _ => "-".to_owned(),
        };
        let Tally { runs, reviews, challenges, overturned, profit, .. } = *tally;
        let tone = if profit > 0 { Tone::Good } else { Tone::Bad };
        table.push([
            Cell::toned(Tone::Strong, population.name()),
            count(populations.get(population).copied().unwrap_or_default()).into(),
            count(runs).into(),
            count(overturned).into(),
            each(tally.run_profit, runs).into(),
            count(reviews).into(),
            each(tally.review_profit, reviews).into(),
            count(challenges).into(),
            Cell::toned(tone, profit.to_string()),
        ]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    let endings: Vec<String> =
        report.endings.iter().map(|(ending, times)| format!("{ending} {times}")).collect();
    io.print(format_args!("endings: {}", endings.join(", ")));
    io.print(format_args!("false outcomes: {}; treasury {}", report.false_outcomes, report.treasury));
    io.talk(
        "reviewers lose where they see right less often than 0.917 of the time; try --reviewer-ppm 900000",
    );
    io.talk(format_args!("{} events, history sha256:{}", count(report.events), report.history.short()));
}

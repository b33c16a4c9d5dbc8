mod breaking;
mod field;
mod picture;

use std::path::PathBuf;

use arena_claims::params::Params;
use arena_claims::simulate::{Axis, Config, Estimate, Hundredths, Report, Sample, Standing, simulate_with};
use serde_json::{Value, json};

use super::{params, read, shown};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::{Ink, Tone};
use crate::io::Io;
use crate::view::lines::wrapped;
use crate::view::numbers::{count, grouped};
use crate::view::table::{Cell, Column, Table};
use field::Field;

/// Simulate honest and dishonest agents over many claims
///
/// Everybody is drawn, slashed and paid by the real rules and the real ledger; only behaviour is made up. The same
/// seed gives the same result. A unit of money is a thousandth of the fee. Profit is told for each seat that agents
/// were drawn into and for each claim, with a 95 % interval that takes claims for independent of each other.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Who takes part, such as honest=24,lazy=3; or how many in the ordinary proportions
    ///
    /// Populations: honest, lazy, echoing, copying, colluding, bribing, griefing, patient. The ordinary field is 24
    /// honest agents and 3 of every other but the patient.
    #[arg(long, value_name = "SPEC")]
    agents: Option<String>,

    /// How many claims; with --sweep, at each value [default: 500; with --sweep: 1000]
    #[arg(long, alias = "claims", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rounds: Option<u64>,

    /// What all luck follows from
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// How often a reviewer that looks sees right, in parts per million
    #[arg(long, value_name = "PPM", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    reviewer_ppm: Option<u64>,

    /// Do not compare what only running shows (fuel, log)
    #[arg(long)]
    without_traces: bool,

    /// Parameters to simulate under, or `-` for the standard input
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,

    /// The audit floor, in parts per million
    #[arg(long, value_name = "PPM", value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    audit_ppm: Option<u64>,

    /// The part of the stake that an overturned runner loses, in ten-thousandths
    #[arg(long, value_name = "BPS", value_parser = clap::value_parser!(u64).range(0..=10_000))]
    slash_bps: Option<u64>,

    /// Simulate parameters that miss their own conditions
    #[arg(long)]
    unsound: bool,

    /// Measure where honesty stops being best: along all axes, or one of audit, slash, accuracy
    #[arg(long, value_name = "AXIS", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_parser = ["all", "audit", "slash", "accuracy"])]
    sweep: Option<String>,

    /// Write the sweep as one SVG file
    #[arg(long, value_name = "FILE", requires = "sweep")]
    svg: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, requires = "svg")]
    force: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena claim simulate --agents honest=24,lazy=3,echoing=3 --rounds 2000
  arena claim simulate --agents 42 --rounds 200 --seed 7 --without-traces --json
  arena claim simulate --audit-ppm 50000 --unsound
  arena claim simulate --sweep --svg breaking.svg
  arena claim simulate --sweep=accuracy --rounds 3000";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let agents = args.agents.as_deref().map(field::parse).transpose()?;
    let config = configured(args, io)?;
    let missed: Vec<&str> = config.params.violations().iter().map(|missed| missed.id).collect();
    if !missed.is_empty() {
        io.warn(format_args!("these parameters miss {}: they are simulated as asked", missed.join(", ")));
    }
    if let Some(axes) = &args.sweep {
        let svg = args.svg.as_deref().map(|path| (path, args.force));
        return breaking::run(&config, axes, agents.as_ref(), svg, args.output.json, io);
    }
    let populations = agents.unwrap_or_else(Config::mixed_field);
    let config = Config { populations, ..config };
    let bar = io.progress("simulating", config.claims);
    let report = simulate_with(&config, &mut |claims| bar.set_position(claims));
    bar.finish_and_clear();
    let report = report.map_err(|refusal| Failure::internal("simulate", refusal))?;
    if args.output.json {
        let mut document = report.to_json();
        document["seed"] = json!(config.seed);
        document["rounds"] = json!(config.claims);
        document["agents"] = agents_json(&config.populations);
        document["reviewer_ppm"] = json!(config.reviewer_ppm);
        document["params_sha256"] = json!(config.params.digest());
        document["missed"] = json!(missed);
        document["stops"] = Axis::ALL.iter().map(|axis| stop_json(*axis, &config)).collect();
        io.print_json(&document);
        return Ok(Exit::Success);
    }
    show(&report, &config, io);
    Ok(Exit::Success)
}

/// What the arguments ask for, but for the agents.
fn configured(args: &Args, io: &mut Io<'_>) -> Result<Config, Failure> {
    let rounds = args.rounds.unwrap_or(if args.sweep.is_some() { 1_000 } else { 500 });
    let mut config = Config::mixed(args.seed, rounds);
    if let Some(path) = &args.params {
        let bytes = read("parameters", path, io)?;
        config.params = params::parse(&bytes, &shown(path))?;
        config.reviewer_ppm = config.params.assumptions.reviewer_ppm;
    }
    for (axis, value) in [(Axis::Audit, args.audit_ppm), (Axis::Slash, args.slash_bps)] {
        if let Some(value) = value {
            axis.set(&mut config, value);
        }
    }
    config.reviewer_ppm = args.reviewer_ppm.unwrap_or(config.reviewer_ppm);
    config.traces = !args.without_traces;
    sound(&config.params, args.unsound)?;
    Ok(config)
}

/// Refuses a set that misses its own conditions, unless that is asked for.
fn sound(params: &Params, unsound: bool) -> Result<(), Failure> {
    let missed = params.violations();
    if unsound || missed.is_empty() {
        return Ok(());
    }
    let why = format!("these parameters miss {} of their conditions", missed.len());
    let told =
        missed.iter().map(|missed| format!("{} by {}: {}", missed.id, missed.slack.abs(), missed.says));
    Err(Failure::new(Exit::Rejected, "simulate", why)
        .details(told)
        .hint("--unsound simulates them all the same"))
}

fn agents_json(field: &Field) -> Value {
    let agents = field.iter().map(|(population, agents)| (population.name().to_owned(), json!(agents)));
    Value::Object(agents.collect())
}

/// Where the conditions say that honesty stops being best along `axis`.
fn stop_json(axis: Axis, config: &Config) -> Value {
    let predicted = axis.predicted(&config.params);
    json!({
        "axis": axis.name(), "unit": axis.unit(), "here": axis.value(config), "condition": predicted.id,
        "least": predicted.least, "least_with_sure_checks": predicted.with_sure_checks,
    })
}

fn show(report: &Report, config: &Config, io: &mut Io<'_>) {
    for table in [by_population(report, config), by_seat(report)] {
        for line in table.lines(io.columns(), io.ink()) {
            io.print(line);
        }
        io.print("");
    }
    let endings: Vec<String> =
        report.endings.iter().map(|(ending, times)| format!("{ending} {}", count(*times))).collect();
    io.print(format_args!("endings: {}", endings.join(", ")));
    io.print(format_args!(
        "false outcomes: {} of {}; treasury {}",
        count(report.false_outcomes),
        count(config.claims),
        count(report.treasury.units())
    ));
    io.print(verdict(report.standing(), io.ink()));
    for line in wrapped(&stops(config), io.columns()) {
        io.print(line);
    }
    io.talk(format_args!("{} events, history sha256:{}", count(report.events), report.history.short()));
}

fn by_population(report: &Report, config: &Config) -> Table {
    let columns = [
        Column::left("population").after(0),
        Column::right("agents"),
        Column::right("drawn seats"),
        Column::right("profit per seat"),
        Column::right("per claim"),
        Column::right("challenges"),
        Column::right("overturned"),
    ];
    let mut table = Table::new(columns);
    for (population, tally) in &report.tallies {
        let seat = tally.per_seat();
        let tone = match seat.map(|seat| seat.mean > 0) {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Plain,
        };
        table.push([
            Cell::toned(Tone::Strong, population.name()),
            count(config.populations.get(population).copied().unwrap_or_default()).into(),
            count(tally.seats.times).into(),
            Cell::toned(tone, seat.map_or_else(|| "-".to_owned(), estimated)),
            each(&tally.claims, config.claims).into(),
            count(tally.challenges).into(),
            count(tally.overturned).into(),
        ]);
    }
    table
}

fn by_seat(report: &Report) -> Table {
    let columns = [
        Column::left("population").after(0),
        Column::right("runs"),
        Column::right("profit per run"),
        Column::right("audits"),
        Column::right("per audit"),
        Column::right("reviews"),
        Column::right("per review"),
    ];
    let mut table = Table::new(columns);
    for (population, tally) in &report.tallies {
        let claims = tally.claims.times;
        let mut cells = vec![Cell::toned(Tone::Strong, population.name())];
        for sample in [&tally.runs, &tally.audits, &tally.reviews] {
            cells.extend([count(sample.times).into(), each(sample, claims).into()]);
        }
        table.push(cells);
    }
    table
}

fn each(sample: &Sample, claims: u64) -> String {
    sample.estimate(claims).map_or_else(|| "-".to_owned(), estimated)
}

/// `-1 332 ± 217`, and with a decimal where the interval is narrow.
fn estimated(estimate: Estimate) -> String {
    let decimals = usize::from(estimate.half < 1_000);
    format!("{} ± {}", units(estimate.mean, decimals), units(estimate.half, decimals))
}

/// Hundredths as units.
#[expect(clippy::cast_precision_loss, reason = "only shown, and rounded to a decimal")]
fn units(hundredths: i128, decimals: usize) -> String {
    grouped(hundredths as f64 / 100.0, decimals)
}

/// Whether honesty is best, and by how much.
fn verdict(standing: Option<Standing>, ink: Ink) -> String {
    let Some(standing) = standing else {
        let why = "honest agents or all others were hardly drawn";
        return ink.paint(Tone::Warn, format!("nothing to compare: {why}"));
    };
    let Standing { honest, other, best } = standing;
    let (tone, word, beside) = match standing.lead() > 0 {
        true => (Tone::Good, "are best off", "ahead of"),
        false => (Tone::Bad, "are not best off", "behind"),
    };
    let apart = if standing.is_clear() { "the intervals are apart" } else { "the intervals overlap" };
    let lead = Hundredths(standing.lead().abs());
    format!(
        "{} per drawn seat: {}, {beside} {} agents ({}) by {lead}; {apart}",
        ink.paint(tone, format!("honest agents {word}")),
        estimated(honest),
        other.name(),
        estimated(best),
    )
}

/// Where that stops, by the conditions.
fn stops(config: &Config) -> String {
    let stop = |axis: Axis| {
        let predicted = axis.predicted(&config.params);
        let here = percent(axis.value(config), axis.whole());
        match predicted.least {
            Some(least) => format!(
                "{} below {} ({}; here {here})",
                axis.title(),
                percent(least, axis.whole()),
                predicted.id
            ),
            None => format!("{} at any value ({}; here {here})", axis.title(), predicted.id),
        }
    };
    let all: Vec<String> = Axis::ALL.into_iter().map(stop).collect();
    format!("by the conditions, honesty stops paying with {}; --sweep measures it", all.join(", "))
}

/// A part of `whole`, such as `8.89 %`.
fn percent(value: u64, whole: u64) -> String {
    let hundredths = (u128::from(value) * 10_000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_as_percentages() {
        for (value, whole, text) in [
            (88_889, 1_000_000, "8.89 %"),
            (150_000, 1_000_000, "15 %"),
            (4_908, 10_000, "49.08 %"),
            (0, 10_000, "0 %"),
            (1_000_000, 1_000_000, "100 %"),
        ] {
            assert_eq!(percent(value, whole), text);
        }
    }

    #[test]
    fn narrow_intervals_have_a_decimal() {
        assert_eq!(estimated(Estimate { mean: -133_249, half: 21_651 }), "-1 332 ± 217");
        assert_eq!(estimated(Estimate { mean: 60_004, half: 412 }), "600.0 ± 4.1");
    }
}

use std::path::PathBuf;

use arena_claims::Decimal;
use arena_claims::params::{ExploreError, Odds, Params, stake_min, stake_min_by_search};
use serde_json::{Value, json};

use super::grid;
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// Find the smallest stake that makes honest running beat faking
///
/// In closed form and by search, in integers. `p` is how often a run is checked, `q` how often a check is right.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What a runner earns; with --table, the published fee if not given
    #[arg(long, value_name = "UNITS", required_unless_present = "table")]
    fee: Option<u64>,

    /// What an honest run costs; with --table, what the published set assumes if not given
    #[arg(long, value_name = "UNITS", required_unless_present = "table")]
    cost: Option<u64>,

    /// How often a run is checked, such as 0.10
    #[arg(long, value_name = "PROBABILITY", required_unless_present = "table", value_parser = probability)]
    p: Option<u64>,

    /// How often a check is right, such as 0.95
    #[arg(long, value_name = "PROBABILITY", required_unless_present = "table", value_parser = probability)]
    q: Option<u64>,

    /// What a faked run costs
    #[arg(long, value_name = "UNITS", default_value_t = 0)]
    fake_cost: u64,

    /// The part of the stake that an overturned runner loses, in ten-thousandths
    #[arg(long, value_name = "BPS", default_value_t = 10_000)]
    slash_bps: u64,

    /// A grid over p and q instead of one pair
    #[arg(long)]
    table: bool,

    /// Write the grid as one SVG file
    #[arg(long, value_name = "FILE", requires = "table")]
    svg: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, requires = "svg")]
    force: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena claim explore --fee 1000 --cost 400 --p 0.10 --q 0.95
  arena claim explore --fee 1000 --cost 400 --p 0.10 --q 0.95 --slash-bps 5000 --json
  arena claim explore --table --svg stakes.svg";

/// Rows and columns of the grid, in parts per million.
const GRID_P: [u64; 8] = [50_000, 100_000, 150_000, 200_000, 250_000, 350_000, 500_000, 1_000_000];
const GRID_Q: [u64; 6] = [750_000, 850_000, 900_000, 950_000, 990_000, 1_000_000];

/// A probability as parts per million, exactly: at most six decimals.
fn probability(text: &str) -> Result<u64, String> {
    let wrong = || "a probability is from 0 to 1 with at most 6 decimals, such as 0.95".to_owned();
    let number = Decimal::parse(text).map_err(|_| wrong())?;
    let whole = number.times(&Decimal::integer(1_000_000)).shortened();
    let ppm = whole.to_string().parse::<u64>().map_err(|_| wrong())?;
    if ppm <= 1_000_000 { Ok(ppm) } else { Err(wrong()) }
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match (args.table, args.p, args.q) {
        (false, Some(p_ppm), Some(q_ppm)) => one(args, p_ppm, q_ppm, io),
        _ => whole_grid(args, io),
    }
}

/// What is given, or what the published set says.
fn fee_and_cost(args: &Args) -> (u64, u64) {
    let published = Params::published();
    let fee = args.fee.unwrap_or(published.fee.units());
    (fee, args.cost.unwrap_or(published.assumptions.cost.units()))
}

fn odds(args: &Args, p_ppm: u64, q_ppm: u64) -> Odds {
    let Args { fake_cost, slash_bps, .. } = *args;
    let (fee, cost) = fee_and_cost(args);
    Odds { fee, cost, fake_cost, p_ppm, q_ppm, slash_bps }
}

fn one(args: &Args, p_ppm: u64, q_ppm: u64, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let odds = odds(args, p_ppm, q_ppm);
    let refused = |why: ExploreError| {
        let exit = if matches!(why, ExploreError::OutOfRange { .. }) { Exit::Usage } else { Exit::Rejected };
        Failure::new(exit, "find a stake", why)
    };
    let stake = stake_min(&odds).map_err(refused)?;
    let by_search = stake_min_by_search(&odds).map_err(refused)?;
    let published = scaled_stake(odds.fee);
    if args.output.json {
        io.print_json(&json!({
            "stake_min": stake,
            "stake_min_by_search": by_search,
            "honest": odds.payoffs(stake).honest.to_string(),
            "fake": odds.payoffs(stake).fake.to_string(),
            "honest_profits": odds.honest_profits(stake),
            "default_stake": published,
            "default_honest": odds.payoffs(published).honest.to_string(),
            "default_fake": odds.payoffs(published).fake.to_string(),
            "default_suffices": odds.honest_beats_fake(published),
        }));
        return Ok(Exit::Success);
    }
    let ink = io.ink();
    let agree = match (stake == by_search, stake.checked_sub(1)) {
        (true, Some(less)) => format!("brute force agrees; {} does not", count(less)),
        (true, None) => "brute force agrees".to_owned(),
        (false, _) => format!("brute force finds {}", count(by_search)),
    };
    let best = ink.paint(Tone::Strong, count(stake));
    io.print(format_args!("smallest runner stake that makes honest running beat faking: {best}   ({agree})"));
    let profits = match odds.honest_profits(stake) {
        true => ink.paint(Tone::Good, "honest profits"),
        false => ink.paint(Tone::Bad, "honest loses"),
    };
    let (here, there) = (odds.payoffs(stake), odds.payoffs(published));
    io.print(format_args!(
        "honest earns {}, faking {} · {profits} · with the default stake {}: {} against {}",
        cents(&here.honest),
        cents(&here.fake),
        count(published),
        cents(&there.honest),
        cents(&there.fake)
    ));
    Ok(Exit::Success)
}

/// The published stake, for another fee.
fn scaled_stake(fee: u64) -> u64 {
    let published = Params::published();
    let scaled =
        u128::from(fee) * u128::from(published.runner_stake.units()) / u128::from(published.fee.units());
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// To two decimals, half away from zero; without them where they are zero.
fn cents(number: &Decimal) -> String {
    let sign = if number.is_negative() { -5 } else { 5 };
    let nudge = Decimal::ppm(sign * 1_000);
    let moved = number.plus(&nudge).to_string();
    let (whole, fraction) = moved.split_once('.').unwrap_or((&moved, ""));
    let fraction = format!("{fraction:0<2}")[..2].to_owned();
    if fraction == "00" { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

fn whole_grid(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let cell = |p: u64, q: u64| stake_min(&odds(args, p, q)).ok();
    let stakes: Vec<Vec<Option<u64>>> =
        GRID_P.iter().map(|p| GRID_Q.iter().map(|q| cell(*p, *q)).collect()).collect();
    if let Some(path) = &args.svg {
        let (fee, cost) = fee_and_cost(args);
        let title = format!("Smallest runner stake, fee {fee}, cost {cost}");
        let svg = grid::svg(&title, &GRID_P, &GRID_Q, &stakes);
        files::write(path, svg.as_bytes(), Existing::replace_if(args.force))?;
        io.talk(format_args!("wrote {}", files::shown(path)));
    }
    if args.output.json {
        let rows = GRID_P.iter().zip(&stakes).flat_map(|(p, row)| {
            GRID_Q
                .iter()
                .zip(row)
                .map(move |(q, stake)| json!({ "p_ppm": p, "q_ppm": q, "stake_min": stake }))
        });
        io.print_json(&rows.collect::<Vec<Value>>());
        return Ok(Exit::Success);
    }
    let heads = GRID_Q.iter().map(|q| Column::right(grid::share(*q)));
    let mut table = Table::new(std::iter::once(Column::left("p \\ q").after(0)).chain(heads));
    for (p, row) in GRID_P.iter().zip(&stakes) {
        let cells = row.iter().map(|stake| stake.map_or_else(|| "-".into(), |stake| count(stake).into()));
        table.push(std::iter::once(Cell::toned(Tone::Strong, grid::share(*p))).chain(cells));
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_exact_or_refused() {
        for (text, ppm) in [("0.10", 100_000), ("1", 1_000_000), ("0", 0), ("0.000001", 1), ("1e-2", 10_000)]
        {
            assert_eq!(probability(text), Ok(ppm), "{text}");
        }
        for wrong in ["1.1", "-0.1", "0.0000001", "ten", "", "1e-7"] {
            assert!(probability(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cents_are_rounded_half_up() {
        for (text, want) in [
            ("577.775", "577.78"),
            ("577.725", "577.73"),
            ("575", "575"),
            ("-0.005", "-0.01"),
            ("599.5", "599.50"),
        ] {
            assert_eq!(cents(&Decimal::parse(text).expect("a decimal")), want, "{text}");
        }
    }
}

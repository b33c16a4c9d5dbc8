use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::hindsight::{Frontier, FrontierPoint, HindsightError, frontier, optimum};
use arena_engine::campus::{EpisodeLog, Pack, RawAction};
use arena_engine::limits::V1;
use serde::Serialize;
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::packs::{self, Named};
use crate::view::chart::Chart;
use crate::view::numbers::grouped;
use crate::view::table::{Cell, Column, Table};
use crate::view::{blocks, outcome, svg, turns};

/// Show the least cost a pack allows, by relief, as proven with hindsight
///
/// A yardstick beside the score, never a part of it: whoever plays sees three turns ahead, this sees
/// them all. Working it out takes a second or a few.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A pack's file, or the name of a built-in pack
    pack: OsString,

    /// Only this relief share, 0 to 1, with the schedule that has the least cost
    #[arg(long, value_name = "SHARE")]
    relief: Option<f64>,

    /// Draw the chart into this file, too
    #[arg(long, value_name = "FILE", conflicts_with = "relief")]
    svg: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, requires = "svg")]
    force: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena pack optimum two-spikes
  arena pack optimum two-spikes --relief 0.8
  arena pack optimum my-pack.json --svg frontier.svg
  arena pack optimum my-pack.json --json";

/// A frontier as it is printed.
#[derive(Serialize)]
struct Record<'p> {
    pack_id: &'p str,
    pack_version: &'p str,
    pack_sha256: Digest,
    points: Vec<Point>,
}

/// One point of it, its schedule left out.
#[derive(Serialize)]
struct Point {
    relief_share: f64,
    cost_usd_per_mwh: f64,
    bound_usd_per_mwh: f64,
    delivered_share: f64,
}

impl<'p> Record<'p> {
    fn new(pack: &'p Pack, frontier: &Frontier) -> Self {
        let document = pack.document();
        Self {
            pack_id: &document.pack_id,
            pack_version: &document.pack_version,
            pack_sha256: pack.sha256(),
            points: frontier.points.iter().map(Point::from).collect(),
        }
    }
}

impl From<&FrontierPoint> for Point {
    fn from(point: &FrontierPoint) -> Self {
        Self {
            relief_share: point.relief_share,
            cost_usd_per_mwh: point.cost_usd_per_mwh,
            bound_usd_per_mwh: point.bound_usd_per_mwh,
            delivered_share: point.delivered_share,
        }
    }
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if let Some(path) = &args.svg {
        files::may_write(path, Existing::replace_if(args.force))?;
    }
    let named = packs::find(&args.pack)?;
    named.warn(io);
    match args.relief {
        Some(share) => one(args, &named, share, io),
        None => all(args, &named, io),
    }
}

fn one(args: &Args, named: &Named, share: f64, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let point = optimum(&named.pack, share).map_err(|why| unknown(named, &why))?;
    let actions: Vec<RawAction> = point.schedule.iter().map(|action| RawAction::of(action).0).collect();
    if args.output.json {
        let mut result = json!(Point::from(&point));
        result["pack_sha256"] = json!(named.pack.sha256());
        result["actions"] = json!(actions);
        io.print_json(&result);
        return Ok(Exit::Success);
    }
    let log = EpisodeLog::replay(&named.pack, &actions, &[]);
    for line in turns::table(&log, &named.pack, None).lines(io.row_columns(), io.ink()) {
        io.print(line);
    }
    io.print("");
    let mut facts = outcome::facts(&log, &named.pack, &V1, None);
    facts
        .add("proven", format!("{} $/MWh", grouped(point.bound_usd_per_mwh, 2)))
        .aside(format!("no schedule with a relief of {} or more costs less", grouped(point.relief_share, 2)));
    for line in facts.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    Ok(Exit::Success)
}

fn all(args: &Args, named: &Named, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let bar = io.progress("proving", 1);
    let worked_out = frontier(&named.pack, &mut |done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let frontier = worked_out.map_err(|why| unknown(named, &why))?;
    let chart = chart(&named.pack, &frontier);
    if let Some(path) = &args.svg {
        files::write(path, svg::draw(&chart).as_bytes(), Existing::replace_if(args.force))?;
        io.talk(format_args!("chart: {}", files::shown(path)));
    }
    if args.output.json {
        io.print_json(&Record::new(&named.pack, &frontier));
    } else {
        for line in table(&named.pack, &frontier).lines(io.columns(), io.ink()) {
            io.print(line);
        }
        io.print("");
        for line in blocks::draw(&chart, io.columns(), io.ink()) {
            io.print(line);
        }
    }
    Ok(Exit::Success)
}

fn unknown(named: &Named, why: &HindsightError) -> Failure {
    Failure::usage(format_args!("find the optimum of `{}`", named.shown), why)
}

fn table(pack: &Arc<Pack>, frontier: &Frontier) -> Table {
    let columns = [
        Column::right("relief").after(0),
        Column::right("least cost $/MWh"),
        Column::right("relief adds"),
        Column::right("delivers"),
        Column::right("of do nothing"),
    ];
    let mut table = Table::new(columns);
    let nothing = pack.do_nothing();
    let demand: f64 = pack.document().site.it_demand_mw.iter().map(|mw| mw * pack.hours_per_turn()).sum();
    let first = first_cost(frontier);
    for point in &frontier.points {
        let part = point.cost_usd_per_mwh / (nothing.cost_usd / demand);
        table.push([
            Cell::toned(Tone::Strong, grouped(point.relief_share, 2)),
            grouped(point.cost_usd_per_mwh, 2).into(),
            format!("+{}", grouped(point.cost_usd_per_mwh - first, 2)).into(),
            grouped(point.delivered_share, 3).into(),
            format!("{} %", grouped(part * 100.0, 1)).into(),
        ]);
    }
    table
}

fn first_cost(frontier: &Frontier) -> f64 {
    frontier.points.first().map_or(0.0, |point| point.cost_usd_per_mwh)
}

/// The cost itself would be a row of equal columns; what relief adds to it is the picture.
fn chart(pack: &Pack, frontier: &Frontier) -> Chart {
    let first = first_cost(frontier);
    let added = |point: &FrontierPoint| point.cost_usd_per_mwh - first;
    let label = format!("what relief adds to the least cost of {} $/MWh", grouped(first, 2));
    Chart::of_values(
        format!("{}: the price of relief", pack.document().pack_id),
        label,
        frontier.points.iter().map(added).collect(),
        frontier.points.iter().map(|point| grouped(point.relief_share, 2)).collect(),
    )
}

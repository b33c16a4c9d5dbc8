use arena_engine::limits::{Limits, V1};
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// Show what a strategy may use, and what happens when it wants more
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena limits
  arena limits --json";

/// A limit: its name, its value, and what happens when it is hit.
type Row = (&'static str, u64, &'static str, &'static str);

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if args.output.json {
        let mut limits: serde_json::Map<_, _> =
            rows(&V1).into_iter().map(|(name, value, ..)| (name.to_owned(), json!(value))).collect();
        limits.insert("limits_version".to_owned(), json!(V1.version));
        io.print_json(&limits);
        return Ok(Exit::Success);
    }
    let columns = [
        Column::left(format!("limits {}", V1.version)).after(0),
        Column::right(""),
        Column::left("").after(1),
        Column::left("when hit"),
    ];
    let mut table = Table::new(columns);
    for (name, value, unit, when_hit) in rows(&V1) {
        table.push([name.into(), Cell::toned(Tone::Strong, count(value)), unit.into(), when_hit.into()]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    Ok(Exit::Success)
}

/// Every field, named one by one: a new limit does not compile until it is told here.
fn rows(limits: &Limits) -> [Row; 11] {
    let Limits {
        version: _,
        component_bytes_max,
        memory_bytes_max,
        table_elements_max,
        brief_fuel_max,
        turn_fuel_max,
        episode_fuel_max,
        turn_log_bytes_max,
        episode_log_bytes_max,
        guest_text_bytes_max,
        call_cpu_seconds_max,
        host_call_fuel,
    } = *limits;
    [
        ("component_bytes_max", component_bytes_max, "bytes", "refused"),
        ("memory_bytes_max", memory_bytes_max, "bytes", "growth gives -1"),
        ("table_elements_max", table_elements_max.into(), "", "growth gives -1"),
        ("brief_fuel_max", brief_fuel_max, "fuel", "the episode is forfeited"),
        ("turn_fuel_max", turn_fuel_max, "fuel", "this turn and the rest forfeited"),
        ("episode_fuel_max", episode_fuel_max, "fuel", "this turn and the rest forfeited"),
        ("turn_log_bytes_max", turn_log_bytes_max.into(), "bytes", "the rest dropped and counted"),
        ("episode_log_bytes_max", episode_log_bytes_max.into(), "bytes", "the rest dropped and counted"),
        ("guest_text_bytes_max", guest_text_bytes_max.into(), "bytes", "forfeit: unreadable"),
        ("call_cpu_seconds_max", call_cpu_seconds_max.into(), "s", "forfeit: overtime, nobody's fault"),
        ("host_call_fuel", host_call_fuel, "fuel", "charged by each call of the host"),
    ]
}

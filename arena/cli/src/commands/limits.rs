use arena_claims::manifest;
use arena_engine::limits::{Limits, V1};
use arena_sandbox::experiment;
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// Show what strategies may use, and what happens when they want more
///
/// An experiment has what its manifest gives it; a manifest that asks for more than is shown here is not listed.
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

/// A limit: its name, its value, its unit, and what happens when it is hit.
type Row = (&'static str, u64, &'static str, &'static str);

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let digest = arena_sandbox::engine_digest();
    if args.output.json {
        let by_name = |rows: &[Row]| -> serde_json::Map<_, _> {
            rows.iter().map(|(name, value, ..)| ((*name).to_owned(), json!(value))).collect()
        };
        let mut limits = by_name(&rows(&V1));
        limits.insert("limits_version".to_owned(), json!(V1.version));
        limits.insert("experiment".to_owned(), by_name(&experiments()).into());
        let settings = arena_sandbox::engine_settings();
        limits.insert("engine".to_owned(), json!({ "config_sha256": digest, "settings": settings }));
        io.print_json(&limits);
        return Ok(Exit::Success);
    }
    show(format!("limits {}", V1.version), &rows(&V1), io);
    io.print("");
    show("experiments".to_owned(), &experiments(), io);
    io.print("");
    io.print(format_args!("engine         wasmtime {}", arena_sandbox::WASMTIME_VERSION));
    io.print(format_args!("configuration  {digest}"));
    Ok(Exit::Success)
}

fn show(title: String, rows: &[Row], io: &mut Io<'_>) {
    let columns = [
        Column::left(title).after(0),
        Column::right(""),
        Column::left("").after(1),
        Column::left("when hit"),
    ];
    let mut table = Table::new(columns);
    for (name, value, unit, when_hit) in rows {
        table.push([
            (*name).into(),
            Cell::toned(Tone::Strong, count(*value)),
            (*unit).into(),
            (*when_hit).into(),
        ]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
}

/// What a claim's run may have at most. Its manifest says how much of the first four there is.
fn experiments() -> [Row; 11] {
    [
        ("fuel_max", experiment::FUEL_MAX, "fuel", "the run ends: fuel_spent"),
        ("memory_bytes_max", experiment::MEMORY_BYTES_MAX, "bytes", "growth gives -1"),
        ("output_bytes_max", experiment::OUTPUT_BYTES_MAX, "bytes", "the run ends: over_limit"),
        ("wall_seconds_max", manifest::WALL_SECONDS_MAX, "s", "no result, nobody's fault: run again"),
        ("outputs_max", experiment::OUTPUTS_MAX as u64, "", "the run ends: over_limit"),
        ("metrics_max", experiment::METRICS_MAX as u64, "", "the run ends: over_limit"),
        ("inputs_max", experiment::INPUTS_MAX as u64, "", "not listed"),
        ("input_bytes_max", experiment::INPUT_BYTES_MAX, "bytes", "not listed"),
        ("arguments_max", manifest::ARGUMENTS_MAX as u64, "", "not listed"),
        ("argument_bytes_max", manifest::ARGUMENT_BYTES_MAX as u64, "bytes", "not listed"),
        ("log_bytes_max", V1.episode_log_bytes_max.into(), "bytes", "the rest dropped, counted and hashed"),
    ]
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

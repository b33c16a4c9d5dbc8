use arena_engine::Excerpt;
use arena_engine::campus::Pack;
use serde_json::{Value, json};

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::packs::BUILT_IN;
use crate::view::numbers::optional;
use crate::view::table::{Cell, Column, Table};

/// List the built-in packs
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena pack list
  arena pack list --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let packs = BUILT_IN.map(|built_in| built_in.pack());
    if args.output.json {
        io.print_json(&packs.map(|pack| summary(&pack)));
        return Ok(Exit::Success);
    }
    let columns = [
        Column::left("pack").after(0),
        Column::left("version"),
        Column::right("turns × min"),
        Column::right("do nothing"),
        Column::left("name"),
    ];
    let mut table = Table::new(columns);
    for pack in &packs {
        let document = pack.document();
        table.push([
            Cell::toned(Tone::Strong, &*document.pack_id),
            document.pack_version.as_str().into(),
            format!("{} × {:>2}", document.time.turns, document.time.step_minutes).into(),
            optional(pack.do_nothing().metrics[0].value, 2).into(),
            Excerpt::line(&document.name).to_string().into(),
        ]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    io.talk("next: arena pack show two-spikes");
    Ok(Exit::Success)
}

/// A pack in one JSON object.
pub(super) fn summary(pack: &Pack) -> Value {
    let document = pack.document();
    json!({
        "pack_id": document.pack_id,
        "pack_version": document.pack_version,
        "name": document.name,
        "sha256": pack.sha256(),
        "score_version": document.score_version,
        "start_local": document.time.start_local,
        "turns": document.time.turns,
        "step_minutes": document.time.step_minutes,
        "do_nothing": pack.do_nothing(),
    })
}

use std::ffi::OsString;
use std::path::PathBuf;

use arena_engine::Excerpt;
use arena_engine::campus::{Pack, brief};
use arena_engine::limits::V1;
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::packs;
use crate::view::chart::Chart;
use crate::view::{blocks, lines, strips, svg};

/// Show a pack: its brief as a strategy reads it, a chart, and every turn
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A pack's file, or the name of a built-in pack
    pack: OsString,

    /// Draw the chart into this file, too
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, requires = "svg")]
    force: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena pack show two-spikes
  arena pack show my-pack.json --svg my-pack.svg
  arena pack show dunkelflaute --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let named = packs::find(&args.pack)?;
    named.warn(io);
    let chart = Chart::of_pack(&named.pack);
    if let Some(path) = &args.svg {
        files::write(path, svg::draw(&chart).as_bytes(), Existing::replace_if(args.force))?;
        io.talk(format_args!("chart: {}", files::shown(path)));
    }
    if args.output.json {
        let mut shown = super::list::summary(&named.pack);
        shown["warnings"] = json!(named.pack.warnings());
        shown["brief"] = json!(brief(&named.pack, &V1));
        shown["pack"] = json!(named.pack.document());
        io.print_json(&shown);
    } else {
        show(&named.pack, &chart, io);
    }
    Ok(Exit::Success)
}

fn show(pack: &Pack, chart: &Chart, io: &mut Io<'_>) {
    let ink = io.ink();
    for line in brief(pack, &V1).lines() {
        let tone = if line.starts_with('#') { Tone::Strong } else { Tone::Plain };
        for line in lines::folded(&Excerpt { text: line, max: usize::MAX }.to_string(), io.columns()) {
            io.print(ink.paint(tone, line));
        }
    }
    io.print("");
    for line in blocks::draw(chart, io.columns(), ink) {
        io.print(line);
    }
    io.print("");
    for line in strips::table(pack).lines(io.columns(), ink) {
        io.print(line);
    }
    io.print(ink.paint(Tone::Quiet, format_args!("pack sha256:{}", pack.sha256())));
}

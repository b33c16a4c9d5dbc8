use std::path::PathBuf;

use arena_canon::json;
use arena_claims::params::{Params, ParamsError};
use arena_engine::Excerpt;
use serde_json::json;

use super::{faulty, read, shown};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::table::{Cell, Column, Table};

/// Show the published parameters, or check a set of your own
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Show(ShowArgs),
    Check(CheckArgs),
}

const AFTER_HELP: &str = "\
Examples:
  arena claim params show > params.json
  arena claim params check params.json";

/// Print the published parameters
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  arena claim params show > params.json\n  arena claim params show --json"
)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    output: Output,
}

/// Check whether parameters pay for honesty
///
/// Each condition is told with its slack: by how much it is met, or missed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  arena claim params check params.json\n  arena claim params check params.json --json"
)]
pub(crate) struct CheckArgs {
    /// The parameters, or `-` for the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Show(args) => {
            let document = Params::published().to_json();
            if args.output.json {
                io.print_json(&document);
            } else {
                io.print(serde_json::to_string_pretty(&document).unwrap_or_default());
            }
            Ok(Exit::Success)
        }
        Command::Check(args) => check(args, io),
    }
}

/// A set of parameters from a file.
pub(super) fn parse(bytes: &[u8], document: &str) -> Result<Params, Failure> {
    Params::parse(bytes).map_err(|error| match error {
        ParamsError::Faults(faults) => faulty(Exit::Usage, "read parameters", document, faults),
        ParamsError::Read(why) => {
            let why = why.to_string();
            Failure::usage(format_args!("read parameters `{document}`"), Excerpt { text: &why, max: 300 })
        }
    })
}

fn check(args: &CheckArgs, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let bytes = read("parameters", &args.file, io)?;
    let params = parse(&bytes, &shown(&args.file))?;
    let all = params.inequalities();
    let holds = all.iter().all(arena_claims::params::Inequality::holds);
    if args.output.json {
        let rows = all.iter().map(|i| {
            json!({ "id": i.id, "says": i.says, "slack": i.slack.to_string(), "strict": i.strict, "holds": i.holds() })
        });
        io.print_json(&json!({
            "sha256": params.digest(), "holds": holds, "inequalities": rows.collect::<Vec<_>>(),
        }));
    } else {
        let columns =
            [Column::left("").after(0), Column::left(""), Column::right("slack"), Column::left("condition")];
        let mut table = Table::new(columns);
        for inequality in &all {
            let (tone, word) = if inequality.holds() { (Tone::Good, "holds") } else { (Tone::Bad, "missed") };
            table.push([
                Cell::toned(Tone::Strong, inequality.id),
                Cell::toned(tone, word),
                inequality.slack.to_string().into(),
                inequality.says.into(),
            ]);
        }
        for line in table.lines(io.columns(), io.ink()) {
            io.print(line);
        }
        io.print(format_args!("sha256:{}", arena_canon::Digest::of(&json::canonical(&params.to_json()))));
    }
    Ok(if holds { Exit::Success } else { Exit::Rejected })
}

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::{Ink, Tone};
use crate::io::Io;
use crate::view::table::{Cell, Column, Table};

/// Say what the exit codes mean
#[derive(Debug, clap::Args)]
#[command(long_about = long_about(), after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena exit-codes
  arena exit-codes --json
  arena play two-spikes my.wasm; test $? -eq 3 && echo forfeited";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if args.output.json {
        let row = |exit: Exit| {
            serde_json::json!({
                "code": exit.code(), "name": exit.name(), "meaning": exit.meaning()
            })
        };
        io.print_json(&Exit::ALL.map(row));
    } else {
        for line in table().lines(io.columns(), io.ink()) {
            io.print(line);
        }
    }
    Ok(Exit::Success)
}

fn long_about() -> String {
    let lines = table().lines(100, Ink::NONE);
    format!("Say what the exit codes mean:\n\n{}", lines.join("\n"))
}

fn table() -> Table {
    let columns = [Column::right("code").after(0), Column::left("name"), Column::left("meaning")];
    let mut table = Table::new(columns);
    for exit in Exit::ALL {
        let code = Cell::toned(Tone::Strong, exit.code().to_string());
        table.push([code, exit.name().into(), exit.meaning().into()]);
    }
    table
}

//! Looking at scenario packs.

mod check;
mod list;
mod optimum;
mod show;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Look at scenario packs, check them, find their optimum
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Check(check::Args),
    Show(show::Args),
    Optimum(optimum::Args),
    List(list::Args),
}

const AFTER_HELP: &str = "\
Examples:
  arena pack list
  arena pack show two-spikes
  arena pack check my-pack.json";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => check::run(args, io),
        Command::Show(args) => show::run(args, io),
        Command::Optimum(args) => optimum::run(args, io),
        Command::List(args) => list::run(args, io),
    }
}

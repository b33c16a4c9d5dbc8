//! The producer sprint: its scoring, its clock, its stakes, and a whole round as a demonstration.

mod demo;
mod phase;
pub(crate) mod question;
mod score;
mod stake;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Score a producer sprint, ask its clock, settle its stakes
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Score(score::Args),
    Phase(phase::Args),
    Stake(stake::Args),
    Demo(demo::Args),
}

const AFTER_HELP: &str = "\
Examples:
  arena sprint demo
  arena sprint score board.json
  echo '{\"window\": {\"state\": \"missing\"}}' | arena sprint stake";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Score(args) => score::run(args, io),
        Command::Phase(args) => phase::run(args, io),
        Command::Stake(args) => stake::run(args, io),
        Command::Demo(args) => demo::run(args, io),
    }
}

use std::path::PathBuf;

use arena_tournament::Run;

use super::run::{ExecutorArgs, play};
use super::{failed, pins};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Take up a run where it was left
///
/// After a crash or a stall. What was recorded is kept and checked, what is missing is played, and the
/// result is byte for byte that of a run that was never interrupted. A run that has ended otherwise ends
/// the same way again.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The run's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    executor: ExecutorArgs,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament resume .outline/loops/axelrod/20261130T174500Z-7c1e0b44
  arena tournament resume run --workers 2";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let run = Run::resume(&args.folder, &pins()).map_err(|fault| failed("resume the run", fault))?;
    play(run, None, &args.executor, args.output, io)
}

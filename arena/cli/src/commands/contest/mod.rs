//! Contests: what their gate checks, one check at a time.

mod cite;
mod manifest;
mod overlap;
mod registry;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Check citations, claims and manifests of contests
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Cite(cite::Args),
    Overlap(overlap::Args),
    Manifest(manifest::Args),
    Registry(registry::Args),
}

const AFTER_HELP: &str = "\
Examples:
  arena contest cite citation.json
  arena contest overlap claims.json
  arena contest manifest contest.json
  arena contest registry";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Cite(args) => cite::run(args, io),
        Command::Overlap(args) => overlap::run(args, io),
        Command::Manifest(args) => manifest::run(args, io),
        Command::Registry(args) => registry::run(args, io),
    }
}

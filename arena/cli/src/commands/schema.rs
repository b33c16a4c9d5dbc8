use arena_engine::campus::{episode_schema, pack_schema};
use clap::ValueEnum;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Print a normative JSON Schema
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Of which document
    document: Document,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Document {
    /// A scenario pack
    Pack,
    /// The log of an episode
    Episode,
}

const AFTER_HELP: &str = "\
Examples:
  arena schema pack > scenario-pack.v0.schema.json
  arena schema episode > episode.v0.schema.json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let schema = match args.document {
        Document::Pack => pack_schema(),
        Document::Episode => episode_schema(),
    };
    io.print(format_args!("{schema:#}"));
    Ok(Exit::Success)
}

use std::path::PathBuf;

use arena_contests::contest::{MANIFEST_BYTES_MAX, Manifest};

use crate::commands::sprint::question;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Check the manifest of a contest, and print it
///
/// Tells every fault at its place. What has none is printed as it came, on one line.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The manifest; `-` is the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  arena contest manifest contest.json
  arena contest manifest contest.json > checked.json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let (bytes, shown) = question::bytes(&args.file, MANIFEST_BYTES_MAX, "manifest", io)?;
    let manifest = Manifest::read(&bytes).map_err(|faults| question::unusable(&shown, faults))?;
    io.print_json(manifest.document());
    Ok(Exit::Success)
}

use std::path::PathBuf;

use serde_json::json;

use super::inputs;
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// Draw a secret, and print the commitment to it
///
/// For a seating that nobody can have chosen: publish the commitment first, then freeze a plan whose
/// `[seating]` names a round of drand's quicknet that came later, with this secret.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The secret's file, yours alone until the run is over
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament secret secret
  arena tournament freeze my.toml --secret secret

In the plan, once the round is over:
  [seating]
  round = 27946612
  signature = \"…\"                       # 96 hexadecimal digits, as drand publishes them";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let secret = inputs::new_secret()?;
    files::write_private(&args.file, secret.as_bytes(), Existing::Keep)?;
    let commitment = secret.commitment();
    if args.output.json {
        io.print_json(&json!({ "file": files::shown(&args.file), "secret_commit": commitment }));
    } else {
        io.print(commitment);
    }
    Ok(Exit::Success)
}

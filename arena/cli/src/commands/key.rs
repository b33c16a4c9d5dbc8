//! Keys that agents seal and sign by, and chains of preimages that luck is made of.

use std::path::{Path, PathBuf};

use arena_claims::envelope::SecretKey;
use serde_json::json;

use crate::commands::{Output, chain, claim};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// Make keys for agents, and chains for beacons
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "Examples:\n  arena key new rex.key\n  arena key chain dan.chain")]
pub(crate) enum Command {
    New(Args),
    Chain(chain::Make),
    Reveal(chain::Reveal),
}

/// Make a new key
///
/// The file is for its owner's eyes alone; the public key is printed. Whoever has the file is the agent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  arena key new rex.key")]
pub(crate) struct Args {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::New(args) => new(args, io),
        Command::Chain(args) => chain::run_make(args, io),
        Command::Reveal(args) => chain::run_reveal(args, io),
    }
}

fn new(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let seed = claim::secret()?;
    files::write_private(&args.file, format!("{seed}\n").as_bytes(), Existing::Keep)?;
    let public = SecretKey::from_seed(seed.as_bytes()).public();
    if args.output.json {
        io.print_json(&json!({ "public_key": public }))
    } else {
        io.print(public)
    }
    Ok(Exit::Success)
}

/// The key in a file.
pub(crate) fn read(path: &Path) -> Result<SecretKey, Failure> {
    let bytes = files::read(path, 128)
        .map_err(|unread| unread.reading("key", path).hint("make one with `arena key new`"))?;
    let text = std::str::from_utf8(&bytes).ok().map(str::trim);
    let seed = text.and_then(|text| text.parse::<arena_canon::Digest>().ok());
    let wrong = || {
        Failure::usage(format_args!("read key `{}`", files::shown(path)), "a key is 64 hexadecimal digits")
    };
    seed.map(|seed| SecretKey::from_seed(seed.as_bytes())).ok_or_else(wrong)
}

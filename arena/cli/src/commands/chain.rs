//! Chains of preimages: what a party of a `hashchain` beacon keeps for itself, and reveals round by round.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json;
use arena_draw::beacon::{Preimages, ROUND_MAX};
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;
use crate::luck;

/// Make a chain of preimages for a `hashchain` beacon
///
/// The file is for its owner's eyes alone; the anchor is printed, and published before the first draw.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  arena key chain dan.chain\n  arena key chain dan.chain --rounds 500")]
pub(crate) struct Make {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// How many rounds it is good for
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = rounds())]
    rounds: u64,

    #[command(flatten)]
    output: Output,
}

/// Reveal what chains of preimages give in a round
///
/// It is printed as `--beacon` takes it, in the order of the files. A round reveals all before it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  arena key reveal dan.chain --round 7 > round.json")]
pub(crate) struct Reveal {
    /// The chains, in the order of their anchors
    #[arg(value_name = "FILE", required = true, num_args = 1..=7)]
    files: Vec<PathBuf>,

    /// The round
    #[arg(long, value_name = "N")]
    round: u64,

    #[command(flatten)]
    output: Output,
}

/// Rounds of a chain unless somebody says otherwise.
pub(crate) const ROUNDS: u64 = 10_000;

/// The numbers of rounds that a chain can have.
pub(crate) fn rounds() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=ROUND_MAX)
}

pub(crate) fn run_make(args: &Make, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let anchor = make(&args.file, args.rounds)?.anchor();
    if args.output.json {
        io.print_json(&json!({ "anchor": anchor, "rounds": args.rounds }));
    } else {
        io.print(anchor);
    }
    Ok(Exit::Success)
}

pub(crate) fn run_reveal(args: &Reveal, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let mut preimages = Vec::new();
    for path in &args.files {
        let preimage = read(path)?.reveal(args.round).ok_or_else(|| {
            let doing = format_args!("reveal round {} of `{}`", args.round, files::shown(path)).to_string();
            Failure::usage(doing, "the chain has no such round")
        })?;
        preimages.push(Digest::from_bytes(preimage));
    }
    let revealed = json!({ "round": args.round, "preimages": preimages });
    if args.output.json {
        io.print_json(&revealed)
    } else {
        io.print(revealed)
    }
    Ok(Exit::Success)
}

/// A chain that is kept in a file.
pub(crate) struct Chain(Preimages);

impl Chain {
    /// What is published before the first round.
    pub(crate) fn anchor(&self) -> Digest {
        self.0.anchor()
    }

    /// How many rounds it is good for.
    pub(crate) fn rounds(&self) -> u64 {
        self.0.rounds()
    }

    /// What is revealed in `round`.
    pub(crate) fn reveal(&self, round: u64) -> Option<[u8; 32]> {
        self.0.reveal(round)
    }
}

/// Makes a chain, and keeps it in a file of its owner's.
pub(crate) fn make(path: &Path, rounds: u64) -> Result<Chain, Failure> {
    let secret = luck::secret_bytes()?;
    let document = json!({ "rounds": rounds, "secret": Digest::from_bytes(secret) });
    files::write_private(path, &json::canonical(&document), Existing::Keep)?;
    Ok(Chain(Preimages::new(secret, rounds)))
}

/// The chain in a file.
pub(crate) fn read(path: &Path) -> Result<Chain, Failure> {
    let bytes = files::read(path, 256)
        .map_err(|unread| unread.reading("chain", path).hint("make one with `arena key chain`"))?;
    let value = json::read(&bytes, bytes.len()).unwrap_or_default();
    let secret =
        value.get("secret").and_then(json::Value::as_str).and_then(|text| text.parse::<Digest>().ok());
    let rounds =
        value.get("rounds").and_then(json::Value::as_u64).filter(|rounds| (1..=ROUND_MAX).contains(rounds));
    match secret.zip(rounds) {
        Some((secret, rounds)) => Ok(Chain(Preimages::new(*secret.as_bytes(), rounds))),
        None => {
            let doing = format!("read chain `{}`", files::shown(path));
            Err(Failure::usage(doing, "a chain is {\"rounds\": …, \"secret\": \"64 hexadecimal digits\"}"))
        }
    }
}

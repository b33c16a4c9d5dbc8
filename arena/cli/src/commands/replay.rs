use std::ffi::OsString;
use std::path::{Path, PathBuf};

use arena_canon::json;
use arena_engine::campus::{EpisodeLog, Faults, Finding, read_actions};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;
use crate::packs;

/// Play recorded actions, without a sandbox
///
/// Reads a JSON array of action objects, one a turn, and prints the episode as one JSON document.
/// Fewer actions than turns are fine: the rest is played with empty ones.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A pack's file, or the name of a built-in pack
    #[arg(long, value_name = "PACK")]
    pack: OsString,

    /// A JSON file, or `-` for the standard input
    #[arg(long, value_name = "FILE")]
    actions: PathBuf,
}

const AFTER_HELP: &str = r#"Examples:
  arena replay --pack two-spikes --actions actions.json > episode.json
  echo '[{"battery_mw": 40}, {"curtail_mw": 5, "accept_offer": true}]' |
    arena replay --pack two-spikes --actions -"#;

/// Room for the most turns there can be, with every number written in full.
const ACTIONS_BYTES_MAX: usize = 64 << 20;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let named = packs::find(&args.pack)?;
    named.warn(io);
    let is_input = args.actions == Path::new("-");
    let limit = ACTIONS_BYTES_MAX as u64;
    let bytes =
        if is_input { files::read_stream(io.input(), limit) } else { files::read(&args.actions, limit) };
    let bytes = bytes.map_err(|unread| unread.reading("actions", &args.actions))?;
    let document = if is_input { "(standard input)".to_owned() } else { files::shown(&args.actions) };
    let faults =
        |faults| Failure::faults(Exit::Usage, format_args!("replay actions `{document}`"), &document, faults);
    let value = json::read(&bytes, ACTIONS_BYTES_MAX)
        .map_err(|why| faults(Faults(vec![Finding { pointer: String::new(), message: why.to_string() }])))?;
    let actions = read_actions(&value, named.pack.turns()).map_err(faults)?;
    io.print_json(&EpisodeLog::replay(&named.pack, &actions, &[]));
    Ok(Exit::Success)
}

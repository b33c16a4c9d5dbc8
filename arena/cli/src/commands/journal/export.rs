use std::path::PathBuf;

use arena_store::{Journal, line};

use super::{Sealed, failed, flush, write};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Events at once, so that a slow reader neither costs memory nor holds anything.
const PAGE: usize = 256;

/// Print a journal, one canonical JSON object a line
///
/// Sealed events are stubs: what is printed can be given to anybody, who can check its chain with
/// `arena journal verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The folder of a server's data
    #[arg(value_name = "DIR")]
    root: PathBuf,

    /// Begin after this event
    #[arg(long, value_name = "SEQ", default_value_t = 0, hide_default_value = true)]
    since: u64,

    #[command(flatten)]
    sealed: Sealed,
}

const AFTER_HELP: &str = "\
Examples:
  arena journal export data > journal.ndjson
  arena journal export data --since 1200
  arena journal export data --sealed > for-auditors.ndjson";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let fault = |fault| failed("export journal", &args.root, &fault);
    let journal = Journal::open(&args.root).map_err(fault)?;
    // What is appended meanwhile is left for the next time: an export of a busy journal ends.
    let head = journal.head().map_err(fault)?;
    let mut seq = args.since;
    while seq < head.seq {
        let events = journal.after(seq, PAGE).map_err(fault)?;
        for event in events.iter().take_while(|event| event.seq <= head.seq) {
            let mut text = line(event, args.sealed.shown());
            text.push(b'\n');
            if !write(io, &text)? {
                return Ok(Exit::Success);
            }
        }
        seq = events.last().map_or(u64::MAX, |event| event.seq);
    }
    flush(io)?;
    Ok(Exit::Success)
}

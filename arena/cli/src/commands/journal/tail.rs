use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use arena_engine::Excerpt;
use arena_store::{Event, Journal, Shown, line};

use super::{Sealed, failed, flush, write};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

const PAGE: usize = 256;
/// How often a quiet journal is looked at: soon enough for a person, and next to nothing for the machine.
const POLL: Duration = Duration::from_millis(250);
/// Characters of a body.
const BODY_MAX: usize = 160;

/// Print the last events of a journal, and those that come, until Ctrl-C
///
/// A line has the place, the time, the topic, the kind and the start of the body.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The folder of a server's data
    #[arg(value_name = "DIR")]
    root: PathBuf,

    /// Events to begin with
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 10)]
    lines: u64,

    /// Begin after this event instead
    #[arg(long, value_name = "SEQ", conflicts_with = "lines")]
    since: Option<u64>,

    /// End with what is there already
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    sealed: Sealed,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena journal tail data
  arena journal tail data -n 100 --once
  arena journal tail data --since 1200 --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let fault = |fault| failed("follow journal", &args.root, &fault);
    let journal = Journal::open(&args.root).map_err(fault)?;
    let head = journal.head().map_err(fault)?;
    let mut seq = args.since.unwrap_or_else(|| head.seq.saturating_sub(args.lines));
    loop {
        let events = journal.after(seq, PAGE).map_err(fault)?;
        for event in &events {
            if !write(io, &told(event, args))? {
                return Ok(Exit::Success);
            }
        }
        if !flush(io)? || args.once && events.is_empty() {
            return Ok(Exit::Success);
        }
        match events.last() {
            Some(last) => seq = last.seq,
            None => thread::sleep(POLL),
        }
    }
}

fn told(event: &Event, args: &Args) -> Vec<u8> {
    let shown = args.sealed.shown();
    if args.output.json {
        let mut text = line(event, shown);
        text.push(b'\n');
        return text;
    }
    let seq = event.seq;
    if event.is_sealed() && shown == Shown::Public {
        return format!("{seq:>8}  {:<24}  sealed  {}\n", "", event.content_sha256).into_bytes();
    }
    let (at, body) = (time(event.at_ms), String::from_utf8_lossy(&event.body));
    let body = Excerpt { text: &body, max: BODY_MAX };
    format!("{seq:>8}  {at:<24}  {}  {}  {body}\n", event.topic, event.kind).into_bytes()
}

fn time(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|at_ms| jiff::Timestamp::from_millisecond(at_ms).ok());
    at.map_or_else(|| format!("{at_ms} ms"), |at| format!("{at:.3}"))
}

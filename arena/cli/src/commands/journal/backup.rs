use std::path::PathBuf;

use serde_json::json;

use super::failed;
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;

/// Copy a server's journal and blobs, while the server is at work
///
/// The copy is the state of one moment, and a folder of data like the original. Every blob is hashed on the
/// way. A blob that is withheld later stays in the copies made before: they have to go, too. Keys are not copied: a
/// server goes on from a copy with the `keys` of the original in it, and not without the one that its log is signed by.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The folder of a server's data
    #[arg(value_name = "DIR")]
    root: PathBuf,

    /// The folder to copy to: empty, or to be made
    #[arg(value_name = "COPY")]
    copy: PathBuf,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena journal backup data backups/monday
  arena journal backup data backups/tuesday --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let done = arena_store::backup(&args.root, &args.copy)
        .map_err(|fault| failed("back up journal", &args.root, &fault))?;
    let exit = if done.faults.is_empty() { Exit::Success } else { Exit::Rejected };
    let copy = files::shown(&args.copy);
    if args.output.json {
        io.print_json(&json!({
            "copy": copy, "head": { "seq": done.head.seq, "hash": done.head.hash }, "blobs": done.blobs,
            "blob_bytes": done.blob_bytes, "withheld": done.withheld, "faults": done.faults,
        }));
        return Ok(exit);
    }
    let ink = io.ink();
    let label = match exit {
        Exit::Success => ink.paint(Tone::Good, "ok:"),
        _ => ink.paint(Tone::Bad, "incomplete:"),
    };
    let (events, blobs, bytes) = (count(done.head.seq), count(done.blobs), count(done.blob_bytes));
    io.print(format_args!("{label} {copy} · {events} events · {blobs} blobs of {bytes} bytes"));
    io.print(format_args!("    head {}:{}", done.head.seq, done.head.hash));
    for fault in &done.faults {
        io.print(format_args!("  {fault}"));
    }
    if args.root.join("keys/log").exists() {
        io.talk("keys are not copied; a server starts from the copy once keys/ of the original is in it");
    }
    Ok(exit)
}

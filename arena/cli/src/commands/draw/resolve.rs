use std::path::PathBuf;

use arena_draw::Request;
use arena_engine::campus::Finding;

use super::{malformed, read, shown};
use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::io::Io;

/// Draw: from a request and its beacon's proof to the picks
///
/// The request holds what was committed (entries, seats, the hash of the rules, the beacon's round) and the
/// proof of that round. The proof is checked offline; then the seats are filled and the transcript is
/// printed, one canonical JSON document from which anybody draws the same. There may be fewer picks than
/// seats: with an agent its whole operator leaves the pool.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The request, or `-` for the standard input
    #[arg(value_name = "REQUEST")]
    request: PathBuf,
}

const AFTER_HELP: &str = r#"A request:
  {"v": "draw/v1", "instance": "<sha256 of its name>", "purpose": "panel", "subject": "<sha256>",
   "attempt": 0, "seats": 2, "params_hash": "<sha256>",
   "entries": [["agent-a", "operator-1", "4"], ["agent-b", "operator-2", "1"]],
   "beacon": {"kind": "drand-quicknet", "round": "1000", "signature": "<96 hex digits>"}}

Other beacons: ecvrf-operator (with `public_key`), hashchain (with `anchors`), test.
Optional: instance_name, committed_seq, committed_at, last_round_seen, salt, log.

Examples:
  arena draw resolve request.json > transcript.json
  arena draw resolve request.json | arena draw verify -"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let bytes = read("request", &args.request, io)?;
    let document = shown(&args.request);
    let request = Request::read(&bytes).map_err(|faults| malformed("resolve draw", &document, faults))?;
    let seats = request.seats as usize;
    let transcript = request.resolve().map_err(|refusal| {
        let finding = Finding { pointer: refusal.pointer().to_owned(), message: refusal.to_string() };
        let doing = format!("resolve draw `{document}`");
        Failure::new(Exit::Rejected, doing, "it is refused").details([place(&document, &finding)])
    })?;
    let picked = transcript.resolution.picks.len();
    if picked < seats {
        io.warn(format_args!("{picked} of {seats} seats are filled; no other operator is eligible"));
    }
    let text = String::from_utf8_lossy(&transcript.to_bytes()).into_owned();
    io.print(text);
    Ok(Exit::Success)
}

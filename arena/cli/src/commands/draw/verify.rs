use std::path::PathBuf;

use arena_draw::beacon::Kind;
use arena_draw::{Transcript, VerifyError};
use arena_engine::Excerpt;
use arena_engine::campus::Finding;
use serde_json::{Value, json};

use super::{malformed, read, shown};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// Draw again from transcripts, and compare
///
/// Checks the proof of the beacon's round offline, that the draw was committed before the round was due, as
/// far as the transcript tells, and draws again: root, seed, picks. The first thing that does not follow is
/// named. That the commitment stands in a log of events (`committed_seq`, `log`) is for whoever has that
/// log.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The transcripts, or `-` for the standard input
    #[arg(required = true, value_name = "TRANSCRIPT")]
    transcripts: Vec<PathBuf>,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena draw verify transcript.json
  arena draw verify draws/*.json --json
  arena draw resolve request.json | arena draw verify -";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let mut exit = Exit::Success;
    let mut results = Vec::new();
    for path in &args.transcripts {
        let document = shown(path);
        let verdict = match read("transcript", path, io) {
            Ok(bytes) => examine(&document, &bytes),
            Err(unread) => Verdict::Unread(unread),
        };
        exit = exit.or_worse(verdict.exit());
        if args.output.json {
            results.push(verdict.json(&document));
        } else {
            show(&document, &verdict, io);
        }
    }
    if args.output.json {
        io.print_json(&results);
    }
    Ok(exit)
}

/// What came of one transcript.
enum Verdict {
    /// It cannot be examined.
    Unread(Failure),
    /// It does not follow from itself, or may not be drawn like that.
    Rejected(Finding),
    /// Drawn again, it is the same.
    Verified(Box<Transcript>),
}

fn examine(document: &str, bytes: &[u8]) -> Verdict {
    let rejected =
        |pointer: &str, message| Verdict::Rejected(Finding { pointer: pointer.to_owned(), message });
    match arena_draw::verify(bytes) {
        Ok(transcript) => Verdict::Verified(Box::new(transcript)),
        Err(VerifyError::Malformed(faults)) => {
            Verdict::Unread(malformed("verify transcript", document, faults))
        }
        Err(VerifyError::Refused(refusal)) => rejected(refusal.pointer(), refusal.to_string()),
        Err(VerifyError::Differs(difference)) => rejected(difference.at.as_str(), difference.message()),
    }
}

impl Verdict {
    fn exit(&self) -> Exit {
        match self {
            Self::Unread(failure) => failure.exit(),
            Self::Rejected(_) => Exit::Rejected,
            Self::Verified(_) => Exit::Success,
        }
    }

    fn json(&self, file: &str) -> Value {
        match self {
            Self::Unread(failure) => json!({ "file": file, "verified": null, "error": failure.message() }),
            Self::Rejected(finding) => json!({ "file": file, "verified": false, "findings": [finding] }),
            Self::Verified(transcript) => {
                let Transcript { request, resolution, .. } = &**transcript;
                let picks = resolution.picks.iter().map(|pick| &pick.agent);
                json!({
                    "file": file,
                    "verified": true,
                    "purpose": request.purpose.name(),
                    "beacon": request.source.kind().name(),
                    "round": request.round.to_string(),
                    "seed": resolution.seed,
                    "seats": request.seats,
                    "picks": picks.collect::<Vec<_>>(),
                })
            }
        }
    }
}

fn show(document: &str, verdict: &Verdict, io: &mut Io<'_>) {
    let ink = io.ink();
    match verdict {
        Verdict::Unread(failure) => io.fail(failure),
        Verdict::Rejected(finding) => {
            io.print(format_args!("{} {document}", ink.paint(Tone::Bad, "rejected:")));
            io.print(format_args!("  {}", place(document, finding)));
        }
        Verdict::Verified(transcript) => {
            let Transcript { request, resolution, .. } = &**transcript;
            let kind = request.source.kind();
            io.print(format_args!(
                "{} {document} · {} · {} of {} seats · {kind} round {}",
                ink.paint(Tone::Good, "ok:"),
                request.purpose,
                resolution.picks.len(),
                request.seats,
                request.round,
            ));
            io.print(format_args!("  {} {}", ink.paint(Tone::Quiet, "seed"), resolution.seed));
            for line in picks(transcript).lines(io.columns().saturating_sub(2), ink) {
                io.print(format_args!("  {line}"));
            }
            if kind == Kind::Test {
                io.warn(format_args!("{document}: test rounds, which anybody can compute beforehand"));
            }
        }
    }
}

fn picks(transcript: &Transcript) -> Table {
    let columns =
        [Column::right("seat").after(0), Column::left("agent"), Column::right("ticket"), Column::right("of")];
    let mut table = Table::new(columns);
    for pick in &transcript.resolution.picks {
        table.push([
            pick.seat.to_string().into(),
            Cell::toned(Tone::Strong, Excerpt { text: &pick.agent, max: 60 }.to_string()),
            count(pick.r).into(),
            count(pick.of).into(),
        ]);
    }
    table
}

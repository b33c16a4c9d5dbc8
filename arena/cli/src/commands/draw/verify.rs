use std::collections::BTreeMap;
use std::path::PathBuf;

use arena_canon::Digest;
use arena_claims::log::{LogFault, LoggedDraw, check_transcript};
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
/// named.
///
/// Where the transcript carries its log, the commitment must be under the root of the checkpoint, and with
/// --log-key the checkpoint must be signed by that key, after the commitment and before the round was due; one that
/// carries none is rejected then, unless it is of an auditor drawn again, whose commitment is sealed.
/// Whether the journal is the one that was signed is for `arena verify DIR --receipt TRANSCRIPT`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The transcripts, or `-` for the standard input
    #[arg(required = true, value_name = "TRANSCRIPT")]
    transcripts: Vec<PathBuf>,

    /// The public key of the log that the transcripts carry: `log.public_key` of instance.json, or `public_key` of
    /// a server's /api/v1/log/checkpoint
    #[arg(long, value_name = "KEY")]
    log_key: Option<Digest>,

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
    let mut roots = Roots::new();
    for path in &args.transcripts {
        let document = shown(path);
        let verdict = match read("transcript", path, io) {
            Ok(bytes) => examine(&document, &bytes, args.log_key, &mut roots),
            Err(unread) => Verdict::Unread(unread),
        };
        exit = exit.or_worse(verdict.exit());
        if args.output.json {
            results.push(verdict.json(&document));
        } else {
            show(&document, &verdict, args.log_key.is_some(), io);
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
    Verified(Box<Transcript>, Option<LoggedDraw>),
}

/// The root of each log at each size that was seen: one log has one.
type Roots = BTreeMap<(Digest, u64), Digest>;

fn examine(document: &str, bytes: &[u8], key: Option<Digest>, roots: &mut Roots) -> Verdict {
    let rejected =
        |pointer: &str, message| Verdict::Rejected(Finding { pointer: pointer.to_owned(), message });
    match arena_draw::verify(bytes) {
        Ok(transcript) => match logged(&transcript, key, roots) {
            Ok(log) => Verdict::Verified(Box::new(transcript), log),
            Err(fault) => rejected(fault.at, fault.why),
        },
        Err(VerifyError::Malformed(faults)) => {
            Verdict::Unread(malformed("verify transcript", document, faults))
        }
        Err(VerifyError::Refused(refusal)) => rejected(refusal.pointer(), refusal.to_string()),
        Err(VerifyError::Differs(difference)) => rejected(difference.at.as_str(), difference.message()),
    }
}

fn logged(
    transcript: &Transcript,
    key: Option<Digest>,
    roots: &mut Roots,
) -> Result<Option<LoggedDraw>, LogFault> {
    let log = check_transcript(transcript, key)?;
    if let Some(log) = &log {
        let before = *roots.entry((transcript.request.instance, log.size)).or_insert(log.root);
        if before != log.root {
            let why = format!("another transcript has a checkpoint of {} events with another root", log.size);
            return Err(LogFault { at: "/log/checkpoint", why });
        }
    }
    Ok(log)
}

impl Verdict {
    fn exit(&self) -> Exit {
        match self {
            Self::Unread(failure) => failure.exit(),
            Self::Rejected(_) => Exit::Rejected,
            Self::Verified(..) => Exit::Success,
        }
    }

    fn json(&self, file: &str) -> Value {
        match self {
            Self::Unread(failure) => json!({ "file": file, "verified": null, "error": failure.message() }),
            Self::Rejected(finding) => json!({ "file": file, "verified": false, "findings": [finding] }),
            Self::Verified(transcript, log) => {
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
                    "log": log.as_ref().map(|log| json!({
                        "seq": log.seq.to_string(), "size": log.size.to_string(), "root": log.root,
                        "signed_at": log.signed_at.map(|at| at.to_string()),
                    })),
                })
            }
        }
    }
}

fn show(document: &str, verdict: &Verdict, asked: bool, io: &mut Io<'_>) {
    let ink = io.ink();
    match verdict {
        Verdict::Unread(failure) => io.fail(failure),
        Verdict::Rejected(finding) => {
            io.print(format_args!("{} {document}", ink.paint(Tone::Bad, "rejected:")));
            io.print(format_args!("  {}", place(document, finding)));
        }
        Verdict::Verified(transcript, log) => {
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
            if let Some(said) = said(log.as_ref(), asked) {
                io.print(format_args!("  {} {said}", ink.paint(Tone::Quiet, "log")));
            }
            if kind == Kind::Test {
                io.warn(format_args!("{document}: test rounds, which anybody can compute beforehand"));
            }
        }
    }
}

/// What is said of the log: of one that is not there, if somebody asked for it.
fn said(log: Option<&LoggedDraw>, asked: bool) -> Option<String> {
    Some(match log {
        None if asked => "none: when it was committed is told by the transcript alone".to_owned(),
        None => return None,
        Some(LoggedDraw { seq, size, signed_at: None, .. }) => {
            format!(
                "event {seq} is under the checkpoint of {size}; without --log-key no signature is checked"
            )
        }
        Some(LoggedDraw { seq, size, signed_at: Some(at), .. }) => {
            format!("event {seq} is under the checkpoint of {size}, signed at {at}")
        }
    })
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

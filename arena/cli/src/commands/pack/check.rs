use std::path::PathBuf;
use std::sync::Arc;

use arena_engine::campus::hindsight::{Requirement, tension};
use arena_engine::campus::{DOCUMENT_BYTES_MAX, Faults, Finding, Pack};
use serde_json::{Value, json};

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::files;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::{counted, optional};

/// Check pack files: every fault and every warning, each with its place
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The packs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Also ask what a pack that is part of the product must keep: no warning, and a game in which
    /// cost and relief pull in different directions
    #[arg(long)]
    shipped: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena pack check my-pack.json
  arena pack check scenarios/*.json --shipped";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let mut exit = Exit::Success;
    let mut results = Vec::new();
    for path in &args.files {
        let shown = files::shown(path);
        let verdict = match files::read(path, DOCUMENT_BYTES_MAX as u64) {
            Err(unread) => Verdict::Unread(unread.reading("pack", path)),
            Ok(bytes) => examine(&bytes, args.shipped),
        };
        exit = exit.or_worse(verdict.exit());
        if args.output.json {
            results.push(verdict.json(&shown));
        } else {
            show(&shown, &verdict, io);
        }
    }
    if args.output.json {
        io.print_json(&results);
    }
    Ok(exit)
}

/// What came of one file.
enum Verdict {
    Unread(Failure),
    Faulty(Vec<Finding>),
    Valid { pack: String, warnings: Vec<Finding>, broken: Vec<String>, figures: Vec<Requirement> },
}

fn examine(bytes: &[u8], shipped: bool) -> Verdict {
    match Pack::parse(bytes) {
        Err(Faults(findings)) => Verdict::Faulty(findings),
        Ok(pack) => {
            let (figures, broken) = if shipped { promises(&pack) } else { Default::default() };
            let warnings = pack.warnings().to_vec();
            Verdict::Valid { pack: pack.to_string(), warnings, broken, figures }
        }
    }
}

/// What a pack that is shipped must keep, and what of it this one does not.
fn promises(pack: &Arc<Pack>) -> (Vec<Requirement>, Vec<String>) {
    let mut broken = Vec::new();
    if !pack.warnings().is_empty() {
        broken.push("a shipped pack has no warnings".to_owned());
    }
    let figures = match tension(pack) {
        Ok(tension) => tension.requirements().to_vec(),
        Err(why) => {
            broken.push(format!("its optimum is not known: {why}"));
            Vec::new()
        }
    };
    let failed = figures.iter().filter(|figure| !figure.holds());
    broken.extend(failed.map(|figure| format!("{} must be {}", figure.what, figure.limit)));
    (figures, broken)
}

impl Verdict {
    fn exit(&self) -> Exit {
        match self {
            Self::Unread(failure) => failure.exit(),
            Self::Faulty(_) => Exit::Usage,
            Self::Valid { broken, .. } if broken.is_empty() => Exit::Success,
            Self::Valid { .. } => Exit::Rejected,
        }
    }

    fn json(&self, file: &str) -> Value {
        match self {
            Self::Unread(failure) => json!({ "file": file, "valid": null, "error": failure.message() }),
            Self::Faulty(faults) => json!({ "file": file, "valid": false, "faults": faults }),
            Self::Valid { pack, warnings, broken, figures } => {
                let figures = figures.iter().map(|figure| {
                    let limit = figure.limit.to_string();
                    json!({ "what": figure.what, "value": figure.value, "must_be": limit, "holds": figure.holds() })
                });
                json!({
                    "file": file, "valid": true, "pack": pack, "warnings": warnings, "broken": broken,
                    "shipped": figures.collect::<Vec<_>>(),
                })
            }
        }
    }
}

fn show(file: &str, verdict: &Verdict, io: &mut Io<'_>) {
    let ink = io.ink();
    match verdict {
        Verdict::Unread(failure) => io.fail(failure),
        Verdict::Faulty(faults) => {
            let count = counted(faults.len() as u64, "fault");
            io.print(format_args!("{} {file}: {count}", ink.paint(Tone::Bad, "invalid:")));
            for fault in faults {
                io.print(format_args!("  {}", place(file, fault)));
            }
        }
        Verdict::Valid { pack, warnings, broken, figures } => {
            let (tone, word) = match (broken.is_empty(), warnings.is_empty()) {
                (false, _) => (Tone::Bad, "rejected:"),
                (true, false) => (Tone::Warn, "valid, with warnings:"),
                (true, true) => (Tone::Good, "ok:"),
            };
            io.print(format_args!("{} {file} · {pack}", ink.paint(tone, word)));
            for warning in warnings {
                io.print(format_args!("  {} {}", ink.paint(Tone::Warn, "warning:"), place(file, warning)));
            }
            for figure in figures {
                let tone = if figure.holds() { Tone::Plain } else { Tone::Bad };
                let value = format!("{:>9}", optional(figure.value, 4));
                io.print(format_args!("{}  {}: {}", ink.paint(tone, value), figure.what, figure.limit));
            }
            for promise in broken {
                io.print(format_args!("  {} {promise}", ink.paint(Tone::Bad, "broken:")));
            }
        }
    }
}

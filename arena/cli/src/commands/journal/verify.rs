use std::io::BufReader;
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_store::{Finding, Head, Named, Report, Wanted};
use serde_json::{Value, json};

use super::failed;
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;

/// Recompute the chain of a journal, and the digest of every blob
///
/// Takes the folder of a server's data, at work or not, or what `arena journal export` has written, which
/// anybody can check: of a sealed event it holds a stub, and the chain goes on through it.
///
/// A chain cannot tell that its end is missing, or that all of it was computed anew. A place and its hash
/// that are known from elsewhere can: give them with `--head`, as the last line of this command's result or
/// of a backup's has them.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The folder, an export, or `-` for an export on the standard input
    #[arg(value_name = "DIR|FILE")]
    journal: PathBuf,

    /// A place and its hash that must be in the journal; may be given again
    #[arg(long, value_name = "SEQ:SHA256", value_parser = parse_head)]
    head: Vec<Head>,

    /// Leave the blobs of a folder out
    #[arg(long)]
    no_blobs: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena journal verify data
  arena journal verify data --json
  arena journal verify journal.ndjson
  arena journal export data | arena journal verify -";

fn parse_head(text: &str) -> Result<Head, String> {
    let (seq, hash) = text.split_once(':').ok_or("it is a place, a colon and a hash")?;
    let seq = seq.parse().map_err(|_| "the place is no whole number")?;
    let hash = hash.parse::<Digest>().map_err(|why| why.to_string())?;
    Ok(Head { seq, hash })
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let (path, name) = (args.journal.as_path(), shown(&args.journal));
    let report = examine(args, path, io)?;
    if args.output.json {
        io.print_json(&document(&name, &report));
    } else {
        show(&name, &report, io);
    }
    Ok(if report.is_sound() { Exit::Success } else { Exit::Rejected })
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") { "(standard input)".to_owned() } else { files::shown(path) }
}

fn examine(args: &Args, path: &Path, io: &mut Io<'_>) -> Result<Report, Failure> {
    let unread = |why: &std::io::Error| {
        Failure::usage(format_args!("read export `{}`", shown(path)), files::plain(why))
    };
    if path == Path::new("-") {
        let lines = BufReader::new(io.input());
        return arena_store::verify_lines(lines, &args.head).map_err(|why| unread(&why));
    }
    if path.is_file() {
        let file = std::fs::File::open(path).map_err(|why| unread(&why))?;
        return arena_store::verify_lines(BufReader::new(file), &args.head).map_err(|why| unread(&why));
    }
    let named: Named<'_> = &arena_server::named_blobs;
    let wanted = Wanted { heads: args.head.clone(), blobs: !args.no_blobs, named: Some(named) };
    arena_store::verify(path, &wanted).map_err(|fault| failed("verify journal", path, &fault))
}

fn document(name: &str, report: &Report) -> Value {
    let finding = |it: &Finding| json!({ "seq": it.seq, "message": it.message });
    let findings: Vec<Value> = report.findings.iter().map(finding).collect();
    json!({
        "file": name, "verified": report.is_sound(), "first_seq": report.first_seq, "events": report.events,
        "sealed": report.sealed, "head": { "seq": report.head.seq, "hash": report.head.hash },
        "blobs": report.blobs, "withheld": report.withheld, "findings": findings, "more": report.more,
    })
}

fn show(name: &str, report: &Report, io: &mut Io<'_>) {
    let ink = io.ink();
    if !report.is_sound() {
        io.print(format_args!("{} {name}", ink.paint(Tone::Bad, "rejected:")));
        for finding in &report.findings {
            let text = finding.to_string();
            io.print(format_args!("  {}", arena_engine::Excerpt { text: &text, max: 600 }));
        }
        if report.more > 0 {
            io.print(format_args!("  and {} more", count(report.more)));
        }
        return;
    }
    let mut words = vec![format!("{} events", count(report.events))];
    for (n, what) in [(report.sealed, "sealed"), (report.blobs, "blobs"), (report.withheld, "withheld")] {
        if n > 0 {
            words.push(format!("{} {what}", count(n)));
        }
    }
    if report.first_seq > 1 {
        words.push(format!("from event {}, which nothing here leads to", report.first_seq));
    }
    io.print(format_args!("{} {name} · {}", ink.paint(Tone::Good, "ok:"), words.join(" · ")));
    io.print(format_args!("    head {}:{}", report.head.seq, report.head.hash));
}

//! Claims: comparing records, settling cases, exploring parameters, and the whole life in a local folder.

mod act;
mod beacon;
mod check;
mod compare;
mod draft;
mod explore;
mod folder;
mod grid;
mod instance;
mod log;
mod material;
mod params;
mod parties;
mod records;
mod rerun;
mod scratch;
mod settle;
mod show;
mod simulate;
mod tournament;
mod verbs;
mod verify;

use std::path::Path;

pub(crate) use folder::secret;
pub(crate) use log::{out_of_time, receipt_of};
pub(crate) use material::{blob, check_engine};
pub(crate) use rerun::rerun_here;
pub(crate) use verify::{Verified, is_instance, verify};

use arena_canon::json::{self, Value};
use arena_engine::Excerpt;
use arena_engine::campus::{self, Finding};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

/// List claims, run, challenge, review and settle them
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Check(check::Args),
    Compare(compare::Args),
    Settle(settle::Args),
    Explore(explore::Args),
    #[command(subcommand)]
    Params(params::Command),
    Simulate(simulate::Args),
    Show(show::Args),
    #[command(flatten)]
    Act(Box<verbs::Act>),
}

const AFTER_HELP: &str = "\
Examples:
  arena claim compare manifest.json run.json challenge.json
  arena claim settle case.json
  arena claim explore --fee 1000 --cost 400 --p 0.10 --q 0.95
  arena claim init --name test-lab --beacon test";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => check::run(args, io),
        Command::Compare(args) => compare::run(args, io),
        Command::Settle(args) => settle::run(args, io),
        Command::Explore(args) => explore::run(args, io),
        Command::Params(command) => params::run(command, io),
        Command::Simulate(args) => simulate::run(args, io),
        Command::Show(args) => show::run(args, io),
        Command::Act(act) => act::run(act, io),
    }
}

/// Most bytes of any document here.
const DOCUMENT_BYTES_MAX: u64 = 2 << 20;

/// The name of a document for a message.
fn shown(path: &Path) -> String {
    if path == Path::new("-") { "(standard input)".to_owned() } else { files::shown(path) }
}

/// The bytes of a document; `-` is the standard input.
fn read(what: &str, path: &Path, io: &mut Io<'_>) -> Result<Vec<u8>, Failure> {
    let bytes = match path == Path::new("-") {
        true => files::read_stream(io.input(), DOCUMENT_BYTES_MAX),
        false => files::read(path, DOCUMENT_BYTES_MAX),
    };
    bytes.map_err(|unread| unread.reading(what, path))
}

/// A document as JSON.
fn read_json(what: &str, path: &Path, io: &mut Io<'_>) -> Result<Value, Failure> {
    let bytes = read(what, path, io)?;
    json::read(&bytes, bytes.len()).map_err(|why| {
        let why = why.to_string();
        Failure::usage(format_args!("read {what} `{}`", shown(path)), Excerpt { text: &why, max: 300 })
    })
}

/// Everything that is wrong with a document that cannot be used.
fn faulty(exit: Exit, doing: &str, document: &str, faults: arena_claims::Faults) -> Failure {
    let finding = |fault: arena_claims::Finding| Finding { pointer: fault.pointer, message: fault.message };
    let faults = campus::Faults(faults.0.into_iter().map(finding).collect());
    Failure::faults(exit, format_args!("{doing} `{document}`"), document, faults)
}

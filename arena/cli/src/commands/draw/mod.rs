//! Verifiable draws: who is picked follows from what was fixed before the beacon spoke.

mod resolve;
mod verify;

use std::path::Path;

use arena_draw::DOCUMENT_BYTES_MAX;
use arena_engine::campus::{self, Finding};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

/// Draw agents for seats, and check how others drew
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Resolve(resolve::Args),
    Verify(verify::Args),
}

const AFTER_HELP: &str = "\
Examples:
  arena draw resolve request.json > transcript.json
  arena draw verify transcript.json";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Resolve(args) => resolve::run(args, io),
        Command::Verify(args) => verify::run(args, io),
    }
}

/// The name of a document for a message.
fn shown(path: &Path) -> String {
    if path == Path::new("-") { "(standard input)".to_owned() } else { files::shown(path) }
}

/// The bytes of a document; `-` is the standard input.
fn read(what: &str, path: &Path, io: &mut Io<'_>) -> Result<Vec<u8>, Failure> {
    let limit = DOCUMENT_BYTES_MAX as u64;
    let bytes =
        if path == Path::new("-") { files::read_stream(io.input(), limit) } else { files::read(path, limit) };
    bytes.map_err(|unread| unread.reading(what, path))
}

/// Everything that is wrong with a document that cannot be used.
fn malformed(doing: &str, document: &str, faults: arena_draw::Faults) -> Failure {
    let finding =
        |fault: arena_draw::Fault| Finding { pointer: fault.at.as_str().to_owned(), message: fault.message };
    let faults = campus::Faults(faults.0.into_iter().map(finding).collect());
    Failure::faults(Exit::Usage, format_args!("{doing} `{document}`"), document, faults)
}

//! The journal of a server: verified, exported, followed, and backed up, while the server is at work.

mod backup;
mod export;
mod tail;
#[cfg(test)]
mod tests;
mod verify;

use std::io::ErrorKind;
use std::path::Path;

use arena_store::rusqlite::ErrorCode;
use arena_store::{BlobFault, Shown, StoreFault};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

/// Verify, export, follow and back up a server's journal
///
/// A folder of data can be looked at while its server is at work: nothing here needs its lock.
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Verify(verify::Args),
    Export(export::Args),
    Tail(tail::Args),
    Backup(backup::Args),
}

const AFTER_HELP: &str = "\
Examples:
  arena journal verify data
  arena journal export data > journal.ndjson
  arena journal tail data
  arena journal backup data backups/monday";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Verify(args) => verify::run(args, io),
        Command::Export(args) => export::run(args, io),
        Command::Tail(args) => tail::run(args, io),
        Command::Backup(args) => backup::run(args, io),
    }
}

/// Who sees what is printed.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Sealed {
    /// Show sealed events in full, not as stubs: for nobody else's eyes
    #[arg(long)]
    sealed: bool,
}

impl Sealed {
    fn shown(self) -> Shown {
        if self.sealed { Shown::All } else { Shown::Public }
    }
}

/// The failure of the store to do something with the folder `root`.
fn failed(doing: &str, root: &Path, fault: &StoreFault) -> Failure {
    let exit = match fault {
        StoreFault::NoJournal { .. } | StoreFault::NewerTables { .. } | StoreFault::Locked { .. } => {
            Exit::Usage
        }
        StoreFault::Io { source, .. } | StoreFault::Blob(BlobFault::Io { source, .. })
            if is_the_callers(source.kind()) =>
        {
            Exit::Usage
        }
        StoreFault::Database(why) => match why.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Exit::Usage
            }
            Some(ErrorCode::DatabaseCorrupt) => Exit::Rejected,
            _ => Exit::Internal,
        },
        _ => Exit::Internal,
    };
    let words = fault.to_string();
    let words =
        arena_engine::Excerpt { text: words.split(" (os error").next().unwrap_or_default(), max: 600 };
    Failure::new(exit, format_args!("{doing} `{}`", files::shown(root)), words)
}

fn is_the_callers(kind: ErrorKind) -> bool {
    use ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    [DirectoryNotEmpty, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem].contains(&kind)
}

/// Writes to whoever reads, who may have seen enough: then there is no more.
fn write(io: &mut Io<'_>, bytes: &[u8]) -> Result<bool, Failure> {
    let (_, out) = io.streams();
    match out.write_all(bytes) {
        Ok(()) => Ok(true),
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(why) => Err(Failure::internal("write the result", files::plain(&why))),
    }
}

fn flush(io: &mut Io<'_>) -> Result<bool, Failure> {
    let (_, out) = io.streams();
    match out.flush() {
        Ok(()) => Ok(true),
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(why) => Err(Failure::internal("write the result", files::plain(&why))),
    }
}

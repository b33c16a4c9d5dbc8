//! A question is one JSON document, from a file or from the standard input, and its answer another.

use std::path::{Path, PathBuf};

use arena_canon::json::{self, Value};
use arena_contests::document::{Fault, Faults};
use arena_contests::sprint::wire::Said;
use arena_engine::campus::{self, Finding};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

/// Bytes of a question.
const QUESTION_BYTES_MAX: usize = 64 << 20;

/// Where a question comes from.
#[derive(Debug, clap::Args)]
pub(crate) struct Source {
    /// The question as JSON; standard input without it
    #[arg(default_value = "-", hide_default_value = true, value_name = "FILE")]
    file: PathBuf,
}

/// A question, and its name for a message.
pub(crate) struct Question {
    /// The document.
    pub(crate) value: Value,
    shown: String,
}

impl Source {
    /// Reads the question.
    pub(crate) fn read(&self, io: &mut Io<'_>) -> Result<Question, Failure> {
        let (bytes, shown) = bytes(&self.file, QUESTION_BYTES_MAX, "question", io)?;
        match json::read(&bytes, QUESTION_BYTES_MAX) {
            Ok(value) => Ok(Question { value, shown }),
            Err(why) => {
                let failure = Failure::usage(format_args!("read `{shown}`"), why);
                Err(failure.hint("one JSON document is expected; see --help for an example"))
            }
        }
    }
}

/// What a file or the standard input holds, and its name for a message.
pub(crate) fn bytes(
    file: &Path,
    limit: usize,
    what: &str,
    io: &mut Io<'_>,
) -> Result<(Vec<u8>, String), Failure> {
    let is_input = file == Path::new("-");
    let limit = limit as u64;
    let bytes = if is_input { files::read_stream(io.input(), limit) } else { files::read(file, limit) };
    let shown = if is_input { "(standard input)".to_owned() } else { files::shown(file) };
    bytes.map(|bytes| (bytes, shown)).map_err(|unread| unread.reading(what, file))
}

impl Question {
    /// The failure to use it: every fault with its place.
    pub(crate) fn unusable(&self, faults: Faults) -> Failure {
        unusable(&self.shown, faults)
    }
}

/// The failure to use a document: every fault with its place.
pub(crate) fn unusable(document: &str, Faults(faults): Faults) -> Failure {
    let finding = |Fault { pointer, message }| Finding { pointer: pointer.as_str().to_owned(), message };
    let faults = campus::Faults(faults.into_iter().map(finding).collect());
    Failure::faults(Exit::Usage, format_args!("use `{document}`"), document, faults)
}

/// Prints what a calculator says: its answer, or the rule that refuses the record.
pub(crate) fn answer(said: &Said, io: &mut Io<'_>) -> Exit {
    match said {
        Said::Answer(answer) => {
            io.print_json(answer);
            Exit::Success
        }
        Said::Refused(why, at) => {
            io.print_json(&json!({ "error": why.name() }));
            io.talk(format_args!("the record at {at} breaks the rule {why}"));
            Exit::Rejected
        }
    }
}

use std::io;
use std::path::{Path, PathBuf};

/// The machine or the caller stands in the way of a run. Nothing of it reaches a record.
#[derive(Debug, thiserror::Error)]
pub enum RunFault {
    /// A file could not be read or written.
    #[error("cannot {doing} `{}`: {}", shown(path), plain(source))]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Somebody else runs in this folder.
    #[error("another runner is at work in `{}`", shown(path))]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("`{}` is no run of a tournament: {why}", shown(path))]
    NoRun {
        /// The folder.
        path: PathBuf,
        /// What is missing or in the way.
        why: String,
    },
    /// What decides the run can no longer be read: it is blocked, without a receipt that could name it.
    #[error("the run in `{}` is damaged: {why}", shown(path))]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The executor could not be started or was lost.
    #[error("the executor failed: {0}")]
    Executor(String),
}

impl RunFault {
    /// A function that makes a fault of an I/O error.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// What the system says, as a fragment: no capital, no number.
fn plain(why: &io::Error) -> String {
    let text = why.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A path for a message: cut and escaped, since its parts may come from anywhere.
fn shown(path: &Path) -> String {
    arena_engine::Excerpt { text: &path.to_string_lossy(), max: 300 }.to_string()
}

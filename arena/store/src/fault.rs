use std::io;
use std::path::{Path, PathBuf};

use crate::blobs::BlobFault;
use crate::event::DraftFault;

/// Why the store could not do something. Whoever asked is not to blame, but for a wrong [`DraftFault`].
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// A file or a folder.
    #[error("cannot {doing} `{path}`: {source}")]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The database: a full disk, a damaged page, a statement of a projection that is wrong.
    #[error("the database refused: {0}")]
    Database(#[from] rusqlite::Error),
    /// Another writer has the folder.
    #[error("`{path}` is in use by another writer")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// There is no journal to read.
    #[error("`{path}` holds no journal: {why}")]
    NoJournal {
        /// The folder.
        path: PathBuf,
        /// What is there instead.
        why: String,
    },
    /// The tables are of a version that this build does not know.
    #[error("written by a newer arena: the tables have version {found}, this one knows up to {known}")]
    NewerTables {
        /// Version found.
        found: i64,
        /// Newest version known.
        known: i64,
    },
    /// The domain does not know an event that is there, or is to be appended.
    #[error("event {seq} is `{kind}` version {version}, which this arena does not know")]
    UnknownKind {
        /// The first event of its kind.
        seq: u64,
        /// Its kind.
        kind: String,
        /// Its version.
        version: u32,
    },
    /// The journal is not what was written.
    #[error("event {seq} does not follow: {why}")]
    Broken {
        /// The first event that does not.
        seq: u64,
        /// How it does not.
        why: String,
    },
    /// The domain could not fold an event that it says it knows.
    #[error("event {seq} (`{kind}` version {version}) cannot be folded: {why}")]
    Unfit {
        /// The event.
        seq: u64,
        /// Its kind.
        kind: String,
        /// Its version.
        version: u32,
        /// What the domain said.
        why: String,
    },
    /// An event that may not be appended.
    #[error(transparent)]
    Draft(#[from] DraftFault),
    /// A projection's own constraint does not hold, as a domain's rule should have found out before.
    #[error("projection `{projection}` refused event {seq}: {why}")]
    Constraint {
        /// The projection.
        projection: &'static str,
        /// The event that was to be appended.
        seq: u64,
        /// What the database said.
        why: String,
    },
    /// A projection that breaks the rules for projections.
    #[error("projection `{projection}`: {why}")]
    Projection {
        /// The projection.
        projection: String,
        /// The rule.
        why: String,
    },
    /// An idempotency row or a blob's row that is larger than allowed.
    #[error("{what} has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Bytes given.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The database gave up the whole transaction, and every command in it.
    #[error("the database gave up the transaction")]
    RolledBack,
    /// The writer has ended: its folder could not be read again after a failure.
    #[error("the writer has ended")]
    Ended,
    /// A blob.
    #[error(transparent)]
    Blob(#[from] BlobFault),
}

impl StoreFault {
    /// For `map_err` of what was tried with `path`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

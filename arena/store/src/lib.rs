//! One append-only, hash-chained journal, and blobs under the digest of their content.
//!
//! Whatever is true is an [`Event`] of the journal: a state is the fold of its events, projections are
//! tables that can be dropped and built again, snapshots are a cache. Texts of users are blobs, and events
//! hold their digests, so that one text can be withheld while the journal stays as it is.
//!
//! [`Store`] is the one writer of a folder, [`Journal`] any number of readers, [`Blobs`] the content. The
//! crate knows no domain, no clock and no luck: they come in through [`Domain`] and with its commands.

mod append;
mod backup;
mod blobs;
mod chain;
mod checkpoint;
mod domain;
mod event;
mod export;
mod fault;
mod fold;
mod folder;
mod idempotency;
mod journal;
mod pending;
mod projection;
mod recheck;
mod schema;
mod snapshot;
mod store;
mod verify;
mod writer;

pub use append::Append;
pub use backup::{BackedUp, backup};
pub use blobs::{BLOB_BYTES_MAX, BlobFault, BlobMeta, BlobWriter, Blobs, Found, REASON_BYTES_MAX};
pub use chain::{GENESIS, Head, content_sha256, link};
pub use domain::{Domain, Failed, OnCommit, OnNote, Options, SnapshotNote, Stop, Unfit};
pub use event::{AT_MS_MAX, BODY_BYTES_MAX, Draft, DraftFault, Event, KIND_BYTES_MAX, Salt, TOPIC_BYTES_MAX};
pub use export::{LINE_BYTES_MAX, Shown, line, verify_lines};
pub use fault::StoreFault;
pub use folder::{BLOBS, JOURNAL};
pub use idempotency::{KEPT_BYTES_MAX, KEPT_FOR_MS, Kept, KeptBody, Recall, Slot};
pub use journal::{Journal, PAGE_MAX};
pub use pending::Pending;
pub use projection::Projection;
/// The database's own interface, for projections and for those who query them.
pub use rusqlite;
pub use snapshot::SNAPSHOTS;
pub use store::Store;
pub use verify::{FAULTS_MAX, Finding, Named, Report, Wanted, verify};

//! Contents under their digest, in a folder that no name leads out of.
//!
//! `ab/abcd…` is a content, `ab/abcd….withheld` the reason why there is none any more, `incoming/` holds what
//! is being written, `pending/abcd…` what a command has written that is not committed: a start removes it, or
//! gives it its place if the commit was the last that came to pass. Names are made of digests alone. A content is
//! hashed while it is written and whenever it is read.

mod write;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arena_canon::{Digest, Hasher};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, MetadataExt, OpenOptions, OpenOptionsExt, PermissionsExt};
use rusqlite::{Connection, OptionalExtension, params};

pub use write::BlobWriter;

use crate::fault::StoreFault;
use crate::idempotency::bounded;
use crate::journal::{signed, unsigned};

/// Bytes of a blob, whatever a caller allows.
pub const BLOB_BYTES_MAX: u64 = 1 << 30;
/// Bytes of the reason why a blob is withheld.
pub const REASON_BYTES_MAX: usize = 1_024;
const MEDIA_TYPE_BYTES_MAX: usize = 256;
const INCOMING: &str = "incoming";
const PENDING: &str = "pending";
const CHUNK: usize = 64 * 1024;

/// The contents in one folder. A clone is cheap.
#[derive(Debug, Clone)]
pub struct Blobs(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    folder: Dir,
    /// For temporary names; the process id stands before it.
    counter: AtomicU64,
    /// Contents that must go and whose files may still be there, with the reasons. None of them is given to anybody.
    condemned: Mutex<BTreeMap<Digest, String>>,
}

/// What is under a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The content, hashed again.
    Content(Vec<u8>),
    /// It was taken away.
    Withheld {
        /// Why.
        reason: String,
    },
    /// Nothing.
    Missing,
}

/// The row of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobMeta {
    /// The digest of its content.
    pub sha256: Digest,
    /// Its length.
    pub bytes: u64,
    /// Its media type, as it was given.
    pub media_type: String,
    /// Why it is withheld, if it is.
    pub withheld: Option<String>,
}

/// Why a blob cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobFault {
    /// It is longer than allowed.
    #[error("the blob has more than {limit} bytes")]
    TooLarge {
        /// Bytes allowed.
        limit: u64,
    },
    /// It is not what was announced.
    #[error("the blob has the digest {found}, not {expected}")]
    Another {
        /// The digest that was announced.
        expected: Digest,
        /// That of what came.
        found: Digest,
    },
    /// Its content may not be here any more.
    #[error("blob {0} is withheld")]
    Withheld(Digest),
    /// The file is not what was written.
    #[error("blob {0} is damaged")]
    Damaged(Digest),
    /// There is no row for it.
    #[error("blob {0} is not booked")]
    Unbooked(Digest),
    /// The system.
    #[error("cannot {doing} blobs: {source}")]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> BlobFault {
    move |source| BlobFault::Io { doing, source }
}

impl Blobs {
    /// Opens the folder to write, makes it if there is none, and removes what killed writers left. For the
    /// one who holds the lock.
    pub(crate) fn create(root: &Path) -> Result<Self, BlobFault> {
        match std::fs::DirBuilder::new().create(root) {
            Err(why) if why.kind() != ErrorKind::AlreadyExists => {
                return Err(failed("make the folder of")(why));
            }
            _ => {}
        }
        let blobs = Self::open(root)?;
        let folder = &blobs.0.folder;
        let private = cap_std::fs::Permissions::from_mode(0o700);
        folder.set_permissions(".", private).map_err(failed("set the mode of"))?;
        for name in [INCOMING, PENDING] {
            make_folder(folder, name).map_err(failed("make the folder of"))?;
        }
        let left = folder.read_dir(INCOMING).map_err(failed("list"))?;
        for entry in left {
            entry.and_then(|entry| entry.remove_file()).map_err(failed("remove"))?;
        }
        Ok(blobs)
    }

    /// Opens the folder to read.
    pub fn open(root: &Path) -> Result<Self, BlobFault> {
        let folder = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed("open"))?;
        Ok(Self(Arc::new(Inside { folder, counter: AtomicU64::new(0), condemned: Mutex::default() })))
    }

    /// Starts a blob of at most `limit` bytes. Nobody sees it before it is finished; dropped, it is gone.
    pub fn writer(&self, limit: u64) -> Result<BlobWriter, BlobFault> {
        let n = self.0.counter.fetch_add(1, Ordering::Relaxed);
        let name = format!("{INCOMING}/{}-{n}", std::process::id());
        BlobWriter::new(self.clone(), name, limit.min(BLOB_BYTES_MAX))
    }

    /// Writes a whole blob.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, BlobFault> {
        let mut writer = self.writer(bytes.len() as u64)?;
        writer.write_all(bytes).map_err(failed("write"))?;
        writer.finish(None)
    }

    /// Writes a whole blob for a command. It gets its place by [`settle`](Self::settle), and a killed writer's goes
    /// at the next start.
    pub(crate) fn put_aside(&self, bytes: &[u8]) -> Result<Digest, BlobFault> {
        let mut writer = self.writer(bytes.len() as u64)?;
        writer.write_all(bytes).map_err(failed("write"))?;
        writer.finish_aside()
    }

    /// Gives what was put aside its place if a row books it, and removes it otherwise.
    pub(crate) fn settle(&self, db: &Connection, sha256: Digest) -> Result<(), StoreFault> {
        if meta(db, sha256)?.is_none_or(|meta| meta.withheld.is_some()) {
            return Ok(self.discard(sha256)?);
        }
        self.make_shelf(sha256)?;
        let folder = &self.0.folder;
        match folder.rename(pending_of(sha256), folder, name_of(sha256)) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(failed("rename")(why).into()),
            _ => {}
        }
        Ok(self.sync_shelf(sha256)?)
    }

    /// The same for all that is there. For the one who holds the lock, before any command.
    pub(crate) fn settle_all(&self, db: &Connection) -> Result<(), StoreFault> {
        for entry in self.0.folder.read_dir(PENDING).map_err(failed("list"))? {
            let entry = entry.map_err(failed("list"))?;
            match entry.file_name().to_str().and_then(|name| name.parse::<Digest>().ok()) {
                Some(sha256) => self.settle(db, sha256)?,
                None => entry.remove_file().map_err(failed("remove"))?,
            }
        }
        Ok(())
    }

    /// Removes what was put aside.
    pub(crate) fn discard(&self, sha256: Digest) -> Result<(), BlobFault> {
        match self.0.folder.remove_file(pending_of(sha256)) {
            Err(why) if why.kind() != ErrorKind::NotFound => Err(failed("remove")(why)),
            _ => Ok(()),
        }
    }

    /// The content under `sha256`, of at most `limit` bytes, hashed again.
    pub fn read(&self, sha256: Digest, limit: u64) -> Result<Found, BlobFault> {
        let mut bytes = Vec::new();
        Ok(match self.stream(sha256, limit, &mut |chunk| bytes.extend_from_slice(chunk))? {
            Streamed::Whole => Found::Content(bytes),
            Streamed::Withheld { reason } => Found::Withheld { reason },
            Streamed::Missing => Found::Missing,
        })
    }

    /// The same, piece by piece. Only at its end is it known whether the pieces are what they should be, so
    /// what they are copied to must not count before.
    pub(crate) fn stream(
        &self,
        sha256: Digest,
        limit: u64,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<Streamed, BlobFault> {
        if let Some(reason) = self.condemned(sha256) {
            return Ok(Streamed::Withheld { reason });
        }
        let mut file = match self.open_content(sha256) {
            Ok(file) => file,
            Err(why) if why.kind() == ErrorKind::NotFound => {
                let reason = self.reason(sha256)?;
                return Ok(reason.map_or(Streamed::Missing, |reason| Streamed::Withheld { reason }));
            }
            Err(why) => return Err(failed("open")(why)),
        };
        let about = file.metadata().map_err(failed("read"))?;
        if !about.is_file() {
            return Err(BlobFault::Damaged(sha256));
        }
        if about.len() > limit {
            return Err(BlobFault::TooLarge { limit });
        }
        let mut hasher = Hasher::new();
        let mut chunk = vec![0; CHUNK.min(about.len() as usize + 1)];
        let mut left = about.len();
        loop {
            let n = file.read(&mut chunk).map_err(failed("read"))?;
            if n as u64 > left {
                return Err(BlobFault::Damaged(sha256));
            }
            left -= n as u64;
            if n == 0 {
                break;
            }
            hasher.update(&chunk[..n]);
            sink(&chunk[..n]);
        }
        if hasher.digest() == sha256 { Ok(Streamed::Whole) } else { Err(BlobFault::Damaged(sha256)) }
    }

    /// Opens a content: at its place or, just before it comes there, where it was put aside.
    fn open_content(&self, sha256: Digest) -> io::Result<cap_std::fs::File> {
        let flags = rustix::fs::OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.bits() as i32);
        let open = |name: String| self.0.folder.open_with(name, &options);
        let missing = |why: io::Error| match why.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(why),
        };
        for name in [name_of(sha256), pending_of(sha256)] {
            match open(name) {
                Err(why) => missing(why)?,
                opened => return opened,
            }
        }
        // It may have come to its place in between.
        open(name_of(sha256))
    }

    /// Whether there is a content, which is not read.
    pub fn holds(&self, sha256: Digest) -> Result<bool, BlobFault> {
        if self.condemned(sha256).is_some() {
            return Ok(false);
        }
        match self.0.folder.symlink_metadata(name_of(sha256)) {
            Ok(about) => Ok(about.is_file()),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(false),
            Err(why) => Err(failed("find")(why)),
        }
    }

    /// Removes what no row books, and tells how many that were: uploads whose command never came.
    pub(crate) fn remove_unbooked(&self, db: &Connection, before_ms: u64) -> Result<u64, StoreFault> {
        let before = signed(before_ms / 1_000);
        let mut removed = 0;
        for shelf in self.0.folder.entries().map_err(failed("list"))? {
            let shelf = shelf.map_err(failed("list"))?;
            let is_shelf = ![INCOMING, PENDING].iter().any(|name| shelf.file_name() == *name);
            if !is_shelf || !shelf.file_type().map_err(failed("list"))?.is_dir() {
                continue;
            }
            for entry in shelf.open_dir().and_then(|it| it.entries()).map_err(failed("list"))? {
                let entry = entry.map_err(failed("list"))?;
                let sha256 = entry.file_name().to_str().and_then(|name| name.parse::<Digest>().ok());
                if let Some(sha256) = sha256
                    && meta(db, sha256)?.is_none()
                    && entry.metadata().map_err(failed("look at"))?.mtime() < before
                {
                    entry.remove_file().map_err(failed("remove"))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// From now on nobody is given a content, even while its file cannot be removed.
    pub(crate) fn condemn(&self, sha256: Digest, reason: &str) {
        let mut condemned = self.0.condemned.lock().unwrap_or_else(PoisonError::into_inner);
        condemned.insert(sha256, reason.to_owned());
    }

    fn condemned(&self, sha256: Digest) -> Option<String> {
        self.0.condemned.lock().unwrap_or_else(PoisonError::into_inner).get(&sha256).cloned()
    }

    /// Why a blob is withheld, if it is.
    pub fn reason(&self, sha256: Digest) -> Result<Option<String>, BlobFault> {
        match self.condemned(sha256) {
            Some(reason) => Ok(Some(reason)),
            None => self.marker(sha256),
        }
    }

    /// The reason that lies beside where a content was.
    fn marker(&self, sha256: Digest) -> Result<Option<String>, BlobFault> {
        let file = match self.0.folder.open(marker_of(sha256)) {
            Ok(file) => file,
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(failed("open")(why)),
        };
        let mut bytes = Vec::new();
        file.take(REASON_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(failed("read"))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Takes a content away and leaves the reason. Once the marker is there, the content cannot come back.
    pub(crate) fn withhold(&self, sha256: Digest, reason: &str) -> Result<(), BlobFault> {
        let folder = &self.0.folder;
        self.make_shelf(sha256)?;
        self.discard(sha256)?;
        match folder.remove_file(name_of(sha256)) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(failed("remove")(why)),
            _ => {}
        }
        if self.marker(sha256)?.is_none() {
            let n = self.0.counter.fetch_add(1, Ordering::Relaxed);
            let name = format!("{INCOMING}/{}-{n}", std::process::id());
            let mut file = create_new(folder, &name).map_err(failed("create"))?;
            let written = file.write_all(reason.as_bytes()).and_then(|()| file.sync_all());
            let renamed = written.and_then(|()| folder.rename(&name, folder, marker_of(sha256)));
            renamed.map_err(failed("withhold"))?;
        }
        // A writer that finished in between has put it back.
        match folder.remove_file(name_of(sha256)) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(failed("remove")(why)),
            _ => {}
        }
        self.sync_shelf(sha256)?;
        // What is there tells it now.
        self.0.condemned.lock().unwrap_or_else(PoisonError::into_inner).remove(&sha256);
        Ok(())
    }

    /// Makes the folder that a content lies in.
    fn make_shelf(&self, sha256: Digest) -> Result<(), BlobFault> {
        let made = make_folder(&self.0.folder, &shelf_of(sha256)).map_err(failed("make the folder of"))?;
        if made {
            sync(&self.0.folder, ".").map_err(failed("sync"))?;
        }
        Ok(())
    }

    fn sync_shelf(&self, sha256: Digest) -> Result<(), BlobFault> {
        sync(&self.0.folder, &shelf_of(sha256)).map_err(failed("sync"))
    }
}

/// How far a stream came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Streamed {
    Whole,
    Withheld { reason: String },
    Missing,
}

fn shelf_of(sha256: Digest) -> String {
    sha256.to_string()[..2].to_owned()
}

fn name_of(sha256: Digest) -> String {
    format!("{}/{sha256}", shelf_of(sha256))
}

fn pending_of(sha256: Digest) -> String {
    format!("{PENDING}/{sha256}")
}

fn marker_of(sha256: Digest) -> String {
    format!("{}.withheld", name_of(sha256))
}

fn create_new(folder: &Dir, name: &str) -> io::Result<cap_std::fs::File> {
    folder.open_with(name, OpenOptions::new().write(true).create_new(true).mode(0o600))
}

/// Whether it had to be made.
fn make_folder(folder: &Dir, name: &str) -> io::Result<bool> {
    match folder.create_dir_with(name, DirBuilder::new().mode(0o700)) {
        Err(why) if why.kind() == ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true),
    }
}

/// A handle to a folder is for finding things in it; syncing takes one that is open to read.
fn sync(folder: &Dir, name: &str) -> io::Result<()> {
    folder.open(name)?.sync_all()
}

pub(crate) fn meta(db: &Connection, sha256: Digest) -> rusqlite::Result<Option<BlobMeta>> {
    let select = "SELECT bytes, media_type, withheld FROM blobs_meta WHERE sha256 = ?1";
    let found = db.prepare_cached(select)?.query_row([sha256.as_bytes()], |row| {
        Ok(BlobMeta { sha256, bytes: unsigned(row, 0)?, media_type: row.get(1)?, withheld: row.get(2)? })
    });
    found.optional()
}

pub(crate) fn book(db: &Connection, sha256: Digest, bytes: u64, media_type: &str) -> Result<(), StoreFault> {
    bounded("the media type", media_type.len(), MEDIA_TYPE_BYTES_MAX)?;
    let insert =
        "INSERT INTO blobs_meta (sha256, bytes, media_type) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    db.prepare_cached(insert)?.execute(params![sha256.as_bytes(), signed(bytes), media_type])?;
    Ok(())
}

/// Books a blob again that is booked as `weaker`, if it is.
pub(crate) fn rebook(
    db: &Connection,
    sha256: Digest,
    weaker: &str,
    media_type: &str,
) -> Result<(), StoreFault> {
    bounded("the media type", media_type.len(), MEDIA_TYPE_BYTES_MAX)?;
    let update = "UPDATE blobs_meta SET media_type = ?3 WHERE sha256 = ?1 AND media_type = ?2";
    db.prepare_cached(update)?.execute(params![sha256.as_bytes(), weaker, media_type])?;
    Ok(())
}

pub(crate) fn mark(db: &Connection, sha256: Digest, reason: &str) -> Result<(), StoreFault> {
    bounded("the reason", reason.len(), REASON_BYTES_MAX)?;
    let update = "UPDATE blobs_meta SET withheld = ?2 WHERE sha256 = ?1";
    let changed = db.prepare_cached(update)?.execute(params![sha256.as_bytes(), reason])?;
    if changed == 0 { Err(BlobFault::Unbooked(sha256).into()) } else { Ok(()) }
}

/// The blobs whose files have to be gone.
pub(crate) fn withheld(db: &Connection) -> rusqlite::Result<Vec<(Digest, String)>> {
    let select = "SELECT sha256, withheld FROM blobs_meta WHERE withheld IS NOT NULL";
    let mut statement = db.prepare(select)?;
    statement.query_map([], |row| Ok((Digest::from_bytes(row.get(0)?), row.get(1)?)))?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of a text may be on a disk that has become read-only.
    #[test]
    fn what_must_go_is_given_to_nobody_while_its_file_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::create(folder.path()).unwrap();
        let sha256 = blobs.put(b"a leaked name").unwrap();
        blobs.condemn(sha256, "it leaked");
        let withheld = Found::Withheld { reason: "it leaked".to_owned() };
        assert!(folder.path().join(name_of(sha256)).exists());
        assert_eq!(blobs.clone().read(sha256, 100).unwrap(), withheld);
        assert_eq!(
            (blobs.holds(sha256).unwrap(), blobs.reason(sha256).unwrap()),
            (false, Some("it leaked".into()))
        );
        assert!(matches!(blobs.put(b"a leaked name"), Err(BlobFault::Withheld(_))));
        // It goes as soon as it can.
        blobs.withhold(sha256, "it leaked").unwrap();
        assert!(!folder.path().join(name_of(sha256)).exists() && blobs.condemned(sha256).is_none());
        assert_eq!(blobs.read(sha256, 100).unwrap(), withheld);
        assert_eq!(Blobs::open(folder.path()).unwrap().read(sha256, 100).unwrap(), withheld);
    }
}

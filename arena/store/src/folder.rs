//! The folder of a store: what lies where, who may read it, and who has the lock.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::fault::StoreFault;

/// The database in a store's folder.
pub const JOURNAL: &str = "journal.sqlite";
/// The blobs in a store's folder.
pub const BLOBS: &str = "blobs";

/// A folder that one writer has, for as long as this lives. The lock is on the folder itself: it leaves no
/// file behind, and a killed writer's is gone.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    lock: File,
}

impl Folder {
    /// Locks the folder. If there is none, one is made that is its owner's alone.
    pub(crate) fn lock(root: &Path) -> Result<Self, StoreFault> {
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(root).map_err(StoreFault::io("make", root))?;
        let root = fs::canonicalize(root).map_err(StoreFault::io("find", root))?;
        let lock = File::open(&root).map_err(StoreFault::io("open", &root))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(StoreFault::Locked { path: root }),
            Err(why) => return Err(StoreFault::io("lock", &root)(why.into())),
        }
        Ok(Self { root, lock })
    }

    /// The database's path. It is made here, its owner's alone; what the database puts beside it gets the
    /// same mode.
    pub(crate) fn make_journal(&self) -> Result<PathBuf, StoreFault> {
        let path = self.root.join(JOURNAL);
        make_private(&path)?;
        sync(&self.root)?;
        // A folder that was just made must survive a crash, too. One above it may be somebody else's.
        let _ = self.root.parent().map(sync);
        Ok(path)
    }
}

/// Makes an empty file that is its owner's alone, unless one is there.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreFault> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(why) if why.kind() != ErrorKind::AlreadyExists => Err(StoreFault::io("make", path)(why)),
        _ => Ok(()),
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A process that is just being started has copies of all descriptors for a moment, and the lock with them.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

/// The database of a folder that is there, for a reader.
pub(crate) fn find_journal(root: &Path) -> Result<PathBuf, StoreFault> {
    let none = |why: &str| StoreFault::NoJournal { path: root.to_owned(), why: why.to_owned() };
    let root = fs::canonicalize(root).map_err(|why| match why.kind() {
        ErrorKind::NotFound => none("there is no such folder"),
        _ => StoreFault::io("find", root)(why),
    })?;
    let path = root.join(JOURNAL);
    match fs::symlink_metadata(&path) {
        Ok(about) if about.is_file() => Ok(path),
        Ok(_) => Err(none(&format!("{JOURNAL} is not a regular file"))),
        Err(why) if why.kind() == ErrorKind::NotFound => Err(none(&format!("it has no {JOURNAL}"))),
        Err(why) if why.kind() == ErrorKind::NotADirectory => Err(none("it is not a folder")),
        Err(why) => Err(StoreFault::io("find", &path)(why)),
    }
}

/// A rename in a folder must survive a crash, too.
pub(crate) fn sync(folder: &Path) -> Result<(), StoreFault> {
    File::open(folder).and_then(|it| it.sync_all()).map_err(StoreFault::io("sync", folder))
}

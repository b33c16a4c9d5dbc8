//! The folder of a run: what lies where, who may read it, and how a file comes into it whole.
//!
//! Everything is written to a temporary name, synced and renamed. Until disclosure the folder is its
//! owner's alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::DOCUMENT_BYTES_MAX;
use rustix::fs::{FlockOperation, flock, renameat};

use crate::fault::RunFault;
use crate::names::MatchId;
use crate::roster::Shelf;

/// The frozen tournament.
pub const FROZEN: &str = "frozen.json";
/// The commitments to the identities.
pub const COMMITMENTS: &str = "identities.commit.json";
/// The identities, once disclosed.
pub const IDENTITIES: &str = "identities.json";
/// The chain of records.
pub const JOURNAL: &str = "journal.ndjson";
/// The scorecard, for programs.
pub const SCORECARD: &str = "scorecard.json";
/// The scorecard, for people.
pub const SCORECARD_MD: &str = "scorecard.md";
/// How the run ended.
pub const RECEIPT: &str = "receipt.json";
/// The secret, until it is disclosed.
pub const SECRET: &str = "secret";
/// When a run that has not ended yet began, and how long it has taken so far.
pub(crate) const STATE: &str = "state.json";
/// The records.
pub(crate) const MATCHES: &str = "matches";
/// What guests said.
pub(crate) const GUEST: &str = "guest";
/// The strategies, by digest.
pub(crate) const COMPONENTS: &str = "components";
/// The packs, by digest.
pub(crate) const PACKS: &str = "packs";
/// What a name ends with until its file is whole.
pub(crate) const TEMPORARY: &str = ".tmp";

/// Largest file of commitments or identities that is read: those of the most strategies are far smaller.
pub(crate) const IDENTITIES_BYTES_MAX: u64 = 16 << 20;
/// Largest component that is read; what is admitted is within the limits, all versions of them.
pub(crate) const COMPONENT_BYTES_MAX: u64 = arena_engine::limits::V1.component_bytes_max;

/// How often a lock that is taken is tried again, and the time between.
const LOCK_TRIES: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// The mode of what everybody may read.
const OPEN_MODE: u32 = 0o644;

const FOLDERS: [&str; 4] = [MATCHES, GUEST, COMPONENTS, PACKS];
/// Where files are: the folder itself and its own.
const PLACES: [&str; 5] = ["", MATCHES, GUEST, COMPONENTS, PACKS];

/// A run's folder, locked for as long as this lives.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    /// Holds the lock.
    _handle: File,
}

impl Folder {
    /// Makes a new folder. One that is there must be empty.
    pub fn create(root: &Path) -> Result<Self, RunFault> {
        fs::create_dir_all(root).map_err(RunFault::io("make", root))?;
        let folder = Self::lock(root, FlockOperation::NonBlockingLockExclusive)?;
        folder.forget_half_set_up()?;
        let mut entries = fs::read_dir(root).map_err(RunFault::io("read", root))?;
        if entries.next().is_some() {
            let why = "it is not empty; resume it, or choose another folder".to_owned();
            return Err(RunFault::NoRun { path: root.to_owned(), why });
        }
        set_mode(root, 0o700)?;
        Ok(folder)
    }

    /// Makes the folders in it. They come after the state, which tells that they are ours.
    pub(crate) fn make_folders(&self) -> Result<(), RunFault> {
        for name in FOLDERS {
            let path = self.at(name);
            fs::create_dir(&path).map_err(RunFault::io("make", &path))?;
            set_mode(&path, 0o755)?;
        }
        Ok(())
    }

    /// The frozen file is the last thing of a set-up. What a crash left of one before it is in the way of
    /// the next; its state tells that it is ours.
    fn forget_half_set_up(&self) -> Result<(), RunFault> {
        let ours = self.at(STATE).is_file() || self.at(&format!("{STATE}{TEMPORARY}")).is_file();
        if !ours || self.at(FROZEN).exists() || self.at(JOURNAL).exists() {
            return Ok(());
        }
        self.forget()
    }

    /// Removes what a set-up writes.
    pub(crate) fn forget(&self) -> Result<(), RunFault> {
        for name in FOLDERS {
            let path = self.at(name);
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(RunFault::io("remove", &path))?;
            }
        }
        self.clean()?;
        for name in [FROZEN, COMMITMENTS, SECRET, RECEIPT, STATE] {
            self.remove(name)?;
        }
        Ok(())
    }

    /// Opens the folder of a run, to go on with it.
    pub fn open(root: &Path) -> Result<Self, RunFault> {
        let folder = Self::lock(root, FlockOperation::NonBlockingLockExclusive)?;
        folder.has_frozen_file()?;
        Ok(folder)
    }

    /// Makes those of the folders in it that are not there.
    pub(crate) fn make_missing_folders(&self) -> Result<(), RunFault> {
        for name in FOLDERS {
            let path = self.at(name);
            fs::create_dir_all(&path).map_err(RunFault::io("make", &path))?;
        }
        Ok(())
    }

    /// Whether the run was played elsewhere: who fetches one gets no components, and whoever plays one keeps them.
    pub(crate) fn was_fetched(&self) -> bool {
        !self.at(COMPONENTS).exists()
    }

    /// Opens the folder of a run, to read it. Others may read it, too.
    pub(crate) fn open_to_read(root: &Path) -> Result<Self, RunFault> {
        let folder = Self::lock(root, FlockOperation::NonBlockingLockShared)?;
        folder.has_frozen_file()?;
        Ok(folder)
    }

    fn has_frozen_file(&self) -> Result<(), RunFault> {
        if self.at(FROZEN).is_file() {
            return Ok(());
        }
        Err(RunFault::NoRun { path: self.root.clone(), why: format!("it has no {FROZEN}") })
    }

    /// The lock is on the folder itself: it leaves no file behind, and a killed runner's is gone.
    fn lock(root: &Path, how: FlockOperation) -> Result<Self, RunFault> {
        let handle = File::open(root).map_err(RunFault::io("open", root))?;
        let mut patience = LOCK_TRIES;
        loop {
            match flock(&handle, how) {
                Ok(()) => return Ok(Self { root: root.to_owned(), _handle: handle }),
                // A runner that was killed while it started a worker is gone only when that one has begun.
                Err(rustix::io::Errno::WOULDBLOCK) if patience > 0 => {
                    patience -= 1;
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(RunFault::Locked { path: root.to_owned() }),
                Err(why) => {
                    return Err(RunFault::Io { doing: "lock", path: root.to_owned(), source: why.into() });
                }
            }
        }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where something in it is, or would be.
    pub fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8], mode: u32) -> Result<(), RunFault> {
        let path = self.at(name);
        let temporary = self.at(&format!("{name}{TEMPORARY}"));
        write_synced(&temporary, bytes, mode)?;
        fs::rename(&temporary, &path).map_err(RunFault::io("rename", &path))?;
        sync_folder(path.parent().unwrap_or(&self.root))
    }

    /// Writes files, each whole or not at all, and makes them last together: one by one, a machine waits for
    /// its disk as many times.
    pub(crate) fn write_all(&self, files: &[NewFile<'_>]) -> Result<(), RunFault> {
        for NewFile { name, bytes, mode } in files {
            write_unsynced(&temporary(&self.root, name), bytes, *mode)?;
        }
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        self.make_last(&names)
    }

    /// Makes files last that lie under their temporary names: synced, renamed, their folders synced.
    pub(crate) fn make_last(&self, names: &[&str]) -> Result<(), RunFault> {
        make_last(&self.root, names)
    }

    /// The bytes of a file, of at most `limit`; nothing if there is none.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RunFault> {
        read(&self.at(name), limit)
    }

    /// The same, with what the file system says of the file.
    pub(crate) fn read_with(&self, name: &str, limit: u64) -> Result<Option<(Vec<u8>, Metadata)>, RunFault> {
        read_with(&self.at(name), limit)
    }

    /// The matchups whose guests said something.
    pub(crate) fn guests(&self) -> Result<BTreeSet<MatchId>, RunFault> {
        let id = |name: &str| name.strip_suffix(".json").and_then(|id| id.parse().ok());
        let listed = self.list(GUEST)?.into_iter();
        Ok(listed.filter_map(|entry| id(&entry.file_name().to_string_lossy())).collect())
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), RunFault> {
        remove(&self.at(name))
    }

    /// Removes what a crash left half-written.
    pub(crate) fn clean(&self) -> Result<(), RunFault> {
        for folder in PLACES {
            let listed = self.list(folder)?.into_iter();
            let is_half = |entry: &fs::DirEntry| ends_with(&entry.file_name(), TEMPORARY);
            for path in listed.filter(is_half).map(|entry| entry.path()) {
                let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.map_err(RunFault::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Lets everybody read what was its owner's alone. Records are many, and nearly always open: only the
    /// others are given.
    pub(crate) fn disclose(&self, closed_records: &[String]) -> Result<(), RunFault> {
        for folder in ["", GUEST, COMPONENTS, PACKS] {
            for entry in self.list(folder)? {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                set_mode(&entry.path(), if is_folder { 0o755 } else { OPEN_MODE })?;
            }
        }
        for name in closed_records {
            set_mode(&self.at(name), OPEN_MODE)?;
        }
        set_mode(&self.root, 0o755)
    }

    /// Every file of the run, by its name in the folder and in order, but for those that are no part of
    /// its result.
    pub(crate) fn files(&self) -> Result<Vec<String>, RunFault> {
        let apart = |name: &str| [RECEIPT, SECRET, STATE].contains(&name) || name.ends_with(TEMPORARY);
        let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        let entries = self.entries()?.into_iter();
        let files = entries.filter(|(name, entry)| is_file(entry) && !apart(name));
        let mut names: Vec<String> = files.map(|(name, _)| name).collect();
        names.sort();
        Ok(names)
    }

    /// What is in the folder and in its own folders, by name.
    fn entries(&self) -> Result<Vec<(String, fs::DirEntry)>, RunFault> {
        let mut entries = Vec::new();
        for folder in PLACES {
            for entry in self.list(folder)? {
                let name = entry.file_name().to_string_lossy().into_owned();
                entries.push((if folder.is_empty() { name } else { format!("{folder}/{name}") }, entry));
            }
        }
        Ok(entries)
    }

    /// What is in one of the folders, if it is there.
    fn list(&self, folder: &str) -> Result<Vec<fs::DirEntry>, RunFault> {
        let path = self.at(folder);
        match fs::read_dir(&path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.and_then(Iterator::collect).map_err(RunFault::io("read", &path)),
        }
    }
}

fn ends_with(name: &OsStr, end: &str) -> bool {
    name.as_encoded_bytes().ends_with(end.as_bytes())
}

/// A file that is to be written.
pub(crate) struct NewFile<'a> {
    pub(crate) name: String,
    pub(crate) bytes: &'a [u8],
    pub(crate) mode: u32,
}

/// The components and packs that a run keeps in its folder.
#[derive(Debug, Clone)]
pub struct FolderShelf(PathBuf);

impl FolderShelf {
    /// Those of the run in `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    fn take(&self, name: &str, limit: u64) -> Result<Vec<u8>, HostFault> {
        let fault = |source| HostFault { doing: "reading what a match is played with", source };
        match read(&self.0.join(name), limit) {
            Ok(Some(bytes)) => Ok(bytes),
            // The name holds a digest, and a fault may be told before the identities are.
            Ok(None) => Err(fault("it is missing".into())),
            Err(RunFault::Io { source, .. }) => Err(fault(source.into())),
            Err(why) => Err(fault(why.into())),
        }
    }
}

impl Shelf for FolderShelf {
    fn component(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        self.take(&component_name(sha256), COMPONENT_BYTES_MAX)
    }

    fn pack(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        self.take(&pack_name(sha256), DOCUMENT_BYTES_MAX as u64)
    }
}

/// The name of a record.
pub fn match_name(id: MatchId) -> String {
    format!("{MATCHES}/{id}.json")
}

/// The name of what the guests of a match said.
pub(crate) fn guest_name(id: MatchId) -> String {
    format!("{GUEST}/{id}.json")
}

/// The name of a strategy.
pub fn component_name(sha256: Digest) -> String {
    format!("{COMPONENTS}/{sha256}.wasm")
}

/// The name of a pack.
pub fn pack_name(sha256: Digest) -> String {
    format!("{PACKS}/{sha256}.json")
}

/// Opens a regular file, and nothing else: in a stranger's folder a name may lead to a pipe that never
/// ends, or out of the folder.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_with(path).map(|(file, _)| file)
}

fn open_with(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = options.read(true).custom_flags(flags.bits() as i32).open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about)) } else { Err(io::Error::other("it is not a regular file")) }
}

/// Whether a file has the mode that disclosure gives it.
pub(crate) fn is_open(about: &Metadata) -> bool {
    about.permissions().mode() & 0o7777 == OPEN_MODE
}

/// The bytes of a file, of at most `limit`; nothing if there is none.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, RunFault> {
    read_with(path, limit).map(|read| read.map(|(bytes, _)| bytes))
}

fn read_with(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Metadata)>, RunFault> {
    let (file, about) = match open_with(path) {
        Ok(opened) => opened,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(RunFault::io("open", path)(why)),
    };
    let mut bytes = Vec::new();
    bytes.reserve_exact(about.len().min(limit) as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(RunFault::io("read", path))?;
    if bytes.len() as u64 > limit {
        let why = io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {limit} bytes"));
        return Err(RunFault::io("read", path)(why));
    }
    Ok(Some((bytes, about)))
}

/// Writes a file under a temporary name: to be synced and renamed by its caller.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8], mode: u32) -> Result<(), RunFault> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let mut file = options.open(path).map_err(RunFault::io("create", path))?;
    file.write_all(bytes).map_err(RunFault::io("write", path))
}

fn write_synced(path: &Path, bytes: &[u8], mode: u32) -> Result<(), RunFault> {
    write_unsynced(path, bytes, mode)?;
    sync_file(path)
}

fn sync_file(path: &Path) -> Result<(), RunFault> {
    File::open(path).and_then(|file| file.sync_all()).map_err(RunFault::io("sync", path))
}

/// The name of a file until it is whole.
pub(crate) fn temporary(root: &Path, name: &str) -> PathBuf {
    root.join(format!("{name}{TEMPORARY}"))
}

/// Makes files last that lie under their temporary names: synced, renamed, their folders synced, in this
/// order.
pub(crate) fn make_last(root: &Path, names: &[&str]) -> Result<(), RunFault> {
    sync_all(root, names)?;
    let mut folders = BTreeMap::new();
    for name in names {
        let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
        folders.entry(folder).or_insert_with(Vec::new).push(name);
    }
    for (folder, names) in folders {
        let path = root.join(folder);
        let handle = File::open(&path).map_err(RunFault::io("open", &path))?;
        for name in names {
            let renamed = renameat(&handle, format!("{name}{TEMPORARY}"), &handle, name);
            renamed.map_err(|why| RunFault::io("rename", &path.join(name))(why.into()))?;
        }
        handle.sync_all().map_err(RunFault::io("sync", &path))?;
    }
    Ok(())
}

/// One call for the whole file system where there is one: a batch has hundreds of files.
#[cfg(target_os = "linux")]
fn sync_all(root: &Path, _names: &[&str]) -> Result<(), RunFault> {
    let synced = File::open(root).and_then(|root| rustix::fs::syncfs(root).map_err(io::Error::from));
    synced.map_err(RunFault::io("sync", root))
}

#[cfg(not(target_os = "linux"))]
fn sync_all(root: &Path, names: &[&str]) -> Result<(), RunFault> {
    names.iter().try_for_each(|name| sync_file(&temporary(root, name)))
}

/// The renames themselves must survive a crash, too.
pub(crate) fn sync_folder(path: &Path) -> Result<(), RunFault> {
    sync_file(path)
}

fn remove(path: &Path) -> Result<(), RunFault> {
    match fs::remove_file(path) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => Err(RunFault::io("remove", path)(why)),
        _ => Ok(()),
    }
}

fn set_mode(path: &Path, mode: u32) -> Result<(), RunFault> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(RunFault::io("set the mode of", path))
}

//! States written down, so that a restart folds only what came after. A cache: whatever is wrong with one
//! costs time, never truth.
//!
//! A snapshot is a file of the folder `snapshots`, named after its place in the journal:
//!
//! ```text
//! "arena.snapshot.1\n" lp(discriminator) u64(seq) hash u64(n) n * u64(place left out) lp(state) SHA-256 of all before
//! ```
//!
//! It is used if it is whole, written by the same build, and of this journal: the event at its place has its
//! hash. What is wrong with one is told, and it is removed. It gets its name when it is on disk, so a crash
//! leaves the one before it.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind::NotFound;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arena_canon::{Digest, Hasher};

use crate::chain::Head;
use crate::domain::{Domain, OnNote, SnapshotNote};
use crate::fault::StoreFault;
use crate::fold::words;
use crate::folder::sync;

/// The snapshots in a store's folder.
pub const SNAPSHOTS: &str = "snapshots";

const MAGIC: &[u8] = b"arena.snapshot.1\n";
/// Snapshots kept: if the newest is no good, the one before it may be.
const KEPT: usize = 2;
/// Bytes of a snapshot; a larger one is neither written nor read.
const BYTES_MAX: u64 = 2_000_000_000;
const DIGEST_BYTES: usize = 32;
/// How much a thread that works beside the writer steps back behind the others.
pub(crate) const NICE: i32 = 10;

/// A state at a place of the journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Where.
    pub(crate) head: Head,
    /// Events up to there that are not in it, and are folded again.
    pub(crate) left_out: Vec<u64>,
    /// What its domain wrote.
    pub(crate) state: Vec<u8>,
}

/// What a snapshot is made of, wherever and whenever that is done.
pub(crate) struct Taken<D: Domain> {
    pub(crate) domain: Arc<D>,
    pub(crate) state: Arc<D::State>,
    pub(crate) head: Head,
    pub(crate) left_out: Vec<u64>,
    pub(crate) on_note: OnNote,
}

impl<D: Domain> Taken<D> {
    /// Writes it down, and tells what came of that.
    pub(crate) fn write(self, snapshots: &Snapshots) -> Result<(), StoreFault> {
        let Self { domain, state, head, left_out, on_note } = self;
        let seq = head.seq;
        let made = catch_unwind(AssertUnwindSafe(|| domain.snapshot(&state)));
        drop(state);
        let not_written = |why| on_note(&SnapshotNote::NotWritten { seq, why });
        let state = match made {
            Ok(Some(state)) => state,
            Ok(None) => return Ok(()),
            Err(panic) => {
                not_written(words(panic.as_ref()));
                return Ok(());
            }
        };
        let saved = snapshots.save(&Snapshot { head, left_out, state });
        match &saved {
            Ok(bytes) => on_note(&SnapshotNote::Written { seq, bytes: *bytes }),
            Err(why) => not_written(why.to_string()),
        }
        saved.map(|_| ())
    }
}

/// The snapshots of a folder that one build can use.
#[derive(Debug, Clone)]
pub(crate) struct Snapshots {
    folder: PathBuf,
    discriminator: String,
    /// The journal is known to be wrong: whatever is made of it must not be begun from.
    is_broken: Arc<AtomicBool>,
}

impl Snapshots {
    /// Those of the folder `root`, whose writer this is.
    pub(crate) fn open(root: &Path, discriminator: String) -> Result<Self, StoreFault> {
        let folder = root.join(SNAPSHOTS);
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(&folder).map_err(StoreFault::io("make", &folder))?;
        let snapshots = Self { folder, discriminator, is_broken: Arc::default() };
        // What a crash left of one that was being written. What cannot be removed is in nobody's way.
        for path in snapshots.files("tmp")?.into_iter().map(|(_, path)| path) {
            let _ = fs::remove_file(path);
        }
        Ok(snapshots)
    }

    /// Writes one down, and forgets older ones, and those that claim a later place. Tells its bytes.
    pub(crate) fn save(&self, snapshot: &Snapshot) -> Result<u64, StoreFault> {
        self.check_journal()?;
        let name = format!("{:020}", snapshot.head.seq);
        let (temporary, path) =
            (self.folder.join(format!("{name}.tmp")), self.folder.join(format!("{name}.snapshot")));
        let written = write(&temporary, &self.discriminator, snapshot);
        let bytes = match written {
            Ok(bytes) => bytes,
            Err(why) => {
                let _ = fs::remove_file(&temporary);
                return Err(StoreFault::io("write", &temporary)(why));
            }
        };
        fs::rename(&temporary, &path).map_err(StoreFault::io("rename", &path))?;
        sync(&self.folder)?;
        // Whoever found out meanwhile has removed what was there, or is seen here.
        if let Err(broken) = self.check_journal() {
            let _ = fs::remove_file(&path);
            return Err(broken);
        }
        let older = self.files("snapshot")?.into_iter().rev();
        let mut kept = 0;
        for (seq, path) in older {
            kept += usize::from(seq <= snapshot.head.seq);
            if seq > snapshot.head.seq || kept > KEPT {
                fs::remove_file(&path).map_err(StoreFault::io("remove", &path))?;
            }
        }
        Ok(bytes)
    }

    fn check_journal(&self) -> Result<(), StoreFault> {
        let why = || io::Error::other("the journal below it does not follow");
        match self.is_broken.load(Ordering::Acquire) {
            true => Err(StoreFault::io("write a snapshot in", &self.folder)(why())),
            false => Ok(()),
        }
    }

    /// The newest one before the place `below` that can be used. `is_of` says whether the journal has an event of
    /// this hash at this place. Every one that cannot be used goes.
    pub(crate) fn newest(
        &self,
        below: u64,
        is_of: impl Fn(Head) -> bool,
        note: &dyn Fn(&SnapshotNote),
    ) -> Result<Option<Snapshot>, StoreFault> {
        for (seq, path) in self.files("snapshot")?.into_iter().rev().filter(|(seq, _)| *seq < below) {
            let why = match read(&path, seq, &self.discriminator) {
                Ok(snapshot) if is_of(snapshot.head) => return Ok(Some(snapshot)),
                Ok(_) => "the journal has another event at its place".to_owned(),
                Err(why) => why,
            };
            self.remove(seq, why, note);
        }
        Ok(None)
    }

    /// Removes one that is no good, and says why. One that cannot be removed is passed over at every start.
    pub(crate) fn remove(&self, seq: u64, mut why: String, note: &dyn Fn(&SnapshotNote)) {
        let removed = fs::remove_file(self.folder.join(format!("{seq:020}.snapshot")));
        if let Err(failed) = removed.or_else(|why| if why.kind() == NotFound { Ok(()) } else { Err(why) }) {
            why = format!("{why}; and it cannot be removed: {failed}");
        }
        note(&SnapshotNote::Dropped { seq, why });
    }

    /// The journal is wrong: removes them all, as far as that can be done, and lets no other be written.
    pub(crate) fn clear(&self) {
        self.is_broken.store(true, Ordering::Release);
        for (_, path) in self.files("snapshot").unwrap_or_default() {
            let _ = fs::remove_file(path);
        }
    }

    /// The files with this ending whose names are places, by place.
    fn files(&self, ending: &str) -> Result<Vec<(u64, PathBuf)>, StoreFault> {
        let fault = || StoreFault::io("list", &self.folder);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(fault())? {
            let path = entry.map_err(fault())?.path();
            let place = path.file_stem().and_then(|stem| stem.to_str());
            let is_place = |stem: &&str| stem.len() == 20 && stem.bytes().all(|byte| byte.is_ascii_digit());
            let place = place.filter(is_place).and_then(|stem| stem.parse().ok());
            if let Some(place) = place.filter(|_| path.extension().is_some_and(|it| it == ending)) {
                files.push((place, path));
            }
        }
        files.sort_unstable();
        Ok(files)
    }
}

/// Everything that is written goes through the digest at its end.
struct Hashed<W> {
    file: W,
    hasher: Hasher,
    bytes: u64,
}

impl<W: Write> Hashed<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn put_long(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(&(bytes.len() as u64).to_be_bytes())?;
        self.put(bytes)
    }
}

fn write(path: &Path, discriminator: &str, snapshot: &Snapshot) -> io::Result<u64> {
    let Snapshot { head, left_out, state } = snapshot;
    let bytes = state.len() as u64 + 8 * left_out.len() as u64;
    if bytes > BYTES_MAX {
        let why = format!("it would have {bytes} bytes; the limit is {BYTES_MAX}");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let mut out = Hashed { file, hasher: Hasher::new(), bytes: 0 };
    let mut front = Vec::with_capacity(64 + 8 * left_out.len());
    front.extend_from_slice(MAGIC);
    front.extend_from_slice(&(discriminator.len() as u64).to_be_bytes());
    front.extend_from_slice(discriminator.as_bytes());
    front.extend_from_slice(&head.seq.to_be_bytes());
    front.extend_from_slice(head.hash.as_bytes());
    front.extend_from_slice(&(left_out.len() as u64).to_be_bytes());
    for place in left_out {
        front.extend_from_slice(&place.to_be_bytes());
    }
    out.put(&front)?;
    out.put_long(state)?;
    let Hashed { mut file, hasher, bytes } = out;
    file.write_all(hasher.digest().as_bytes())?;
    file.sync_all()?;
    Ok(bytes + DIGEST_BYTES as u64)
}

/// What a file holds, or what is wrong with it.
fn read(path: &Path, seq: u64, discriminator: &str) -> Result<Snapshot, String> {
    let bytes = content(path).map_err(|why| format!("it cannot be read: {why}"))?;
    let cut = bytes.len().checked_sub(DIGEST_BYTES).ok_or("it is too short")?;
    let (said, digest) = bytes.split_at(cut);
    if Digest::of(said).as_bytes() != digest {
        return Err("it is damaged: its digest is another".to_owned());
    }
    let mut rest = said.strip_prefix(MAGIC).ok_or("it has another format")?;
    if long(&mut rest) != Some(discriminator.as_bytes()) {
        return Err("another build wrote it".to_owned());
    }
    let parts = parts(&mut rest).filter(|_| rest.is_empty());
    let snapshot = parts.ok_or("it has another format")?;
    if snapshot.head.seq != seq {
        return Err(format!("it stands at {}, not where its name says", snapshot.head.seq));
    }
    Ok(snapshot)
}

/// What follows the discriminator.
fn parts(rest: &mut &[u8]) -> Option<Snapshot> {
    let seq = number(rest)?;
    let (hash, after) = rest.split_first_chunk::<DIGEST_BYTES>()?;
    let head = Head { seq, hash: Digest::from_bytes(*hash) };
    *rest = after;
    let count = usize::try_from(number(rest)?).ok()?;
    let (places, after) = rest.split_at_checked(count.checked_mul(8)?)?;
    *rest = after;
    let (places, _) = places.as_chunks::<8>();
    let left_out = places.iter().map(|place| u64::from_be_bytes(*place)).collect();
    Some(Snapshot { head, left_out, state: long(rest)?.to_vec() })
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    // A link is not followed, and a pipe not waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file: File = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > BYTES_MAX {
        return Err(io::Error::other(format!("it is no file of at most {BYTES_MAX} bytes")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(u64::from_be_bytes(*number))
}

fn long<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

//! Compiled strategies on disk. Originals are truth: a file here may be deleted at any time, and
//! one that cannot be trusted is compiled anew.

use std::hash::{Hash, Hasher};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::limits::V1;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::admit::Stamp;

/// Changes whenever an old file could be misread. 1: a digest of the artefact, then the artefact.
/// 2: the digest covers the strategy's own as well, so that a file cannot stand for another.
/// 3: a byte between the two says what admission found, so that nothing is admitted twice.
/// 4: a digest of that byte's own follows it, so that it can be read without the artefact.
const LAYOUT: u32 = 4;
/// Largest file that is read back.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Files that are kept; the oldest go.
const FILES_MAX: usize = 512;

/// A compiled component with what admission found.
pub(crate) struct Kept {
    pub(crate) component: Component,
    pub(crate) stamp: Stamp,
}

pub(crate) struct DiskCache {
    folder: PathBuf,
    compatibility: String,
}

impl DiskCache {
    /// Opens a folder that only its owner may write, and creates it if need be.
    pub(crate) fn open(folder: &Path, engine: &Engine) -> Result<Self, HostFault> {
        let cache = Self { folder: folder.to_owned(), compatibility: compatibility(engine) };
        let opened = cache.make_private();
        opened.map_err(|source| HostFault { doing: "opening the cache of compiled strategies", source })?;
        Ok(cache)
    }

    fn make_private(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let metadata = std::fs::metadata(&self.folder)?;
        let own = metadata.uid() == rustix::process::geteuid().as_raw();
        if own && metadata.permissions().mode() & 0o022 == 0 {
            return Ok(());
        }
        let shown = self.folder.display().to_string();
        Err(format!("{} can be written by others", arena_engine::Excerpt::line(&shown)).into())
    }

    /// Whether there is a file for this strategy that would be read. It may still be damaged.
    pub(crate) fn holds(&self, digest: Digest) -> bool {
        let Ok(metadata) = std::fs::symlink_metadata(self.path(digest)) else { return false };
        let own = metadata.uid() == rustix::process::geteuid().as_raw();
        let closed = metadata.permissions().mode() & 0o022 == 0;
        metadata.is_file() && own && closed && metadata.len() <= FILE_BYTES_MAX
    }

    /// What admission found of this strategy, if there is a file for it that would be read. Its artefact
    /// may still be damaged.
    pub(crate) fn stamp(&self, digest: Digest) -> Option<Stamp> {
        if !self.holds(digest) {
            return None;
        }
        let mut head = [0; 32 + STAMP_BYTES];
        std::fs::File::open(self.path(digest)).ok()?.read_exact(&mut head).ok()?;
        read_stamp(digest, &head[32..]).map(|(stamp, _)| stamp)
    }

    /// The compiled strategy, if it is here and undamaged.
    pub(crate) fn get(&self, digest: Digest, engine: &Engine) -> Option<Kept> {
        if !self.holds(digest) {
            return None;
        }
        let bytes = std::fs::read(self.path(digest)).ok()?;
        let (seal, sealed) = bytes.split_at_checked(32)?;
        if seal_of(digest, sealed).as_bytes() != seal {
            return None;
        }
        let (stamp, artefact) = read_stamp(digest, sealed)?;
        #[expect(unsafe_code, reason = "an artefact is machine code; see the comment")]
        // SAFETY: the folder and the file are this user's and not writable by others, the file was
        // written by `put` under a name that bears the runtime's compatibility hash, and its bytes
        // are those that were written.
        let component = unsafe { Component::deserialize(engine, artefact).ok()? };
        Some(Kept { component, stamp })
    }

    /// Keeps a compiled strategy: whole or not at all. The folder may have been deleted meanwhile.
    pub(crate) fn put(
        &self,
        digest: Digest,
        kept: &Kept,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut sealed = stamp_bytes(digest, kept.stamp).to_vec();
        sealed.append(&mut kept.component.serialize()?);
        self.make_private()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(seal_of(digest, &sealed).as_bytes())?;
        file.write_all(&sealed)?;
        file.persist(self.path(digest))?;
        self.forget_the_oldest()?;
        Ok(())
    }

    /// Keeps the folder within its bound.
    fn forget_the_oldest(&self) -> std::io::Result<()> {
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "cwasm") {
                kept.push((std::fs::symlink_metadata(&path)?.modified()?, path));
            }
        }
        kept.sort();
        let too_many = kept.len().saturating_sub(FILES_MAX);
        kept.iter().take(too_many).try_for_each(|(_, path)| std::fs::remove_file(path))
    }

    fn path(&self, digest: Digest) -> PathBuf {
        self.folder.join(format!("{digest}-{}.cwasm", self.compatibility))
    }
}

/// What admission found, and a digest that holds it to the strategy.
const STAMP_BYTES: usize = 33;

fn stamp_bytes(strategy: Digest, stamp: Stamp) -> [u8; STAMP_BYTES] {
    let mut bytes = [stamp.byte(); STAMP_BYTES];
    bytes[1..].copy_from_slice(seal_of(strategy, &[stamp.byte()]).as_bytes());
    bytes
}

/// The stamp at the start of `sealed`, and what follows it.
fn read_stamp(strategy: Digest, sealed: &[u8]) -> Option<(Stamp, &[u8])> {
    let (read, rest) = sealed.split_at_checked(STAMP_BYTES)?;
    let stamp = Stamp::of_byte(read[0])?;
    (stamp_bytes(strategy, stamp) == read).then_some((stamp, rest))
}

fn seal_of(strategy: Digest, sealed: &[u8]) -> Digest {
    Digest::of_parts(&[strategy.as_bytes(), sealed])
}

/// Whatever makes an artefact unreadable to another build of the runtime, or admitted by other rules.
fn compatibility(engine: &Engine) -> String {
    let mut hasher = Bytes(Vec::new());
    (LAYOUT, crate::WASMTIME_VERSION, env!("CARGO_PKG_VERSION"), V1.version).hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    Digest::of(&hasher.0).short()
}

/// Collects what is hashed: the standard library's own hashers may change between releases.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn finish(&self) -> u64 {
        0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

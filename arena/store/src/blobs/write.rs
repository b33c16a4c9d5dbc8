use std::io::{self, Write};

use arena_canon::{Digest, Hasher};
use cap_std::fs::File;

use super::{BlobFault, Blobs, PENDING, create_new, failed, name_of, pending_of, sync};

/// A blob that is being written, under a temporary name. It is hashed on the way.
#[derive(Debug)]
pub struct BlobWriter {
    blobs: Blobs,
    file: File,
    name: String,
    hasher: Hasher,
    bytes: u64,
    limit: u64,
}

impl BlobWriter {
    pub(super) fn new(blobs: Blobs, name: String, limit: u64) -> Result<Self, BlobFault> {
        let file = create_new(&blobs.0.folder, &name).map_err(failed("create"))?;
        Ok(Self { blobs, file, name, hasher: Hasher::new(), bytes: 0, limit })
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Makes it visible under its digest, safe against a crash, and tells the digest. With one `expected` it
    /// has to be that. A blob that is there already stays, and is whole again if it was damaged.
    pub fn finish(self, expected: Option<Digest>) -> Result<Digest, BlobFault> {
        let found = self.check(expected)?;
        self.blobs.make_shelf(found)?;
        let folder = &self.blobs.0.folder;
        folder.rename(&self.name, folder, name_of(found)).map_err(failed("rename"))?;
        self.blobs.sync_shelf(found)?;
        // It may have been withheld in between.
        if self.blobs.reason(found)?.is_some() {
            let _ = folder.remove_file(name_of(found));
            return Err(BlobFault::Withheld(found));
        }
        Ok(found)
    }

    /// The same, but it is put aside until what names it is committed.
    pub(super) fn finish_aside(self) -> Result<Digest, BlobFault> {
        let found = self.check(None)?;
        let folder = &self.blobs.0.folder;
        folder.rename(&self.name, folder, pending_of(found)).map_err(failed("rename"))?;
        sync(folder, PENDING).map_err(failed("sync"))?;
        Ok(found)
    }

    /// The digest of what was written, once that is on disk, if it is what it should be and may be here.
    fn check(&self, expected: Option<Digest>) -> Result<Digest, BlobFault> {
        if self.bytes > self.limit {
            return Err(BlobFault::TooLarge { limit: self.limit });
        }
        let found = self.hasher.clone().digest();
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            return Err(BlobFault::Another { expected, found });
        }
        if self.blobs.reason(found)?.is_some() {
            return Err(BlobFault::Withheld(found));
        }
        self.file.sync_all().map_err(failed("sync"))?;
        Ok(found)
    }
}

impl Write for BlobWriter {
    /// Refuses a piece that goes beyond the limit; then the blob cannot be finished either.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let after = self.bytes.saturating_add(piece.len() as u64);
        if after > self.limit {
            self.bytes = after;
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                BlobFault::TooLarge { limit: self.limit },
            ));
        }
        let n = self.file.write(piece)?;
        self.hasher.update(&piece[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        // After a finish there is nothing of this name.
        let _ = self.blobs.0.folder.remove_file(&self.name);
    }
}

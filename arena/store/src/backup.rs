//! A copy of a folder while its writer is at work.
//!
//! The database is copied in one read transaction, so it is the state of one commit; writers do not wait. A
//! blob is on disk before the event that names it, so every blob that the copy names is still to be copied
//! or was withheld meanwhile. The database gets its name last: a copy that was stopped holds no journal.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::blobs::{BLOB_BYTES_MAX, BlobFault, Blobs, Streamed};
use crate::chain::Head;
use crate::fault::StoreFault;
use crate::folder::{BLOBS, Folder, JOURNAL, find_journal, make_private, sync};
use crate::journal::{digest, head, unsigned};
use crate::schema;

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// Where the copy's journal ends.
    pub head: Head,
    /// Blobs copied, each hashed on the way.
    pub blobs: u64,
    /// Their bytes.
    pub blob_bytes: u64,
    /// Blobs that are withheld.
    pub withheld: u64,
    /// What is wrong with the original's blobs, and so with the copy.
    pub faults: Vec<String>,
}

/// Copies the folder `root` to `copy`, which must be empty or not there.
pub fn backup(root: &Path, copy: &Path) -> Result<BackedUp, StoreFault> {
    let source = schema::open_to_read(&find_journal(root)?)?;
    let blobs = Blobs::open(&root.join(BLOBS))?;
    let folder = Folder::lock(copy)?;
    let copy = folder.root.as_path();
    if fs::read_dir(copy).map_err(StoreFault::io("list", copy))?.next().is_some() {
        let why = io::Error::new(io::ErrorKind::DirectoryNotEmpty, "it is not empty");
        return Err(StoreFault::io("copy to", copy)(why));
    }
    let temporary = copy.join(format!("{JOURNAL}.tmp"));
    make_private(&temporary)?;
    let mut target = Connection::open(&temporary)?;
    loop {
        // All pages at once: between two steps another commit would start it anew.
        match Backup::new(&source, &mut target)?.step(-1)? {
            StepResult::Done => break,
            _ => std::thread::sleep(std::time::Duration::from_millis(50)),
        }
    }
    drop(source);
    let mut done =
        BackedUp { head: head(&target)?, blobs: 0, blob_bytes: 0, withheld: 0, faults: Vec::new() };
    copy_blobs(&target, &blobs, &Blobs::create(&copy.join(BLOBS))?, &mut done)?;
    target.close().map_err(|(_, why)| why)?;
    sync(&temporary)?;
    let path = copy.join(JOURNAL);
    fs::rename(&temporary, &path).map_err(StoreFault::io("rename", &path))?;
    sync(copy)?;
    Ok(done)
}

fn copy_blobs(db: &Connection, from: &Blobs, to: &Blobs, done: &mut BackedUp) -> Result<(), StoreFault> {
    let mut statement = db.prepare("SELECT sha256, bytes FROM blobs_meta ORDER BY sha256")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (sha256, bytes) = (digest(row, 0)?, unsigned(row, 1)?);
        let mut writer = to.writer(bytes)?;
        let mut written = Ok(());
        let streamed = from.stream(sha256, BLOB_BYTES_MAX, &mut |piece| {
            if written.is_ok() {
                written = writer.write_all(piece);
            }
        });
        let fault = match streamed {
            Ok(Streamed::Withheld { reason }) => {
                to.withhold(sha256, &reason)?;
                done.withheld += 1;
                continue;
            }
            Ok(Streamed::Missing) => format!("blob {sha256} is missing"),
            Err(why @ BlobFault::Damaged(_)) => why.to_string(),
            Err(why) => return Err(why.into()),
            Ok(Streamed::Whole) if writer.bytes() > bytes => {
                format!("blob {sha256} is longer than the {bytes} bytes that are booked")
            }
            Ok(Streamed::Whole) => {
                written.map_err(|source| BlobFault::Io { doing: "copy", source })?;
                writer.finish(Some(sha256))?;
                (done.blobs, done.blob_bytes) = (done.blobs + 1, done.blob_bytes + bytes);
                continue;
            }
        };
        if done.faults.len() < crate::verify::FAULTS_MAX {
            done.faults.push(fault);
        }
    }
    Ok(())
}

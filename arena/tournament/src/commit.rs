//! Makes records last: a batch at a time, on a thread of its own, so that workers need not wait for
//! the disk.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use arena_canon::Digest;

use crate::executor::Body;
use crate::fault::RunFault;
use crate::folder::{self, Folder, GUEST, MATCHES, guest_name, match_name};
use crate::journal::Journal;
use crate::names::MatchId;
use crate::record::Used;

/// A record that is about to last.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) id: MatchId,
    pub(crate) digest: Digest,
    pub(crate) used: Used,
    pub(crate) body: Body,
    /// Whether the journal has it already: then only its files are missing.
    pub(crate) journaled: bool,
}

/// The thread that commits.
pub(crate) struct Committer {
    batches: SyncSender<Vec<Ready>>,
    done: Receiver<Result<Vec<MatchId>, RunFault>>,
    thread: JoinHandle<Journal>,
}

impl Committer {
    pub(crate) fn start(folder: &Folder, mut journal: Journal) -> Self {
        let (batches, waiting) = sync_channel::<Vec<Ready>>(1);
        let (finished, done) = channel();
        let root = folder.root().to_owned();
        let thread = std::thread::spawn(move || {
            work(&root, &mut journal, &waiting, &finished);
            journal
        });
        Self { batches, done, thread }
    }

    /// Hands over a batch; waits while another is being written and one is waiting already.
    pub(crate) fn commit(&self, batch: Vec<Ready>) -> Result<(), RunFault> {
        if batch.is_empty() || self.batches.send(batch).is_ok() {
            return Ok(());
        }
        // The thread ends early only after it has told why.
        self.failure()
    }

    /// The ids of batches that are committed by now.
    pub(crate) fn committed(&self) -> Result<Vec<MatchId>, RunFault> {
        let mut ids = Vec::new();
        for batch in self.done.try_iter() {
            ids.extend(batch?);
        }
        Ok(ids)
    }

    /// Waits for everything that was handed over.
    pub(crate) fn finish(self) -> Result<(Vec<MatchId>, Journal), RunFault> {
        drop(self.batches);
        let journal = self.thread.join().map_err(|_| RunFault::Executor("committing panicked".into()))?;
        let ids: Result<Vec<_>, _> = self.done.into_iter().collect();
        Ok((ids?.concat(), journal))
    }

    fn failure(&self) -> Result<(), RunFault> {
        for batch in self.done.iter() {
            batch?;
        }
        Err(RunFault::Executor("committing ended early".to_owned()))
    }
}

fn work(
    root: &Path,
    journal: &mut Journal,
    waiting: &Receiver<Vec<Ready>>,
    finished: &Sender<Result<Vec<MatchId>, RunFault>>,
) {
    for batch in waiting {
        let outcome = commit(root, journal, &batch);
        let failed = outcome.is_err();
        let told = finished.send(outcome.map(|()| batch.iter().map(|ready| ready.id).collect()));
        if failed || told.is_err() {
            return;
        }
    }
}

/// Written, synced, renamed, the folders synced, the journal appended and synced: in this order, a
/// crash at any byte leaves only whole records, and a journal that knows no other.
fn commit(root: &Path, journal: &mut Journal, batch: &[Ready]) -> Result<(), RunFault> {
    let mut names = Vec::with_capacity(batch.len());
    for ready in batch {
        let (record, guest) = (match_name(ready.id), guest_name(ready.id));
        let has_guest = match &ready.body {
            Body::Kept => continue,
            Body::Staged { guest } => *guest,
            Body::Here { record: bytes, guest: said } => {
                stage(root, &record, bytes)?;
                if let Some(said) = said {
                    stage(root, &guest, said)?;
                }
                said.is_some()
            }
        };
        names.extend(has_guest.then_some(guest));
        names.push(record);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder::make_last(root, &names)?;
    if batch.iter().any(|ready| matches!(ready.body, Body::Kept)) {
        folder::sync_folder(&root.join(MATCHES))?;
    }
    let new = batch.iter().filter(|ready| !ready.journaled);
    journal.append(new.map(|ready| (ready.id, ready.digest, ready.used)))
}

/// Puts a file into the folder under its temporary name. What guests said is its owner's alone.
pub(crate) fn stage(root: &Path, name: &str, bytes: &[u8]) -> Result<(), RunFault> {
    let mode = if name.starts_with(GUEST) { 0o600 } else { 0o644 };
    folder::write_unsynced(&folder::temporary(root, name), bytes, mode)
}

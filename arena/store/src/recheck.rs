//! Checks, beside the writer, the events that a start from a snapshot took as they are.
//!
//! A start without a snapshot follows the chain from the first event on, and refuses what does not follow. A start from
//! one follows it from the snapshot's place on. What is before is followed here, while commands are carried out
//! already. If it does not follow, that is told, and the snapshots go: the next start follows everything, and refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::chain::{Head, follows};
use crate::domain::{OnNote, SnapshotNote};
use crate::event::Event;
use crate::journal::Journal;
use crate::snapshot::Snapshots;

/// Events that are read at once, and after which it is seen whether anybody waits for the end.
const PAGE: usize = 256;
/// How often a read that failed is tried again, and the time between.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(50);

/// The thread; it ends when this is dropped.
pub(crate) struct Recheck {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Recheck {
    /// Follows the chain up to a snapshot's place. Without a thread for it nothing is checked, and the next start may.
    pub(crate) fn start(journal: Journal, upto: Head, snapshots: Snapshots, on_note: OnNote) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let check = move || {
            // Commands come first.
            let _ = rustix::process::nice(crate::snapshot::NICE);
            if let Err((seq, why)) = follow(&journal, upto, &told) {
                on_note(&SnapshotNote::Broken { seq, why });
                snapshots.clear();
            }
        };
        let thread = thread::Builder::new().name("store-recheck".to_owned()).spawn(check).ok();
        Self { ends, thread }
    }
}

impl Drop for Recheck {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The events after a place. What fails because much goes on at once does not fail again and again.
fn read(journal: &Journal, after: u64) -> Result<Vec<Event>, String> {
    for _ in 0..TRIES {
        if let Ok(events) = journal.after(after, PAGE) {
            return Ok(events);
        }
        thread::sleep(PAUSE);
    }
    journal.after(after, PAGE).map_err(|why| format!("it cannot be read: {why}"))
}

/// Whether every event up to a place follows; if not, the first one that does not. One that cannot be read follows
/// nothing either: a damaged page is found here, and not by whoever asks for it years later.
fn follow(journal: &Journal, upto: Head, ends: &AtomicBool) -> Result<(), (u64, String)> {
    let mut head = Head::EMPTY;
    while head.seq < upto.seq && !ends.load(Ordering::Acquire) {
        let events = read(journal, head.seq).map_err(|why| (head.seq + 1, why))?;
        if events.is_empty() {
            return Err((head.seq + 1, "it is not there".to_owned()));
        }
        for event in events.iter().filter(|event| event.seq <= upto.seq) {
            head = follows(head, event).map_err(|why| (event.seq, why))?;
        }
    }
    if head.seq == upto.seq && head.hash != upto.hash {
        return Err((head.seq, format!("its hash is {}, not {}", head.hash, upto.hash)));
    }
    Ok(())
}

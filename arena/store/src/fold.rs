//! The state from the journal: from the newest snapshot that is good and all events after it, or from all events.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::{Connection, OptionalExtension};

use crate::chain::{Head, follows};
use crate::domain::{Domain, SnapshotNote, Unfit};
use crate::event::Event;
use crate::fault::StoreFault;
use crate::journal::{COLUMNS, digest, event, signed};
use crate::snapshot::{Snapshot, Snapshots};

/// Events that are handed over at once from one thread to the next: one reads, one checks, one folds.
const PAGE: usize = 256;
/// Such pages that wait for a thread.
const PAGES_AHEAD: usize = 4;

/// What a journal comes to.
pub(crate) struct Folded<S> {
    pub(crate) state: S,
    /// Where it ends.
    pub(crate) head: Head,
    /// Where the snapshot was from which it was begun; the start of the journal, if there was none.
    pub(crate) snapshot: Head,
    /// Events that snapshots leave out.
    pub(crate) left_out: Vec<u64>,
}

/// Takes one event in.
type Evolve<D> = fn(&D, &mut <D as Domain>::State, &Event) -> Result<(), Unfit>;

/// A state, and the places of events that snapshots leave out of it.
type Partly<D> = Result<(<D as Domain>::State, Vec<u64>), StoreFault>;

/// The state at the end of the journal. Every event that is folded is checked.
pub(crate) fn fold<D: Domain>(
    db: &Connection,
    domain: &D,
    snapshots: &Snapshots,
    note: &dyn Fn(&SnapshotNote),
) -> Result<Folded<D::State>, StoreFault> {
    let is_of = |head: Head| hash_at(db, head.seq).is_ok_and(|hash| hash == Some(head));
    let mut below = u64::MAX;
    while let Some(snapshot) = snapshots.newest(below, is_of, note)? {
        let (seq, left_out) = (snapshot.head.seq, snapshot.left_out.len() as u64);
        match begin(db, domain, snapshot) {
            Ok(folded) => {
                note(&SnapshotNote::Used { seq, left_out, after: folded.head.seq - seq });
                return Ok(folded);
            }
            // If it is the journal that is wrong, folding everything tells.
            Err(why) => snapshots.remove(seq, why, note),
        }
        below = seq;
    }
    go_on(db, domain, (domain.initial(), Head::EMPTY), Vec::new())
}

/// The state from a snapshot: what it holds, what it left out, and what came after it. If not, why.
fn begin<D: Domain>(db: &Connection, domain: &D, snapshot: Snapshot) -> Result<Folded<D::State>, String> {
    let Snapshot { head, left_out, state } = snapshot;
    let restored = catch_unwind(AssertUnwindSafe(|| domain.restore(&state)));
    let restored = restored.map_err(|panic| words(panic.as_ref()))?;
    let restored = restored.ok_or("the domain makes nothing of it")?;
    // It may be large, and is not needed any more.
    drop(state);
    let (read, folded) = both(domain, restored, D::refold, |pages| read_some(db, &left_out, pages));
    let (state, _) = folded.map_err(|why| why.to_string())?;
    read.map_err(|why| why.to_string())?;
    go_on(db, domain, (state, head), left_out).map_err(|why| why.to_string())
}

/// The state after all events that come after a place.
fn go_on<D: Domain>(
    db: &Connection,
    domain: &D,
    (state, from): (D::State, Head),
    mut left_out: Vec<u64>,
) -> Result<Folded<D::State>, StoreFault> {
    let (read, checked, folded) = thread::scope(|scope| {
        let (to_check, read_pages) = sync_channel(PAGES_AHEAD);
        let (to_fold, checked_pages) = sync_channel(PAGES_AHEAD);
        let checking = scope.spawn(move || check_pages(from, &read_pages, to_fold));
        let folding = scope.spawn(move || fold_pages(domain, state, D::catch_up, &checked_pages));
        let read = read_after(db, from.seq, to_check);
        (read, checking.join(), folding.join())
    });
    // What could not be folded comes before what does not follow, and that before what could not be read.
    let (state, more) = folded.unwrap_or_else(|panic| resume_unwind(panic))?;
    let head = checked.unwrap_or_else(|panic| resume_unwind(panic))?;
    read?;
    left_out.extend(more);
    Ok(Folded { state, head, snapshot: from, left_out })
}

/// One thread reads and checks, the other folds.
fn both<D: Domain, T>(
    domain: &D,
    state: D::State,
    evolve: Evolve<D>,
    read: impl FnOnce(SyncSender<Vec<Event>>) -> T,
) -> (T, Partly<D>) {
    let (sender, receiver) = sync_channel(PAGES_AHEAD);
    let (read, folded) = thread::scope(|scope| {
        let folding = scope.spawn(move || fold_pages(domain, state, evolve, &receiver));
        let read = read(sender);
        (read, folding.join())
    });
    (read, folded.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Reads all events after a place, and hands them on. Whoever takes them may stop.
fn read_after(db: &Connection, seq: u64, pages: SyncSender<Vec<Event>>) -> Result<(), StoreFault> {
    let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} WHERE seq > ?1 ORDER BY seq"))?;
    let mut rows = statement.query([signed(seq)])?;
    let mut page = Vec::with_capacity(PAGE);
    while let Some(row) = rows.next()? {
        page.push(event(row)?);
        if page.len() == PAGE && pages.send(std::mem::replace(&mut page, Vec::with_capacity(PAGE))).is_err() {
            return Ok(());
        }
    }
    let _ = pages.send(page);
    Ok(())
}

/// Checks each event that is handed over, and hands it on; where they end.
fn check_pages(
    mut head: Head,
    read: &Receiver<Vec<Event>>,
    pages: SyncSender<Vec<Event>>,
) -> Result<Head, StoreFault> {
    for page in read {
        for event in &page {
            head = follows(head, event).map_err(|why| StoreFault::Broken { seq: event.seq, why })?;
        }
        if pages.send(page).is_err() {
            return Ok(head);
        }
    }
    Ok(head)
}

/// Reads the events at these places, checks each by itself, and hands them on.
fn read_some(db: &Connection, places: &[u64], pages: SyncSender<Vec<Event>>) -> Result<(), StoreFault> {
    let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} WHERE seq = ?1"))?;
    for places in places.chunks(PAGE) {
        let mut page = Vec::with_capacity(places.len());
        for &seq in places {
            let broken = |why| StoreFault::Broken { seq, why };
            let event = statement.query_row([signed(seq)], event).optional()?;
            let event = event.ok_or_else(|| broken("it is not there".to_owned()))?;
            let before = Head { seq: seq.saturating_sub(1), hash: event.prev };
            follows(before, &event).map_err(broken)?;
            page.push(event);
        }
        if pages.send(page).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Folds what is handed over, until there is no more. Gives the places that snapshots leave out as well.
fn fold_pages<D: Domain>(
    domain: &D,
    mut state: D::State,
    evolve: Evolve<D>,
    pages: &Receiver<Vec<Event>>,
) -> Partly<D> {
    let mut left_out = Vec::new();
    for event in pages.iter().flatten() {
        take_in(domain, &mut state, evolve, &event)?;
        if !domain.is_in_snapshot(&event.kind) {
            left_out.push(event.seq);
        }
    }
    Ok((state, left_out))
}

/// Takes an event in. A fault of the domain's, or its panic, is one of the event.
pub(crate) fn evolve<D: Domain>(domain: &D, state: &mut D::State, event: &Event) -> Result<(), StoreFault> {
    take_in(domain, state, D::evolve, event)
}

fn take_in<D: Domain>(
    domain: &D,
    state: &mut D::State,
    evolve: Evolve<D>,
    event: &Event,
) -> Result<(), StoreFault> {
    let evolved = catch_unwind(AssertUnwindSafe(|| evolve(domain, state, event)));
    let why = match evolved {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(unfit)) => unfit.0,
        Err(panic) => words(panic.as_ref()),
    };
    let (seq, kind, version) = (event.seq, event.kind.clone(), event.version);
    Err(StoreFault::Unfit { seq, kind, version, why })
}

/// The event of a place with its hash.
fn hash_at(db: &Connection, seq: u64) -> rusqlite::Result<Option<Head>> {
    let mut statement = db.prepare_cached("SELECT hash FROM events WHERE seq = ?1")?;
    statement.query_row([signed(seq)], |row| Ok(Head { seq, hash: digest(row, 0)? })).optional()
}

/// What a panic said.
pub(crate) fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    text.chars().take(200).collect()
}

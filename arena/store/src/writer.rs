//! The one thread that writes: it takes what waits, decides each command in a savepoint of one transaction,
//! commits once, and only then answers.
//!
//! Readers have the state of the last commit, and nobody sees what may be taken back: a batch works on a copy,
//! which is published once it is on disk. If the commit fails, the copy is thrown away, and every command of the
//! batch is told. So readers never wait for the disk, and the writer never waits for a reader.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arena_canon::Digest;
use rusqlite::Connection;

use crate::append::{Append, Done};
use crate::blobs::{self, Blobs};
use crate::chain::Head;
use crate::checkpoint::{Checkpoints, READERS_WAIT, truncate};
use crate::domain::{Domain, Failed, Options, Stop};
use crate::event::Event;
use crate::fault::StoreFault;
use crate::fold::{Folded, evolve, fold, words};
use crate::folder::{BLOBS, Folder};
use crate::journal::{Journal, head, unsigned};
use crate::projection::{self, Projection, Projections};
use crate::recheck::Recheck;
use crate::schema;
use crate::snapshot::{NICE, Snapshots, Taken};
use crate::store::Shared;

/// How long the writer waits for commands while something that was withheld is still on disk.
const AGAIN: Duration = Duration::from_secs(1);

/// Called once with what came of a command.
pub(crate) type Completion<D> =
    Box<dyn FnOnce(Result<<D as Domain>::Answer, Failed<<D as Domain>::Refusal>>) + Send>;

/// What came of a batch: of each command, what was appended, where the journal ends, and the state there.
struct Transacted<D: Domain> {
    outcomes: Vec<Outcome<D>>,
    events: Vec<Event>,
    head: Head,
    state: D::State,
}

type Outcome<D> = Result<<D as Domain>::Answer, Failed<<D as Domain>::Refusal>>;

/// What the writer is asked to do.
pub(crate) enum Job<D: Domain> {
    /// A command of the domain.
    Command(D::Command, Completion<D>),
    /// Something between two batches.
    Control(Control<D>),
}

pub(crate) type Control<D> = Box<dyn FnOnce(&mut Worker<D>) + Send>;

pub(crate) struct Worker<D: Domain> {
    db: Connection,
    /// Gone only at the end, before the log itself goes.
    checkpoints: Option<Checkpoints>,
    domain: Arc<D>,
    projections: Projections,
    options: Options,
    state: Shared<D>,
    blobs: Blobs,
    head: Head,
    known: BTreeSet<(String, u32)>,
    snapshots: Snapshots,
    /// Where the snapshot was that the state was begun from; the start of the journal, if there was none.
    begun_at: Head,
    /// Where the last one was taken, or tried.
    snapshot_seq: u64,
    /// Events that snapshots leave out.
    left_out: Vec<u64>,
    /// One that is being written.
    snapping: Option<JoinHandle<()>>,
    /// Files that must go and could not yet.
    to_withhold: Vec<(Digest, String)>,
    /// The log may tell what was overwritten since; how long its readers are waited for.
    to_truncate: Option<Duration>,
    /// Last, so that it is released last.
    _folder: Folder,
}

impl<D: Domain> Worker<D> {
    pub(crate) fn open(
        root: &Path,
        domain: D,
        projections: Projections,
        options: Options,
        state: Shared<D>,
    ) -> Result<Self, StoreFault> {
        let folder = Folder::lock(root)?;
        let path = folder.make_journal()?;
        let db = schema::open_to_write(&path, options.pages_max)?;
        let checkpoints = Some(Checkpoints::start(&path, &db)?);
        if !options.is_durable {
            db.pragma_update(None, "synchronous", "off")?;
        }
        let blobs = Blobs::create(&folder.root.join(BLOBS))?;
        let snapshots = Snapshots::open(&folder.root, domain.discriminator())?;
        let known = kinds(&db, &domain)?;
        let tx = db.unchecked_transaction()?;
        projection::bring_up(&tx, &projections)?;
        tx.commit()?;
        blobs.settle_all(&db)?;
        if let Some(before_ms) = options.unbooked_before_ms {
            blobs.remove_unbooked(&db, before_ms)?;
        }
        let to_withhold = blobs::withheld(&db)?;
        to_withhold.iter().for_each(|(sha256, reason)| blobs.condemn(*sha256, reason));
        let to_truncate = (!to_withhold.is_empty()).then_some(READERS_WAIT);
        let mut worker = Self {
            db,
            checkpoints,
            domain: Arc::new(domain),
            projections,
            options,
            state,
            blobs,
            head: Head::EMPTY,
            known,
            snapshots,
            begun_at: Head::EMPTY,
            snapshot_seq: 0,
            left_out: Vec::new(),
            snapping: None,
            to_withhold,
            to_truncate,
            _folder: folder,
        };
        worker.withhold();
        let state = worker.fold()?;
        worker.publish(state);
        Ok(worker)
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Has the events checked that the start took as they are, if there are any.
    pub(crate) fn recheck(&self, journal: &Journal) -> Option<Recheck> {
        let begun = Some(self.begun_at).filter(|begun| *begun != Head::EMPTY)?;
        let on_note = Arc::clone(&self.options.on_note);
        Some(Recheck::start(journal.clone(), begun, self.snapshots.clone(), on_note))
    }

    /// Works until no one can ask any more, or until the folder cannot be read again after a failure.
    pub(crate) fn work(mut self, jobs: &Receiver<Job<D>>) {
        let mut next = None;
        while let Some(job) = next.take().or_else(|| self.next_job(jobs)) {
            let mut batch = Vec::new();
            match job {
                Job::Control(what) => what(&mut self),
                Job::Command(command, then) => batch.push((command, then)),
            }
            while !batch.is_empty() && batch.len() < self.options.batch_max {
                match jobs.try_recv() {
                    Ok(Job::Command(command, then)) => batch.push((command, then)),
                    Ok(control) => {
                        next = Some(control);
                        break;
                    }
                    Err(_) => break,
                }
            }
            if !batch.is_empty() && !self.carry_out(batch) {
                return;
            }
            self.withhold();
            let since = self.head.seq - self.snapshot_seq;
            if since >= self.options.snapshot_every.max(self.head.seq / 10) {
                self.snapshot_aside();
            }
        }
        if self.head.seq - self.snapshot_seq >= self.options.snapshot_every / 10 {
            // It is a cache, and what is wrong is told.
            let _ = self.snapshot();
        }
        self.settle_snapshot();
        self.checkpoints = None;
        // Where commits were not waited for, all of them are now: the log is synced before it is moved.
        let _ = self.db.pragma_update(None, "synchronous", "full");
        // Whatever is left in the log beside it comes into the database's file, unless a reader is at work.
        let _ = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    /// What is asked next. Meanwhile it is tried again to take away what could not go yet.
    fn next_job(&mut self, jobs: &Receiver<Job<D>>) -> Option<Job<D>> {
        while !self.to_withhold.is_empty() || self.to_truncate.is_some() {
            match jobs.recv_timeout(AGAIN) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    self.to_truncate = self.to_truncate.map(|_| READERS_WAIT);
                    self.withhold();
                }
            }
        }
        jobs.recv().ok()
    }

    /// Carries out a batch; false if the writer cannot go on.
    fn carry_out(&mut self, batch: Vec<(D::Command, Completion<D>)>) -> bool {
        let (commands, completions): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        match self.transact(commands) {
            Ok(Transacted { outcomes, head, events, state }) => {
                self.head = head;
                let left_out = events.iter().filter(|event| !self.domain.is_in_snapshot(&event.kind));
                self.left_out.extend(left_out.map(|event| event.seq));
                if !events.is_empty() {
                    self.publish(state);
                    shielded(|| (self.options.on_commit)(&events));
                }
                // Whoever is told can see it, and what is withheld is gone by then.
                self.withhold();
                for (then, outcome) in completions.into_iter().zip(outcomes) {
                    shielded(|| then(outcome));
                }
                if let Some(checkpoints) = &mut self.checkpoints {
                    checkpoints.committed(&events, &self.db);
                }
                true
            }
            Err(fault) => {
                let fault = Arc::new(fault);
                let goes_on = self.db.is_autocommit() && self.is_where_it_was();
                if !goes_on {
                    *self.state.write().unwrap_or_else(PoisonError::into_inner) = None;
                }
                for then in completions {
                    shielded(|| then(Err(Failed::Storage(Arc::clone(&fault)))));
                }
                goes_on
            }
        }
    }

    /// Whether the journal on disk ends where readers think; if not, they are given the fold of what is there.
    fn is_where_it_was(&mut self) -> bool {
        if head(&self.db).is_ok_and(|found| found == self.head) {
            return true;
        }
        // Whoever writes one removes others.
        self.settle_snapshot();
        let folded = self.fold();
        folded.map(|state| self.publish(state)).is_ok()
    }

    /// Makes a state the one that readers see.
    fn publish(&self, state: D::State) {
        let state = Some(Arc::new(state));
        let old = std::mem::replace(&mut *self.state.write().unwrap_or_else(PoisonError::into_inner), state);
        // Taken apart after the lock is open again.
        drop(old);
    }

    /// The state that readers see.
    fn published(&self) -> Option<Arc<D::State>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One transaction, with the state after it. On an error nothing of it is on disk.
    fn transact(&mut self, commands: Vec<D::Command>) -> Result<Transacted<D>, StoreFault> {
        let published = self.published().ok_or(StoreFault::Ended)?;
        let mut state = D::State::clone(&published);
        drop(published);
        self.run("BEGIN IMMEDIATE")?;
        let mut written = Vec::new();
        let attempt = |written: &mut Vec<Digest>| {
            let (mut head, mut events, mut kinds, mut withheld) =
                (self.head, Vec::new(), Vec::new(), Vec::new());
            let mut outcomes = Vec::with_capacity(commands.len());
            for command in commands {
                self.run("SAVEPOINT command")?;
                let (outcome, after, done) = self.decide(&state, command, head);
                written.extend(done.written);
                if outcome.is_ok() {
                    self.run("RELEASE command")?;
                    for event in &done.events {
                        evolve(&*self.domain, &mut state, event)?;
                        let known =
                            self.known.iter().any(|(kind, v)| *kind == event.kind && *v == event.version);
                        if !known {
                            kinds.push((event.kind.clone(), event.version));
                        }
                    }
                    head = after;
                    events.extend(done.events);
                    withheld.extend(done.withheld);
                } else if self.db.is_autocommit() {
                    // A full disk can end the whole transaction, and what came before in it is gone.
                    return Err(whole_batch(outcome));
                } else {
                    self.run("ROLLBACK TO command")?;
                    self.run("RELEASE command")?;
                }
                outcomes.push(outcome);
            }
            self.run("COMMIT")?;
            Ok((outcomes, head, events, kinds, withheld))
        };
        let attempted = attempt(&mut written);
        let undone = if self.db.is_autocommit() { Ok(()) } else { self.run("ROLLBACK") };
        for sha256 in written {
            // What fails here is done by the next start, and what has no place yet can be read meanwhile.
            let _ = match &undone {
                Ok(()) => self.blobs.settle(&self.db, sha256),
                // Nothing of it is committed, whatever this connection sees.
                Err(_) => self.blobs.discard(sha256).map_err(StoreFault::from),
            };
        }
        let (outcomes, head, events, kinds, withheld) = attempted?;
        self.known.extend(kinds);
        if !withheld.is_empty() {
            withheld.iter().for_each(|(sha256, reason)| self.blobs.condemn(*sha256, reason));
            self.to_withhold.extend(withheld);
            self.to_truncate = Some(READERS_WAIT);
        }
        Ok(Transacted { outcomes, events, head, state })
    }

    fn decide(&self, state: &D::State, command: D::Command, head: Head) -> (Outcome<D>, Head, Done) {
        let knows = |kind: &str, version| self.domain.knows(kind, version);
        let mut tx = Append::new((&self.db, &self.blobs), &self.projections, &knows, &self.known, head);
        // The state cannot be changed by what panics, and the savepoint is rolled back.
        let decided = catch_unwind(AssertUnwindSafe(|| self.domain.decide(state, command, &mut tx)));
        let (after, done) = tx.into_done();
        let outcome = match decided {
            Ok(Ok(_)) if done.failed => {
                let why = "the domain went on after the store had failed".to_owned();
                Err(Failed::Panicked(why))
            }
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Stop::Refused(refusal))) => Err(Failed::Refused(refusal)),
            Ok(Err(Stop::Fault(fault))) => Err(Failed::Storage(Arc::new(fault))),
            Err(panic) => Err(Failed::Panicked(words(panic.as_ref()))),
        };
        (outcome, after, done)
    }

    /// The state on disk; everything that goes with it is what it has to be for that.
    fn fold(&mut self) -> Result<D::State, StoreFault> {
        let note = self.options.on_note.as_ref();
        let Folded { state, head, snapshot, left_out } =
            fold(&self.db, &*self.domain, &self.snapshots, note)?;
        (self.head, self.snapshot_seq, self.left_out) = (head, snapshot.seq, left_out);
        self.begun_at = snapshot;
        Ok(state)
    }

    /// Has a snapshot of what readers see written on a thread of its own, unless one is being written.
    fn snapshot_aside(&mut self) {
        if self.snapping.as_ref().is_some_and(|it| !it.is_finished()) {
            return;
        }
        self.settle_snapshot();
        let Some(taken) = self.take() else { return };
        let snapshots = self.snapshots.clone();
        let snap = move || {
            // Commands come first.
            let _ = rustix::process::nice(NICE);
            let _ = taken.write(&snapshots);
        };
        // Without another thread there is none; the next may be.
        self.snapping = thread::Builder::new().name("store-snapshot".to_owned()).spawn(snap).ok();
    }

    /// Writes a snapshot now, unless the last is of the same place.
    pub(crate) fn snapshot(&mut self) -> Result<(), StoreFault> {
        self.settle_snapshot();
        if self.head.seq == self.snapshot_seq {
            return Ok(());
        }
        self.take().map_or(Ok(()), |taken| taken.write(&self.snapshots))
    }

    /// What a snapshot is made of; it stays as it is, whatever is written meanwhile.
    fn take(&mut self) -> Option<Taken<D>> {
        let state = self.published()?;
        self.snapshot_seq = self.head.seq;
        let (domain, on_note) = (Arc::clone(&self.domain), Arc::clone(&self.options.on_note));
        Some(Taken { domain, state, head: self.head, left_out: self.left_out.clone(), on_note })
    }

    /// Waits for the snapshot that is being written.
    fn settle_snapshot(&mut self) {
        if let Some(snapping) = self.snapping.take() {
            let _ = snapping.join();
        }
    }

    pub(crate) fn rebuild(&mut self, name: &str) -> Result<(), StoreFault> {
        let found: Option<&Box<dyn Projection>> = self.projections.iter().find(|it| it.name() == name);
        let Some(found) = found else {
            let why = "it is not registered".to_owned();
            return Err(StoreFault::Projection { projection: name.to_owned(), why });
        };
        let tx = self.db.unchecked_transaction()?;
        projection::build(&tx, found.as_ref())?;
        tx.commit()?;
        Ok(())
    }

    /// Takes the files away that a committed command withheld, and what the log tells of what was overwritten with
    /// them; what fails is tried again.
    fn withhold(&mut self) {
        let blobs = &self.blobs;
        self.to_withhold.retain(|(sha256, reason)| blobs.withhold(*sha256, reason).is_err());
        if let Some(wait) = self.to_truncate {
            // Only those who withhold something wait for readers.
            self.to_truncate = (!truncate(&self.db, wait)).then_some(Duration::ZERO);
        }
    }

    fn run(&self, sql: &str) -> Result<(), StoreFault> {
        self.db.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

/// The kinds that stand in the journal, if the domain knows them all.
fn kinds<D: Domain>(db: &Connection, domain: &D) -> Result<BTreeSet<(String, u32)>, StoreFault> {
    let mut statement = db.prepare("SELECT kind, version, first_seq FROM event_kinds ORDER BY first_seq")?;
    let mut rows = statement.query([])?;
    let mut kinds = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let (kind, version, seq): (String, u32, u64) = (row.get(0)?, row.get(1)?, unsigned(row, 2)?);
        if !domain.knows(&kind, version) {
            return Err(StoreFault::UnknownKind { seq, kind, version });
        }
        kinds.insert((kind, version));
    }
    Ok(kinds)
}

/// The fault that ended a batch.
fn whole_batch<A, R>(outcome: Result<A, Failed<R>>) -> StoreFault {
    match outcome {
        Err(Failed::Storage(fault)) => Arc::try_unwrap(fault).unwrap_or(StoreFault::RolledBack),
        _ => StoreFault::RolledBack,
    }
}

/// Somebody else's callback: its panic is not the writer's.
fn shielded(callback: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(callback));
}

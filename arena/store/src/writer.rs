//! The one thread that writes: it takes what waits, decides each command in a savepoint of one transaction,
//! commits once, and only then answers.
//!
//! The state in memory runs ahead of the disk between an append and its commit. If the commit fails, it is
//! thrown away and folded again from what is on disk, and every command of the batch is told. Readers of
//! the state wait for the commit, so nobody sees what may be taken back.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLockWriteGuard};

use arena_canon::Digest;
use rusqlite::Connection;

use crate::append::{Append, Done};
use crate::blobs::{self, Blobs};
use crate::chain::{Head, follows};
use crate::domain::{Domain, Failed, Options, Stop};
use crate::event::Event;
use crate::fault::StoreFault;
use crate::folder::{BLOBS, Folder};
use crate::journal::{COLUMNS, event, signed, unsigned};
use crate::projection::{self, Projection, Projections};
use crate::store::Shared;
use crate::{schema, snapshot};

/// Called once with what came of a command.
pub(crate) type Completion<D> =
    Box<dyn FnOnce(Result<<D as Domain>::Answer, Failed<<D as Domain>::Refusal>>) + Send>;

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
    domain: D,
    projections: Projections,
    options: Options,
    state: Shared<D>,
    blobs: Blobs,
    head: Head,
    known: BTreeSet<(String, u32)>,
    snapshot_seq: u64,
    /// Files that must go and could not yet.
    to_withhold: Vec<(Digest, String)>,
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
        let db = schema::open_to_write(&folder.make_journal()?, options.pages_max)?;
        let blobs = Blobs::create(&folder.root.join(BLOBS))?;
        let known = kinds(&db, &domain)?;
        let tx = db.unchecked_transaction()?;
        projection::bring_up(&tx, &projections)?;
        tx.commit()?;
        if options.remove_unbooked {
            blobs.remove_unbooked(&db)?;
        }
        let to_withhold = blobs::withheld(&db)?;
        let mut worker = Self {
            db,
            domain,
            projections,
            options,
            state,
            blobs,
            head: Head::EMPTY,
            known,
            snapshot_seq: 0,
            to_withhold,
            _folder: folder,
        };
        worker.withhold();
        let shared = Arc::clone(&worker.state);
        let mut state = shared.write().unwrap_or_else(PoisonError::into_inner);
        *state = Some(worker.fold()?);
        Ok(worker)
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Works until no one can ask any more, or until the folder cannot be read again after a failure.
    pub(crate) fn work(mut self, jobs: &Receiver<Job<D>>) {
        let mut next = None;
        while let Some(job) = next.take().or_else(|| jobs.recv().ok()) {
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
            if self.head.seq - self.snapshot_seq >= self.options.snapshot_every {
                // It is a cache: the next one will do.
                let _ = self.snapshot();
            }
        }
        let _ = self.snapshot();
        // Whatever is left in the log beside it comes into the database's file, unless a reader is at work.
        let _ = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    /// Carries out a batch; false if the writer cannot go on.
    fn carry_out(&mut self, batch: Vec<(D::Command, Completion<D>)>) -> bool {
        let shared = Arc::clone(&self.state);
        let mut state = shared.write().unwrap_or_else(PoisonError::into_inner);
        let (commands, completions): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        match self.transact(&mut state, commands) {
            Ok((outcomes, head)) => {
                let appended = head.seq > self.head.seq;
                self.head = head;
                // Whoever is told can read, and whoever waits to read goes first.
                let _state = RwLockWriteGuard::downgrade(state);
                if appended {
                    shielded(|| (self.options.on_commit)(head.seq));
                }
                for (then, outcome) in completions.into_iter().zip(outcomes) {
                    shielded(|| then(outcome));
                }
                true
            }
            Err(fault) => {
                let fault = Arc::new(fault);
                if state.is_none() && self.db.is_autocommit() {
                    *state = self.fold().ok();
                }
                let goes_on = state.is_some();
                drop(state);
                for then in completions {
                    shielded(|| then(Err(Failed::Storage(Arc::clone(&fault)))));
                }
                goes_on
            }
        }
    }

    /// One transaction. On an error nothing of it is on disk, and a state that was ahead of it is gone.
    fn transact(
        &mut self,
        state: &mut Option<D::State>,
        commands: Vec<D::Command>,
    ) -> Result<(Vec<Outcome<D>>, Head), StoreFault> {
        let Some(folded) = state.as_mut() else { return Err(StoreFault::Ended) };
        self.run("BEGIN IMMEDIATE")?;
        let mut is_ahead = false;
        let attempt = || {
            let (mut head, mut kinds, mut withheld) = (self.head, Vec::new(), Vec::new());
            let mut outcomes = Vec::with_capacity(commands.len());
            for command in commands {
                self.run("SAVEPOINT command")?;
                let (outcome, after, done) = self.decide(folded, command, head);
                if outcome.is_ok() {
                    self.run("RELEASE command")?;
                    for event in &done.events {
                        is_ahead = true;
                        self.evolve(folded, event)?;
                        let known =
                            self.known.iter().any(|(kind, v)| *kind == event.kind && *v == event.version);
                        if !known {
                            kinds.push((event.kind.clone(), event.version));
                        }
                    }
                    head = after;
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
            Ok((outcomes, head, kinds, withheld))
        };
        match attempt() {
            Ok((outcomes, head, kinds, withheld)) => {
                self.known.extend(kinds);
                self.to_withhold.extend(withheld);
                Ok((outcomes, head))
            }
            Err(fault) => {
                if is_ahead {
                    *state = None;
                }
                if !self.db.is_autocommit() {
                    self.run("ROLLBACK")?;
                }
                Err(fault)
            }
        }
    }

    fn decide(&self, state: &D::State, command: D::Command, head: Head) -> (Outcome<D>, Head, Done) {
        let knows = |kind: &str, version| self.domain.knows(kind, version);
        let mut tx = Append::new(&self.db, &self.projections, &knows, &self.known, head);
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

    fn evolve(&self, state: &mut D::State, event: &Event) -> Result<(), StoreFault> {
        let evolved = catch_unwind(AssertUnwindSafe(|| self.domain.evolve(state, event)));
        let why = match evolved {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(unfit)) => unfit.0,
            Err(panic) => words(panic.as_ref()),
        };
        let (seq, kind, version) = (event.seq, event.kind.clone(), event.version);
        Err(StoreFault::Unfit { seq, kind, version, why })
    }

    /// The state from the newest snapshot that is good and all events after it, each of which is checked.
    fn fold(&mut self) -> Result<D::State, StoreFault> {
        let discriminator = self.domain.discriminator();
        let (mut head, mut state, mut below) = (Head::EMPTY, None, u64::MAX);
        while let Some((at, bytes)) = snapshot::load(&self.db, &discriminator, below)? {
            let restored = catch_unwind(AssertUnwindSafe(|| self.domain.restore(&bytes)));
            if let Ok(Some(restored)) = restored {
                (head, state) = (at, Some(restored));
                break;
            }
            below = at.seq;
        }
        self.snapshot_seq = head.seq;
        let mut state = state.unwrap_or_else(|| self.domain.initial());
        let mut statement =
            self.db.prepare_cached(&format!("SELECT {COLUMNS} WHERE seq > ?1 ORDER BY seq"))?;
        let mut rows = statement.query([signed(head.seq)])?;
        while let Some(row) = rows.next()? {
            let event = event(row)?;
            head = follows(head, &event).map_err(|why| StoreFault::Broken { seq: event.seq, why })?;
            self.evolve(&mut state, &event)?;
        }
        drop(rows);
        drop(statement);
        self.head = head;
        Ok(state)
    }

    pub(crate) fn snapshot(&mut self) -> Result<(), StoreFault> {
        if self.head.seq == self.snapshot_seq {
            return Ok(());
        }
        let shared = Arc::clone(&self.state);
        let state = shared.read().unwrap_or_else(PoisonError::into_inner);
        let Some(bytes) = state.as_ref().and_then(|state| self.domain.snapshot(state)) else { return Ok(()) };
        self.snapshot_seq = self.head.seq;
        snapshot::save(&self.db, &self.domain.discriminator(), self.head, &bytes)?;
        Ok(())
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

    /// Takes the files away that a committed command withheld; what fails is tried again.
    fn withhold(&mut self) {
        let blobs = &self.blobs;
        self.to_withhold.retain(|(sha256, reason)| blobs.withhold(*sha256, reason).is_err());
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

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    text.chars().take(200).collect()
}

use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use crate::blobs::Blobs;
use crate::domain::{Domain, Failed, Options};
use crate::fault::StoreFault;
use crate::journal::Journal;
use crate::pending::Pending;
use crate::projection::Projection;
use crate::recheck::Recheck;
use crate::writer::{Completion, Job, Worker};

/// The writer of a folder, and what it writes. A clone is cheap; when the last one is gone, the writer ends
/// after what waits is done.
pub struct Store<D: Domain>(Arc<Inside<D>>);

struct Inside<D: Domain> {
    sender: Option<SyncSender<Job<D>>>,
    thread: Option<JoinHandle<()>>,
    /// What is still checked of the start.
    recheck: Option<Recheck>,
    state: Shared<D>,
    journal: Journal,
    blobs: Blobs,
    queue_max: usize,
}

/// The state of the last commit; none once the writer has ended in a failure. The lock is held to take a handle of it
/// or to put another in its place, and never for longer.
pub(crate) type Shared<D> = Arc<RwLock<Option<Arc<<D as Domain>::State>>>>;

impl<D: Domain> Clone for Store<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Domain> Store<D> {
    /// Opens the folder `root`, makes it if there is none, folds what is there, and starts the writer.
    pub fn open(
        root: &Path,
        domain: D,
        projections: Vec<Box<dyn Projection>>,
        options: Options,
    ) -> Result<Self, StoreFault> {
        let queue_max = options.queue_max.max(1);
        let state: Shared<D> = Arc::new(RwLock::new(None));
        let worker = Worker::open(root, domain, projections, options, Arc::clone(&state))?;
        let (journal, blobs) = (Journal::open(root)?, worker.blobs().clone());
        let recheck = worker.recheck(&journal);
        let (sender, jobs) = sync_channel(queue_max);
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || worker.work(&jobs))
            .map_err(StoreFault::io("start the writer of", root))?;
        let (sender, thread) = (Some(sender), Some(thread));
        Ok(Self(Arc::new(Inside { sender, thread, recheck, state, journal, blobs, queue_max })))
    }

    /// Has `command` carried out. The answer comes after it is on disk.
    pub fn submit(&self, command: D::Command) -> Pending<D::Answer, D::Refusal> {
        let (fill, pending) = Pending::new();
        self.execute(command, |outcome| fill.fill(outcome));
        pending
    }

    /// The same with a callback, which is called on the writer's thread and has to be short; on the caller's,
    /// if the command cannot even wait. It is dropped uncalled if the writer dies.
    pub fn execute(
        &self,
        command: D::Command,
        then: impl FnOnce(Result<D::Answer, Failed<D::Refusal>>) + Send + 'static,
    ) {
        let then: Completion<D> = Box::new(then);
        let Some(sender) = &self.0.sender else { return then(Err(Failed::Stopped)) };
        match sender.try_send(Job::Command(command, then)) {
            Err(TrySendError::Full(Job::Command(_, then))) => {
                then(Err(Failed::Busy { waiting: self.0.queue_max }));
            }
            Err(TrySendError::Disconnected(Job::Command(_, then))) => then(Err(Failed::Stopped)),
            _ => {}
        }
    }

    /// Looks at the state, which is that of the last commit. Nobody waits: not `look` for a commit that is under way,
    /// and not the writer for `look`.
    pub fn look<T>(&self, look: impl FnOnce(&D::State) -> T) -> Result<T, StoreFault> {
        self.state().map(|state| look(&state))
    }

    /// The state of the last commit, to be kept: it stays as it is.
    pub fn state(&self) -> Result<Arc<D::State>, StoreFault> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(StoreFault::Ended)
    }

    /// The journal, to be read.
    pub fn journal(&self) -> &Journal {
        &self.0.journal
    }

    /// The blobs.
    pub fn blobs(&self) -> &Blobs {
        &self.0.blobs
    }

    /// Drops the tables of a projection and builds them again from all events. Commands wait meanwhile, and
    /// readers see the old tables until it is done.
    pub fn rebuild(&self, projection: &'static str) -> Result<(), StoreFault> {
        self.control(move |worker| worker.rebuild(projection))
    }

    /// Writes a snapshot now.
    pub fn snapshot(&self) -> Result<(), StoreFault> {
        self.control(Worker::snapshot)
    }

    /// Has something done between two batches, and waits for it.
    fn control(
        &self,
        what: impl FnOnce(&mut Worker<D>) -> Result<(), StoreFault> + Send + 'static,
    ) -> Result<(), StoreFault> {
        let (answer, answered) = sync_channel(1);
        let job = Job::Control(Box::new(move |worker| {
            let _ = answer.send(what(worker));
        }));
        let sender = self.0.sender.as_ref().ok_or(StoreFault::Ended)?;
        sender.send(job).map_err(|_| StoreFault::Ended)?;
        answered.recv().unwrap_or(Err(StoreFault::Ended))
    }
}

impl<D: Domain> Drop for Inside<D> {
    fn drop(&mut self) {
        self.recheck = None;
        self.sender = None;
        // The last clone may go in a callback, on the writer's own thread.
        if let Some(writer) = self.thread.take().filter(|it| it.thread().id() != thread::current().id()) {
            let _ = writer.join();
        }
    }
}

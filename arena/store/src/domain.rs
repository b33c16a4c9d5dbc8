use std::sync::Arc;

use crate::append::Append;
use crate::event::Event;
use crate::fault::StoreFault;

/// What the journal is about: rules that decide, and facts that evolve a state.
///
/// A command is handled in two steps, so that a refused one leaves nothing behind, not even in memory:
/// [`decide`](Self::decide) sees the state and cannot change it; the events it appends become the new state
/// by [`evolve`](Self::evolve), after it has returned, before the next command is looked at. The state is
/// therefore always what a fold of the journal gives, and a restart does just that.
pub trait Domain: Send + Sync + 'static {
    /// The fold of all events. Each batch of commands works on a copy of it, so a copy has to be cheap: one that
    /// shares with its original what it has in common.
    type State: Clone + Send + Sync + 'static;
    /// What is asked, with its time and its luck.
    type Command: Send + 'static;
    /// What comes of it.
    type Answer: Send + 'static;
    /// Why not.
    type Refusal: Send + 'static;

    /// The state before the first event.
    fn initial(&self) -> Self::State;

    /// Whether events of this kind and version can be folded. Every version that was ever written has to be
    /// known for good. A journal with one that is not known is not opened for writing.
    fn knows(&self, kind: &str, version: u32) -> bool;

    /// Appends what follows from `command`, or refuses it. Nothing of a refused command stays: no event, no
    /// row. A fault of the store is passed on with `?`.
    fn decide(
        &self,
        state: &Self::State,
        command: Self::Command,
        tx: &mut Append<'_>,
    ) -> Result<Self::Answer, Stop<Self::Refusal>>;

    /// Takes a fact in. There are no rules here: what stands in the journal has happened.
    fn evolve(&self, state: &mut Self::State, event: &Event) -> Result<(), Unfit>;

    /// Takes a fact in when the store is opened and the whole journal is folded: to the same state as by
    /// [`evolve`](Self::evolve), but for what is only kept ready and is made again when somebody asks for it.
    fn catch_up(&self, state: &mut Self::State, event: &Event) -> Result<(), Unfit> {
        self.evolve(state, event)
    }

    /// What a snapshot depends on besides the events: a version that changes whenever the meaning of its
    /// bytes or the rules of [`evolve`](Self::evolve) do.
    fn discriminator(&self) -> String;

    /// Whether snapshots hold what events of this kind come to. What they do not hold is folded again from its
    /// events when the store is opened, by [`refold`](Self::refold).
    fn is_in_snapshot(&self, _kind: &str) -> bool {
        true
    }

    /// Takes a fact in that a snapshot left out, into the state that was restored from it, in the order of the
    /// journal. What the snapshot holds is of its own place already, and so later than this fact.
    fn refold(&self, state: &mut Self::State, event: &Event) -> Result<(), Unfit> {
        self.evolve(state, event)
    }

    /// The state as bytes, without what is left out; nothing if there are to be no snapshots. It is called on a
    /// thread of its own, while the next commands are carried out.
    fn snapshot(&self, _state: &Self::State) -> Option<Vec<u8>> {
        None
    }

    /// The state from the bytes of a snapshot with the same discriminator; nothing if they are no good,
    /// which costs time only.
    fn restore(&self, _bytes: &[u8]) -> Option<Self::State> {
        None
    }
}

/// An event could not be folded: in other words, why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

/// Why a command was not carried out, as its domain says.
#[derive(Debug)]
pub enum Stop<R> {
    /// A rule is not met.
    Refused(R),
    /// The store failed.
    Fault(StoreFault),
}

impl<R> From<StoreFault> for Stop<R> {
    fn from(fault: StoreFault) -> Self {
        Self::Fault(fault)
    }
}

/// Why a command was not carried out, as its sender learns it.
#[derive(Debug, thiserror::Error)]
pub enum Failed<R> {
    /// A rule is not met.
    #[error("the command was refused")]
    Refused(R),
    /// Too many commands wait already. Try again later.
    #[error("{waiting} commands wait already")]
    Busy {
        /// How many may wait.
        waiting: usize,
    },
    /// The store failed, and nothing of the command is left. One failure may be that of many commands.
    #[error("{0}")]
    Storage(Arc<StoreFault>),
    /// The domain panicked, and nothing of the command is left.
    #[error("the domain panicked: {0}")]
    Panicked(String),
    /// The writer has ended, and takes no more commands.
    #[error("the writer has ended")]
    Stopped,
}

/// Called with the events of a commit, in order, after each that has any.
pub type OnCommit = Box<dyn Fn(&[Event]) + Send>;

/// What became of a snapshot. It is for a log: snapshots are a cache, and nothing depends on one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotNote {
    /// One was written.
    Written {
        /// Its place in the journal.
        seq: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// One could not be written.
    NotWritten {
        /// Its place in the journal.
        seq: u64,
        /// Why not.
        why: String,
    },
    /// The state was restored from one, and what came after it folded.
    Used {
        /// Its place in the journal.
        seq: u64,
        /// Events that it left out, and that were folded again.
        left_out: u64,
        /// Events after it.
        after: u64,
    },
    /// One was no good and was removed. The one before it is used, or everything is folded.
    Dropped {
        /// Its place in the journal, as its name says.
        seq: u64,
        /// What is wrong with it.
        why: String,
    },
    /// An event before the snapshot that was used does not follow from those before it, as was found out afterwards. The
    /// journal is not what was written; the snapshots were removed, and the next start refuses it.
    Broken {
        /// The first event that does not follow.
        seq: u64,
        /// How it does not.
        why: String,
    },
}

impl std::fmt::Display for SnapshotNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Written { seq, bytes } => {
                write!(f, "the snapshot at event {seq} was written: {bytes} bytes")
            }
            Self::NotWritten { seq, why } => write!(f, "no snapshot was written at event {seq}: {why}"),
            Self::Used { seq, left_out, after } => write!(
                f,
                "the state is from the snapshot at event {seq}, {left_out} events that it leaves out, and {after} after it"
            ),
            Self::Broken { seq, why } => {
                write!(f, "event {seq} does not follow, and the next start will say so: {why}")
            }
            Self::Dropped { seq, why } => write!(f, "the snapshot at event {seq} was removed: {why}"),
        }
    }
}

/// Called with what became of a snapshot, on whatever thread found out.
pub type OnNote = Arc<dyn Fn(&SnapshotNote) + Send + Sync>;

/// How a store works. None of it is in a record.
pub struct Options {
    /// Commands that may wait; more are answered with [`Failed::Busy`].
    pub queue_max: usize,
    /// Commands of one commit.
    pub batch_max: usize,
    /// Events between two snapshots, at least; a tenth of the journal, if that is more, so that all snapshots
    /// together cost in proportion to it. At the end of the writer a tenth of this is enough for one: fewer are folded
    /// as fast.
    pub snapshot_every: u64,
    /// Pages of 4 KiB the database may have; more is answered like a full disk. None: as many as fit.
    pub pages_max: Option<u32>,
    /// When the store is opened, remove blobs that no command has booked and that were written before this time, in
    /// milliseconds since 1970: uploads that came to nothing. Only for a domain that books every blob it wants to
    /// keep. None: remove nothing.
    pub unbooked_before_ms: Option<u64>,
    /// Whether a commit is on disk before it is answered. If not, all of it is when the store has been closed, and not
    /// before: a machine that stops earlier may leave nothing that can be opened. It is for a folder that is thrown away
    /// then.
    pub is_durable: bool,
    /// What happened, on the writer's thread, after the commit and before its answers.
    pub on_commit: OnCommit,
    /// What became of snapshots.
    pub on_note: OnNote,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            queue_max: 1_024,
            batch_max: 256,
            snapshot_every: 100_000,
            pages_max: None,
            unbooked_before_ms: None,
            is_durable: true,
            on_commit: Box::new(|_| {}),
            on_note: Arc::new(|_| {}),
        }
    }
}

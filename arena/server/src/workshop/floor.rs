//! The room in which the workshop works: who is in it, where its files are, and how far each run is.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arena_canon::Digest;
use arena_tournament::Bundle;
use tokio::sync::Semaphore;

use super::{Card, Workshop};
use crate::config;
use crate::problem::Problem;

/// Uploads that are looked at lie here.
const UPLOADS: &str = "uploads";
/// Runs lie here, one folder each.
const RUNS: &str = "tournaments";
/// Scorecards that are kept ready.
const CARDS_MAX: usize = 8;

/// The room of the workshop.
pub(crate) struct Floor {
    folder: PathBuf,
    workshop: OnceLock<Arc<dyn Workshop>>,
    /// Those that are looked at.
    pub(super) admissions: Arc<Semaphore>,
    /// Uploads that are under way, whether they are looked at or wait.
    uploads: Arc<AtomicUsize>,
    uploads_max: usize,
    counter: AtomicU64,
    /// Matchups that have lasted, of each run that is played now.
    progress: Mutex<BTreeMap<u64, u64>>,
    cards: Mutex<VecDeque<(u64, Arc<Card>)>>,
    /// The run that was sent last, by the digest of its receipt: whoever takes it in parts asks again and again.
    bundle: Mutex<Option<(Digest, Arc<Bundle>)>>,
}

/// A place of an upload; it is free again when this is dropped.
pub(crate) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Floor {
    /// In the server's folder. What a crash left of uploads is removed.
    pub(crate) fn open(folder: &Path, limits: &config::Tournaments) -> io::Result<Self> {
        let uploads = folder.join(UPLOADS);
        match fs::remove_dir_all(&uploads) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            _ => {}
        }
        for name in [UPLOADS, RUNS] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join(name))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            workshop: OnceLock::new(),
            admissions: Arc::new(Semaphore::new(limits.admissions_at_once.max(1))),
            uploads: Arc::default(),
            uploads_max: limits.admissions_at_once.max(1) + limits.admissions_queued,
            counter: AtomicU64::new(0),
            progress: Mutex::default(),
            cards: Mutex::default(),
            bundle: Mutex::default(),
        })
    }

    /// How the run with this receipt is sent, if it is the last that was.
    pub(super) fn bundle(&self, receipt: Digest) -> Option<Arc<Bundle>> {
        let last = self.bundle.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(of, _)| *of == receipt).map(|(_, bundle)| Arc::clone(bundle))
    }

    pub(super) fn keep_bundle(&self, receipt: Digest, bundle: &Arc<Bundle>) {
        *self.bundle.lock().unwrap_or_else(PoisonError::into_inner) = Some((receipt, Arc::clone(bundle)));
    }

    /// Brings the workshop in. The first one stays.
    pub(crate) fn bring(&self, workshop: Arc<dyn Workshop>) {
        let _ = self.workshop.set(workshop);
    }

    /// The workshop, if this server has one.
    pub(crate) fn workshop(&self) -> Result<Arc<dyn Workshop>, Problem> {
        let none = || Problem::new("overloaded", "this server runs without a workshop").retry_after(3_600);
        self.workshop.get().cloned().ok_or_else(none)
    }

    /// A place for an upload, if there is one.
    pub(crate) fn enter(&self) -> Result<Place, Problem> {
        let place = Place(Arc::clone(&self.uploads));
        if self.uploads.fetch_add(1, Ordering::SeqCst) < self.uploads_max {
            return Ok(place);
        }
        Err(Problem::new("overloaded", "other components are being looked at").retry_after(10))
    }

    /// Where the next upload is written.
    pub(super) fn upload_path(&self) -> PathBuf {
        let n = self.counter.fetch_add(1, Ordering::Relaxed);
        self.folder.join(UPLOADS).join(format!("{n}.wasm"))
    }

    /// Where a run lies.
    pub(crate) fn run_folder(&self, tournament: u64) -> PathBuf {
        self.folder.join(RUNS).join(format!("t{tournament}"))
    }

    /// Matchups of a run that have lasted, while it is played.
    pub(crate) fn progress(&self, tournament: u64) -> Option<u64> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).get(&tournament).copied()
    }

    pub(super) fn set_progress(&self, tournament: u64, completed: Option<u64>) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match completed {
            Some(completed) => progress.insert(tournament, completed),
            None => progress.remove(&tournament),
        };
    }

    /// The scorecard of a tournament, where it is kept ready.
    pub(super) fn card(&self, tournament: u64) -> Option<Arc<Card>> {
        let cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        cards.iter().find(|(of, _)| *of == tournament).map(|(_, card)| Arc::clone(card))
    }

    pub(super) fn keep_card(&self, tournament: u64, card: &Arc<Card>) {
        let mut cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        cards.retain(|(of, _)| *of != tournament);
        cards.push_back((tournament, Arc::clone(card)));
        while cards.len() > CARDS_MAX {
            cards.pop_front();
        }
    }
}

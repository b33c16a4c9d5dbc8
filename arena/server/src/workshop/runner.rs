//! Plays the tournaments that were started, one after the other on each of a few threads.
//!
//! What is to be played is in the journal, so a run that a crash broke off is taken up when the server is back; how
//! it ended is journaled before anybody is told, and what nobody needs any more of it is removed after that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arena_canon::Digest;
use arena_store::{Failed, Found};
use arena_tournament::{
    COMMITMENTS, Class, Clock, FROZEN, FROZEN_BYTES_MAX, Frozen, IDENTITIES, JOURNAL, RECEIPT, Receipt, Run,
    SCORECARD, open_regular,
};

use super::{WorkshopFault, left, whole};
use crate::app::{App, Shared};
use crate::auth::Viewer;
use crate::instance::tournaments::{self, Command, Ended, Pin, Tournament, inputs};
use crate::instance::{self, Request};
use crate::keeper::Sent;
use crate::problem::Problem;

/// How often a thread looks for something to play.
const LOOK: Duration = Duration::from_millis(100);
/// How often the journal of a run is looked at, and how often what it says is announced.
const COUNT: Duration = Duration::from_millis(250);
const TELL: Duration = Duration::from_secs(2);
/// Attempts at a run that ends without a receipt.
const ATTEMPTS_MAX: u32 = 3;
/// Beyond a plan's own budget of time, for starting, checking and ending.
const PATIENCE_BEYOND: Duration = Duration::from_secs(120);
/// Largest file of a run that is kept as a blob.
const KEPT_BYTES_MAX: u64 = 64 << 20;

/// The threads that play. They end, and what they play is broken off, when this is dropped.
pub(crate) struct Runner {
    off: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.off.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// What the threads share.
struct Shift {
    app: Weak<App>,
    off: Arc<AtomicBool>,
    /// What one of them is at.
    busy: Mutex<BTreeSet<u64>>,
    /// Attempts that came to nothing.
    failed: Mutex<BTreeMap<u64, u32>>,
}

impl Runner {
    /// Starts to play.
    pub(crate) fn start(app: &Shared) -> Self {
        let off = Arc::new(AtomicBool::new(false));
        let shift = Arc::new(Shift {
            app: Arc::downgrade(app),
            off: Arc::clone(&off),
            busy: Mutex::default(),
            failed: Mutex::default(),
        });
        let start = |n: usize| {
            let shift = Arc::clone(&shift);
            let works = move || {
                if n == 0 {
                    shift.app.upgrade().iter().for_each(|app| left::sweep(app, &|| !shift.is_off()));
                }
                shift.work();
            };
            thread::Builder::new().name(format!("tournaments-{n}")).spawn(works).ok()
        };
        let threads = (0..app.config.tournaments.at_once.max(1)).filter_map(start).collect();
        Self { off, threads }
    }
}

impl Shift {
    fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }

    fn work(&self) {
        while !self.is_off() {
            let Some(app) = self.app.upgrade() else { return };
            let pause = match self.take(&app) {
                None => LOOK,
                Some(tournament) => {
                    let pause = self.attempt(&app, &tournament);
                    app.floor.set_progress(tournament.number, None);
                    self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&tournament.number);
                    pause
                }
            };
            drop(app);
            if !self.is_off() {
                thread::park_timeout(pause);
            }
        }
    }

    /// The next one that nobody is at.
    fn take(&self, app: &App) -> Option<Arc<Tournament>> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let next = app.look(|instance| {
            let tournaments = &instance.tournaments;
            let next = tournaments.waiting().find(|number| !busy.contains(number));
            next.and_then(|number| tournaments.get(number)).cloned()
        });
        let next = next.ok().flatten()?;
        busy.insert(next.number);
        Some(next)
    }

    /// Plays one to its end. What fails is tried again; gives how long to wait before.
    fn attempt(&self, app: &App, tournament: &Tournament) -> Duration {
        app.floor.set_progress(tournament.number, Some(0));
        let played = self.play(app, tournament);
        let ended = match played {
            Ok(ended) => ended,
            // It is taken up again when the server is back.
            Err(_) if self.is_off() => return LOOK,
            Err(fault) => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                let attempts = failed.entry(tournament.number).or_default();
                *attempts += 1;
                if *attempts < ATTEMPTS_MAX {
                    return LOOK * 2_u32.pow(*attempts);
                }
                failed.remove(&tournament.number);
                stalled(app, tournament, &fault)
            }
        };
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).remove(&tournament.number);
        let class = ended.class;
        let end = Command::End { tournament: tournament.number, ended: Box::new(ended) };
        // If it cannot be journaled, the run is taken up again and ends the same way.
        if execute(app, end).is_err() {
            return LOOK * 20;
        }
        // What is not removed now is at the next start.
        let _ = left::clear(&app.floor.run_folder(tournament.number), class, &|| !self.is_off());
        LOOK
    }

    fn play(&self, app: &App, tournament: &Tournament) -> Result<Ended, WorkshopFault> {
        let workshop = app.floor.workshop().map_err(|why| fault("find the workshop", why.detail()))?;
        let folder = app.floor.run_folder(tournament.number);
        let is_set_up = folder.join(FROZEN).exists() || set_up(app, tournament, &folder, &workshop.pins())?;
        if is_set_up {
            if tournament.begun.is_none() {
                begin(app, tournament, &folder)?;
            }
            let seconds = tournament.plan.pointer("/budget/wall_seconds").and_then(|it| it.as_u64());
            let seconds = seconds.unwrap_or(app.config.tournaments.wall_seconds_max);
            let mut count = Count::new(folder.join(JOURNAL));
            let mut pulse = || {
                count.pulse(app, tournament.number);
                !self.is_off()
            };
            workshop.play(&folder, Duration::from_secs(seconds) + PATIENCE_BEYOND, &mut pulse)?;
        }
        ended(app, tournament, &folder)
    }
}

fn fault(doing: &'static str, why: impl std::fmt::Display) -> WorkshopFault {
    WorkshopFault { doing, why: why.to_string() }
}

/// Carries a command out for the platform, and waits for it.
fn execute(app: &App, command: Command) -> Result<(), WorkshopFault> {
    let by = Viewer::Admin { name: "the platform".to_owned() };
    let command = instance::Command::Tournaments(command);
    let request = Request { at: app.now(), by, luck: app.outside.luck(), command };
    let (tell, told) = sync_channel(1);
    app.store.execute(Sent { request, slot: None }, move |outcome| {
        let _ = tell.send(outcome.map(|_| ()));
    });
    match told.recv() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Failed::Refused(problem))) => Err(fault("journal it", Problem::detail(&problem))),
        _ => Err(fault("journal it", "the store does not take it")),
    }
}

/// The time as the folder of a run wants it.
struct Now<'a>(&'a App);

impl Clock for Now<'_> {
    fn unix_ms(&self) -> u64 {
        u64::try_from(self.0.now().unix_ms()).unwrap_or_default()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.unix_ms())
    }
}

/// Makes the folder of a run from what is journaled: the same each time. Tells whether there is something to play;
/// otherwise the run has ended as blocked.
fn set_up(
    app: &App,
    tournament: &Tournament,
    folder: &Path,
    pins: &arena_tournament::Pins,
) -> Result<bool, WorkshopFault> {
    let doing = "set up the run";
    let frozen = tournament.frozen.as_ref().ok_or_else(|| fault(doing, "it is not frozen"))?;
    let blob = |sha256: Digest, limit: u64| match app.store.blobs().read(sha256, limit) {
        Ok(Found::Content(bytes)) => Some(bytes),
        _ => None,
    };
    let bytes = blob(frozen.file.sha256, FROZEN_BYTES_MAX as u64);
    let bytes = bytes.ok_or_else(|| fault(doing, "the frozen file is missing"))?;
    let document = Frozen::parse(&bytes).map_err(|faults| fault(doing, faults))?;
    let limit = app.config.limits.component_bytes as u64;
    let inputs = inputs(&document, app.known(), |sha256| blob(sha256, limit));
    let created = Run::create(folder, &document, &frozen.secret, &inputs, pins, &Now(app));
    match created.map_err(|why| fault(doing, why))? {
        Ok(_) => Ok(true),
        Err(halted) => halted.end(&Now(app)).map(|_| false).map_err(|why| fault(doing, why)),
    }
}

/// Journals and announces the commitments before the first match.
fn begin(app: &App, tournament: &Tournament, folder: &Path) -> Result<(), WorkshopFault> {
    let commitments = keep(app, folder, COMMITMENTS)?;
    execute(app, Command::Begin { tournament: tournament.number, commitments })
}

/// Keeps a file of a run as a blob.
fn keep(app: &App, folder: &Path, name: &'static str) -> Result<Pin, WorkshopFault> {
    let bytes = read(folder, name)?;
    let sha256 = app.store.blobs().put(&bytes).map_err(|why| fault("keep a file of the run", why))?;
    Ok(Pin { sha256, bytes: bytes.len() as u64 })
}

fn read(folder: &Path, name: &'static str) -> Result<Vec<u8>, WorkshopFault> {
    let unread = |why: std::io::Error| fault("read the run", format_args!("{name}: {why}"));
    let mut bytes = Vec::new();
    let file = open_regular(&folder.join(name)).map_err(unread)?;
    file.take(KEPT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > KEPT_BYTES_MAX {
        return Err(fault("read the run", format_args!("{name} has more than {KEPT_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

/// What the receipt of a run says.
fn ended(app: &App, tournament: &Tournament, folder: &Path) -> Result<Ended, WorkshopFault> {
    let bytes = read(folder, RECEIPT)?;
    let receipt: Receipt = serde_json::from_slice(&bytes).map_err(|why| fault("read the receipt", why))?;
    if tournament.frozen.as_ref().is_none_or(|frozen| frozen.file.sha256 != receipt.frozen_sha256) {
        return Err(fault("read the receipt", "it is that of another tournament"));
    }
    let is_success = receipt.terminal == Class::Success;
    let pin = |name| if is_success { keep(app, folder, name).map(Some) } else { Ok(None) };
    let (scorecard, identities) = (pin(SCORECARD)?, pin(IDENTITIES)?);
    if scorecard.map(|pin| pin.sha256) != receipt.scorecard.as_ref().map(|file| file.sha256) {
        return Err(fault("read the scorecard", "it is not the one of the receipt"));
    }
    Ok(Ended {
        class: receipt.terminal,
        reason: without_folder(&receipt.reason, folder),
        matchup: receipt.matchup,
        completed: receipt.matchups.completed,
        receipt: Some(keep(app, folder, RECEIPT)?),
        record_digest: Some(receipt.record_digest),
        scorecard,
        identities,
        kept: if is_success { whole::keep(app, folder, &receipt)? } else { Vec::new() },
    })
}

/// Where the server keeps its runs is nobody's business, however the process that plays one names it.
fn without_folder(reason: &str, folder: &Path) -> String {
    let ways = [std::path::absolute(folder).ok(), folder.canonicalize().ok(), Some(folder.to_owned())];
    let mut ways: Vec<String> =
        ways.into_iter().flatten().map(|path| path.to_string_lossy().into_owned()).collect();
    // A relative one is the end of an absolute one.
    ways.sort_by_key(|path| std::cmp::Reverse(path.len()));
    ways.iter().fold(reason.to_owned(), |reason, path| reason.replace(path, "run"))
}

/// A run whose processes end without a receipt, again and again.
fn stalled(app: &App, tournament: &Tournament, fault: &WorkshopFault) -> Ended {
    let folder = app.floor.run_folder(tournament.number);
    let mut count = Count::new(folder.join(JOURNAL));
    count.read();
    let why = without_folder(&fault.to_string(), &folder);
    Ended {
        class: Class::Stalled,
        reason: format!("the host failed {ATTEMPTS_MAX} times: {why}"),
        matchup: None,
        completed: count.lines,
        receipt: None,
        record_digest: None,
        scorecard: None,
        identities: None,
        kept: Vec::new(),
    }
}

/// Counts the lines of a run's journal as it grows.
struct Count {
    path: PathBuf,
    at: u64,
    lines: u64,
    counted: Option<Instant>,
    told: (Instant, u64),
}

impl Count {
    fn new(path: PathBuf) -> Self {
        Self { path, at: 0, lines: 0, counted: None, told: (Instant::now(), 0) }
    }

    fn read(&mut self) {
        let Ok(mut file) = File::open(&self.path) else { return };
        if file.seek(SeekFrom::Start(self.at)).is_err() {
            return;
        }
        let mut buffer = [0; 64 << 10];
        while let Ok(read) = file.read(&mut buffer) {
            if read == 0 {
                return;
            }
            self.at += read as u64;
            self.lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
        }
    }

    fn pulse(&mut self, app: &App, tournament: u64) {
        if self.counted.is_some_and(|at| at.elapsed() < COUNT) {
            return;
        }
        self.counted = Some(Instant::now());
        self.read();
        app.floor.set_progress(tournament, Some(self.lines));
        let (at, told) = self.told;
        if self.lines > told && at.elapsed() >= TELL {
            self.told = (Instant::now(), self.lines);
            // An announcement that is missed is no loss: the next one has the sum.
            let _ = execute(app, tournaments::Command::Tell { tournament, completed: self.lines });
        }
    }
}

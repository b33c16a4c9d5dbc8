//! The side that plays: it finds runs on a server by itself, takes one job after the other, and tells
//! what it came to before it acknowledges the job.

mod runs;
mod slot;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::address::NatsAddress;
use super::answer;
use super::fault::NatsFault;
use super::link::{Link, PAUSE};
use super::names::RunKey;
use crate::freeze::Pins;
use crate::roster::{Roster, Shelf};
use runs::Taken;

/// Makes a roster around the shelf of a run. Each thread that plays has one of its own for each run.
pub type RosterMaker<'a> = &'a (dyn Fn(Box<dyn Shelf>) -> Box<dyn Roster> + Sync);

/// How often runs are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Guests run on the stack of their thread.
const STACK_BYTES: usize = 8 << 20;

/// How a worker works.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// The server.
    pub server: NatsAddress,
    /// What it is called where it is blamed or praised; two may share a name.
    pub name: String,
    /// The only run it takes part in; every one, if none is said.
    pub run: Option<RunKey>,
    /// Matches that it plays at once.
    pub slots: usize,
    /// What this host is: a run that is frozen for another is not taken.
    pub pins: Pins,
    /// How long the server may be away before it gives up.
    pub patience: Duration,
}

/// What a worker did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worked {
    /// Jobs that it played and told of.
    pub matches: u64,
    /// Jobs that its host could not play.
    pub faults: u64,
}

/// What the threads of a worker share.
struct Shared<'a> {
    link: Arc<Link>,
    options: &'a WorkerOptions,
    /// A name that no other worker has.
    name: String,
    runs: Mutex<Arc<[Taken]>>,
    stop: &'a AtomicBool,
    /// Something went wrong in another thread.
    broken: AtomicBool,
    matches: AtomicU64,
    faults: AtomicU64,
}

impl Shared<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.broken.load(Ordering::Relaxed)
    }

    fn runs(&self) -> Arc<[Taken]> {
        Arc::clone(&self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_runs(&self, runs: Vec<Taken>) {
        *self.runs.lock().unwrap_or_else(PoisonError::into_inner) = runs.into();
    }
}

/// Tells the others when a thread ends that should not: by a panic, or by a fault.
struct Tripwire<'a>(&'a AtomicBool);

impl Drop for Tripwire<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Plays until `stop`: the match under way is played to its end, and told of. What a person should know
/// goes to `talk`.
///
/// # Panics
/// If the roster does.
pub fn work(
    options: &WorkerOptions,
    roster: RosterMaker<'_>,
    stop: &AtomicBool,
    talk: &mut dyn FnMut(&str),
) -> Result<Worked, NatsFault> {
    let name = answer::name(&options.name);
    let link = Arc::new(Link::open(&options.server, &format!("arena worker {name}"), options.patience)?);
    let shared = Shared {
        name: format!("{name} {}", link.nonce()),
        link,
        options,
        runs: Mutex::new(Vec::new().into()),
        stop,
        broken: AtomicBool::new(false),
        matches: AtomicU64::new(0),
        faults: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..options.slots.max(1) {
            let shared = &shared;
            let thread = std::thread::Builder::new().name(format!("slot {number}")).stack_size(STACK_BYTES);
            let play = move || {
                let _tripwire = Tripwire(&shared.broken);
                slot::work(shared, roster);
            };
            match thread.spawn_scoped(scope, play) {
                Ok(thread) => threads.push(thread),
                Err(why) => {
                    shared.broken.store(true, Ordering::Relaxed);
                    return Err(NatsFault::Thread { why: why.to_string() });
                }
            }
        }
        let looked = {
            let _tripwire = Tripwire(&shared.broken);
            look_for_runs(&shared, talk)
        };
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        looked
    })?;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Ok(Worked { matches: count(&shared.matches), faults: count(&shared.faults) })
}

/// Keeps the list of runs up to date until the worker is over, or the server is away for too long.
fn look_for_runs(shared: &Shared<'_>, talk: &mut dyn FnMut(&str)) -> Result<(), NatsFault> {
    let mut finder = runs::Finder::default();
    let mut well = Instant::now();
    let mut looked: Option<Instant> = None;
    while !shared.is_over() {
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
            looked = Some(Instant::now());
            match finder.look(shared, talk) {
                Ok(runs) => {
                    well = Instant::now();
                    shared.set_runs(runs);
                }
                Err(why) if well.elapsed() > shared.options.patience => {
                    let patience = shared.options.patience;
                    return Err(NatsFault::Patience { doing: "looking for runs", patience, why });
                }
                Err(_) => {}
            }
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

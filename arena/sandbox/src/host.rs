//! One per process: the runtime, the clock tick of the safety stop, and every strategy compiled so
//! far.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::limits::{Limits, V1};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::admit::{Admitted, AdmittedExperiment, Refusal, Rejection, Stamp};
use crate::cache::{DiskCache, Kept};
use crate::cell::Cell;
use crate::deadline::Deadline;
use crate::experiment::{self, Ran, RunError, Task};
use crate::game::Game;
use crate::seat::{self, MatrixSeat, Place, Seat, SeatError};
use crate::world::campus::CampusPre;
use crate::world::experiment::ExperimentPre;
use crate::world::matrix::MatrixPre;
use crate::{config, wasi, world};

/// Where seats live. Results are the same; speed and address space differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seats {
    /// In a pool for that many live seats: an instance costs microseconds. Reserves 16 GiB of
    /// address space a seat, 4 for each memory it may have.
    Pooled(u32),
    /// Mapped anew for each seat.
    OnDemand,
}

/// How a host runs; nothing here can change a result, but that an ending by the safety stop, which is
/// marked as depending on the build, tells its `call_cpu_max`, and that there is no result beyond `wall_max`.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Where seats live.
    pub seats: Seats,
    /// A private folder for compiled strategies; it may be deleted at any time.
    pub cache: Option<PathBuf>,
    /// How often the safety stop looks at the CPU time of a call.
    pub tick: Duration,
    /// CPU time of one call at which the safety stop ends it; the limits' value unless a test says
    /// otherwise.
    pub call_cpu_max: Duration,
    /// Whether compiled code is optimised. A result that depends on it would be a fault of the compiler,
    /// which is why a reference runs both ways.
    pub optimised: bool,
    /// How long anybody waits for results, from when the host is made. What runs then ends with a fault of
    /// the host; nothing of it is a result.
    pub wall_max: Option<Duration>,
}

impl HostOptions {
    /// Seats of that kind, no cache on disk.
    pub fn new(seats: Seats) -> Self {
        Self {
            seats,
            cache: None,
            tick: Duration::from_secs(1),
            call_cpu_max: Duration::from_secs(V1.call_cpu_seconds_max.into()),
            optimised: true,
            wall_max: None,
        }
    }
}

/// Compiles and seats strategies.
pub struct Host {
    engine: Engine,
    lean: Linker<Cell>,
    wasi: Linker<Cell>,
    cache: Option<DiskCache>,
    loaded: Mutex<BTreeMap<Digest, Strategy>>,
    call_cpu_max: Duration,
    deadline: Option<Deadline>,
    pooled: bool,
}

/// A compiled experiment.
pub struct Experiment {
    engine: Engine,
    pre: ExperimentPre<Cell>,
    digest: Digest,
    call_cpu_max: Duration,
    deadline: Option<Deadline>,
    pooled: bool,
}

/// A compiled strategy. Cheap to clone.
#[derive(Clone)]
pub struct Strategy(Arc<Compiled>);

struct Compiled {
    engine: Engine,
    pre: Pre,
    digest: Digest,
    linker: &'static str,
    call_cpu_max: Duration,
    deadline: Option<Deadline>,
}

/// A linked component, by what it plays.
enum Pre {
    Campus(CampusPre<Cell>),
    Matrix(MatrixPre<Cell>),
}

/// A compiled component, and whether it was not in the cache.
struct Found {
    kept: Kept,
    new: bool,
}

/// Why a strategy could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The component does not compile or link: its author's to mend.
    #[error("{0}")]
    Rejected(Rejection),
    /// The host is broken.
    #[error(transparent)]
    Host(#[from] HostFault),
}

/// Strategies kept in memory; when there are more, the one of the smallest digest goes.
const LOADED_MAX: usize = 1_024;

impl Host {
    /// A host with these options.
    pub fn new(options: &HostOptions) -> Result<Self, HostFault> {
        let fault =
            |error: wasmtime::Error| HostFault { doing: "starting the sandbox", source: error.into() };
        let engine = Engine::new(&config::config(options.seats, options.optimised)).map_err(fault)?;
        tick(&engine, options.tick);
        let mut lean = Linker::new(&engine);
        world::add_hosts(&mut lean).map_err(fault)?;
        let mut wasi = lean.clone();
        wasi::add_to(&mut wasi).map_err(fault)?;
        let cache = options.cache.as_deref().map(|folder| DiskCache::open(folder, &engine)).transpose()?;
        let loaded = Mutex::new(BTreeMap::new());
        let pooled = matches!(options.seats, Seats::Pooled(_));
        let (call_cpu_max, deadline) = (options.call_cpu_max, options.wall_max.map(Deadline::after));
        Ok(Self { engine, lean, wasi, cache, loaded, call_cpu_max, deadline, pooled })
    }

    /// Whether anybody still waits for results.
    pub fn check_time(&self) -> Result<(), HostFault> {
        let late = self.deadline.map_or(Ok(()), Deadline::check);
        late.map_err(|late| HostFault { doing: "waiting for results", source: late.into() })
    }

    /// Compiles an admitted component, once per digest.
    pub fn load(&self, admitted: &Admitted) -> Result<Strategy, LoadError> {
        let digest = admitted.digest();
        if let Some(strategy) = self.loaded().get(&digest) {
            return Ok(strategy.clone());
        }
        let found = self.component(digest, admitted.stamp(), admitted.bytes())?;
        let strategy = self.link(digest, &found.kept)?;
        self.keep(digest, &found);
        self.remember(&strategy);
        Ok(strategy)
    }

    /// The strategy of that digest, if it was admitted and compiled before: by this host, or by one that
    /// shares its cache. Its bytes are not needed for that.
    pub fn known(&self, digest: Digest) -> Option<Strategy> {
        if let Some(strategy) = self.loaded().get(&digest) {
            return Some(strategy.clone());
        }
        let kept = self.cache.as_ref()?.get(digest, &self.engine)?;
        let strategy = self.link(digest, &kept).ok()?;
        self.remember(&strategy);
        Some(strategy)
    }

    /// The game that the strategy of that digest plays, if it was admitted and compiled before. Whoever
    /// seats it in another process needs no more.
    pub fn plays(&self, digest: Digest) -> Option<Game> {
        if let Some(strategy) = self.loaded().get(&digest) {
            return Some(strategy.game());
        }
        self.cache.as_ref()?.stamp(digest)?.plays
    }

    fn loaded(&self) -> MutexGuard<'_, BTreeMap<Digest, Strategy>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, strategy: &Strategy) {
        let mut loaded = self.loaded();
        if loaded.len() >= LOADED_MAX {
            loaded.pop_first();
        }
        loaded.insert(strategy.digest(), strategy.clone());
    }

    /// Makes sure that an admitted component compiles and links, for whoever seats it in another process:
    /// what the cache holds has done both, and is not read for that.
    pub fn prepare(&self, admitted: &Admitted) -> Result<(), LoadError> {
        match &self.cache {
            Some(cache) if cache.holds(admitted.digest()) => Ok(()),
            _ => self.load(admitted).map(drop),
        }
    }

    /// Compiles an admitted experiment.
    pub fn load_experiment(&self, admitted: &AdmittedExperiment) -> Result<Experiment, LoadError> {
        let found = self.component(admitted.digest(), admitted.stamp(), admitted.bytes())?;
        let component = &found.kept.component;
        let mut linker = self.linker(admitted.stamp().wasi, component)?;
        let does_not_link = |error| rejected("admit.does_not_link", &error);
        if admitted.stamp().wasi {
            wasi::add_files(linker.to_mut(), component, &self.engine).map_err(does_not_link)?;
        }
        let linked = linker.instantiate_pre(component).and_then(ExperimentPre::new);
        let pre = linked.map_err(does_not_link)?;
        self.keep(admitted.digest(), &found);
        let (engine, digest) = (self.engine.clone(), admitted.digest());
        let Self { call_cpu_max, deadline, pooled, .. } = *self;
        Ok(Experiment { engine, pre, digest, call_cpu_max, deadline, pooled })
    }

    fn component(&self, digest: Digest, stamp: Stamp, bytes: &[u8]) -> Result<Found, LoadError> {
        let cached = self.cache.as_ref().and_then(|cache| cache.get(digest, &self.engine));
        if let Some(kept) = cached.filter(|kept| kept.stamp == stamp) {
            return Ok(Found { kept, new: false });
        }
        let compiled = Component::new(&self.engine, bytes);
        let component = compiled.map_err(|error| rejected("admit.does_not_compile", &error))?;
        Ok(Found { kept: Kept { component, stamp }, new: true })
    }

    /// Keeps what was compiled anew and has been linked. Originals are truth: a cache that cannot be
    /// written costs time and nothing else.
    fn keep(&self, digest: Digest, found: &Found) {
        if let (Some(cache), true) = (&self.cache, found.new) {
            cache.put(digest, &found.kept).ok();
        }
    }

    /// The lean linker, or one with whatever WASI the component imports.
    fn linker(&self, imports_wasi: bool, component: &Component) -> Result<Cow<'_, Linker<Cell>>, LoadError> {
        if !imports_wasi {
            return Ok(Cow::Borrowed(&self.lean));
        }
        let mut denied = self.wasi.clone();
        wasi::add_denied(&mut denied, component, &self.engine)
            .map_err(|error| rejected("admit.does_not_link", &error))?;
        Ok(Cow::Owned(denied))
    }

    fn link(&self, digest: Digest, kept: &Kept) -> Result<Strategy, LoadError> {
        let Kept { component, stamp } = kept;
        let linker = self.linker(stamp.wasi, component)?;
        let linked = linker.instantiate_pre(component).and_then(|pre| match stamp.plays {
            Some(Game::Campus) => CampusPre::new(pre).map(Pre::Campus),
            Some(Game::Matrix) => MatrixPre::new(pre).map(Pre::Matrix),
            None => Err(wasmtime::Error::msg("an experiment plays no game")),
        });
        let pre = linked.map_err(|error| rejected("admit.does_not_link", &error))?;
        Ok(Strategy(Arc::new(Compiled {
            engine: self.engine.clone(),
            pre,
            digest,
            linker: stamp.linker(),
            call_cpu_max: self.call_cpu_max,
            deadline: self.deadline,
        })))
    }
}

fn rejected(code: &'static str, error: &wasmtime::Error) -> LoadError {
    let message = arena_engine::Excerpt { text: &format!("{error:#}"), max: 400 }.to_string();
    let hint = "rebuild with `arena build`".to_owned();
    LoadError::Rejected(Rejection { refusals: vec![Refusal { code, message, hint: Some(hint) }] })
}

/// Moves the epoch while the engine lives.
fn tick(engine: &Engine, every: Duration) {
    let engine = engine.weak();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(every);
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
        }
    });
}

impl Experiment {
    /// Digest of the component.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Runs it once, in a fresh instance. What the guest does wrong is in the ending.
    pub fn run(&self, task: &Task) -> Result<Ran, RunError> {
        experiment::run(self, task)
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn pre(&self) -> &ExperimentPre<Cell> {
        &self.pre
    }

    pub(crate) fn call_cpu_max(&self) -> Duration {
        self.call_cpu_max
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    pub(crate) fn pooled(&self) -> bool {
        self.pooled
    }
}

impl Strategy {
    /// Digest of the component.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The linker it is seated with: `lean`, or `wasi` if it imports WASI.
    pub fn linker(&self) -> &'static str {
        self.0.linker
    }

    /// The game it plays.
    pub fn game(&self) -> Game {
        match self.0.pre {
            Pre::Campus(_) => Game::Campus,
            Pre::Matrix(_) => Game::Matrix,
        }
    }

    /// The world it plays in.
    pub fn world(&self) -> &'static str {
        self.game().world()
    }

    /// The limits it plays under.
    pub fn limits(&self) -> &'static Limits {
        &V1
    }

    /// A fresh seat at the campus game: a new store and a new instance, for exactly one episode, whose
    /// clocks start at the start of turn 0 ([`arena_engine::campus::Pack::start_seconds_since_1970`]).
    /// What the guest does wrong while it starts is told by its brief.
    pub fn seat(&self, match_seed: Digest, start_seconds_since_1970: u64) -> Result<Seat, SeatError> {
        self.seat_at(match_seed, 0, start_seconds_since_1970)
    }

    /// The same for one of several seats of a match, which share its seed and have different luck.
    pub fn seat_at(
        &self,
        match_seed: Digest,
        seat_index: usize,
        start_seconds_since_1970: u64,
    ) -> Result<Seat, SeatError> {
        let Pre::Campus(pre) = &self.0.pre else { return Err(self.not_for(Game::Campus)) };
        let place = Place { match_seed, seat: seat_index as u64, start_seconds: start_seconds_since_1970 };
        Ok(Seat::new(self, pre, &place)?)
    }

    /// A fresh seat at the matrix game, likewise. The two seats of a match share its seed and have
    /// different luck; the guest's clocks start in 2000 and every round takes a second.
    pub fn matrix_seat(&self, match_seed: Digest, seat_index: usize) -> Result<MatrixSeat, SeatError> {
        let Pre::Matrix(pre) = &self.0.pre else { return Err(self.not_for(Game::Matrix)) };
        let place = Place { match_seed, seat: seat_index as u64, start_seconds: seat::MATRIX_START_SECONDS };
        Ok(MatrixSeat::new(self, pre, &place)?)
    }

    fn not_for(&self, asked_for: Game) -> SeatError {
        SeatError::WrongGame { built_for: self.game(), asked_for }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn call_cpu_max(&self) -> Duration {
        self.0.call_cpu_max
    }
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.0.deadline
    }
}

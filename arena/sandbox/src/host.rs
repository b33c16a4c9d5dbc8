//! One per process: the runtime, the clock tick of the safety stop, and every strategy compiled so
//! far.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::limits::{Limits, V1};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::admit::{Admitted, Refusal, Rejection};
use crate::cache::DiskCache;
use crate::cell::Cell;
use crate::seat::Seat;
use crate::world::CampusPre;
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
/// marked as depending on the build, tells its `call_cpu_max`.
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
}

impl HostOptions {
    /// Seats of that kind, no cache on disk.
    pub fn new(seats: Seats) -> Self {
        Self {
            seats,
            cache: None,
            tick: Duration::from_secs(1),
            call_cpu_max: Duration::from_secs(V1.call_cpu_seconds_max.into()),
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
}

/// A compiled strategy. Cheap to clone.
#[derive(Clone)]
pub struct Strategy(Arc<Compiled>);

struct Compiled {
    pre: CampusPre<Cell>,
    digest: Digest,
    linker: &'static str,
    world: &'static str,
    call_cpu_max: Duration,
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
        let engine = Engine::new(&config::config(options.seats)).map_err(fault)?;
        tick(&engine, options.tick);
        let mut lean = Linker::new(&engine);
        world::add_host(&mut lean).map_err(fault)?;
        let mut wasi = lean.clone();
        wasi::add_to(&mut wasi).map_err(fault)?;
        let cache = options.cache.as_deref().map(|folder| DiskCache::open(folder, &engine)).transpose()?;
        let loaded = Mutex::new(BTreeMap::new());
        Ok(Self { engine, lean, wasi, cache, loaded, call_cpu_max: options.call_cpu_max })
    }

    /// Compiles an admitted component, once per digest.
    pub fn load(&self, admitted: &Admitted) -> Result<Strategy, LoadError> {
        let loaded = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(strategy) = loaded().get(&admitted.digest()) {
            return Ok(strategy.clone());
        }
        let component = self.component(admitted)?;
        let strategy = self.link(admitted, &component)?;
        let mut loaded = loaded();
        if loaded.len() >= LOADED_MAX {
            loaded.pop_first();
        }
        loaded.insert(admitted.digest(), strategy.clone());
        Ok(strategy)
    }

    fn component(&self, admitted: &Admitted) -> Result<Component, LoadError> {
        if let Some(cache) = &self.cache
            && let Some(component) = cache.get(admitted.digest(), &self.engine)
        {
            return Ok(component);
        }
        let compiled = Component::new(&self.engine, admitted.bytes());
        let component = compiled.map_err(|error| rejected("admit.does_not_compile", &error))?;
        if let Some(cache) = &self.cache {
            // Originals are truth: a cache that cannot be written costs time and nothing else.
            cache.put(admitted.digest(), &component).ok();
        }
        Ok(component)
    }

    fn link(&self, admitted: &Admitted, component: &Component) -> Result<Strategy, LoadError> {
        let mut denied;
        let linker = if admitted.imports_wasi() {
            denied = self.wasi.clone();
            wasi::add_denied(&mut denied, component, &self.engine)
                .map_err(|error| rejected("admit.does_not_link", &error))?;
            &denied
        } else {
            &self.lean
        };
        let linked = linker.instantiate_pre(component).and_then(CampusPre::new);
        let pre = linked.map_err(|error| rejected("admit.does_not_link", &error))?;
        Ok(Strategy(Arc::new(Compiled {
            pre,
            digest: admitted.digest(),
            linker: admitted.linker(),
            world: admitted.world(),
            call_cpu_max: self.call_cpu_max,
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

impl Strategy {
    /// Digest of the component.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The linker it is seated with: `lean`, or `wasi` if it imports WASI.
    pub fn linker(&self) -> &'static str {
        self.0.linker
    }

    /// The world it plays in.
    pub fn world(&self) -> &'static str {
        self.0.world
    }

    /// The limits it plays under.
    pub fn limits(&self) -> &'static Limits {
        &V1
    }

    /// A fresh seat: a new store and a new instance, for exactly one episode, whose clocks start at
    /// the start of turn 0 ([`arena_engine::campus::Pack::start_seconds_since_1970`]). What the guest
    /// does wrong while it starts is told by its brief.
    pub fn seat(&self, match_seed: Digest, start_seconds_since_1970: u64) -> Result<Seat, HostFault> {
        Seat::new(self, match_seed, 0, start_seconds_since_1970)
    }

    pub(crate) fn pre(&self) -> &CampusPre<Cell> {
        &self.0.pre
    }

    pub(crate) fn call_cpu_max(&self) -> Duration {
        self.0.call_cpu_max
    }
}

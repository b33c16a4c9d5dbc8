//! One instance for one episode, whichever game it plays. Fuel is set before instantiation, refilled
//! once for the brief and before every turn, and never rises otherwise.

mod campus;
mod matrix;

use std::time::Duration;

use arena_canon::Digest;
use arena_engine::campus::LogLine;
use arena_engine::limits::Limits;
use arena_engine::{During, Forfeit, FuelScope, HostFault, TrapKind, Turn};
use wasmtime::Store;

use crate::cell::Cell;
use crate::ending::{self, Circumstances};
use crate::game::Game;
use crate::host::Strategy;

pub use campus::Seat;
pub use matrix::MatrixSeat;
pub(crate) use matrix::START_SECONDS as MATRIX_START_SECONDS;

/// Handles a guest may hold at once: WASI's and its own.
pub(crate) const HANDLES_MAX: usize = 1_024;

/// What a seat used and said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatUsage {
    /// Fuel used by the brief, instantiation not included.
    pub brief_fuel: u64,
    /// Fuel used by each turn; 0 for turns after a forfeit.
    pub fuel: Vec<u64>,
    /// High-water mark of linear memory.
    pub memory_bytes: u64,
    /// What the guest logged and was kept. Lines of the brief bear turn 0.
    pub log: Vec<LogLine>,
    /// Bytes of log text that were dropped.
    pub log_dropped_bytes: u64,
}

/// Why a strategy could not be seated.
#[derive(Debug, thiserror::Error)]
pub enum SeatError {
    /// It was built for another game: the caller's mistake.
    #[error("a {} strategy cannot play the {} game", built_for.name(), asked_for.name())]
    WrongGame {
        /// What it plays.
        built_for: Game,
        /// Where it was to be seated.
        asked_for: Game,
    },
    /// The host is broken.
    #[error(transparent)]
    Host(#[from] HostFault),
}

/// For callers that seat only what they have sorted by game: then a mix-up is the host's own.
impl From<SeatError> for HostFault {
    fn from(error: SeatError) -> Self {
        match error {
            SeatError::WrongGame { .. } => Self { doing: "seating a strategy", source: error.into() },
            SeatError::Host(fault) => fault,
        }
    }
}

/// Where a guest sits: what its luck and its clocks start from.
pub(crate) struct Place {
    pub(crate) match_seed: Digest,
    pub(crate) seat: u64,
    pub(crate) start_seconds: u64,
}

/// A store, the instance `W` in it, and the account of every call into it.
struct Metered<W> {
    store: Store<Cell>,
    started: Result<W, Forfeit>,
    limits: &'static Limits,
    brief_fuel: u64,
    fuel: Vec<u64>,
    episode_fuel_left: u64,
    step: Duration,
    call_cpu_max: Duration,
}

impl<W> Metered<W> {
    /// A fresh store with a fresh instance. What the guest does wrong while it starts is kept for the
    /// brief to tell.
    fn new(
        strategy: &Strategy,
        place: &Place,
        instantiate: impl FnOnce(&mut Store<Cell>) -> wasmtime::Result<W>,
    ) -> Result<Self, HostFault> {
        let limits = strategy.limits();
        let call_cpu_max = strategy.call_cpu_max();
        let cpu_ns_max = u64::try_from(call_cpu_max.as_nanos()).unwrap_or(u64::MAX);
        let mut cell = Cell::new(limits, place.match_seed, place.seat, cpu_ns_max);
        cell.start_seconds = place.start_seconds;
        cell.deadline = strategy.deadline();
        let mut store = Store::new(strategy.engine(), cell);
        store.limiter(|cell| &mut cell.limiter);
        store.epoch_deadline_callback(|mut context| context.data_mut().epoch());
        store.set_epoch_deadline(1);
        store.set_max_component_handles(HANDLES_MAX);
        store.set_hostcall_fuel(limits.memory_bytes_max as usize);
        fill(&mut store, limits.brief_fuel_max)?;
        let started = match instantiate(&mut store) {
            Ok(instance) => Ok(instance),
            Err(error) => {
                let call = circumstances(&store, FuelScope::Brief, limits.brief_fuel_max, call_cpu_max);
                Err(start_failed(ending::read(error, &call)?))
            }
        };
        Ok(Self {
            store,
            started,
            limits,
            brief_fuel: 0,
            fuel: Vec::new(),
            episode_fuel_left: limits.episode_fuel_max,
            step: Duration::ZERO,
            call_cpu_max,
        })
    }

    /// Tells the guest what stays the same for `turns` turns of `step` each, under the brief's budget.
    fn brief(
        &mut self,
        turns: u32,
        step: Duration,
        tell: impl FnOnce(&W, &mut Store<Cell>) -> wasmtime::Result<()>,
    ) -> Result<Option<(During, Forfeit)>, HostFault> {
        let budget = self.limits.brief_fuel_max;
        self.step = step;
        self.fuel.reserve_exact(turns as usize);
        self.store.data_mut().start_call();
        let instance = match &self.started {
            Ok(instance) => instance,
            Err(forfeit) => return Ok(Some((During::Start, forfeit.clone()))),
        };
        fill(&mut self.store, budget)?;
        let result = tell(instance, &mut self.store);
        self.brief_fuel = self.used(budget)?;
        match result {
            Ok(()) => Ok(None),
            Err(error) => Ok(Some((During::Brief, self.read(error, FuelScope::Brief, budget)?))),
        }
    }

    /// Lets the guest act on `turn`, under the turn's budget or what is left of the episode's.
    #[inline]
    fn turn<A>(
        &mut self,
        turn: u32,
        ask: impl FnOnce(&W, &mut Store<Cell>) -> wasmtime::Result<A>,
    ) -> Result<Turn<A>, HostFault> {
        let Ok(instance) = &self.started else {
            unreachable!("a seat that did not start forfeits at the brief and is not called again")
        };
        let (budget, scope) = match self.episode_fuel_left {
            left if left < self.limits.turn_fuel_max => (left, FuelScope::Episode),
            _ => (self.limits.turn_fuel_max, FuelScope::Turn),
        };
        self.store.data_mut().start_turn(turn, self.step);
        fill(&mut self.store, budget)?;
        let result = ask(instance, &mut self.store);
        let used = self.used(budget)?;
        self.episode_fuel_left -= used;
        self.fuel.push(used);
        match result {
            Ok(action) => Ok(Turn::Acted(action)),
            Err(error) => {
                let whole = if scope == FuelScope::Turn { budget } else { self.limits.episode_fuel_max };
                Ok(Turn::Forfeited(self.read(error, scope, whole)?))
            }
        }
    }

    /// A call with nothing around it but a full turn's fuel.
    fn bare<A>(
        &mut self,
        ask: impl FnOnce(&W, &mut Store<Cell>) -> wasmtime::Result<A>,
    ) -> Result<A, HostFault> {
        fill(&mut self.store, self.limits.turn_fuel_max)?;
        let fault = |source| HostFault { doing: "calling an empty guest", source };
        let instance = self.started.as_ref().map_err(|forfeit| fault(forfeit.to_string().into()))?;
        ask(instance, &mut self.store).map_err(|error| fault(error.into()))
    }

    /// What it used and said; the seat is done.
    fn into_usage(mut self, turns: u32) -> SeatUsage {
        self.fuel.resize(turns as usize, 0);
        let cell = self.store.data_mut();
        let memory_bytes = cell.limiter.memory_bytes_peak();
        let (log, log_dropped_bytes) = cell.log.take();
        SeatUsage { brief_fuel: self.brief_fuel, fuel: self.fuel, memory_bytes, log, log_dropped_bytes }
    }

    /// Fuel the last call used.
    fn used(&self, budget: u64) -> Result<u64, HostFault> {
        let left = self.store.get_fuel().map_err(fuel_fault)?;
        Ok(budget.saturating_sub(left))
    }

    fn read(&self, error: wasmtime::Error, scope: FuelScope, budget: u64) -> Result<Forfeit, HostFault> {
        ending::read(error, &circumstances(&self.store, scope, budget, self.call_cpu_max))
    }
}

fn circumstances(store: &Store<Cell>, scope: FuelScope, budget: u64, cpu_max: Duration) -> Circumstances {
    Circumstances {
        scope,
        budget,
        refused: store.data().limiter.refused(),
        cpu_seconds_max: u32::try_from(cpu_max.as_secs()).unwrap_or(u32::MAX),
    }
}

/// A trap while starting is told as such; budgets and limits keep their own names.
pub(crate) fn start_failed(forfeit: Forfeit) -> Forfeit {
    match forfeit {
        Forfeit::Trapped { kind, frames } if kind != TrapKind::NativeStack => {
            let inside = frames.first().map(|frame| format!(" in {}", frame.function)).unwrap_or_default();
            Forfeit::StartFailed { why: format!("{}{inside}", kind.words()) }
        }
        Forfeit::Unreadable { why } => Forfeit::StartFailed { why },
        other => other,
    }
}

fn fill(store: &mut Store<Cell>, fuel: u64) -> Result<(), HostFault> {
    store.set_fuel(fuel).map_err(fuel_fault)
}

fn fuel_fault(error: wasmtime::Error) -> HostFault {
    HostFault { doing: "metering a strategy", source: error.into() }
}

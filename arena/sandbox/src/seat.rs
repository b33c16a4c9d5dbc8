//! One instance for one episode. Fuel is set before instantiation, refilled once for the brief and
//! before every turn, and never rises otherwise.

use std::time::Duration;

use arena_canon::Digest;
use arena_engine::campus::{Action, Competitor, LogLine, Observation, Pack};
use arena_engine::limits::Limits;
use arena_engine::{During, Forfeit, FuelScope, HostFault, TrapKind, Turn};
use wasmtime::Store;

use crate::cell::Cell;
use crate::ending::{self, Circumstances};
use crate::host::Strategy;
use crate::world::{self, Campus, types};

/// Handles a guest may hold at once: WASI's and its own.
pub(crate) const HANDLES_MAX: usize = 1_024;

/// A strategy seated at one episode.
pub struct Seat {
    store: Store<Cell>,
    started: Result<Campus, Forfeit>,
    limits: &'static Limits,
    brief_fuel: u64,
    fuel: Vec<u64>,
    episode_fuel_left: u64,
    step: Duration,
    call_cpu_max: Duration,
}

/// What a seat used and said.
pub(crate) struct Usage {
    pub(crate) brief_fuel: u64,
    pub(crate) fuel: Vec<u64>,
    pub(crate) memory_bytes: u64,
    pub(crate) log: Vec<LogLine>,
    pub(crate) log_dropped_bytes: u64,
}

impl Seat {
    pub(crate) fn new(
        strategy: &Strategy,
        match_seed: Digest,
        seat: u64,
        start_seconds: u64,
    ) -> Result<Self, HostFault> {
        let limits = strategy.limits();
        let call_cpu_max = strategy.call_cpu_max();
        let cpu_ns_max = u64::try_from(call_cpu_max.as_nanos()).unwrap_or(u64::MAX);
        let mut cell = Cell::new(limits, match_seed, seat, cpu_ns_max);
        cell.start_seconds = start_seconds;
        let mut store = Store::new(strategy.pre().engine(), cell);
        store.limiter(|cell| &mut cell.limiter);
        store.epoch_deadline_callback(|mut context| context.data_mut().epoch());
        store.set_epoch_deadline(1);
        store.set_max_component_handles(HANDLES_MAX);
        store.set_hostcall_fuel(limits.memory_bytes_max as usize);
        fill(&mut store, limits.brief_fuel_max)?;
        let started = match strategy.pre().instantiate(&mut store) {
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

    /// `act` with nothing around it but a full turn's fuel.
    pub(crate) fn call_bare(&mut self, seen: types::Observation) -> Result<f64, HostFault> {
        fill(&mut self.store, self.limits.turn_fuel_max)?;
        let fault = |source| HostFault { doing: "calling an empty guest", source };
        let campus = self.started.as_ref().map_err(|forfeit| fault(forfeit.to_string().into()))?;
        let action = campus.arena_campus_player().call_act(&mut self.store, seen);
        Ok(action.map_err(|error| fault(error.into()))?.curtail_mw)
    }

    /// What it used and said; the seat is done.
    pub(crate) fn into_usage(mut self, turns: u32) -> Usage {
        self.fuel.resize(turns as usize, 0);
        let cell = self.store.data_mut();
        let memory_bytes = cell.limiter.memory_bytes_peak();
        let (log, log_dropped_bytes) = cell.log.take();
        Usage { brief_fuel: self.brief_fuel, fuel: self.fuel, memory_bytes, log, log_dropped_bytes }
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

impl Competitor for Seat {
    fn brief(&mut self, pack: &Pack) -> Result<Option<(During, Forfeit)>, HostFault> {
        let budget = self.limits.brief_fuel_max;
        self.step = Duration::from_secs(u64::from(pack.document().time.step_minutes) * 60);
        self.fuel.reserve_exact(pack.turns() as usize);
        self.store.data_mut().start_call();
        let campus = match &self.started {
            Ok(campus) => campus,
            Err(forfeit) => return Ok(Some((During::Start, forfeit.clone()))),
        };
        fill(&mut self.store, budget)?;
        let told = world::brief(pack, self.limits);
        let result = campus.arena_campus_player().call_brief(&mut self.store, told);
        self.brief_fuel = self.used(budget)?;
        match result {
            Ok(()) => Ok(None),
            Err(error) => Ok(Some((During::Brief, self.read(error, FuelScope::Brief, budget)?))),
        }
    }

    fn act(&mut self, seen: &Observation<'_>) -> Result<Turn<Action>, HostFault> {
        let Ok(campus) = &self.started else {
            unreachable!("a seat that did not start forfeits at the brief and is not called again")
        };
        let (budget, scope) = match self.episode_fuel_left {
            left if left < self.limits.turn_fuel_max => (left, FuelScope::Episode),
            _ => (self.limits.turn_fuel_max, FuelScope::Turn),
        };
        let cell = self.store.data_mut();
        cell.start_turn(seen.turn(), self.step);
        fill(&mut self.store, budget)?;
        let result = call(campus, &mut self.store, seen);
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
}

/// The notices and the action of one turn, under one budget.
fn call(campus: &Campus, store: &mut Store<Cell>, seen: &Observation<'_>) -> wasmtime::Result<Action> {
    let player = campus.arena_campus_player();
    for notice in seen.notices() {
        player.call_notice(&mut *store, world::notice(&notice))?;
    }
    let action = player.call_act(&mut *store, world::observation(seen))?;
    Ok(Action {
        curtail_mw: action.curtail_mw,
        battery_mw: action.battery_mw,
        diesel_mw: action.diesel_mw,
        accept_offer: action.accept_offer,
    })
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
fn start_failed(forfeit: Forfeit) -> Forfeit {
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

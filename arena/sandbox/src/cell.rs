//! What the host keeps for one seat, and what every host call costs.

use std::time::Duration;

use arena_canon::Digest;
use arena_engine::campus::LogLevel;
use arena_engine::limits::Limits;
use rustix::time::{ClockId, clock_gettime};
use wasmtime::{StoreContextMut, UpdateDeadline};

use crate::deadline::Deadline;
use crate::ending::Stop;
use crate::experiment::Desk;
use crate::limiter::Limiter;
use crate::log::GuestLog;
use crate::seed::Luck;

pub(crate) struct Cell {
    pub(crate) limits: &'static Limits,
    pub(crate) limiter: Limiter,
    pub(crate) log: GuestLog,
    pub(crate) turn: u32,
    /// Seconds since 1970 at the episode's start.
    pub(crate) start_seconds: u64,
    /// Time since the episode's start: turns, never the host's clock.
    pub(crate) elapsed_ns: u64,
    pub(crate) luck: Luck,
    /// What a run of an experiment has; strategies have none.
    pub(crate) desk: Option<Box<Desk>>,
    pub(crate) cpu_ns_max: u64,
    /// When nobody waits for a result any more.
    pub(crate) deadline: Option<Deadline>,
    call_cpu_started_ns: Option<u64>,
}

impl Cell {
    pub(crate) fn new(limits: &'static Limits, match_seed: Digest, seat: u64, cpu_ns_max: u64) -> Self {
        Self {
            limits,
            limiter: Limiter::new(limits),
            log: GuestLog::new(limits),
            turn: 0,
            start_seconds: 0,
            elapsed_ns: 0,
            luck: Luck::new(match_seed, seat),
            desk: None,
            cpu_ns_max,
            deadline: None,
            call_cpu_started_ns: None,
        }
    }

    /// Before the notices and the action of a turn: time moves by turns alone.
    pub(crate) fn start_turn(&mut self, turn: u32, step: Duration) {
        self.turn = turn;
        let elapsed = u128::from(turn) * step.as_nanos();
        self.elapsed_ns = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.log.start_turn();
        self.start_call();
    }

    /// Before every call into the guest.
    pub(crate) fn start_call(&mut self) {
        self.limiter.start_call();
        self.call_cpu_started_ns = None;
    }

    pub(crate) fn say(&mut self, level: LogLevel, text: &str, offered: usize) {
        self.log.add(self.turn, level, text, offered);
    }

    /// The safety stop. It reads the thread's CPU time, so a paused or loaded machine cannot trigger
    /// it, and only here, because a read costs more than a turn. Wall time can, and is the host's fault.
    pub(crate) fn epoch(&mut self) -> wasmtime::Result<UpdateDeadline> {
        if let Some(Err(late)) = self.deadline.map(Deadline::check) {
            return Err(wasmtime::Error::from(Stop::OutOfTime(late)));
        }
        let now = clock_gettime(ClockId::ThreadCPUTime);
        let now_ns = (now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64);
        let started_ns = *self.call_cpu_started_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(started_ns) >= self.cpu_ns_max {
            return Err(wasmtime::Error::from(Stop::Overtime));
        }
        Ok(UpdateDeadline::Continue(1))
    }
}

/// Charges one host call and `bytes` that pass through it. Every function the guest can call calls
/// this before it does anything but measure, so nothing a guest does is free.
pub(crate) fn charge(store: &mut StoreContextMut<'_, Cell>, bytes: usize) -> wasmtime::Result<()> {
    let price = store.data().limits.host_call_fuel.saturating_add(bytes as u64);
    let left = store.get_fuel()?;
    match left.checked_sub(price) {
        Some(left) => store.set_fuel(left),
        None => {
            store.set_fuel(0)?;
            Err(wasmtime::Error::from(Stop::FuelSpent))
        }
    }
}

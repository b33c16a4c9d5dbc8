//! One run: a fresh store and instance, fuel set before instantiation and refilled once for `run`.

use std::time::Duration;

use arena_engine::limits::{Limits, V1};
use arena_engine::{FuelScope, HostFault};
use wasmtime::Store;

use super::{Desk, ExperimentEnding, METRICS_MAX, Ran, RunError, Task, metric};
use crate::cell::Cell;
use crate::ending::{self, Circumstances, Stop};
use crate::host::Experiment;
use crate::limiter::Limiter;
use crate::log::GuestLog;
use crate::seat::{HANDLES_MAX, MATRIX_START_SECONDS as START_SECONDS, start_failed};
use crate::world::experiment::types;

/// Bytes that a report may take on the host before it is looked at: 256 metrics with their longest texts
/// fit several times over.
const REPORT_BYTES_MAX: usize = 8 << 20;
const _: () = assert!(METRICS_MAX * (4_096 + 64 + 128) < REPORT_BYTES_MAX, "an allowed report must fit");

/// Runs `experiment` once.
pub(crate) fn run(experiment: &Experiment, task: &Task) -> Result<Ran, RunError> {
    task.limits.check()?;
    if experiment.pooled() && task.limits.memory_bytes > V1.memory_bytes_max {
        let limit = V1.memory_bytes_max;
        return Err(RunError::NeedsOnDemand { bytes: task.limits.memory_bytes, limit });
    }
    let mut store = store(experiment, task);
    let (ending, fuel) = call(experiment, task, &mut store)?;
    let cell = store.data_mut();
    let desk = cell.desk.take().expect("a run has one until here");
    let (log_sha256, outputs) = desk.close();
    let ending = match ending {
        Called::Reported(metrics) => metric::read(metrics, &outputs),
        Called::Ended(ending) => ending,
    };
    let memory_bytes = cell.limiter.memory_bytes_peak();
    let (log, log_dropped_bytes) = cell.log.take();
    Ok(Ran { ending, fuel, memory_bytes, log_sha256, log, log_dropped_bytes, outputs })
}

enum Called {
    Reported(Vec<types::Metric>),
    Ended(ExperimentEnding),
}

fn store(experiment: &Experiment, task: &Task) -> Store<Cell> {
    let limits = Limits {
        memory_bytes_max: task.limits.memory_bytes,
        // There are no turns: the whole run has the allowance of an episode.
        turn_log_bytes_max: V1.episode_log_bytes_max,
        ..V1
    };
    let cpu_ns_max = u64::try_from(cpu_max(experiment, task).as_nanos()).unwrap_or(u64::MAX);
    let mut cell = Cell::new(&V1, task.seed, 0, cpu_ns_max);
    cell.start_seconds = START_SECONDS;
    cell.deadline = experiment.deadline();
    cell.limiter = Limiter::new(&limits);
    cell.log = GuestLog::new(&limits);
    cell.desk = Some(Box::new(Desk::new(task.inputs.clone(), task.limits.output_bytes)));
    let mut store = Store::new(experiment.engine(), cell);
    store.limiter(|cell| &mut cell.limiter);
    store.epoch_deadline_callback(|mut context| context.data_mut().epoch());
    store.set_epoch_deadline(1);
    store.set_max_component_handles(HANDLES_MAX);
    store.set_hostcall_fuel(REPORT_BYTES_MAX);
    store
}

/// The safety stop grows with the fuel: a turn's fuel can take about a second of CPU.
fn cpu_max(experiment: &Experiment, task: &Task) -> Duration {
    experiment.call_cpu_max() + Duration::from_secs(task.limits.fuel / V1.turn_fuel_max)
}

fn call(experiment: &Experiment, task: &Task, store: &mut Store<Cell>) -> Result<(Called, u64), HostFault> {
    let budget = task.limits.fuel;
    let ended = |error: wasmtime::Error, store: &Store<Cell>, starting: bool| {
        if let Some(Stop::OverLimit { what, limit }) = error.downcast_ref::<Stop>() {
            return Ok(Called::Ended(ExperimentEnding::OverLimit { what, limit: *limit }));
        }
        let circumstances = Circumstances {
            scope: FuelScope::Episode,
            budget,
            refused: store.data().limiter.refused(),
            cpu_seconds_max: u32::try_from(cpu_max(experiment, task).as_secs()).unwrap_or(u32::MAX),
        };
        let mut forfeit = ending::read(error, &circumstances)?;
        if starting {
            forfeit = start_failed(forfeit);
        }
        Ok::<_, HostFault>(Called::Ended(ExperimentEnding::forfeited(forfeit, starting)))
    };
    fill(store, budget)?;
    let instance = match experiment.pre().instantiate(&mut *store) {
        Ok(instance) => instance,
        Err(error) => return Ok((ended(error, store, true)?, 0)),
    };
    let arguments: Vec<types::Argument<'_>> =
        task.arguments.iter().map(|(name, text)| types::Argument { name, text }).collect();
    store.data_mut().start_call();
    fill(store, budget)?;
    let result = instance.arena_experiment_runner().call_run(&mut *store, &arguments);
    let used = budget.saturating_sub(store.get_fuel().map_err(fuel_fault)?);
    let called = match result {
        Ok(Ok(metrics)) => Called::Reported(metrics),
        Ok(Err(why)) => {
            let why = arena_engine::Excerpt { text: &why, max: 400 }.to_string();
            Called::Ended(ExperimentEnding::Declined(why))
        }
        Err(error) => ended(error, store, false)?,
    };
    Ok((called, used))
}

fn fill(store: &mut Store<Cell>, fuel: u64) -> Result<(), HostFault> {
    store.set_fuel(fuel).map_err(fuel_fault)
}

fn fuel_fault(error: wasmtime::Error) -> HostFault {
    HostFault { doing: "metering an experiment", source: error.into() }
}

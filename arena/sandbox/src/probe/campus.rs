use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::Pack;

use super::{Probe, report};
use crate::host::Strategy;
use crate::play::play;
use crate::seat::SeatUsage;

const PACK: &[u8] = include_bytes!("campus.json");

pub(super) fn probe(strategy: &Strategy) -> Result<Probe, HostFault> {
    let pack = Pack::parse(PACK).expect("the probe's pack is valid");
    let seed = Digest::of(b"probe");
    let first = play(strategy, &pack, seed)?;
    let second = play(strategy, &pack, seed)?;
    let deterministic = first.log.to_bytes() == second.log.to_bytes();
    let run = first.log.run.expect("a sandboxed episode has a run");
    let usage = SeatUsage {
        brief_fuel: run.brief_fuel,
        fuel: run.fuel,
        memory_bytes: first.memory_bytes,
        log: run.log,
        log_dropped_bytes: run.log_dropped_bytes,
    };
    Ok(report(usage, first.forfeit, deterministic))
}

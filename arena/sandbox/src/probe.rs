use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::Pack;
use arena_engine::{ForfeitRecord, HostFault};

use crate::host::Strategy;
use crate::play::{Played, play};

/// What a strategy did with a small pack that meets it with every kind of event and clamp.
#[derive(Debug)]
pub struct Probe {
    /// Fuel of each call, in order: the brief, then the turns.
    pub calls: Vec<Call>,
    /// High-water mark of its linear memory.
    pub memory_bytes: u64,
    /// How it lost the ability to act, if it did.
    pub forfeit: Option<ForfeitRecord>,
    /// Bytes of log text it offered that were dropped.
    pub log_dropped_bytes: u64,
    /// Whether two fresh seats with the same seed gave the same log, byte for byte.
    pub deterministic: bool,
}

/// One call into a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `brief`, or `turn 0`, with the notices of the turn.
    pub name: String,
    /// Fuel it used.
    pub fuel: u64,
}

const PACK: &[u8] = include_bytes!("probe.json");

/// Plays the probe twice, in fresh seats.
pub fn probe(strategy: &Strategy) -> Result<Probe, HostFault> {
    let pack = Pack::parse(PACK).expect("the probe's pack is valid");
    let seed = Digest::of(b"probe");
    let first = play(strategy, &pack, seed)?;
    let second = play(strategy, &pack, seed)?;
    let deterministic = first.log.to_bytes() == second.log.to_bytes();
    Ok(report(first, &pack, deterministic))
}

fn report(played: Played, pack: &Arc<Pack>, deterministic: bool) -> Probe {
    let run = played.log.run.expect("a sandboxed episode has a run");
    let brief = Call { name: "brief".to_owned(), fuel: run.brief_fuel };
    let turns = (0..pack.turns()).zip(run.fuel);
    let turns = turns.map(|(turn, fuel)| Call { name: format!("turn {turn}"), fuel });
    Probe {
        calls: std::iter::once(brief).chain(turns).collect(),
        memory_bytes: played.memory_bytes,
        forfeit: played.forfeit,
        log_dropped_bytes: run.log_dropped_bytes,
        deterministic,
    }
}

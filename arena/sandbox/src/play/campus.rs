use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::{self, Episode, EpisodeLog, Pack, Pins, Recorder, Run};
use arena_engine::{ForfeitRecord, HostFault};

use crate::WASMTIME_VERSION;
use crate::host::Strategy;

/// A whole episode in the sandbox.
#[derive(Debug)]
pub struct Played {
    /// Its log, ready to be written.
    pub log: EpisodeLog,
    /// How the strategy lost the ability to act, if it did.
    pub forfeit: Option<ForfeitRecord>,
    /// High-water mark of the strategy's linear memory.
    pub memory_bytes: u64,
}

/// Plays `strategy` on `pack` in a fresh seat and keeps every turn.
pub fn play(strategy: &Strategy, pack: &Arc<Pack>, match_seed: Digest) -> Result<Played, HostFault> {
    let mut seat = strategy.seat(match_seed, pack.start_seconds_since_1970())?;
    let mut episode = Episode::new(Arc::clone(pack));
    let mut recorder = Recorder::new(pack.turns());
    let forfeit = campus::play(&mut episode, &mut seat, &mut recorder)?;
    let usage = seat.into_usage(pack.turns());
    let run = Run {
        strategy_sha256: strategy.digest(),
        world: strategy.world().to_owned(),
        seed: match_seed,
        linker: strategy.linker().to_owned(),
        brief_fuel: usage.brief_fuel,
        fuel: usage.fuel,
        forfeit: forfeit.clone(),
        log: usage.log,
        log_dropped_bytes: usage.log_dropped_bytes,
    };
    let settlement = episode.settle().expect("an episode is played to its end");
    let pins = Pins::of_run(pack, strategy.limits().version, WASMTIME_VERSION);
    let log = EpisodeLog::new(pack, recorder, settlement, pins, Some(run));
    Ok(Played { log, forfeit, memory_bytes: usage.memory_bytes })
}

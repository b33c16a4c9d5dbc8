//! A small episode of its game that a strategy plays twice, to see what it uses and whether it
//! repeats itself.

mod campus;
mod matrix;

use arena_engine::{ForfeitRecord, HostFault};

use crate::game::Game;
use crate::host::Strategy;
use crate::seat::SeatUsage;

/// What a strategy did with the probe of its game: a pack that meets it with every kind of event and
/// clamp, or an opponent that meets it with every pair of moves.
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
    /// Whether two fresh seats with the same seed did the same, to the last byte.
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

/// Plays the probe of the strategy's game twice, in fresh seats.
pub fn probe(strategy: &Strategy) -> Result<Probe, HostFault> {
    match strategy.game() {
        Game::Campus => campus::probe(strategy),
        Game::Matrix => matrix::probe(strategy),
    }
}

fn report(usage: SeatUsage, forfeit: Option<ForfeitRecord>, deterministic: bool) -> Probe {
    let brief = Call { name: "brief".to_owned(), fuel: usage.brief_fuel };
    let turns = usage.fuel.into_iter().enumerate();
    let turns = turns.map(|(turn, fuel)| Call { name: format!("turn {turn}"), fuel });
    Probe {
        calls: std::iter::once(brief).chain(turns).collect(),
        memory_bytes: usage.memory_bytes,
        forfeit,
        log_dropped_bytes: usage.log_dropped_bytes,
        deterministic,
    }
}

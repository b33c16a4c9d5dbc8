//! What a call into a guest costs by itself, for benches: the same signature through the same
//! bindings with nothing played around it.

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::{self, Episode, Pack};
use arena_engine::matrix::{self, Game, Move, Rules};

use crate::host::Strategy;
use crate::seat::{MatrixSeat, Seat};
use crate::world;

/// A campus seat whose `act` is called with one observation over and over.
pub struct Floor {
    seat: Seat,
    observation: world::campus::types::Observation,
}

impl Floor {
    /// Seats `strategy` at `pack` and briefs it; it must not forfeit.
    pub fn new(strategy: &Strategy, pack: &std::sync::Arc<Pack>) -> Result<Self, HostFault> {
        let mut seat = strategy.seat(Digest::of(b"floor"), pack.start_seconds_since_1970())?;
        campus::Competitor::brief(&mut seat, pack)?;
        let episode = Episode::new(std::sync::Arc::clone(pack));
        let seen = episode.observe().expect("a pack has a turn");
        Ok(Self { observation: world::campus::observation(&seen), seat })
    }

    /// One empty call; gives the power it asked to shed.
    pub fn call(&mut self) -> Result<f64, HostFault> {
        self.seat.call_bare(self.observation)
    }
}

/// A matrix seat whose `act` is called with one observation over and over.
pub struct MatrixFloor {
    seat: MatrixSeat,
    observation: world::matrix::types::Observation,
}

impl MatrixFloor {
    /// Seats `strategy` and briefs it; it must not forfeit.
    pub fn new(strategy: &Strategy, rules: &Rules) -> Result<Self, HostFault> {
        let mut seat = strategy.matrix_seat(Digest::of(b"floor"), 0)?;
        matrix::Competitor::brief(&mut seat, rules)?;
        let seen = Game::new(*rules).observe(0);
        Ok(Self { observation: world::matrix::observation(&seen), seat })
    }

    /// One call; gives its move.
    pub fn call(&mut self) -> Result<Move, HostFault> {
        self.seat.call_bare(self.observation)
    }
}

//! What a call into a guest costs by itself, for benches: the same signature through the same
//! bindings with nothing played around it.

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::{Competitor as _, Episode, Pack};

use crate::host::Strategy;
use crate::seat::Seat;
use crate::world::{self, types};

/// A seat whose `act` is called with one observation over and over.
pub struct Floor {
    seat: Seat,
    observation: types::Observation,
}

impl Floor {
    /// Seats `strategy` at `pack` and briefs it; it must not forfeit.
    pub fn new(strategy: &Strategy, pack: &std::sync::Arc<Pack>) -> Result<Self, HostFault> {
        let mut seat = strategy.seat(Digest::of(b"floor"), pack.start_seconds_since_1970())?;
        seat.brief(pack)?;
        let episode = Episode::new(std::sync::Arc::clone(pack));
        let seen = episode.observe().expect("a pack has a turn");
        Ok(Self { observation: world::observation(&seen), seat })
    }

    /// One empty call; gives the power it asked to shed.
    pub fn call(&mut self) -> Result<f64, HostFault> {
        self.seat.call_bare(self.observation)
    }
}

//! How strategies are seated. Whoever composes the product implements this around a sandbox; nothing
//! here knows how a strategy is run.

use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::{self, LogLine, Pack};
use arena_engine::matrix;

/// Seats strategies and knows packs, by digest.
pub trait Roster {
    /// The pack with this digest.
    fn pack(&mut self, sha256: Digest) -> Result<Arc<Pack>, HostFault>;

    /// Seats a strategy at an episode of `pack`.
    fn campus(
        &mut self,
        strategy: Digest,
        match_seed: Digest,
        seat: usize,
        pack: &Pack,
    ) -> Result<Box<dyn CampusSeat>, HostFault>;

    /// Seats a strategy at a matrix game.
    fn matrix(
        &mut self,
        strategy: Digest,
        match_seed: Digest,
        seat: usize,
    ) -> Result<Box<dyn MatrixSeat>, HostFault>;
}

/// A strategy seated at one episode of the campus game.
pub trait CampusSeat: campus::Competitor {
    /// What it used and said over `turns` turns; the seat is done.
    fn usage(self: Box<Self>, turns: u32) -> Usage;
}

/// A strategy seated at one matrix game.
pub trait MatrixSeat: matrix::Competitor {
    /// What it used and said over `turns` rounds; the seat is done.
    fn usage(self: Box<Self>, turns: u32) -> Usage;
}

/// What a seat used and said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Fuel of the brief.
    pub brief_fuel: u64,
    /// Fuel of each turn; 0 for turns after a forfeit.
    pub fuel: Vec<u64>,
    /// What the guest logged and was kept.
    pub log: Vec<LogLine>,
    /// Bytes of log text that were dropped.
    pub log_dropped_bytes: u64,
}

/// Where components and packs come from. What it gives is checked against the digest by whoever asks.
pub trait Shelf {
    /// The bytes of a component.
    fn component(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault>;

    /// The bytes of a pack.
    fn pack(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault>;
}

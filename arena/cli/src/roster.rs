//! The sandbox as tournaments know it: strategies by digest, each compiled once.

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::{self, Action, Observation, Pack};
use arena_engine::matrix::{self, Move, Rules};
use arena_engine::{During, Forfeit, HostFault, Turn};
use arena_sandbox::{Host, MatrixSeat, Seat, SeatUsage, Strategy, admit};
use arena_tournament::{Roster, Shelf, Usage};

/// Seats what is on a shelf.
pub(crate) struct SandboxRoster {
    host: Arc<Host>,
    shelf: Box<dyn Shelf>,
    strategies: BTreeMap<Digest, Strategy>,
    packs: BTreeMap<Digest, Arc<Pack>>,
}

/// A strategy seated at the campus game.
struct CampusSeat(Seat);
/// A strategy seated at the matrix game.
struct AtMatrix(MatrixSeat);

impl SandboxRoster {
    pub(crate) fn new(host: Arc<Host>, shelf: Box<dyn Shelf>) -> Self {
        Self { host, shelf, strategies: BTreeMap::new(), packs: BTreeMap::new() }
    }

    fn strategy(&mut self, sha256: Digest) -> Result<Strategy, HostFault> {
        if let Some(strategy) = self.strategies.get(&sha256) {
            return Ok(strategy.clone());
        }
        let strategy = match self.host.known(sha256) {
            Some(strategy) => strategy,
            None => self.load_from_shelf(sha256)?,
        };
        self.strategies.insert(sha256, strategy.clone());
        Ok(strategy)
    }

    fn load_from_shelf(&mut self, sha256: Digest) -> Result<Strategy, HostFault> {
        let bytes = self.shelf.component(sha256)?;
        if Digest::of(&bytes) != sha256 {
            return Err(fault("a component on the shelf is not the one it is kept for"));
        }
        let admitted = admit(&bytes).map_err(|rejection| fault(format!("not admitted: {rejection}")))?;
        self.host.load(&admitted).map_err(|why| fault(why.to_string()))
    }
}

fn fault(why: impl Into<String>) -> HostFault {
    HostFault { doing: "loading a strategy", source: why.into().into() }
}

impl Roster for SandboxRoster {
    fn pack(&mut self, sha256: Digest) -> Result<Arc<Pack>, HostFault> {
        if let Some(pack) = self.packs.get(&sha256) {
            return Ok(Arc::clone(pack));
        }
        let bytes = self.shelf.pack(sha256)?;
        let wrong = |why: String| HostFault { doing: "loading a pack", source: why.into() };
        let pack = Pack::parse(&bytes).map_err(|faults| wrong(faults.to_string()))?;
        if pack.sha256() != sha256 {
            return Err(wrong("a pack on the shelf is not the one it is kept for".to_owned()));
        }
        self.packs.insert(sha256, Arc::clone(&pack));
        Ok(pack)
    }

    fn campus(
        &mut self,
        strategy: Digest,
        match_seed: Digest,
        seat: usize,
        pack: &Pack,
    ) -> Result<Box<dyn arena_tournament::CampusSeat>, HostFault> {
        let strategy = self.strategy(strategy)?;
        let seat = strategy.seat_at(match_seed, seat, pack.start_seconds_since_1970())?;
        Ok(Box::new(CampusSeat(seat)))
    }

    fn matrix(
        &mut self,
        strategy: Digest,
        match_seed: Digest,
        seat: usize,
    ) -> Result<Box<dyn arena_tournament::MatrixSeat>, HostFault> {
        let seat = self.strategy(strategy)?.matrix_seat(match_seed, seat)?;
        Ok(Box::new(AtMatrix(seat)))
    }
}

impl campus::Competitor for CampusSeat {
    fn brief(&mut self, pack: &Pack) -> Result<Option<(During, Forfeit)>, HostFault> {
        self.0.brief(pack)
    }

    fn act(&mut self, seen: &Observation<'_>) -> Result<Turn<Action>, HostFault> {
        self.0.act(seen)
    }
}

impl arena_tournament::CampusSeat for CampusSeat {
    fn usage(self: Box<Self>, turns: u32) -> Usage {
        usage(self.0.into_usage(turns))
    }
}

impl matrix::Competitor for AtMatrix {
    fn brief(&mut self, rules: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        self.0.brief(rules)
    }

    fn act(&mut self, seen: &matrix::Observation) -> Result<Turn<Move>, HostFault> {
        self.0.act(seen)
    }
}

impl arena_tournament::MatrixSeat for AtMatrix {
    fn usage(self: Box<Self>, turns: u32) -> Usage {
        usage(self.0.into_usage(turns))
    }
}

fn usage(used: SeatUsage) -> Usage {
    let SeatUsage { brief_fuel, fuel, log, log_dropped_bytes, .. } = used;
    Usage { brief_fuel, fuel, log, log_dropped_bytes }
}

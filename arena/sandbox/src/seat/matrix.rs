use std::time::Duration;

use arena_engine::matrix::{Competitor, Move, Observation, Rules};
use arena_engine::{During, Forfeit, HostFault, Turn};

use super::{Metered, Place, SeatUsage};
use crate::cell::Cell;
use crate::host::Strategy;
use crate::world::matrix::{self, Matrix, MatrixPre, types};

/// Seconds since 1970 at the start of every game: 2000-01-01T00:00:00Z. A matrix game has no date of
/// its own.
pub(crate) const START_SECONDS: u64 = 946_684_800;

/// What a round moves the guest's clocks by.
const STEP: Duration = Duration::from_secs(1);

/// A strategy seated at one game of the matrix.
pub struct MatrixSeat(Metered<Matrix>);

impl MatrixSeat {
    pub(crate) fn new(strategy: &Strategy, pre: &MatrixPre<Cell>, place: &Place) -> Result<Self, HostFault> {
        Metered::new(strategy, place, |store| pre.instantiate(store)).map(Self)
    }

    /// `act` with nothing around it but a full turn's fuel.
    pub(crate) fn call_bare(&mut self, seen: types::Observation) -> Result<Move, HostFault> {
        let made = self.0.bare(|instance, store| instance.arena_matrix_player().call_act(store, seen))?;
        Ok(matrix::made(made))
    }

    /// What it used and said in a game of `rounds` rounds; the seat is done.
    pub fn into_usage(self, rounds: u32) -> SeatUsage {
        self.0.into_usage(rounds)
    }
}

impl Competitor for MatrixSeat {
    fn brief(&mut self, rules: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        let told = matrix::brief(rules);
        self.0.brief(rules.rounds(), STEP, |instance, store| {
            instance.arena_matrix_player().call_brief(store, told)
        })
    }

    fn act(&mut self, seen: &Observation) -> Result<Turn<Move>, HostFault> {
        let told = matrix::observation(seen);
        self.0.turn(seen.round, |instance, store| {
            instance.arena_matrix_player().call_act(store, told).map(matrix::made)
        })
    }
}

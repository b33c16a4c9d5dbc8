use arena_canon::Digest;
use arena_engine::matrix::{self, Competitor, Game, Move, Observation, Payoffs, Rules};
use arena_engine::{During, Forfeit, ForfeitRecord, HostFault, Turn};

use super::{Probe, report};
use crate::host::Strategy;
use crate::seat::SeatUsage;

/// As many as the opponent has moves.
const ROUNDS: u32 = OPPONENT.len() as u32;

/// What the opponent plays: short and long runs of both moves, so that every strategy with a short
/// memory meets all that it can tell apart.
const OPPONENT: &[u8; 50] = b"CCCDCCDDCDCDDDCCDCCCCDDDDCDDCCCDCDCCDDDDDDCCCCCCDC";

pub(super) fn probe(strategy: &Strategy) -> Result<Probe, HostFault> {
    let first = play(strategy)?;
    let deterministic = first == play(strategy)?;
    let (_, forfeit, usage) = first;
    Ok(report(usage, forfeit, deterministic))
}

/// One game against the opponent: the strategy's moves, its ending, and what it used and said.
fn play(strategy: &Strategy) -> Result<(Vec<Move>, Option<ForfeitRecord>, SeatUsage), HostFault> {
    let mut seat = strategy.matrix_seat(Digest::of(b"probe"), 0)?;
    let mut game = Game::new(Rules::new(Payoffs::default(), ROUNDS).expect("it has a round"));
    let [forfeit, _] = matrix::play(&mut game, [&mut seat, &mut Opponent])?;
    Ok((game.moves(0).to_vec(), forfeit, seat.into_usage(ROUNDS)))
}

struct Opponent;

impl Competitor for Opponent {
    fn brief(&mut self, _: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(None)
    }

    fn act(&mut self, seen: &Observation) -> Result<Turn<Move>, HostFault> {
        let defects = OPPONENT[seen.round as usize] == b'D';
        Ok(Turn::Acted(if defects { Move::Defect } else { Move::Cooperate }))
    }
}

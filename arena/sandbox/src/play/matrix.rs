use arena_canon::Digest;
use arena_engine::matrix::{self, Game, Move, Rules};
use arena_engine::{ForfeitRecord, HostFault};

use crate::host::Strategy;
use crate::seat::SeatUsage;

/// A whole game of two strategies in the sandbox, seat 0 first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedMatrix {
    /// The moves; none if both forfeited before round 0.
    pub moves: [Vec<Move>; 2],
    /// The points.
    pub scores: [i64; 2],
    /// How each lost the ability to act, if it did.
    pub forfeits: [Option<ForfeitRecord>; 2],
    /// What each used and said.
    pub usage: [SeatUsage; 2],
}

/// Lets two strategies play each other in fresh seats. One strategy may take both.
pub fn matrix_play(
    strategies: &[Strategy; 2],
    rules: &Rules,
    match_seed: Digest,
) -> Result<PlayedMatrix, HostFault> {
    let mut first = strategies[0].matrix_seat(match_seed, 0)?;
    let mut second = strategies[1].matrix_seat(match_seed, 1)?;
    let mut game = Game::new(*rules);
    let forfeits = matrix::play(&mut game, [&mut first, &mut second])?;
    let rounds = game.round();
    Ok(PlayedMatrix {
        scores: game.scores(),
        forfeits,
        usage: [first.into_usage(rounds), second.into_usage(rounds)],
        moves: game.into_moves(),
    })
}

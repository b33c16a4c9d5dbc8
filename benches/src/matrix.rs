//! Bodies of the matrix game.

use arena_canon::Digest;
use arena_engine::matrix::{self, Competitor, Game, Move, Observation, Payoffs, Rules};
use arena_engine::{During, Forfeit, HostFault, Turn};
use arena_sandbox::{MatrixSeat, PlayedMatrix, Strategy, matrix_play};

/// The prisoner's dilemma over so many rounds.
pub fn rules(rounds: u32) -> Rules {
    Rules::new(Payoffs::default(), rounds).expect("a number of rounds that is allowed")
}

/// Repeats the other seat's last move, natively.
struct TitForTat;

impl Competitor for TitForTat {
    fn brief(&mut self, _: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(None)
    }

    fn act(&mut self, seen: &Observation) -> Result<Turn<Move>, HostFault> {
        Ok(Turn::Acted(seen.other_last))
    }
}

/// A whole native game: the cost of everything but the sandbox.
pub fn native_game(rules: &Rules) -> Result<[i64; 2], HostFault> {
    let mut game = Game::new(*rules);
    matrix::play(&mut game, [&mut TitForTat, &mut TitForTat])?;
    Ok(game.scores())
}

/// A whole game of a strategy against itself: two seats, two briefs, every round.
pub fn sandboxed_game(strategy: &Strategy, rules: &Rules) -> Result<PlayedMatrix, HostFault> {
    matrix_play(&[strategy.clone(), strategy.clone()], rules, Digest::of(b"bench"))
}

/// Only the rounds of a sandboxed game; the seats are made by `setup`, outside of what is timed.
pub struct Rounds {
    seats: [MatrixSeat; 2],
    game: Game,
}

impl Rounds {
    /// Two briefed seats before round 0.
    pub fn setup(strategy: &Strategy, rules: &Rules) -> Result<Self, HostFault> {
        let seated = |index| -> Result<MatrixSeat, HostFault> {
            let mut seat = strategy.matrix_seat(Digest::of(b"bench"), index)?;
            seat.brief(rules)?;
            Ok(seat)
        };
        Ok(Self { seats: [seated(0)?, seated(1)?], game: Game::new(*rules) })
    }

    /// Every round to the end.
    pub fn run(&mut self) -> Result<(), HostFault> {
        while !self.game.is_over() {
            let mut moves = [Move::Cooperate; 2];
            for (index, seat) in self.seats.iter_mut().enumerate() {
                if let Turn::Acted(made) = seat.act(&self.game.observe(index))? {
                    moves[index] = made;
                }
            }
            self.game.commit(moves);
        }
        Ok(())
    }
}

use super::moves::Move;
use super::rules::Rules;

/// A game as a value that is stepped: observe for each seat, commit both moves, until it is over. A
/// round allocates nothing.
#[derive(Debug, Clone)]
pub struct Game {
    rules: Rules,
    moves: [Vec<Move>; 2],
    scores: [i64; 2],
}

/// What a seat sees before a round. Nothing in it tells whom it plays or where it sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// The round to move in, from 0.
    pub round: u32,
    /// Whether a round was played: if not, both last moves are `Cooperate`.
    pub played: bool,
    /// Its own last move.
    pub own_last: Move,
    /// The other seat's last move.
    pub other_last: Move,
    /// Its own points so far.
    pub own_score: i64,
    /// The other seat's points so far.
    pub other_score: i64,
}

impl Game {
    /// A game before its first round.
    pub fn new(rules: Rules) -> Self {
        let rounds = rules.rounds() as usize;
        Self { rules, moves: [Vec::with_capacity(rounds), Vec::with_capacity(rounds)], scores: [0; 2] }
    }

    /// What it is played by.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Rounds played, which is also the round to move in.
    pub fn round(&self) -> u32 {
        self.moves[0].len() as u32
    }

    /// Whether every round is played.
    pub fn is_over(&self) -> bool {
        self.round() == self.rules.rounds()
    }

    /// What `seat`, 0 or 1, sees.
    pub fn observe(&self, seat: usize) -> Observation {
        let other = 1 - seat;
        let last = |seat: usize| self.moves[seat].last().copied();
        Observation {
            round: self.round(),
            played: last(seat).is_some(),
            own_last: last(seat).unwrap_or(Move::Cooperate),
            other_last: last(other).unwrap_or(Move::Cooperate),
            own_score: self.scores[seat],
            other_score: self.scores[other],
        }
    }

    /// Plays one round with both moves.
    ///
    /// # Panics
    /// If the game is over.
    pub fn commit(&mut self, moves: [Move; 2]) {
        assert!(!self.is_over(), "all {} rounds are played", self.rules.rounds());
        let [first, second] = moves;
        let payoffs = self.rules.payoffs();
        self.scores[0] += i64::from(payoffs.points(first, second));
        self.scores[1] += i64::from(payoffs.points(second, first));
        self.moves[0].push(first);
        self.moves[1].push(second);
    }

    /// Points of both seats so far.
    pub fn scores(&self) -> [i64; 2] {
        self.scores
    }

    /// The moves of `seat`, 0 or 1, so far.
    pub fn moves(&self, seat: usize) -> &[Move] {
        &self.moves[seat]
    }

    /// The moves of both seats so far.
    pub fn into_moves(self) -> [Vec<Move>; 2] {
        self.moves
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Payoffs, ROUNDS_MAX, Rules};
    use super::{Game, Move, Observation};

    const C: Move = Move::Cooperate;
    const D: Move = Move::Defect;

    fn game(rounds: u32) -> Game {
        Game::new(Rules::new(Payoffs::default(), rounds).unwrap())
    }

    #[test]
    fn before_the_first_round_both_seats_see_the_same() {
        let seen =
            Observation { round: 0, played: false, own_last: C, other_last: C, own_score: 0, other_score: 0 };
        assert_eq!([game(3).observe(0), game(3).observe(1)], [seen, seen]);
    }

    #[test]
    fn each_seat_sees_the_last_round_from_its_own_side() {
        let mut game = game(3);
        game.commit([C, D]);
        let first =
            Observation { round: 1, played: true, own_last: C, other_last: D, own_score: 0, other_score: 5 };
        let second =
            Observation { round: 1, played: true, own_last: D, other_last: C, own_score: 5, other_score: 0 };
        assert_eq!([game.observe(0), game.observe(1)], [first, second]);
    }

    #[test]
    fn the_largest_payoffs_of_the_longest_game_have_room() {
        let payoffs = Payoffs { r: i32::MAX, s: i32::MIN, t: i32::MAX, p: i32::MIN };
        for (moves, points) in [([C, C], i32::MAX), ([D, D], i32::MIN)] {
            let mut game = Game::new(Rules::new(payoffs, ROUNDS_MAX).unwrap());
            while !game.is_over() {
                game.commit(moves);
            }
            assert_eq!(game.scores(), [i64::from(points) * i64::from(ROUNDS_MAX); 2]);
        }
    }

    #[test]
    #[should_panic(expected = "all 1 rounds are played")]
    fn a_game_that_is_over_is_not_played_on() {
        let mut game = game(1);
        game.commit([C, C]);
        game.commit([C, C]);
    }
}

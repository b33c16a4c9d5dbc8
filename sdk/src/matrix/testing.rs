//! Whole games, and observations by hand, so that a strategy can be tested natively, with `cargo test`.
//!
//! ```
//! use arena_sdk::matrix::{Brief, Move, Observation, Strategy, testing};
//!
//! struct TitForTat;
//!
//! impl Strategy for TitForTat {
//!     fn brief(_brief: &Brief) -> Self {
//!         TitForTat
//!     }
//!     fn act(&mut self, seen: &Observation) -> Move {
//!         seen.other_last
//!     }
//! }
//!
//! let brief = Brief { rounds: 5, ..testing::brief() };
//! let game = testing::play(&brief, &mut TitForTat, &mut testing::script("CDDC"));
//! assert_eq!(game.moves, ["CCDDC", "CDDCC"]);
//! assert_eq!(game.scores, [12, 12]);
//! ```

use super::{Brief, Move, Observation, Strategy};

/// The prisoner's dilemma as it is usually played, 3, 0, 5, 1, over 200 rounds. Change what matters:
/// `Brief { rounds: 10, ..testing::brief() }`.
pub fn brief() -> Brief {
    Brief { rounds: 200, r: 3, s: 0, t: 5, p: 1 }
}

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The moves of both seats, `CDC…`.
    pub moves: [String; 2],
    /// The points of both seats.
    pub scores: [i64; 2],
}

/// Lets two strategies play a whole game, natively.
pub fn play(brief: &Brief, first: &mut dyn Strategy, second: &mut dyn Strategy) -> Game {
    let mut game = Game { moves: [String::new(), String::new()], scores: [0; 2] };
    let mut last = (Move::Cooperate, Move::Cooperate);
    for now in 0..brief.rounds {
        let seen = round(now).last(last.0, last.1).scores(game.scores[0], game.scores[1]).build();
        let mirrored = round(now).last(last.1, last.0).scores(game.scores[1], game.scores[0]).build();
        last = (first.act(&seen), second.act(&mirrored));
        game.scores[0] += i64::from(brief.points(last.0, last.1));
        game.scores[1] += i64::from(brief.points(last.1, last.0));
        game.moves[0].push(last.0.letter());
        game.moves[1].push(last.1.letter());
    }
    game
}

/// An opponent that makes these moves, a letter a round, and then cooperates.
///
/// # Panics
/// If there is a letter that is neither `C` nor `D`.
#[track_caller]
pub fn script(moves: &str) -> Script {
    let read = |letter| match letter {
        'C' => Move::Cooperate,
        'D' => Move::Defect,
        other => panic!("a move is C or D, not {other:?}"),
    };
    Script { moves: moves.chars().map(read).collect() }
}

/// See [`script`].
#[derive(Clone, Debug)]
pub struct Script {
    moves: Vec<Move>,
}

impl Strategy for Script {
    fn brief(_brief: &Brief) -> Self {
        Script { moves: Vec::new() }
    }

    fn act(&mut self, seen: &Observation) -> Move {
        self.moves.get(seen.round as usize).copied().unwrap_or(Move::Cooperate)
    }
}

/// Begins the observation of `round`: both seats cooperated in the round before, if there was one, and
/// have no points.
pub fn round(round: u32) -> RoundBuilder {
    RoundBuilder {
        seen: Observation {
            round,
            played: round > 0,
            own_last: Move::Cooperate,
            other_last: Move::Cooperate,
            own_score: 0,
            other_score: 0,
        },
    }
}

/// An observation in the making; see [`round`].
#[derive(Clone, Debug)]
pub struct RoundBuilder {
    seen: Observation,
}

impl RoundBuilder {
    /// The moves of the round before. Without effect in round 0, which has none.
    pub fn last(mut self, own: Move, other: Move) -> Self {
        if self.seen.played {
            (self.seen.own_last, self.seen.other_last) = (own, other);
        }
        self
    }

    /// The points so far.
    pub fn scores(mut self, own: i64, other: i64) -> Self {
        (self.seen.own_score, self.seen.other_score) = (own, other);
        self
    }

    /// The observation.
    pub fn build(self) -> Observation {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what it is shown, and defects in odd rounds.
    #[derive(Default)]
    struct Diarist {
        seen: Vec<Observation>,
    }

    impl Strategy for Diarist {
        fn brief(_brief: &Brief) -> Self {
            Self::default()
        }

        fn act(&mut self, seen: &Observation) -> Move {
            self.seen.push(*seen);
            if seen.round.is_multiple_of(2) { Move::C } else { Move::D }
        }
    }

    #[test]
    fn both_seats_see_every_round_from_their_own_side() {
        let brief = Brief { rounds: 3, ..brief() };
        let (mut first, mut second) = (Diarist::default(), script("DDD"));
        let game = play(&brief, &mut first, &mut second);
        assert_eq!(game, Game { moves: ["CDC".to_owned(), "DDD".to_owned()], scores: [1, 11] });
        assert_eq!(first.seen[0], round(0).build());
        assert_eq!(first.seen[2], round(2).last(Move::D, Move::D).scores(1, 6).build());

        let mut mirrored = Diarist::default();
        let game = play(&brief, &mut script("DDD"), &mut mirrored);
        assert_eq!(game.scores, [11, 1]);
        assert_eq!(mirrored.seen, first.seen);
    }

    #[test]
    fn round_0_has_no_round_before_it() {
        assert_eq!(round(0).last(Move::D, Move::D).build(), round(0).build());
        assert!(!round(0).build().played && round(1).build().played);
    }

    #[test]
    #[should_panic(expected = "a move is C or D, not 'x'")]
    fn another_letter_is_a_mistake() {
        script("Cx");
    }
}

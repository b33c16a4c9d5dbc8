//! Cooperates in even rounds and defects in odd ones.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Takes turns with itself.
pub struct Alternator;

impl Strategy for Alternator {
    fn brief(_brief: &Brief) -> Self {
        Alternator
    }

    fn act(&mut self, seen: &Observation) -> Move {
        if seen.round.is_multiple_of(2) { Move::Cooperate } else { Move::Defect }
    }
}

arena_sdk::export_matrix!(Alternator);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn whom_it_plays_does_not_matter() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = Alternator::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("DDCCDC"));
        assert_eq!(game.moves, ["CDCDCD", "DDCCDC"]);
    }
}

//! Always cooperates.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Cooperates.
pub struct Cooperator;

impl Strategy for Cooperator {
    fn brief(_brief: &Brief) -> Self {
        Cooperator
    }

    fn act(&mut self, _seen: &Observation) -> Move {
        Move::Cooperate
    }
}

arena_sdk::export_matrix!(Cooperator);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn nothing_makes_it_defect() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = Cooperator::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CDDDDC"));
        assert_eq!(game.moves, ["CCCCCC", "CDDDDC"]);
    }
}

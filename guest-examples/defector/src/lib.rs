//! Always defects.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Defects.
pub struct Defector;

impl Strategy for Defector {
    fn brief(_brief: &Brief) -> Self {
        Defector
    }

    fn act(&mut self, _seen: &Observation) -> Move {
        Move::Defect
    }
}

arena_sdk::export_matrix!(Defector);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn nothing_makes_it_cooperate() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = Defector::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CCCDCC"));
        assert_eq!(game.moves, ["DDDDDD", "CCCDCC"]);
    }
}

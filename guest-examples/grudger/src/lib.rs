//! Cooperates until the other seat defects, then defects for ever.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Forgets nothing.
pub struct Grudger {
    offended: bool,
}

impl Strategy for Grudger {
    fn brief(_brief: &Brief) -> Self {
        Grudger { offended: false }
    }

    fn act(&mut self, seen: &Observation) -> Move {
        self.offended |= seen.other_last == Move::Defect;
        if self.offended { Move::Defect } else { Move::Cooperate }
    }
}

arena_sdk::export_matrix!(Grudger);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn one_defection_is_enough() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = Grudger::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CCDCCC"));
        assert_eq!(game.moves, ["CCCDDD", "CCDCCC"]);
    }

    #[test]
    fn without_one_it_cooperates() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = Grudger::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CCCCCD"));
        assert_eq!(game.moves, ["CCCCCC", "CCCCCD"]);
    }
}

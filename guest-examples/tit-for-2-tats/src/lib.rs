//! Defects only after two defections in a row.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Overlooks a single defection.
pub struct TitFor2Tats {
    /// Whether the other seat defected in the round before the last.
    warned: bool,
}

impl Strategy for TitFor2Tats {
    fn brief(_brief: &Brief) -> Self {
        TitFor2Tats { warned: false }
    }

    fn act(&mut self, seen: &Observation) -> Move {
        let again = seen.other_last == Move::Defect;
        let twice = again && self.warned;
        self.warned = again;
        if twice { Move::Defect } else { Move::Cooperate }
    }
}

arena_sdk::export_matrix!(TitFor2Tats);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn one_defection_is_overlooked_and_two_are_not() {
        let brief = Brief { rounds: 8, ..testing::brief() };
        let mut seat = TitFor2Tats::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CDCDDDCC"));
        assert_eq!(game.moves, ["CCCCCDDC", "CDCDDDCC"]);
    }
}

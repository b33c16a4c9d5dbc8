//! Defects if the other seat did in any of the last three rounds.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// How long a defection is held against the other seat.
const ROUNDS: u32 = 3;

/// Answers one defection three times.
pub struct HardTitForTat {
    defections_left: u32,
}

impl Strategy for HardTitForTat {
    fn brief(_brief: &Brief) -> Self {
        HardTitForTat { defections_left: 0 }
    }

    fn act(&mut self, seen: &Observation) -> Move {
        self.defections_left = match seen.other_last {
            Move::Defect => ROUNDS,
            Move::Cooperate => self.defections_left.saturating_sub(1),
        };
        if self.defections_left > 0 { Move::Defect } else { Move::Cooperate }
    }
}

arena_sdk::export_matrix!(HardTitForTat);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn one_defection_is_answered_three_times() {
        let brief = Brief { rounds: 14, ..testing::brief() };
        let mut seat = HardTitForTat::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("DCCCCCDCDCCCCC"));
        assert_eq!(game.moves, ["CDDDCCCDDDDDCC", "DCCCCCDCDCCCCC"]);
    }
}

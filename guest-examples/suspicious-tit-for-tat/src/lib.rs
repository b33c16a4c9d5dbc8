//! Defects first, then does what the other seat did.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Trusts nobody before the first round.
pub struct SuspiciousTitForTat;

impl Strategy for SuspiciousTitForTat {
    fn brief(_brief: &Brief) -> Self {
        SuspiciousTitForTat
    }

    fn act(&mut self, seen: &Observation) -> Move {
        seen.last().map_or(Move::Defect, |(_, other)| other)
    }
}

arena_sdk::export_matrix!(SuspiciousTitForTat);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn it_defects_once_and_then_answers() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = SuspiciousTitForTat::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CCDDCC"));
        assert_eq!(game.moves, ["DCCDDC", "CCDDCC"]);
    }
}

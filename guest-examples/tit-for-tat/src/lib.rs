//! Cooperates first, then does what the other seat did.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Repeats the other seat's last move.
pub struct TitForTat;

impl Strategy for TitForTat {
    fn brief(_brief: &Brief) -> Self {
        TitForTat
    }

    fn act(&mut self, seen: &Observation) -> Move {
        // In round 0 it is `Cooperate`.
        seen.other_last
    }
}

arena_sdk::export_matrix!(TitForTat);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn it_answers_every_move_one_round_later() {
        let brief = Brief { rounds: 6, ..testing::brief() };
        let mut seat = TitForTat::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CDDCDC"));
        assert_eq!(game.moves, ["CCDDCD", "CDDCDC"]);
    }
}

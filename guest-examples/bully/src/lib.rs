//! Defects first, then does the opposite of what the other seat did.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Takes from the meek and gives in to the strong.
pub struct Bully;

impl Strategy for Bully {
    fn brief(_brief: &Brief) -> Self {
        Bully
    }

    fn act(&mut self, seen: &Observation) -> Move {
        // In round 0 the other's last move counts as `Cooperate`.
        !seen.other_last
    }
}

arena_sdk::export_matrix!(Bully);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn it_does_the_opposite_of_the_last_move() {
        let brief = Brief { rounds: 5, ..testing::brief() };
        let mut seat = Bully::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CCDDC"));
        assert_eq!(game.moves, ["DDDCC", "CCDDC"]);
    }
}

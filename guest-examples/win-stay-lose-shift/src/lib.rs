//! Stays with its move while the other seat cooperates, and switches when it does not.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Repeats what went well.
pub struct WinStayLoseShift;

impl Strategy for WinStayLoseShift {
    fn brief(_brief: &Brief) -> Self {
        WinStayLoseShift
    }

    fn act(&mut self, seen: &Observation) -> Move {
        // In round 0 both are `Cooperate`.
        match seen.other_last {
            Move::Cooperate => seen.own_last,
            Move::Defect => !seen.own_last,
        }
    }
}

arena_sdk::export_matrix!(WinStayLoseShift);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn it_stays_when_it_wins_and_shifts_when_it_loses() {
        let brief = Brief { rounds: 7, ..testing::brief() };
        let mut seat = WinStayLoseShift::brief(&brief);
        let game = testing::play(&brief, &mut seat, &mut testing::script("CDCCDDC"));
        assert_eq!(game.moves, ["CCDDDCD", "CDCCDDC"]);
    }
}

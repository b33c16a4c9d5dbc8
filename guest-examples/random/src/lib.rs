//! Cooperates or defects by the toss of a coin.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// Tosses a coin every round.
pub struct Random {
    draw: fn() -> u64,
}

impl Strategy for Random {
    fn brief(_brief: &Brief) -> Self {
        Random { draw: luck::wasi::random::random::get_random_u64 }
    }

    fn act(&mut self, _seen: &Observation) -> Move {
        // One bit is a fair coin.
        if (self.draw)() & 1 == 0 { Move::Cooperate } else { Move::Defect }
    }
}

arena_sdk::export_matrix!(Random);

#[allow(unsafe_code, missing_docs, reason = "wit-bindgen writes this module")]
mod luck {
    wit_bindgen::generate!({ path: "wit", world: "luck", generate_all });
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    #[test]
    fn the_last_bit_decides() {
        let seen = testing::round(3).build();
        for (draw, expected) in
            [(|| 6, Move::Cooperate), (|| u64::MAX, Move::Defect)] as [(fn() -> u64, Move); 2]
        {
            assert_eq!(Random { draw }.act(&seen), expected);
        }
    }
}

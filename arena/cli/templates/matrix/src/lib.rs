//! Does what the other seat did, forgives a little, and takes the last round if that pays.
//!
//! A start to build on: it remembers one number, and nothing of who it may be playing.

use arena_sdk::matrix::{Brief, Move, Observation, Strategy};

/// The strategy. Its fields are its memory, from round to round.
pub struct MyStrategy {
    last_round: u32,
    /// Whether defecting pays more than cooperating, whatever the other seat does.
    defecting_pays: bool,
    /// Rounds in a row on which both seats defected.
    feud_rounds: u32,
}

/// How many rounds of mutual defection it takes before it makes peace.
const PATIENCE_ROUNDS: u32 = 5;

impl Strategy for MyStrategy {
    /// Before round 0: the payoffs and the number of rounds.
    fn brief(brief: &Brief) -> Self {
        arena_sdk::info!("{} rounds", brief.rounds);
        let defecting_pays = brief.t > brief.r && brief.p > brief.s;
        MyStrategy {
            last_round: brief.rounds - 1,
            defecting_pays,
            feud_rounds: 0,
        }
    }

    /// Once a round. The other seat moves at the same time.
    fn act(&mut self, seen: &Observation) -> Move {
        if seen.round == self.last_round && self.defecting_pays {
            // Nobody can answer it any more.
            return Move::Defect;
        }
        let feud = seen.last() == Some((Move::Defect, Move::Defect));
        self.feud_rounds = if feud { self.feud_rounds + 1 } else { 0 };
        if self.feud_rounds >= PATIENCE_ROUNDS {
            self.feud_rounds = 0;
            return Move::Cooperate;
        }
        // In round 0 it is `Cooperate`.
        seen.other_last
    }
}

arena_sdk::export_matrix!(MyStrategy);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::matrix::testing;

    /// The moves of `MyStrategy` against these.
    fn against(brief: Brief, other: &str) -> String {
        let brief = Brief {
            rounds: other.len() as u32,
            ..brief
        };
        let mut own = MyStrategy::brief(&brief);
        let [own, _] = testing::play(&brief, &mut own, &mut testing::script(other)).moves;
        own
    }

    #[test]
    fn answers_a_round_later() {
        assert_eq!(against(testing::brief(), "CDCCDC"), "CCDCCD");
    }

    #[test]
    fn takes_the_last_round_only_where_that_pays() {
        assert_eq!(against(testing::brief(), "CCCC"), "CCCD");
        let stag_hunt = Brief {
            r: 5,
            s: 0,
            t: 3,
            p: 1,
            ..testing::brief()
        };
        assert_eq!(against(stag_hunt, "CCCC"), "CCCC");
    }

    #[test]
    fn makes_peace_after_a_long_feud() {
        assert_eq!(against(testing::brief(), "DDDDDDDDCC"), "CDDDDDCDDD");
    }
}

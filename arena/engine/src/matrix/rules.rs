use serde::{Deserialize, Serialize};

use super::moves::Move;

/// Most rounds of one game.
pub const ROUNDS_MAX: u32 = 100_000;

/// Points of one round, for the seat that is paid. The letters are the literature's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payoffs {
    /// Reward: both cooperate.
    pub r: i32,
    /// Sucker: it cooperates, the other defects.
    pub s: i32,
    /// Temptation: it defects, the other cooperates.
    pub t: i32,
    /// Punishment: both defect.
    pub p: i32,
}

/// What a game is played by. Made by [`Rules::new`] only, so there is at least one round and no more
/// than [`ROUNDS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    payoffs: Payoffs,
    rounds: u32,
}

/// Why rules are none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesFault {
    /// No round, or too many.
    #[error("rounds is {rounds}; a game has from 1 to {ROUNDS_MAX}")]
    Rounds {
        /// What was asked for.
        rounds: u32,
    },
}

impl Default for Payoffs {
    /// The prisoner's dilemma as it is usually played: 3, 0, 5, 1.
    fn default() -> Self {
        Self { r: 3, s: 0, t: 5, p: 1 }
    }
}

impl Payoffs {
    /// What a seat earns with `own` against `other`.
    pub fn points(&self, own: Move, other: Move) -> i32 {
        match (own, other) {
            (Move::Cooperate, Move::Cooperate) => self.r,
            (Move::Cooperate, Move::Defect) => self.s,
            (Move::Defect, Move::Cooperate) => self.t,
            (Move::Defect, Move::Defect) => self.p,
        }
    }
}

impl Rules {
    /// Rules with these payoffs, which may be any numbers, and that many rounds.
    pub fn new(payoffs: Payoffs, rounds: u32) -> Result<Self, RulesFault> {
        if rounds == 0 || rounds > ROUNDS_MAX {
            return Err(RulesFault::Rounds { rounds });
        }
        Ok(Self { payoffs, rounds })
    }

    /// The payoffs.
    pub fn payoffs(&self) -> Payoffs {
        self.payoffs
    }

    /// The number of rounds.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::{Payoffs, ROUNDS_MAX, Rules, RulesFault};

    #[test]
    fn a_game_has_at_least_one_round_and_not_too_many() {
        for rounds in [1, 200, ROUNDS_MAX] {
            assert_eq!(Rules::new(Payoffs::default(), rounds).map(|rules| rules.rounds()), Ok(rounds));
        }
        for rounds in [0, ROUNDS_MAX + 1, u32::MAX] {
            let refused = Rules::new(Payoffs::default(), rounds);
            assert_eq!(refused, Err(RulesFault::Rounds { rounds }));
        }
        let told = RulesFault::Rounds { rounds: 0 }.to_string();
        assert_eq!(told, "rounds is 0; a game has from 1 to 100000");
    }

    #[test]
    fn payoffs_have_four_members_and_no_others() {
        let read = serde_json::from_str::<Payoffs>;
        assert_eq!(read(r#"{"r":3,"s":0,"t":5,"p":1}"#).unwrap(), Payoffs::default());
        for wrong in
            [r#"{"r":3,"s":0,"t":5}"#, r#"{"r":3,"s":0,"t":5,"p":1,"q":2}"#, r#"{"r":3.5,"s":0,"t":5,"p":1}"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

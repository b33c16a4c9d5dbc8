//! What an author writes: strategies by name, a matrix by rule, a protocol, a budget. Reading it
//! tells every fault at once; what it says of files is checked by whoever freezes it.

mod read;

use arena_engine::campus::Faults;

use crate::frozen::{BeaconPin, Budget, Game, MoveValidation, PayoffTable};

/// Largest plan that is read.
pub const PLAN_BYTES_MAX: usize = 4 << 20;

/// A plan without faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its name in folders.
    pub slug: String,
    /// Its name for people.
    pub title: String,
    /// The game.
    pub game: Game,
    /// The strategies.
    pub strategies: Vec<PlannedStrategy>,
    /// Who meets whom.
    pub pairing: Pairing,
    /// Whether a strategy also meets itself.
    pub self_play: bool,
    /// Times each pair meets at each scenario.
    pub repetitions: u32,
    /// What is played.
    pub scenarios: PlannedScenarios,
    /// What an invalid action leads to.
    pub move_validation: MoveValidation,
    /// Times a matchup is tried again after the host failed.
    pub host_retries: u32,
    /// What may be spent.
    pub budget: Budget,
    /// A round of drand's quicknet for the seating, after the commitment to the secret.
    pub beacon: Option<BeaconPin>,
}

/// A strategy as a plan names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStrategy {
    /// What people call it.
    pub name: String,
    /// Its author's version.
    pub version: String,
    /// Where its component is; relative to the plan.
    pub component: String,
}

/// Who meets whom, by index of the strategies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pairing {
    /// Everybody meets everybody once.
    RoundRobin,
    /// These meet everybody; the others do not meet each other.
    Gauntlet(Vec<u32>),
    /// These pairs.
    Pairs(Vec<[u32; 2]>),
}

/// What is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedScenarios {
    /// Packs: built-in names, or files relative to the plan.
    Packs(Vec<String>),
    /// One iterated game.
    Matrix {
        /// Points of a round.
        payoffs: PayoffTable,
        /// Rounds of a game.
        rounds: u32,
    },
}

impl Plan {
    /// Reads a plan in TOML. Every fault is told at once, by the place in the document it becomes.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        read::plan(text)
    }

    /// Every pair that meets, each once, the smaller index first.
    pub(crate) fn pairs(&self) -> Vec<[u32; 2]> {
        let count = self.strategies.len() as u32;
        let all = (0..count).flat_map(|a| (a..count).map(move |b| [a, b]));
        let others = |pair: &[u32; 2]| pair[0] != pair[1];
        match &self.pairing {
            Pairing::Pairs(pairs) => {
                let mut pairs: Vec<_> = pairs.iter().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
                pairs.sort_unstable();
                pairs
            }
            Pairing::RoundRobin => all.filter(|pair| self.self_play || others(pair)).collect(),
            Pairing::Gauntlet(of) => {
                let meets = |pair: &[u32; 2]| pair.iter().any(|index| of.contains(index));
                all.filter(|pair| meets(pair) && (self.self_play || others(pair))).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;

use arena_canon::Digest;
use serde::{Deserialize, Serialize};

use crate::frozen::{Frozen, Matchup, MoveValidation};
use crate::seating::Seating;
use crate::secret::Secret;

/// One matchup as a worker is given it: everything it needs to play, and nothing of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Digest of the frozen file it belongs to.
    pub frozen_sha256: Digest,
    /// Who meets whom, and at what.
    pub matchup: Matchup,
    /// The strategies behind the aliases, in seat order.
    pub strategies: [Digest; 2],
    /// Where the guests' luck comes from.
    pub seed: Digest,
    /// What an invalid action leads to.
    pub move_validation: MoveValidation,
}

/// Makes the jobs of one run.
#[derive(Debug, Clone)]
pub struct Jobs {
    frozen_sha256: Digest,
    seating: Seating,
    secret: Secret,
}

impl Jobs {
    /// The jobs of the frozen file of that digest under `seating`.
    pub fn new(frozen_sha256: Digest, seating: Seating, secret: Secret) -> Self {
        Self { frozen_sha256, seating, secret }
    }

    /// Digest of the frozen file.
    pub fn frozen_sha256(&self) -> Digest {
        self.frozen_sha256
    }

    /// Who plays under which alias.
    pub fn seating(&self) -> &Seating {
        &self.seating
    }

    /// What everything follows from.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The job of `matchup`.
    ///
    /// # Panics
    /// If `matchup` seats an alias that nobody has; no checked frozen file does.
    pub fn job(&self, frozen: &Frozen, matchup: &Matchup) -> Job {
        let strategy = |alias| {
            let index = self.seating.index_of(alias).expect("a checked frozen file seats its strategies");
            frozen.strategies[index as usize].sha256
        };
        Job {
            frozen_sha256: self.frozen_sha256,
            matchup: matchup.clone(),
            strategies: matchup.seats.map(strategy),
            seed: self.secret.match_seed(matchup.id),
            move_validation: frozen.protocol.move_validation,
        }
    }
}

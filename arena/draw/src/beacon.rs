//! Where randomness comes from that nobody could choose: rounds that are numbered before they exist, each
//! with a proof that anybody checks offline. Nothing here fetches a round or waits for one.

mod drand;
mod ecvrf;
mod hashchain;
mod schedule;
mod source;
mod test_rounds;

use std::fmt;
use std::str::FromStr;

use arena_canon::{Digest, Preimage};

pub use drand::DrandQuicknet;
pub use ecvrf::{EcvrfOperator, OperatorKey};
pub use hashchain::{HashChain, HashChainError, PARTIES_MAX, Preimages, ROUND_MAX, rounds_before};
pub use schedule::{MARGIN_SECONDS, Schedule};
pub use source::Source;
pub use test_rounds::{NotATest, TestRounds};

/// A source of randomness.
pub trait Beacon {
    /// Which kind it is.
    fn kind(&self) -> Kind;

    /// What stands for it in a seed.
    fn chain_hash(&self) -> Digest;

    /// When its rounds are due, if that is known here.
    fn schedule(&self) -> Option<Schedule>;

    /// The randomness of `round`, if `proof` is its proof.
    fn verify(&self, round: u64, proof: &[u8]) -> Result<[u8; 32], BeaconError>;

    /// The first round that is due at `seconds` (Unix time) or later.
    fn round_for(&self, seconds: u64) -> Option<u64> {
        Some(self.schedule()?.round_for(seconds))
    }

    /// The round a draw has to take that is committed at `seconds`: the first one that is due after the
    /// margin.
    fn round_for_commit(&self, seconds: u64) -> Option<u64> {
        self.round_for(seconds.checked_add(MARGIN_SECONDS)?)
    }

    /// When `round` is due, in Unix time.
    fn time_of(&self, round: u64) -> Option<u64> {
        self.schedule()?.time_of(round)
    }
}

/// The kinds of beacons there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The public network drand, its chain `quicknet`.
    DrandQuicknet,
    /// A verifiable random function of an operator's key, for an installation without a network.
    EcvrfOperator,
    /// Chains of preimages of an operator and of outside parties.
    HashChain,
    /// Anybody can compute it: for tests.
    Test,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::DrandQuicknet, Self::EcvrfOperator, Self::HashChain, Self::Test];

    /// The word that is hashed and written.
    pub fn name(self) -> &'static str {
        match self {
            Self::DrandQuicknet => "drand-quicknet",
            Self::EcvrfOperator => "ecvrf-operator",
            Self::HashChain => "hashchain",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no kind of beacon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a beacon is one of {}", Kind::ALL.map(Kind::name).join(", "))]
pub struct UnknownKind;

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownKind)
    }
}

/// Why a round's randomness is not given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BeaconError {
    /// Round 0.
    #[error("round 0; rounds are counted from 1")]
    NoRound,
    /// A round whose proof would take too long to check.
    #[error("round {round}; a chain of preimages has at most {ROUND_MAX} rounds")]
    BeyondTheChain {
        /// The round.
        round: u64,
    },
    /// The proof has another length than all proofs of the kind.
    #[error("a proof of {bytes} bytes; one of {kind} has {wanted}")]
    Length {
        /// The kind.
        kind: Kind,
        /// Bytes given.
        bytes: usize,
        /// Bytes of a proof.
        wanted: usize,
    },
    /// The operator's key is no point of the curve, or one of the few that prove everything.
    #[error("the public key is no key of a verifiable random function")]
    Key,
    /// The proof does not hold: of another round, of another key, or of nothing.
    #[error("the proof is not the one of {kind} for round {round}")]
    Proof {
        /// The kind.
        kind: Kind,
        /// The round it was to prove.
        round: u64,
    },
}

/// What stands for a beacon in a seed, for every kind but drand, which has a hash of its own:
/// `SHA256(lp("ARENA-BEACON-V1") || lp(kind) || lp(key))`.
///
/// `key` is the public key or the anchors; nothing for `test`, and nothing for `secret`, the word a draw
/// without a beacon uses, with round 0 and a secret that was committed before as its randomness.
pub fn chain_hash(kind: &str, key: &[u8]) -> Digest {
    Preimage::new("ARENA-BEACON-V1").bytes(kind.as_bytes()).bytes(key).digest()
}

#[cfg(test)]
mod tests;

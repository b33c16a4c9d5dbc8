//! What only the operator knows until disclosure, and everything that follows from it.

use std::fmt;

use arena_canon::{Digest, Preimage};

use crate::names::{Alias, MatchId};

/// 32 random bytes. From them come the seating, the salts of the identities and the luck of every
/// match: nobody can compute the seating from what is public, and no guest can recognise its match.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A secret made elsewhere.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// What the frozen file says of it.
    pub fn commitment(&self) -> Digest {
        Preimage::new("ARENA-SECRET-V1").bytes(&self.0).digest()
    }

    /// The salt of an alias's commitment.
    pub fn salt(&self, alias: Alias) -> Digest {
        Preimage::new("ARENA-ID-SALT-V1").bytes(&self.0).bytes(alias.to_string().as_bytes()).digest()
    }

    /// The seed of a match.
    pub fn match_seed(&self, id: MatchId) -> Digest {
        Preimage::new("ARENA-MATCH-V1").bytes(&self.0).bytes(id.to_string().as_bytes()).digest()
    }
}

/// Not its bytes: a message or a log must not hold them.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(commitment {})", self.commitment())
    }
}

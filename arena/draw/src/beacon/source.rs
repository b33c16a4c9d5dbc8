use arena_canon::Digest;

use super::{Beacon, DrandQuicknet, EcvrfOperator, HashChain, Kind, NotATest, TestRounds};

/// A beacon as an installation or a document names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// drand's quicknet.
    DrandQuicknet,
    /// An operator's verifiable random function.
    EcvrfOperator(EcvrfOperator),
    /// Chains of preimages.
    HashChain(HashChain),
    /// Test rounds.
    Test,
}

impl Source {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::DrandQuicknet => Kind::DrandQuicknet,
            Self::EcvrfOperator(_) => Kind::EcvrfOperator,
            Self::HashChain(_) => Kind::HashChain,
            Self::Test => Kind::Test,
        }
    }

    /// The source as documents name it: which schedule it has is the installation's business, and in none of them.
    #[must_use]
    pub(crate) fn without_schedule(self) -> Self {
        match self {
            Self::EcvrfOperator(beacon) => Self::EcvrfOperator(beacon.without_schedule()),
            Self::HashChain(beacon) => Self::HashChain(beacon.without_schedule()),
            Self::DrandQuicknet | Self::Test => self,
        }
    }

    /// The beacon, for an instance that may use it.
    pub fn beacon(&self, instance: Digest, name: Option<&str>) -> Result<Box<dyn Beacon>, NotATest> {
        Ok(match self {
            Self::DrandQuicknet => Box::new(DrandQuicknet),
            Self::EcvrfOperator(beacon) => Box::new(beacon.clone()),
            Self::HashChain(beacon) => Box::new(beacon.clone()),
            Self::Test => Box::new(TestRounds::of(instance, name)?),
        })
    }
}

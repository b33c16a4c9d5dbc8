//! Luck for tests: SplitMix64, so that no crate's upgrade changes what a seed means.

pub(crate) use crate::luck::SplitMix;

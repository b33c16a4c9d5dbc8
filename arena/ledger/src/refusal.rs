use crate::{Account, Amount, Asset};

/// Why a transaction cannot be applied. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There are no postings, or only some of nothing.
    #[error("the transaction moves nothing")]
    Empty,
    /// More postings than a transaction may have.
    #[error("the transaction has {have} postings; the limit is {limit}")]
    TooManyPostings {
        /// Postings given.
        have: usize,
        /// Postings allowed.
        limit: usize,
    },
    /// The postings of an asset do not add up to zero.
    #[error("the postings of {asset} add up to {sum}, not to 0")]
    Unbalanced {
        /// The asset.
        asset: Asset,
        /// What they add up to.
        sum: i128,
    },
    /// An account was touched since its version was read.
    #[error("{account} is at version {have}; the transaction was made for version {need}")]
    Moved {
        /// The account.
        account: Account,
        /// Transactions that have touched it.
        have: u64,
        /// Transactions that had when it was read.
        need: u64,
    },
    /// An account holds less than is to be taken from it.
    #[error("{account} has {have}; {need} are needed")]
    Insufficient {
        /// The account.
        account: Account,
        /// What it holds.
        have: Amount,
        /// What is to be taken.
        need: u128,
    },
    /// An account would leave the range of amounts.
    #[error("{account} would stand at {would}; the largest amount is 2^63 - 1")]
    OutOfRange {
        /// The account.
        account: Account,
        /// Where it would stand.
        would: i128,
    },
}

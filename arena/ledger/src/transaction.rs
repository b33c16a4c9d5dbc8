use crate::{Account, Amount};

/// Most postings of one transaction.
pub const POSTINGS_MAX: usize = 4_096;

/// A change of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    /// The account.
    pub account: Account,
    /// What it gains; negative for what it loses.
    pub change: i64,
}

/// Postings that are applied together or not at all. In each asset they must add up to zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction {
    postings: Vec<Posting>,
    expected: Vec<(Account, u64)>,
}

impl Transaction {
    /// A transaction of these postings, which [`crate::apply`] will check.
    pub fn of(postings: Vec<Posting>) -> Self {
        Self { postings, expected: Vec::new() }
    }

    /// Adds a movement; one of nothing adds nothing.
    pub fn push(&mut self, from: &Account, to: &Account, amount: Amount) {
        if !amount.is_zero() {
            self.postings.push(Posting { account: from.clone(), change: amount.signed().saturating_neg() });
            self.postings.push(Posting { account: to.clone(), change: amount.signed() });
        }
    }

    /// As [`Transaction::push`], for chains.
    #[must_use]
    pub fn and(mut self, from: &Account, to: &Account, amount: Amount) -> Self {
        self.push(from, to, amount);
        self
    }

    /// Makes it depend on `account` not having been touched since it was read at `version`.
    #[must_use]
    pub fn expecting(mut self, account: Account, version: u64) -> Self {
        self.expected.push((account, version));
        self
    }

    /// The postings, in the order in which they were made.
    pub fn postings(&self) -> &[Posting] {
        &self.postings
    }

    /// Accounts with the version they must have.
    pub fn expected(&self) -> &[(Account, u64)] {
        &self.expected
    }

    /// Whether it moves nothing.
    pub fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }
}

//! The movements that everything else is made of, each as a transaction of its own.

use crate::{Account, Amount, Asset, NameError, Transaction};

/// A stake: who holds it back, in which role of which job, and where it lies meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stake {
    avail: Account,
    lock: Account,
    bucket: Account,
}

impl Stake {
    /// The stake of `agent` in `role` of `job`.
    pub fn of(asset: &Asset, job: &str, role: &str, agent: &str) -> Result<Self, NameError> {
        Ok(Self {
            avail: Account::avail(asset, agent)?,
            lock: Account::lock(asset, job, role, agent)?,
            bucket: Account::bucket(asset, job)?,
        })
    }

    /// What its owner may spend.
    pub fn avail(&self) -> &Account {
        &self.avail
    }

    /// Where it lies.
    pub fn lock(&self) -> &Account {
        &self.lock
    }

    /// Where it goes when it is slashed.
    pub fn bucket(&self) -> &Account {
        &self.bucket
    }
}

/// From one account to another.
pub fn transfer(from: &Account, to: &Account, amount: Amount) -> Transaction {
    Transaction::default().and(from, to, amount)
}

/// From outside into `account`.
pub fn deposit(account: &Account, amount: Amount) -> Transaction {
    transfer(&Account::external(account.asset()), account, amount)
}

/// From `account` to the outside.
pub fn pay_out(account: &Account, amount: Amount) -> Transaction {
    transfer(account, &Account::external(account.asset()), amount)
}

/// Locks a stake: what is locked cannot be spent a second time.
pub fn hold(stake: &Stake, amount: Amount) -> Transaction {
    transfer(&stake.avail, &stake.lock, amount)
}

/// Gives a stake back.
pub fn release(stake: &Stake, amount: Amount) -> Transaction {
    transfer(&stake.lock, &stake.avail, amount)
}

/// Takes `amount` of a stake into the job's bucket.
pub fn slash(stake: &Stake, amount: Amount) -> Transaction {
    transfer(&stake.lock, &stake.bucket, amount)
}

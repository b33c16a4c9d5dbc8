use arena_cow::CowMap;

use crate::transaction::POSTINGS_MAX;
use crate::{Account, Amount, Asset, Refusal, Transaction};

/// The balances of all accounts. Two ledgers with the same history are equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: CowMap<Account, Entry>,
}

/// An account without movements has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Entry {
    balance: i64,
    version: u64,
}

impl Ledger {
    /// No accounts.
    pub fn new() -> Self {
        Self::default()
    }

    /// What stands in `account`; only `external` can be below zero.
    pub fn signed_balance(&self, account: &Account) -> i64 {
        self.entries.get(account).map_or(0, |entry| entry.balance)
    }

    /// What can be taken from `account`.
    pub fn balance(&self, account: &Account) -> Amount {
        u64::try_from(self.signed_balance(account)).ok().and_then(Amount::new).unwrap_or_default()
    }

    /// How many transactions have touched `account`.
    pub fn version(&self, account: &Account) -> u64 {
        self.entries.get(account).map_or(0, |entry| entry.version)
    }

    /// All accounts that were ever touched, with their balances, in order.
    pub fn accounts(&self) -> impl Iterator<Item = (&Account, i64)> {
        self.entries.iter().map(|(account, entry)| (account, entry.balance))
    }

    /// The sum over all accounts of `asset`. It is zero, always.
    pub fn sum(&self, asset: &Asset) -> i128 {
        let of_asset = self.accounts().filter(|(account, _)| account.asset() == asset);
        of_asset.fold(0, |sum, (_, balance)| sum.saturating_add(i128::from(balance)))
    }

    /// Whether `transaction` could be applied.
    pub fn check(&self, transaction: &Transaction) -> Result<(), Refusal> {
        self.after(transaction).map(|_| ())
    }

    /// The accounts that change, as they will be.
    fn after(&self, transaction: &Transaction) -> Result<Vec<(Account, Entry)>, Refusal> {
        let changes = changes(transaction)?;
        for (account, need) in transaction.expected() {
            let have = self.version(account);
            if have != *need {
                return Err(Refusal::Moved { account: account.clone(), have, need: *need });
            }
        }
        let touched = changes.into_iter().map(|(account, change)| {
            let entry = self.entries.get(account).copied().unwrap_or_default();
            let balance = moved(account, entry.balance, change)?;
            Ok((account.clone(), Entry { balance, version: entry.version.saturating_add(1) }))
        });
        touched.collect()
    }
}

/// Applies `transaction` to `ledger`, whole or not at all.
pub fn apply(ledger: &mut Ledger, transaction: &Transaction) -> Result<(), Refusal> {
    let after = ledger.after(transaction)?;
    ledger.entries.extend(after);
    Ok(())
}

/// The net change of each account, of a transaction that is sound in itself.
///
/// No sum of at most `POSTINGS_MAX` changes leaves an `i128`.
fn changes(transaction: &Transaction) -> Result<Vec<(&Account, i128)>, Refusal> {
    let postings = transaction.postings();
    if postings.len() > POSTINGS_MAX {
        return Err(Refusal::TooManyPostings { have: postings.len(), limit: POSTINGS_MAX });
    }
    if postings.iter().all(|posting| posting.change == 0) {
        return Err(Refusal::Empty);
    }
    let mut changes: Vec<(&Account, i128)> =
        postings.iter().map(|posting| (&posting.account, i128::from(posting.change))).collect();
    changes.sort_by_key(|(account, _)| *account);
    changes.dedup_by(|(account, change), (kept, sum)| {
        let same = account == kept;
        if same {
            *sum = sum.saturating_add(*change);
        }
        same
    });
    // In order, the accounts of one asset stand next to each other.
    for of_asset in changes.chunk_by(|(a, _), (b, _)| a.asset() == b.asset()) {
        let sum = of_asset.iter().fold(0_i128, |sum, (_, change)| sum.saturating_add(*change));
        if let Some((account, _)) = of_asset.first().filter(|_| sum != 0) {
            return Err(Refusal::Unbalanced { asset: account.asset().clone(), sum });
        }
    }
    Ok(changes)
}

fn moved(account: &Account, balance: i64, change: i128) -> Result<i64, Refusal> {
    let would = i128::from(balance).saturating_add(change);
    if would < 0 && !account.may_be_negative() {
        let have = u64::try_from(balance).ok().and_then(Amount::new).unwrap_or_default();
        return Err(Refusal::Insufficient { account: account.clone(), have, need: change.unsigned_abs() });
    }
    // The lowest i64 has no positive twin, so it is out of range as well.
    let fits = i64::try_from(would).ok().filter(|would| *would != i64::MIN);
    fits.ok_or_else(|| Refusal::OutOfRange { account: account.clone(), would })
}

//! A settlement as one balanced transaction of the ledger.

use arena_ledger::{Account, Amount, Asset, NameError, ShareError, Transaction, split};

use super::case::Case;
use super::ending::Ending;
use super::waterfall::{Movement, Purse, Settlement, Step};

/// A contribution to the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Funder {
    /// Who.
    pub agent: String,
    /// How much, in the order of contributions.
    pub amount: Amount,
}

/// Why a settlement is no transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostingError {
    /// A name that no account can have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Something is to be shared among nobody.
    #[error(transparent)]
    Share(#[from] ShareError),
}

struct Accounts<'a> {
    asset: &'a Asset,
    job: &'a str,
    runner: &'a str,
}

impl Accounts<'_> {
    fn of(&self, purse: &Purse) -> Result<Account, NameError> {
        let lock = |role: &str, agent: &str| Account::lock(self.asset, self.job, role, agent);
        let own = |name: &str| if name == "runner" { self.runner.to_owned() } else { name.to_owned() };
        match purse {
            Purse::RunnerLock => lock("runner", self.runner),
            Purse::ChallengerLock(name) => lock("challenger", name),
            Purse::ReviewerLock(name) => lock("reviewer", name),
            Purse::BondLock(name) => lock("appeal", &own(name)),
            Purse::Bucket => Account::bucket(self.asset, self.job),
            Purse::Pool => Account::pool(self.asset, self.job),
            Purse::Runner => Account::avail(self.asset, self.runner),
            Purse::Agent(name) => Account::avail(self.asset, name),
            // Shared out before it gets here.
            Purse::Funders | Purse::Treasury => Ok(Account::treasury(self.asset)),
        }
    }
}

/// The transaction of `settlement`. The funders' part is shared in proportion to what they gave; what an
/// unrunnable claim cost is taken from the submitter's own contribution first.
pub fn settle_into(
    case: &Case,
    settlement: &Settlement,
    asset: &Asset,
    job: &str,
    runner: &str,
    funders: &[Funder],
    submitter: &str,
) -> Result<Transaction, PostingError> {
    let accounts = Accounts { asset, job, runner };
    let mut transaction = Transaction::default();
    // The pool may hold more than its minimum: all of it goes back.
    let pooled = Amount::checked_sum(funders.iter().map(|funder| funder.amount)).unwrap_or(Amount::MAX);
    let beyond = pooled.less(case.params.pool_min().unwrap_or(Amount::MAX));
    let mut refunded = if case.ending == Ending::NoShow { Amount::ZERO } else { beyond };
    for Movement { step, from, to, amount } in &settlement.movements {
        if (step, to) == (&Step::Refund, &Purse::Funders) {
            refunded = refunded.checked_add(*amount).unwrap_or(Amount::MAX);
        } else if *to == Purse::Funders {
            share(&mut transaction, &accounts.of(from)?, asset, funders, *amount)?;
        } else {
            transaction.push(&accounts.of(from)?, &accounts.of(to)?, *amount);
        }
    }
    let pool = accounts.of(&Purse::Pool)?;
    let at_fault = matches!(case.ending, Ending::SpecIssue | Ending::InputMismatch) || case.self_report;
    if at_fault {
        let bearing = bearing(funders, submitter, pooled.less(refunded))?;
        for (funder, back) in funders.iter().zip(bearing) {
            transaction.push(&pool, &Account::avail(asset, &funder.agent)?, back);
        }
    } else {
        share(&mut transaction, &pool, asset, funders, refunded)?;
    }
    Ok(transaction)
}

/// All contributions back to where they came from.
pub fn refund(asset: &Asset, job: &str, funders: &[Funder]) -> Result<Transaction, PostingError> {
    let pool = Account::pool(asset, job)?;
    let mut transaction = Transaction::default();
    for funder in funders {
        transaction.push(&pool, &Account::avail(asset, &funder.agent)?, funder.amount);
    }
    Ok(transaction)
}

fn share(
    transaction: &mut Transaction,
    from: &Account,
    asset: &Asset,
    funders: &[Funder],
    total: Amount,
) -> Result<(), PostingError> {
    let weights: Vec<Amount> = funders.iter().map(|funder| funder.amount).collect();
    for (funder, part) in funders.iter().zip(split(total, &weights)?) {
        transaction.push(from, &Account::avail(asset, &funder.agent)?, part);
    }
    Ok(())
}

/// What each gets back when `spent` is borne by the submitter first.
fn bearing(funders: &[Funder], submitter: &str, spent: Amount) -> Result<Vec<Amount>, ShareError> {
    let mut left = spent;
    let mut back: Vec<Amount> = funders.iter().map(|funder| funder.amount).collect();
    for (funder, back) in funders.iter().zip(&mut back).filter(|(funder, _)| funder.agent == submitter) {
        let borne = funder.amount.min(left);
        *back = funder.amount.less(borne);
        left = left.less(borne);
    }
    let others: Vec<Amount> = funders
        .iter()
        .map(|funder| if funder.agent == submitter { Amount::ZERO } else { funder.amount })
        .collect();
    for (back, borne) in back.iter_mut().zip(split(left, &others)?) {
        *back = back.less(borne);
    }
    Ok(back)
}

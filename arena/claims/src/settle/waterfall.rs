//! The order of payment. Its steps are those of the published order and stand in it.

use std::collections::BTreeMap;

use arena_ledger::Amount;

use super::case::{Case, Challenger};
use super::ending::{Ending, Vote};
use crate::params::part;

/// Where money lies during a settlement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purse {
    /// The runner's stake.
    RunnerLock,
    /// A challenger's stake.
    ChallengerLock(String),
    /// A reviewer's stake.
    ReviewerLock(String),
    /// What an appeal locked; `runner` for the runner's.
    BondLock(String),
    /// What was slashed and is not shared out yet.
    Bucket,
    /// What the funders put in.
    Pool,
    /// The runner's own.
    Runner,
    /// An agent's own.
    Agent(String),
    /// The funders' own, together.
    Funders,
    /// The instance's own.
    Treasury,
}

/// Why money moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A stake is lost.
    Slash,
    /// The treasury's part of a dispute.
    Tax,
    /// A reviewer that voted as it ended.
    Reviewer,
    /// The runner, for a baseless challenge.
    Compensation,
    /// A challenger, for what it found.
    Finder,
    /// The runner's fee.
    Fee,
    /// The auditor's fee.
    Audit,
    /// An appeal that was won.
    Bond,
    /// The funders, for the delay.
    Delay,
    /// What is left of the bucket.
    Rest,
    /// What is left of the pool.
    Refund,
    /// What is left of a stake.
    Release,
}

impl Step {
    /// The word in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slash => "slash",
            Self::Tax => "tax",
            Self::Reviewer => "reviewer",
            Self::Compensation => "compensation",
            Self::Finder => "finder",
            Self::Fee => "fee",
            Self::Audit => "audit",
            Self::Bond => "bond",
            Self::Delay => "delay",
            Self::Rest => "rest",
            Self::Refund => "refund",
            Self::Release => "release",
        }
    }
}

/// One movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// Why.
    pub step: Step,
    /// From where.
    pub from: Purse,
    /// To where.
    pub to: Purse,
    /// How much; never nothing.
    pub amount: Amount,
}

/// A settled case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// In order.
    pub movements: Vec<Movement>,
    /// What everybody has at the end, stakes included.
    pub balances: BTreeMap<String, Amount>,
    /// What could not be paid in full although it must be. Nothing, in every case that the life of a claim
    /// can lead to.
    pub short: Amount,
}

/// Settles `case`.
pub fn settle(case: &Case) -> Settlement {
    let mut flow = Flow::open(case);
    flow.slash(case);
    flow.bonds(case);
    if matches!(case.ending, Ending::RunnerRight | Ending::RunnerWrong) {
        flow.pay(Step::Tax, Purse::Bucket, Purse::Treasury, case.params.tax);
    }
    flow.reviewers(case);
    flow.out_of_bucket(case);
    flow.out_of_pool(case);
    flow.close(case)
}

struct Flow {
    purses: BTreeMap<Purse, Amount>,
    movements: Vec<Movement>,
    short: Amount,
}

impl Flow {
    fn open(case: &Case) -> Self {
        let params = &case.params;
        let pool = params.pool_min().unwrap_or(Amount::MAX);
        let mut purses = BTreeMap::from([(Purse::Pool, pool), (Purse::RunnerLock, params.runner_stake)]);
        for party in case.agree.iter().chain(&case.disagree) {
            purses.insert(Purse::ChallengerLock(party.name.clone()), params.challenger_stake);
        }
        for reviewer in &case.reviewers {
            purses.insert(Purse::ReviewerLock(reviewer.name.clone()), params.reviewer_stake);
        }
        for appeal in &case.appeals {
            purses.insert(Purse::BondLock(appeal.name.clone()), params.appeal_bond());
        }
        Self { purses, movements: Vec::new(), short: Amount::ZERO }
    }

    fn left(&self, purse: &Purse) -> Amount {
        self.purses.get(purse).copied().unwrap_or_default()
    }

    /// Moves what is wanted, or what is left if that is less; says how much.
    fn pay(&mut self, step: Step, from: Purse, to: Purse, want: Amount) -> Amount {
        let amount = want.min(self.left(&from));
        if !amount.is_zero() {
            self.purses.insert(from.clone(), self.left(&from).less(amount));
            // What is there in all is below the largest amount; a sum beyond it stays where it was.
            let sum = self.left(&to).checked_add(amount).unwrap_or(Amount::MAX);
            self.purses.insert(to.clone(), sum);
            self.movements.push(Movement { step, from, to, amount });
        }
        amount
    }

    /// Moves what must be moved in full, and counts what was missing.
    fn must(&mut self, step: Step, from: Purse, to: Purse, want: Amount) {
        let paid = self.pay(step, from, to, want);
        self.short = self.short.checked_add(want.less(paid)).unwrap_or(Amount::MAX);
    }

    /// 1: what is lost goes into the bucket.
    fn slash(&mut self, case: &Case) {
        let params = &case.params;
        let of_runner = match case.ending {
            Ending::RunnerWrong | Ending::Withheld => params.runner_slash(),
            Ending::NoShow => part(params.runner_stake, params.runner_no_show_bps),
            Ending::Reproduced
            | Ending::NotReproduced
            | Ending::RunnerRight
            | Ending::SpecIssue
            | Ending::InputMismatch => Amount::ZERO,
        };
        self.pay(Step::Slash, Purse::RunnerLock, Purse::Bucket, of_runner);
        let whole = params.challenger_stake;
        let half = part(whole, params.agreeing_wrong_bps);
        let sides = [(&case.agree, Ending::RunnerWrong, half), (&case.disagree, Ending::RunnerRight, whole)];
        for (side, wrong_on, when_wrong) in sides {
            for party in side {
                let lost = match party.revealed {
                    false => whole,
                    true if case.ending == wrong_on => when_wrong,
                    true => Amount::ZERO,
                };
                self.pay(Step::Slash, Purse::ChallengerLock(party.name.clone()), Purse::Bucket, lost);
            }
        }
        for reviewer in &case.reviewers {
            let lost = match reviewer.vote {
                Vote::NoShow => params.reviewer_no_show_slash,
                Vote::Abstain => params.abstain_slash,
                Vote::For(ending) if ending == case.ending || case.undecided => Amount::ZERO,
                Vote::For(_) => params.reviewer_stake,
            };
            self.pay(Step::Slash, Purse::ReviewerLock(reviewer.name.clone()), Purse::Bucket, lost);
        }
    }

    /// A lost appeal's bond is slashed like a stake; a won one goes back.
    fn bonds(&mut self, case: &Case) {
        for appeal in &case.appeals {
            let lock = Purse::BondLock(appeal.name.clone());
            let bond = self.left(&lock);
            if appeal.won {
                let owner =
                    if appeal.name == "runner" { Purse::Runner } else { Purse::Agent(appeal.name.clone()) };
                self.pay(Step::Bond, lock, owner, bond);
            } else {
                self.pay(Step::Slash, lock, Purse::Bucket, bond);
            }
        }
    }

    /// 3: reviewers that voted as it ended, of an unrunnable claim from the reserve first.
    fn reviewers(&mut self, case: &Case) {
        let mut reserve = match case.ending {
            Ending::SpecIssue => case.params.reviewer_reserve,
            _ => Amount::ZERO,
        };
        let reward = case.params.reviewer_reward;
        for reviewer in case.reviewers.iter().filter(|reviewer| reviewer.vote == Vote::For(case.ending)) {
            let to = Purse::Agent(reviewer.name.clone());
            let reserved = self.pay(Step::Reviewer, Purse::Pool, to.clone(), reward.min(reserve));
            reserve = reserve.less(reserved);
            self.must(Step::Reviewer, Purse::Bucket, to, reward.less(reserved));
        }
    }

    /// 4: who is paid out of what others lost.
    fn out_of_bucket(&mut self, case: &Case) {
        let params = &case.params;
        match case.ending {
            Ending::RunnerRight => {
                for _ in case.disagree.iter().filter(|party| party.revealed) {
                    self.pay(Step::Compensation, Purse::Bucket, Purse::Runner, params.runner_compensation);
                }
            }
            Ending::RunnerWrong => {
                let slots = usize::try_from(params.slots).unwrap_or(usize::MAX);
                let confirmed = case.disagree.iter().filter(|party| is_confirmed(party));
                for (place, party) in confirmed.take(slots).enumerate() {
                    let to = Purse::Agent(party.name.clone());
                    if place == 0 {
                        self.must(Step::Finder, Purse::Bucket, to, params.lead_reward);
                    } else {
                        self.pay(Step::Finder, Purse::Bucket, to, params.follower_reward);
                    }
                }
            }
            Ending::Withheld => {
                let all = case.agree.iter().chain(&case.disagree);
                for party in all.filter(|party| party.revealed) {
                    let to = Purse::Agent(party.name.clone());
                    self.pay(Step::Finder, Purse::Bucket, to, params.follower_reward);
                }
            }
            Ending::Reproduced
            | Ending::NotReproduced
            | Ending::SpecIssue
            | Ending::InputMismatch
            | Ending::NoShow => {}
        }
    }

    /// 5: what the funders pay for.
    fn out_of_pool(&mut self, case: &Case) {
        let params = &case.params;
        let reduced = params.reduced_fee();
        let fee = match case.ending {
            Ending::RunnerRight if case.self_report => reduced,
            Ending::Reproduced | Ending::NotReproduced | Ending::RunnerRight => params.fee,
            Ending::SpecIssue => reduced,
            Ending::InputMismatch => part(params.fee, params.input_mismatch_bps),
            Ending::RunnerWrong | Ending::NoShow | Ending::Withheld => Amount::ZERO,
        };
        self.pay(Step::Fee, Purse::Pool, Purse::Runner, fee);
        if case.ending == Ending::SpecIssue {
            // A panel judges records: with one, only a record that it did not refute. Two references that
            // contradict each other judge none, so that without a panel it is the first.
            let judged = !case.reviewers.is_empty();
            let fits = |party: &&Challenger| party.revealed && !(judged && party.record_ok == Some(false));
            if let Some(party) = case.disagree.iter().find(fits) {
                let to = Purse::Agent(party.name.clone());
                self.pay(Step::Finder, Purse::Pool, to, params.fee.less(reduced));
            }
        }
        if let Some(auditor) = paid_auditor(case) {
            self.pay(Step::Audit, Purse::Pool, Purse::Agent(auditor.to_owned()), params.auditor_fee);
        }
    }

    /// 6: the funders' delay, what is left, and every stake back.
    fn close(mut self, case: &Case) -> Settlement {
        if matches!(case.ending, Ending::RunnerWrong | Ending::NoShow | Ending::Withheld) {
            self.pay(Step::Delay, Purse::Bucket, Purse::Funders, case.params.delay_compensation);
        }
        self.pay(Step::Rest, Purse::Bucket, Purse::Treasury, Amount::MAX);
        if case.ending != Ending::NoShow {
            self.pay(Step::Refund, Purse::Pool, Purse::Funders, Amount::MAX);
        }
        let locks: Vec<Purse> = self.purses.keys().cloned().collect();
        for lock in locks {
            let owner = match &lock {
                Purse::RunnerLock => Purse::Runner,
                Purse::ChallengerLock(name) | Purse::ReviewerLock(name) => Purse::Agent(name.clone()),
                _ => continue,
            };
            self.pay(Step::Release, lock, owner, Amount::MAX);
        }
        let mut balances: BTreeMap<String, Amount> = BTreeMap::new();
        for (name, purse) in [
            ("funders", Purse::Funders),
            ("runner", Purse::Runner),
            ("treasury", Purse::Treasury),
            ("pool", Purse::Pool),
        ] {
            balances.insert(name.to_owned(), self.left(&purse));
        }
        let challengers = case.agree.iter().chain(&case.disagree).map(|party| &party.name);
        for name in challengers.chain(case.reviewers.iter().map(|reviewer| &reviewer.name)) {
            balances.insert(name.clone(), self.left(&Purse::Agent(name.clone())));
        }
        Settlement { movements: self.movements, balances, short: self.short }
    }
}

fn is_confirmed(party: &Challenger) -> bool {
    party.revealed && party.record_ok == Some(true)
}

/// The auditor, if it revealed and stood on the side that was right.
fn paid_auditor(case: &Case) -> Option<&str> {
    let name = case.auditor.as_deref()?;
    let on = |side: &[Challenger], fits: fn(&Challenger) -> bool| {
        side.iter().any(|party| party.name == name && fits(party))
    };
    let revealed: fn(&Challenger) -> bool = |party| party.revealed;
    let earned = match case.ending {
        Ending::Reproduced | Ending::NotReproduced | Ending::RunnerRight => on(&case.agree, revealed),
        Ending::RunnerWrong => on(&case.disagree, is_confirmed),
        Ending::SpecIssue | Ending::Withheld => on(&case.agree, revealed) || on(&case.disagree, revealed),
        Ending::InputMismatch | Ending::NoShow => false,
    };
    earned.then_some(name)
}

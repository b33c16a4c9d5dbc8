//! Holds, stakes and awards. Every movement balances, and nothing is created.

use arena_ledger::{Account, Amount, Transaction, deposit, transfer};

use super::Round;
use super::judging::DisputeStatus;
use super::refusal::Refusal;
use super::terms::StakePolicy;
use crate::sprint::Window;
use crate::sprint::rank::Row;
use crate::sprint::stake::StakeResult;
use crate::words::words;

words! {
    /// What an award is for.
    pub enum AwardKind {
        /// A place in the final standings.
        Placement = "placement",
        /// An accepted external window.
        ExternalWindow = "external_window",
        /// Evidence in order throughout.
        Hygiene = "hygiene",
    }
}

words! {
    /// Where an award is.
    pub enum AwardStatus {
        /// It was paid.
        Paid = "paid",
        /// A person has to decide, since nobody ruled on a dispute.
        Held = "held",
        /// It was not paid.
        Declined = "declined",
    }
}

/// Something that is paid at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Award {
    /// What for.
    pub kind: AwardKind,
    /// To whom.
    pub company: String,
    /// For which window.
    pub window: Option<Window>,
    /// How much.
    pub amount: Amount,
    /// The submissions that earned it.
    pub evidence_refs: Vec<String>,
    /// Where it is.
    pub status: AwardStatus,
}

/// What a company has in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purse {
    /// What it may spend.
    pub available: Amount,
    /// What it holds back and is not at stake.
    pub hold: Amount,
    /// What is at stake in each window.
    pub stakes: [Amount; 3],
    /// What it lost and gets back in thirty days.
    pub locked: Amount,
}

impl Round {
    /// What a company has.
    pub fn purse(&self, company: &str) -> Result<Purse, Refusal> {
        self.entrant(company)?;
        let balance = |account: &Account| self.ledger.balance(account);
        Ok(Purse {
            available: balance(&self.available(company)),
            hold: balance(&self.hold(company)),
            stakes: [Window::W1, Window::W2, Window::W3]
                .map(|window| balance(&self.stake_account(company, window))),
            locked: balance(&self.locked_account(company)),
        })
    }

    /// The stakes that were lost for good.
    pub fn burned_stakes(&self) -> Amount {
        // The name of a draft was not checked yet, and nothing can be burned in one.
        if self.entrants.is_empty() { Amount::ZERO } else { self.ledger.balance(&self.burned()) }
    }
}

/// The accounts of a round. All names were checked when they came in.
impl Round {
    fn account(&self, parts: &[&str]) -> Account {
        Account::of(&self.terms.asset, parts).expect("the names in it were checked when they came in")
    }

    /// What was put aside for the round.
    pub(super) fn pot(&self) -> Account {
        self.account(&["pool", &self.terms.id])
    }

    /// What a company may spend.
    pub(super) fn available(&self, company: &str) -> Account {
        self.account(&["avail", company])
    }

    /// What a company holds back.
    pub(super) fn hold(&self, company: &str) -> Account {
        self.account(&["lock", &self.terms.id, "hold", company])
    }

    /// What a company has at stake in a window.
    pub(super) fn stake_account(&self, company: &str, window: Window) -> Account {
        self.account(&["lock", &self.terms.id, window.name(), company])
    }

    pub(super) fn dispute_account(&self, dispute: &str, filer: &str) -> Account {
        let name = dispute.replace(':', "-");
        self.account(&["lock", &self.terms.id, &name, filer])
    }

    fn locked_account(&self, company: &str) -> Account {
        self.account(&["lock", &self.terms.id, "locked", company])
    }

    /// Where lost stakes end.
    pub(super) fn burned(&self) -> Account {
        self.account(&["burned", &self.terms.id])
    }

    /// From outside into the round's pot.
    pub(super) fn funding(&self, amount: Amount) -> Transaction {
        deposit(&self.pot(), amount)
    }

    /// Everything in one account into another.
    pub(super) fn all_of(&self, from: &Account, to: &Account) -> Transaction {
        transfer(from, to, self.ledger.balance(from))
    }

    /// What becomes of a company's stakes: the results, and the money.
    pub(super) fn settle_stake(&self, company: &str, window: Window, result: StakeResult) -> Transaction {
        let stake = self.stake_account(company, window);
        let to = match (result, self.terms.stake_policy) {
            (StakeResult::Burned, StakePolicy::Burn) => self.burned(),
            (StakeResult::Burned, StakePolicy::Lock) => self.locked_account(company),
            (StakeResult::Returned | StakeResult::Held | StakeResult::None, _) => self.hold(company),
        };
        self.all_of(&stake, &to)
    }

    /// Gives back what was locked.
    pub(super) fn unlock(&self) -> Vec<Transaction> {
        let locked = self
            .entrants
            .keys()
            .map(|company| self.all_of(&self.locked_account(company), &self.available(company)));
        locked.filter(|transaction| !transaction.is_empty()).collect()
    }

    /// Everything that is paid for these final standings. Equals share the places they span, and what
    /// does not divide stays in the pot.
    pub(super) fn awards_of(&self, rows: &[Row]) -> Vec<Award> {
        let prizes = &self.terms.prizes;
        let mut awards = Vec::new();
        for row in rows {
            let sharing = rows.iter().filter(|other| other.rank == row.rank).count();
            let from = row.rank as usize - 1;
            let pooled =
                prizes.placements.iter().skip(from).take(sharing).map(|prize| prize.units()).sum::<u64>();
            let share = Amount::new(pooled / sharing.max(1) as u64).unwrap_or_default();
            awards.push(self.award(AwardKind::Placement, &row.id, None, share));
            for (window, scored) in Window::ALL.iter().zip(&row.round.windows) {
                let record = self.standing(&row.id, *window);
                let is_external = record
                    .is_ok_and(|record| record.class() == crate::sprint::record::ArtifactClass::External);
                if scored.state.is_accepted_family() && is_external {
                    awards.push(self.award(
                        AwardKind::ExternalWindow,
                        &row.id,
                        Some(*window),
                        prizes.external_window,
                    ));
                }
            }
            if row.round.hygiene_award {
                awards.push(self.award(AwardKind::Hygiene, &row.id, None, prizes.hygiene));
            }
        }
        awards.retain(|award| !award.amount.is_zero());
        awards
    }

    fn award(&self, kind: AwardKind, company: &str, window: Option<Window>, amount: Amount) -> Award {
        let lapsed = self.disputes.values().any(|dispute| {
            dispute.status == DisputeStatus::Lapsed
                && (dispute.company == company || dispute.filer == company)
        });
        let windows = Window::ALL.iter().filter(|other| window.is_none_or(|window| window == **other));
        let submission = |window: &Window| self.entrants.get(company)?.submission(*window);
        let reference = |window| submission(window).map(|found| found.frozen().boards_submission_ref.clone());
        Award {
            kind,
            company: company.to_owned(),
            window,
            amount,
            evidence_refs: windows.filter_map(reference).collect(),
            status: if lapsed { AwardStatus::Held } else { AwardStatus::Paid },
        }
    }
}

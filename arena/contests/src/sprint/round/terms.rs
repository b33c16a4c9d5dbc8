//! What a round is announced with. Nothing of it changes once the round is public.

use arena_canon::Digest;
use arena_ledger::{Amount, Asset};

use super::refusal::Refusal;
use crate::moment::Moment;
use crate::sprint::clock::Timetable;
use crate::words::words;

words! {
    /// What becomes of a stake that is lost.
    pub enum StakePolicy {
        /// It is gone.
        Burn = "burn",
        /// It comes back thirty days after the end.
        Lock = "lock",
    }
}

/// Days for which a lost stake is locked.
pub const LOCK_DAYS: i64 = 30;

/// What is paid at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prizes {
    /// For the first place, the second and so on.
    pub placements: Vec<Amount>,
    /// For each accepted external window.
    pub external_window: Amount,
    /// For evidence that was in order throughout.
    pub hygiene: Amount,
}

/// What a round is announced with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Its name, in references and accounts.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Day 0, 00:00:00Z.
    pub start: Moment,
    /// Its intervals.
    pub timetable: Timetable,
    /// The digest of the rules that entrants acknowledge.
    pub rules_sha256: Digest,
    /// What everything is counted in.
    pub asset: Asset,
    /// Entrants there may be.
    pub entrants_max: u32,
    /// What every entrant gets to work with.
    pub base_budget: Amount,
    /// What every entrant has to hold back.
    pub hold_cap: Amount,
    /// The least stake of a submission.
    pub stake_min: Amount,
    /// The stake of a dispute.
    pub dispute_stake: Amount,
    /// What becomes of a stake that is lost.
    pub stake_policy: StakePolicy,
    /// What is paid at the end.
    pub prizes: Prizes,
}

/// Entrants of one round.
pub const ENTRANTS_MAX: usize = 500;
/// Places that are paid.
const PLACEMENTS_MAX: usize = 100;

impl Terms {
    /// When everything is over.
    pub fn end(&self) -> Moment {
        self.timetable.end(self.start)
    }

    /// What the round can cost at most, which is put aside when it is announced.
    pub fn cost_max(&self) -> Result<Amount, Refusal> {
        let entrants = u64::from(self.entrants_max);
        let each =
            [Some(self.base_budget), self.prizes.external_window.checked_mul(3), Some(self.prizes.hygiene)];
        let each = each.into_iter().collect::<Option<Vec<_>>>().and_then(Amount::checked_sum);
        let placements = Amount::checked_sum(self.prizes.placements.iter().copied());
        let all = each.and_then(|each| each.checked_mul(entrants)).zip(placements);
        all.and_then(|(each, placements)| each.checked_add(placements)).ok_or(Refusal::TooMuchMoney)
    }

    /// Whether a round can be held on these terms.
    pub fn check(&self) -> Result<(), Refusal> {
        if !self.start.is_midnight() {
            return Err(Refusal::StartNotAtMidnight { start: self.start });
        }
        super::entrant::check_id(&self.id)?;
        if self.hold_cap > self.base_budget {
            return Err(Refusal::HoldAboveBudget { hold: self.hold_cap, budget: self.base_budget });
        }
        if self.entrants_max as usize > ENTRANTS_MAX {
            return Err(Refusal::TooMany { what: "entrants", limit: ENTRANTS_MAX });
        }
        if self.prizes.placements.len() > PLACEMENTS_MAX {
            return Err(Refusal::TooMany { what: "placements", limit: PLACEMENTS_MAX });
        }
        self.cost_max().map(|_| ())
    }
}

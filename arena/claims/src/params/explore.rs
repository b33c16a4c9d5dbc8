//! The smallest stake that makes honest running beat faking, in closed form and by search.

use super::{BPS, PPM};
use crate::decimal::Decimal;

/// Fee, costs and odds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Odds {
    /// F: the fee.
    pub fee: u64,
    /// C: what an honest run costs.
    pub cost: u64,
    /// What a faked run costs.
    pub fake_cost: u64,
    /// p: how often a run is checked.
    pub p_ppm: u64,
    /// q: how often a check is right.
    pub q_ppm: u64,
    /// σ: the part of the stake that is lost with an overturned run.
    pub slash_bps: u64,
}

/// What honest and faked running earn on average, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payoffs {
    /// Of an honest run.
    pub honest: Decimal,
    /// Of a faked run.
    pub fake: Decimal,
}

/// Why no stake is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExploreError {
    /// Nothing is ever checked.
    #[error("no stake is enough: with p = 0 nothing is ever checked")]
    NeverChecked,
    /// Checks are no better than a coin.
    #[error("no stake is enough: with q = {q_ppm} ppm, at most one half, checks tell nothing")]
    BlindChecks {
        /// How often a check is right.
        q_ppm: u64,
    },
    /// Stakes are never slashed.
    #[error("no stake is enough: nothing of it is slashed")]
    NothingSlashed,
    /// A stake beyond every amount.
    #[error("the smallest stake is beyond 2^63 - 1")]
    TooLarge,
    /// A probability above one, or a fraction above the whole.
    #[error("{name} is {value}; the limit is {limit}")]
    OutOfRange {
        /// Which.
        name: &'static str,
        /// What it is.
        value: u64,
        /// What it may be.
        limit: u64,
    },
}

/// Above every stake that can be asked for.
const STAKE_LIMIT: i128 = 1 << 63;
const M: i128 = PPM as i128;

impl Odds {
    fn check(&self) -> Result<(), ExploreError> {
        for (name, value, limit) in [
            ("p", self.p_ppm, PPM),
            ("q", self.q_ppm, PPM),
            ("the slashed part", self.slash_bps, BPS),
            ("the fee", self.fee, u64::MAX >> 1),
            ("the cost", self.cost, u64::MAX >> 1),
            ("the cost of faking", self.fake_cost, u64::MAX >> 1),
        ] {
            if value > limit {
                return Err(ExploreError::OutOfRange { name, value, limit });
            }
        }
        if self.p_ppm == 0 {
            return Err(ExploreError::NeverChecked);
        }
        if self.q_ppm.saturating_mul(2) <= PPM {
            return Err(ExploreError::BlindChecks { q_ppm: self.q_ppm });
        }
        Ok(())
    }

    /// D = p (2q − 1), in ppm squared.
    fn edge(&self) -> i128 {
        let q = i128::from(self.q_ppm).saturating_mul(2).saturating_sub(M);
        i128::from(self.p_ppm).saturating_mul(q)
    }

    /// What an overturned runner with this stake loses.
    fn slash(&self, stake: i128) -> i128 {
        stake.saturating_mul(self.slash_bps.into()).div_euclid(BPS.into())
    }

    fn saved(&self) -> i128 {
        i128::from(self.cost).saturating_sub(self.fake_cost.into())
    }

    /// Whether honest running earns more than faking with this stake.
    pub fn honest_beats_fake(&self, stake: u64) -> bool {
        self.beats(stake.into())
    }

    fn beats(&self, stake: i128) -> bool {
        // honest − fake = D (F + L) / M² − (C − c_f), times M². Wide: D is below 2^40, F + L below 2^65.
        let at_risk = i128::from(self.fee).saturating_add(self.slash(stake));
        let gain = self.edge().saturating_mul(at_risk);
        gain > self.saved().saturating_mul(M.saturating_mul(M))
    }

    /// What both earn with this stake.
    pub fn payoffs(&self, stake: u64) -> Payoffs {
        let n = |number: i128| Decimal::integer(number);
        let ppm = |number: i128| Decimal::ppm(number);
        let at_risk = n(i128::from(self.fee).saturating_add(self.slash(stake.into())));
        let lost = |wrong: u64| ppm(self.p_ppm.into()).times(&ppm(wrong.into())).times(&at_risk);
        let earned =
            |cost: u64, wrong: u64| n(self.fee.into()).minus(&n(cost.into())).minus(&lost(wrong)).shortened();
        let missed = PPM.saturating_sub(self.q_ppm);
        Payoffs { honest: earned(self.cost, missed), fake: earned(self.fake_cost, self.q_ppm) }
    }

    /// Whether an honest runner earns anything with this stake.
    pub fn honest_profits(&self, stake: u64) -> bool {
        !self.payoffs(stake).honest.is_negative() && !self.payoffs(stake).honest.is_zero()
    }
}

/// The smallest stake in closed form: `L_min = max(0, ⌊(C − c_f) M² / D⌋ − F + 1)`, `S_min = ⌈L_min 10⁴ / σ⌉`.
pub fn stake_min(odds: &Odds) -> Result<u64, ExploreError> {
    odds.check()?;
    let bound = odds.saved().saturating_mul(M.saturating_mul(M)).div_euclid(odds.edge());
    let slash_min = bound.saturating_sub(odds.fee.into()).saturating_add(1).max(0);
    if slash_min == 0 {
        return Ok(0);
    }
    if odds.slash_bps == 0 {
        return Err(ExploreError::NothingSlashed);
    }
    let whole = slash_min.saturating_mul(BPS.into());
    let sigma = i128::from(odds.slash_bps);
    let stake = whole.div_euclid(sigma).saturating_add(i128::from(whole.rem_euclid(sigma) > 0));
    u64::try_from(stake).ok().filter(|stake| i128::from(*stake) < STAKE_LIMIT).ok_or(ExploreError::TooLarge)
}

/// The smallest stake by search over what both sides earn. It shares nothing with the closed form.
pub fn stake_min_by_search(odds: &Odds) -> Result<u64, ExploreError> {
    odds.check()?;
    let (mut low, mut high) = (0i128, STAKE_LIMIT);
    if !odds.beats(high.saturating_sub(1)) {
        let nothing = odds.slash_bps == 0;
        return Err(if nothing { ExploreError::NothingSlashed } else { ExploreError::TooLarge });
    }
    // What is lost only grows with the stake.
    while low < high {
        let middle = low.saturating_add(high) / 2;
        if odds.beats(middle) {
            high = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    u64::try_from(low).map_err(|_| ExploreError::TooLarge)
}

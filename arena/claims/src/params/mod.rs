//! The parameters a claim is settled by: amounts, shares, sizes and clocks, versioned and hashed.
//!
//! A set is frozen with the listing. [`Params::inequalities`] says for each condition of the mechanism whether
//! the set meets it and by how much; an instance does not start under a set that misses one.

mod explore;
mod inequality;
mod wire;

pub use explore::{ExploreError, Odds, Payoffs, stake_min, stake_min_by_search};
pub use inequality::Inequality;
pub use wire::ParamsError;

use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};
use arena_ledger::Amount;

use crate::fault::Findings;

/// The format of a parameter set.
pub const PARAMS_VERSION: &str = "arena-params/v1";
/// One, in parts per million.
pub const PPM: u64 = 1_000_000;
/// One, in basis points.
pub const BPS: u64 = 10_000;

/// A parameter set. The letter is the symbol in the conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// F: what a runner earns.
    pub fee: Amount,
    /// A: what a drawn auditor earns.
    pub auditor_fee: Amount,
    /// V: reserve of the pool that pays reviewers of an unrunnable claim.
    pub reviewer_reserve: Amount,
    /// S: a runner's stake.
    pub runner_stake: Amount,
    /// S_c: a challenger's stake.
    pub challenger_stake: Amount,
    /// S_r: a reviewer's stake.
    pub reviewer_stake: Amount,
    /// R_c: for the first confirmed challenger of a wrong run.
    pub lead_reward: Amount,
    /// R_f: for each of those that follow, within the slots.
    pub follower_reward: Amount,
    /// R_r: for each reviewer that voted as it ended.
    pub reviewer_reward: Amount,
    /// W_r: for a runner, for each baseless challenge.
    pub runner_compensation: Amount,
    /// What the treasury takes of a dispute.
    pub tax: Amount,
    /// D: for the funders, when they have to wait.
    pub delay_compensation: Amount,
    /// What abstaining costs.
    pub abstain_slash: Amount,
    /// What a reviewer pays who does not vote.
    pub reviewer_no_show_slash: Amount,
    /// Least a submitter puts in at listing.
    pub submitter_deposit_min: Amount,
    /// B: what a party of a hash chain loses for each due round that it does not reveal. A set without it is for
    /// instances whose parties have no stake, and has the digest that it always had.
    pub party_slash: Option<Amount>,
    /// σ: the part of S that is lost with an overturned run.
    pub slash_bps: u64,
    /// The part of S that is lost by not publishing in time.
    pub runner_no_show_bps: u64,
    /// The part of S that is lost by not answering an offer.
    pub offer_lapse_bps: u64,
    /// The part of S_c that agreeing with a wrong run costs.
    pub agreeing_wrong_bps: u64,
    /// The part of S_c that an auditor loses who accepted and never committed.
    pub auditor_no_show_bps: u64,
    /// ρ: the part of F for a run of what cannot be run.
    pub spec_issue_bps: u64,
    /// The part of F for finding that an input is not what it is said to be.
    pub input_mismatch_bps: u64,
    /// Challengers of a wrong run that are paid.
    pub slots: u64,
    /// k: seats of the first panel.
    pub panel_seats: u64,
    /// k2: seats of the second panel.
    pub panel2_seats: u64,
    /// Votes a verdict needs.
    pub quorum: u64,
    /// Volunteers that may challenge one run.
    pub volunteers_max: u64,
    /// Tickets of one agent in a draw.
    pub tickets_max: u64,
    /// How often a job is redrawn.
    pub redraws_max: u64,
    /// Share of runs that are audited at least.
    pub audit_floor_ppm: u64,
    /// The same for newly listed claims and wide tolerances.
    pub audit_floor_new_ppm: u64,
    /// Share of claims that are canaries.
    pub canary_bps: u64,
    /// How much fuel a unit of the fee pays for: a manifest that asks for more than the fee buys is not listed.
    pub fuel_per_unit: u64,
    /// Disputes of exact manifests go to the reference at once.
    pub fast_referee: bool,
    /// Times.
    pub clocks: Clocks,
    /// What the conditions assume of the world.
    pub assumptions: Assumptions,
}

/// How long things may take, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// To reach the pool's minimum.
    pub funding_s: u64,
    /// To find a runner.
    pub drawing_s: u64,
    /// Until a silent beacon is called stalled.
    pub beacon_s: u64,
    /// To accept an offer.
    pub accept_s: u64,
    /// A run may take this many times the manifest's wall time.
    pub run_times: u64,
    /// To commit a challenge.
    pub window_s: u64,
    /// A commitment this close to the end moves the end to this far away.
    pub late_s: u64,
    /// How often it does.
    pub late_max: u64,
    /// What the window is re-opened for when no volunteer revealed.
    pub reopen_s: u64,
    /// To reveal a run or a challenge.
    pub reveal_s: u64,
    /// To seat a panel.
    pub seating_s: u64,
    /// To commit a vote.
    pub vote_s: u64,
    /// To reveal a vote.
    pub vote_reveal_s: u64,
    /// To appeal, before anything is paid.
    pub appeal_s: u64,
    /// To publish the reference's records.
    pub reference_s: u64,
    /// To relist a flagged claim the first time; it doubles.
    pub relist_s: u64,
    /// Stake counts in a draw when it has been at rest this long.
    pub rest_s: u64,
}

/// What the conditions assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumptions {
    /// C: what an honest run costs.
    pub cost: Amount,
    /// C_r: what an honest review costs.
    pub review_cost: Amount,
    /// q: how often a check is right.
    pub q_ppm: u64,
    /// Q: how often a panel is right.
    pub panel_q_ppm: u64,
    /// a: how often a reviewer is right.
    pub reviewer_ppm: u64,
}

const fn amount(units: u64) -> Amount {
    match Amount::new(units) {
        Some(amount) => amount,
        None => Amount::MAX,
    }
}

impl Params {
    /// The published set, for a fee of 1000.
    pub fn published() -> Self {
        Self {
            fee: amount(1_000),
            auditor_fee: amount(600),
            reviewer_reserve: amount(2_400),
            runner_stake: amount(4_000),
            challenger_stake: amount(2_500),
            reviewer_stake: amount(1_500),
            lead_reward: amount(1_500),
            follower_reward: amount(450),
            reviewer_reward: amount(300),
            runner_compensation: amount(500),
            tax: amount(100),
            delay_compensation: amount(500),
            abstain_slash: amount(100),
            reviewer_no_show_slash: amount(300),
            submitter_deposit_min: amount(500),
            party_slash: None,
            slash_bps: BPS,
            runner_no_show_bps: 2_500,
            offer_lapse_bps: 500,
            agreeing_wrong_bps: 5_000,
            auditor_no_show_bps: 2_500,
            spec_issue_bps: 5_000,
            input_mismatch_bps: 2_000,
            slots: 3,
            panel_seats: 5,
            panel2_seats: 7,
            quorum: 3,
            volunteers_max: 16,
            tickets_max: 16,
            redraws_max: 5,
            audit_floor_ppm: 150_000,
            audit_floor_new_ppm: 250_000,
            canary_bps: 100,
            // The ordinary fee buys as much fuel as a manifest may ask for.
            fuel_per_unit: 1_000_000_000,
            fast_referee: true,
            clocks: Clocks::published(),
            assumptions: Assumptions {
                cost: amount(400),
                review_cost: amount(150),
                q_ppm: 950_000,
                panel_q_ppm: 980_000,
                reviewer_ppm: 950_000,
            },
        }
    }

    /// The published set for an instance whose beacon is a hash chain of parties with stakes.
    pub fn published_with_parties() -> Self {
        Self { party_slash: Some(amount(6_000)), ..Self::published() }
    }

    /// L: what an overturned runner loses.
    pub fn runner_slash(&self) -> Amount {
        part(self.runner_stake, self.slash_bps)
    }

    /// The pool a job opens at: F + A + V. Nothing where that is beyond all amounts.
    pub fn pool_min(&self) -> Option<Amount> {
        Amount::checked_sum([self.fee, self.auditor_fee, self.reviewer_reserve])
    }

    /// The least fee for so much fuel.
    pub fn fee_floor(&self, fuel: u64) -> u64 {
        fuel.div_ceil(self.fuel_per_unit.max(1))
    }

    /// ρF: for a run of what cannot be run.
    pub fn reduced_fee(&self) -> Amount {
        part(self.fee, self.spec_issue_bps)
    }

    /// What an appeal locks: k2 · R_r.
    pub fn appeal_bond(&self) -> Amount {
        self.reviewer_reward.checked_mul(self.panel2_seats).unwrap_or(Amount::MAX)
    }

    /// How often a run is audited: the less, the more valid runs its operator has behind it.
    pub fn audit_ppm(&self, valid_runs: u64, watched: bool) -> u64 {
        let floor = if watched { self.audit_floor_new_ppm } else { self.audit_floor_ppm };
        let by_runs = (10 * PPM).checked_div(valid_runs).unwrap_or(PPM);
        by_runs.max(floor).min(PPM)
    }

    /// SHA-256 of the canonical bytes.
    pub fn digest(&self) -> Digest {
        Digest::of(&json::canonical_of(&self.to_json()))
    }

    /// The set as a document.
    pub fn to_json(&self) -> Value {
        wire::write(self)
    }

    /// Reads a set from bytes; all faults are reported at once. Whether it meets the conditions is
    /// not asked here.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParamsError> {
        wire::parse(bytes)
    }

    /// The published set with what `value` says otherwise, by name or by symbol.
    pub fn overridden(value: &Value) -> Result<Self, ParamsError> {
        wire::overridden(value)
    }

    /// The same for a set that stands at `at` in another document.
    pub(crate) fn overridden_at(value: &Value, at: Pointer, findings: &mut Findings) -> Self {
        wire::overridden_at(value, at, findings)
    }
}

impl Clocks {
    fn published() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 3_600;
        const DAY: u64 = 86_400;
        Self {
            funding_s: 30 * DAY,
            drawing_s: 7 * DAY,
            beacon_s: 10 * MINUTE,
            accept_s: 30 * MINUTE,
            run_times: 3,
            window_s: DAY,
            late_s: 2 * HOUR,
            late_max: 3,
            reopen_s: 12 * HOUR,
            reveal_s: 6 * HOUR,
            seating_s: 7 * DAY,
            vote_s: DAY,
            vote_reveal_s: 6 * HOUR,
            appeal_s: DAY,
            reference_s: 7 * DAY,
            relist_s: HOUR,
            rest_s: HOUR,
        }
    }
}

/// A part of an amount, rounded down.
pub(crate) fn part(of: Amount, bps: u64) -> Amount {
    of.fraction_floor(u32::try_from(bps.min(BPS)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;

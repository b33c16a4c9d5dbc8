//! The conditions under which the mechanism pays for honesty, each with its slack.

use arena_ledger::Amount;

use super::{BPS, Odds, PPM, Params, part, stake_min};
use crate::decimal::Decimal;

/// Least share of audits in any set.
const AUDIT_FLOOR_HARD_PPM: u64 = 100_000;

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequality {
    /// Its number, such as `I5`; a letter tells the parts of one apart.
    pub id: &'static str,
    /// What it says.
    pub says: &'static str,
    /// The left side less the right side, exactly.
    pub slack: Decimal,
    /// Whether a slack of 0 is not enough.
    pub strict: bool,
}

impl Inequality {
    /// Whether it is met.
    pub fn holds(&self) -> bool {
        !(self.slack.is_negative() || self.strict && self.slack.is_zero())
    }

    /// Whether settlement depends on it: without it, something that must be paid in full could not be.
    pub fn is_solvency(&self) -> bool {
        matches!(self.id, "I5" | "I5'" | "I6" | "I6'" | "I15")
    }
}

/// Sums and products that cannot overflow.
struct Terms<'a>(&'a Params);

impl Terms<'_> {
    fn sum(&self, terms: &[Decimal]) -> Decimal {
        terms.iter().fold(n(0), |sum, term| sum.plus(term))
    }

    /// (quorum − 1 + k2) R_r: every coherent reviewer there can be after an escalation.
    fn escalated(&self) -> Decimal {
        let seats = self.0.quorum.saturating_sub(1).saturating_add(self.0.panel2_seats);
        n(seats.into()).times(&m(self.0.reviewer_reward))
    }

    fn panel(&self) -> Decimal {
        n(self.0.panel_seats.into()).times(&m(self.0.reviewer_reward))
    }

    fn followers(&self) -> Decimal {
        n(self.0.slots.saturating_sub(1).into()).times(&m(self.0.follower_reward))
    }

    fn abstainers(&self) -> Decimal {
        n(3).times(&m(self.0.abstain_slash))
    }
}

fn n(number: i128) -> Decimal {
    Decimal::integer(number)
}

fn m(amount: Amount) -> Decimal {
    n(amount.units().into())
}

fn odds(ppm: u64) -> Decimal {
    Decimal::ppm(ppm.into())
}

fn missed(ppm: u64) -> Decimal {
    odds(PPM.saturating_sub(ppm))
}

fn above(id: &'static str, says: &'static str, left: &Decimal, right: &Decimal) -> Inequality {
    Inequality { id, says, slack: left.minus(right).shortened(), strict: true }
}

fn at_least(id: &'static str, says: &'static str, left: &Decimal, right: &Decimal) -> Inequality {
    Inequality { strict: false, ..above(id, says, left, right) }
}

impl Params {
    /// All conditions, in order.
    pub fn inequalities(&self) -> Vec<Inequality> {
        let mut all = vec![self.honesty_beats_faking()];
        all.extend(self.incentives());
        all.extend(self.solvency());
        all.extend(self.reviewing());
        all.extend(self.remainder());
        all.extend(self.parties());
        all
    }

    /// The conditions that are not met.
    pub fn violations(&self) -> Vec<Inequality> {
        self.inequalities().into_iter().filter(|inequality| !inequality.holds()).collect()
    }

    fn honesty_beats_faking(&self) -> Inequality {
        let odds = Odds {
            fee: self.fee.units(),
            cost: self.assumptions.cost.units(),
            fake_cost: 0,
            // Whichever floor is lower: it is how often the least audited run is checked.
            p_ppm: self.audit_floor_ppm.min(self.audit_floor_new_ppm),
            q_ppm: self.assumptions.q_ppm,
            slash_bps: BPS,
        };
        let says = "L >= L_min(F, C, 0, audit floor, q): honest running beats faking";
        let unreachable = m(Amount::MAX);
        let least = stake_min(&odds).map_or(unreachable, |stake| n(stake.into()));
        at_least("I1", says, &m(self.runner_slash()), &least)
    }

    fn incentives(&self) -> Vec<Inequality> {
        let t = Terms(self);
        let (fee, cost, slash) = (m(self.fee), m(self.assumptions.cost), m(self.runner_slash()));
        let (stake, lead) = (m(self.challenger_stake), m(self.lead_reward));
        let at_risk = fee.plus(&slash);
        let all_slots = n(self.slots.into()).times(&stake);
        let right = self.assumptions.panel_q_ppm;
        vec![
            above(
                "I2",
                "F - C > (1 - q)(F + L): an honest runner profits even if always checked",
                &fee.minus(&cost),
                &missed(self.assumptions.q_ppm).times(&at_risk),
            ),
            above("I3", "R_c - C > F: a finder earns more than a runner", &lead.minus(&cost), &fee),
            above("I4", "S_c > R_c: a baseless challenge loses more than it can gain", &stake, &lead),
            above(
                "I4'",
                "slots S_c > R_c + (slots - 1) R_f: nor do several of one hand gain",
                &all_slots,
                &lead.plus(&t.followers()),
            ),
            above(
                "I4''",
                "S_c Q > R_c (1 - Q): a baseless challenge loses on average",
                &stake.times(&odds(right)),
                &lead.times(&missed(right)),
            ),
        ]
    }

    fn solvency(&self) -> Vec<Inequality> {
        let t = Terms(self);
        let (slash, stake, tax) = (m(self.runner_slash()), m(self.challenger_stake), m(self.tax));
        let lead = m(self.lead_reward);
        vec![
            at_least(
                "I5",
                "L >= tax + R_c + k R_r + (slots - 1) R_f: the slash covers everyone",
                &slash,
                &t.sum(&[tax.clone(), lead.clone(), t.panel(), t.followers()]),
            ),
            at_least(
                "I5'",
                "L + 3 abst >= tax + R_c + (quorum - 1 + k2) R_r: also after an escalation",
                &slash.plus(&t.abstainers()),
                &t.sum(&[tax.clone(), lead, t.escalated()]),
            ),
            at_least(
                "I6",
                "S_c >= tax + k R_r + W_r: a baseless challenge covers everyone",
                &stake,
                &t.sum(&[tax.clone(), t.panel(), m(self.runner_compensation)]),
            ),
            at_least(
                "I6'",
                "S_c + 3 abst >= tax + (quorum - 1 + k2) R_r: also after an escalation",
                &stake.plus(&t.abstainers()),
                &tax.plus(&t.escalated()),
            ),
        ]
    }

    fn reviewing(&self) -> Vec<Inequality> {
        let (reward, stake) = (m(self.reviewer_reward), m(self.reviewer_stake));
        let abstaining = m(self.abstain_slash);
        let right = self.assumptions.reviewer_ppm;
        let earned = odds(right).times(&reward).minus(&missed(right).times(&stake));
        let half = odds(PPM / 2);
        let guess_loss = half.times(&stake).minus(&half.times(&reward));
        let majority = n(i128::from(self.panel_seats / 2).saturating_add(1));
        let runner_swing = m(self.fee).plus(&m(self.runner_slash()));
        let challenger_swing = m(self.lead_reward).plus(&m(self.challenger_stake));
        vec![
            above("I7", "S_r > R_r: guessing loses", &stake, &reward),
            at_least(
                "I8",
                "S_r >= 5 R_r: always voting one way loses below a prior of 5/6",
                &stake,
                &n(5).times(&reward),
            ),
            above(
                "I9",
                "a R_r - (1 - a) S_r > C_r: a careful reviewer profits",
                &earned,
                &m(self.assumptions.review_cost),
            ),
            above("I9'", "and earns more than by abstaining", &earned.plus(&abstaining), &n(0)),
            above("I9''", "abst < (S_r - R_r) / 2: abstaining beats guessing", &guess_loss, &abstaining),
            above(
                "I10",
                "a majority's (R_r + S_r) > max(F + L, R_c + S_c): buying a panel costs more than the largest swing",
                &majority.times(&reward.plus(&stake)),
                &runner_swing.max(challenger_swing),
            ),
        ]
    }

    /// Of a set for parties with stakes. A silent party may hold a part in the claim under another name, and be among
    /// its funders.
    fn parties(&self) -> Option<Inequality> {
        let lost = m(self.party_slash?).minus(&m(self.delay_compensation));
        let runner_swing = m(self.fee).plus(&m(self.runner_slash()));
        let challenger_swing = m(self.lead_reward).plus(&m(self.challenger_stake));
        let says =
            "B - D > max(F + L, R_c + S_c): keeping a round back costs a party more than the largest swing";
        Some(above("I17", says, &lost, &runner_swing.max(challenger_swing)))
    }

    fn remainder(&self) -> Vec<Inequality> {
        let t = Terms(self);
        let (fee, cost) = (m(self.fee), m(self.assumptions.cost));
        let (reduced, audit) = (m(self.reduced_fee()), m(self.auditor_fee));
        let stake = m(self.challenger_stake);
        let ring = t.sum(&[m(self.lead_reward), t.followers(), t.panel()]);
        let reserve = m(self.reviewer_reserve);
        vec![
            above("I11", "tax > 0: a ring of everybody loses the tax", &m(self.tax), &n(0)),
            above(
                "I11'",
                "L > R_c + (slots - 1) R_f + k R_r: and never wins the slash back",
                &m(self.runner_slash()),
                &ring,
            ),
            at_least("I12", "rho F >= C: a run of what cannot be run is made whole", &reduced, &cost),
            above("I12'", "rho F < F - C: and does not beat running", &fee.minus(&cost), &reduced),
            above(
                "I13",
                "the no-show slash is above 0 (withholding loses L, as being overturned does)",
                &m(part(self.runner_stake, self.runner_no_show_bps)),
                &n(0),
            ),
            above("I14", "A > C: an auditor is paid", &audit, &cost),
            at_least("I14'", "A <= F: not more than the runner", &fee, &audit),
            at_least(
                "I15",
                "V + 3 abst >= (quorum - 1 + k2) R_r: the reserve pays reviewers of an unrunnable claim",
                &reserve.plus(&t.abstainers()),
                &t.escalated(),
            ),
            above(
                "I16",
                "S_c > W_r + k R_r: a challenger cannot feed runner and panel at a profit",
                &stake,
                &m(self.runner_compensation).plus(&t.panel()),
            ),
            at_least(
                "audit",
                "the audit floors are at least 100000 ppm",
                &n(self.audit_floor_ppm.min(self.audit_floor_new_ppm).into()),
                &n(AUDIT_FLOOR_HARD_PPM.into()),
            ),
            at_least(
                "quorum",
                "a quorum is at most the smaller panel",
                &n(self.panel_seats.min(self.panel2_seats).into()),
                &n(self.quorum.into()),
            ),
            at_least("pool", "F + A + V is an amount", &m(Amount::MAX), &t.sum(&[fee, audit, reserve])),
        ]
    }
}

//! What populations come to: sums in integers, and means with their intervals.
//!
//! A mean is profit over seats, and claims are what is sampled: seats of one claim share its ending, so their profits
//! are not independent of each other. The interval is that of a ratio of two sums over claims, the normal
//! approximation at 95 % (1.96 is 196/100). It takes claims for independent of each other. They nearly are: standing and
//! the record of valid runs go from one claim to the next. It says nothing of other seeds' agents or of other
//! behaviour.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "big integers do not overflow, and nothing is divided by 0"
)]

use std::fmt;

use arena_canon::json::Value;
use num_bigint::BigInt;
use serde_json::json;

/// 1.96 in hundredths.
const QUANTILE: u64 = 196;

/// Sums over claims of how often something was done and what it earned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// How often.
    pub times: u64,
    /// What it earned in all.
    pub profit: i128,
    times_squared: u128,
    times_by_profit: i128,
    profit_squared: u128,
}

/// A mean with its 95 % interval, in hundredths of a unit. The interval is rounded outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The mean.
    pub mean: i128,
    /// Half the width of the interval.
    pub half: i128,
}

impl Sample {
    /// Takes in one claim: something was done `times` times and earned `profit`.
    pub(super) fn add(&mut self, times: u64, profit: i64) {
        let (n, x) = (u128::from(times), i128::from(profit));
        self.times = self.times.saturating_add(times);
        self.profit = self.profit.saturating_add(x);
        self.times_squared = self.times_squared.saturating_add(n.saturating_mul(n));
        self.times_by_profit = self.times_by_profit.saturating_add(i128::from(times).saturating_mul(x));
        self.profit_squared =
            self.profit_squared.saturating_add(x.unsigned_abs().saturating_mul(x.unsigned_abs()));
    }

    /// Profit each time, over `claims` claims. Fewer than two give none, and neither do amounts whose squares are
    /// beyond 128 bits.
    pub fn estimate(&self, claims: u64) -> Option<Estimate> {
        if self.times < 2 || claims < 2 || self.profit_squared == u128::MAX {
            return None;
        }
        let (n, x) = (BigInt::from(self.times), BigInt::from(self.profit));
        let mean = floor_ratio(&(&x * 200 + &n), &(&n * 2));
        // Sum over claims of (profit - mean * times)², times n².
        let spread = &n * &n * self.profit_squared - &n * &x * self.times_by_profit * 2u8
            + &x * &x * self.times_squared;
        let above = spread * (QUANTILE * QUANTILE) * claims;
        let below = BigInt::from(claims - 1) * &n * &n * &n * &n;
        let half = ceil_root(&(floor_ratio(&(above - 1u8), &below) + 1u8));
        Some(Estimate { mean: i128::try_from(mean).ok()?, half: i128::try_from(half).ok()? })
    }
}

/// `above / below`, rounded down; `below` is positive.
fn floor_ratio(above: &BigInt, below: &BigInt) -> BigInt {
    let whole = above / below;
    if above.sign() == num_bigint::Sign::Minus && &whole * below != *above { whole - 1u8 } else { whole }
}

fn ceil_root(of: &BigInt) -> BigInt {
    let root = of.sqrt();
    if &root * &root == *of { root } else { root + 1u8 }
}

impl Estimate {
    /// The lower end of the interval.
    pub fn low(&self) -> i128 {
        self.mean.saturating_sub(self.half)
    }

    /// The upper end.
    pub fn high(&self) -> i128 {
        self.mean.saturating_add(self.half)
    }

    /// The estimate as a document; amounts are decimal strings.
    pub fn to_json(&self) -> Value {
        let text = |hundredths| Hundredths(hundredths).to_string();
        json!({ "mean": text(self.mean), "low": text(self.low()), "high": text(self.high()) })
    }
}

/// A number of hundredths, as it is written: `-12.05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hundredths(pub i128);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100);
        let sign = if self.0 < 0 { "-" } else { "" };
        f.pad(&format!("{sign}{whole}.{rest:02}"))
    }
}

/// What a population came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Every claim, and what all of the population earned in it, volunteering included.
    pub claims: Sample,
    /// Seats that it was drawn into: runs, audits and reviews.
    pub seats: Sample,
    /// Of these, runs, declined ones included.
    pub runs: Sample,
    /// Of these, audits.
    pub audits: Sample,
    /// Of these, reviews.
    pub reviews: Sample,
    /// Challenges of its own accord.
    pub challenges: u64,
    /// Runs that were overturned or withheld.
    pub overturned: u64,
    /// Commitments of it that were refused as copies.
    pub copies_refused: u64,
}

impl Tally {
    /// The tally as a document.
    pub fn to_json(&self) -> Value {
        let each = |sample: &Sample| {
            sample.estimate(self.claims.times).map_or(Value::Null, |estimate| estimate.to_json())
        };
        json!({
            "seats": self.seats.times, "runs": self.runs.times, "audits": self.audits.times,
            "reviews": self.reviews.times, "challenges": self.challenges, "overturned": self.overturned,
            "copies_refused": self.copies_refused, "profit": self.claims.profit.to_string(),
            "profit_per_claim": each(&self.claims), "profit_per_seat": each(&self.seats),
            "profit_per_run": each(&self.runs), "profit_per_audit": each(&self.audits),
            "profit_per_review": each(&self.reviews),
        })
    }

    /// Profit per seat that it was drawn into.
    pub fn per_seat(&self) -> Option<Estimate> {
        self.seats.estimate(self.claims.times)
    }

    /// Profit per review.
    pub fn per_review(&self) -> Option<Estimate> {
        self.reviews.estimate(self.claims.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(claims: &[(u64, i64)]) -> Sample {
        let mut sample = Sample::default();
        claims.iter().for_each(|(times, profit)| sample.add(*times, *profit));
        sample
    }

    /// The same by hand: residuals from the mean, squared and summed, over the seats.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn by_floats(claims: &[(u64, i64)]) -> (f64, f64) {
        let n: f64 = claims.iter().map(|(times, _)| *times as f64).sum();
        let mean = claims.iter().map(|(_, profit)| *profit as f64).sum::<f64>() / n;
        let spread: f64 =
            claims.iter().map(|(times, profit)| (*profit as f64 - mean * *times as f64).powi(2)).sum();
        let m = claims.len() as f64;
        (mean, 1.96 * (spread * m / (m - 1.0)).sqrt() / n)
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn intervals_are_those_of_a_ratio_over_claims() {
        let single: Vec<(u64, i64)> = (0..40).map(|i| (1, if i % 4 == 0 { -4_000 } else { 1_000 })).collect();
        let panels: Vec<(u64, i64)> =
            (0..97).map(|i| (i % 6, (i as i64 % 7 - 3) * 300 * (i % 6) as i64)).collect();
        for claims in [single, panels, vec![(1, 5), (1, 5)], vec![(3, -7), (0, 0), (2, 4)]] {
            let estimate = sample(&claims).estimate(claims.len() as u64).expect("enough claims");
            let (mean, half) = by_floats(&claims);
            assert!((estimate.mean as f64 / 100.0 - mean).abs() <= 0.005_001, "{estimate:?} {mean}");
            let wide = estimate.half as f64 / 100.0;
            assert!((-1e-9..=0.010_001).contains(&(wide - half)), "{estimate:?} {half}");
        }
    }

    #[test]
    fn too_little_has_no_interval() {
        assert_eq!(sample(&[(1, 100)]).estimate(1), None);
        assert_eq!(sample(&[(1, 100), (0, 0), (0, 0)]).estimate(3), None);
        assert!(sample(&[(1, 100), (1, 0)]).estimate(2).is_some());
        assert_eq!(sample(&[]).estimate(10), None);
    }

    #[test]
    fn large_amounts_are_exact_or_have_no_interval() {
        let both_ways = |most: i64| {
            let claims: Vec<(u64, i64)> =
                (0..1_000).map(|i| (2, if i % 2 == 0 { most } else { -most })).collect();
            sample(&claims).estimate(1_000)
        };
        let small = both_ways(1_000).expect("enough");
        let large = both_ways(1_000_000_000_000_000).expect("within 128 bits");
        assert_eq!((small.mean, large.mean), (0, 0));
        assert_eq!(large.half / 1_000_000_000_000, small.half - 1, "rounded outwards");
        assert_eq!(both_ways(i64::MAX / 4), None);
    }

    #[test]
    fn hundredths_are_written_out() {
        for (number, text) in [(0, "0.00"), (-5, "-0.05"), (100, "1.00"), (-12_345, "-123.45")] {
            assert_eq!(Hundredths(number).to_string(), text);
        }
        assert_eq!(format!("{:>8}", Hundredths(150)), "    1.50");
    }
}

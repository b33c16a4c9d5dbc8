//! Mean scores of repeated games, with 95 % confidence intervals by Student's t.

use serde::Serialize;

/// What repetitions of one matchup say of a score. Figures have three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Repetitions.
    pub games: u64,
    /// Mean score.
    pub mean: f64,
    /// Both ends of the 95 % interval. None of a single game, nor where every score is the same: a
    /// spread of zero would claim certainty, and of games without luck it says nothing at all.
    pub interval: Option<[f64; 2]>,
}

/// Critical values of Student's t for two sides of 2.5 %, by degrees of freedom less one.
const CRITICAL: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// Beyond the table: from so many degrees of freedom on, the value. Between two, that of the fewer holds,
/// so that an interval is never too narrow.
const CRITICAL_FROM: [(usize, f64); 6] =
    [(1000, 1.962), (120, 1.980), (60, 2.000), (50, 2.009), (40, 2.021), (31, 2.042)];

impl Estimate {
    /// Of these scores, in any order; `None` without any.
    ///
    /// Sum and deviations are exact integers (each deviation is games × score − sum); only the squares,
    /// their sum in order of size, and the root are rounded, by IEEE 754.
    pub(crate) fn of(scores: &[i64]) -> Option<Self> {
        let games = i128::try_from(scores.len()).ok().filter(|games| *games > 0)?;
        let sum: i128 = scores.iter().map(|score| i128::from(*score)).sum();
        let mean = sum as f64 / games as f64;
        let mut deviations: Vec<u128> =
            scores.iter().map(|score| (games * i128::from(*score) - sum).unsigned_abs()).collect();
        deviations.sort_unstable();
        let squares: f64 = deviations.iter().map(|deviation| *deviation as f64 * *deviation as f64).sum();
        let interval = (squares > 0.0).then(|| {
            let n = games as f64;
            let side = critical(scores.len() - 1) * (squares / (n - 1.0) / n).sqrt() / n;
            [thousandths(mean - side), thousandths(mean + side)]
        });
        Some(Self { games: scores.len() as u64, mean: thousandths(mean), interval })
    }
}

/// For at least one degree of freedom.
fn critical(freedom: usize) -> f64 {
    let beyond = || CRITICAL_FROM.iter().find(|(from, _)| freedom >= *from).map(|(_, value)| *value);
    CRITICAL.get(freedom - 1).copied().or_else(beyond).unwrap_or(CRITICAL[0])
}

/// `value` with three decimals; never `-0`.
fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::{CRITICAL, CRITICAL_FROM, Estimate, critical};

    fn of(scores: &[i64]) -> Estimate {
        Estimate::of(scores).expect("there are scores")
    }

    #[test]
    fn known_samples() {
        // Mean 3, variance 2.5: 2.776 × sqrt(2.5 ÷ 5) on either side.
        let five = Estimate { games: 5, mean: 3.0, interval: Some([1.037, 4.963]) };
        assert_eq!(of(&[1, 2, 3, 4, 5]), five);
        assert_eq!(of(&[5, 3, 1, 2, 4]), five);
        assert_eq!(of(&[-1, 1]).interval, Some([-12.706, 12.706]));
        assert_eq!(of(&[1, 1, 2]).mean, 1.333);
        assert_eq!(of(&[-1, 0, 0]).mean, -0.333);
    }

    #[test]
    fn no_interval_without_a_spread() {
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(of(&[7]), Estimate { games: 1, mean: 7.0, interval: None });
        assert_eq!(of(&[600; 10]), Estimate { games: 10, mean: 600.0, interval: None });
        assert!(of(&[600, 600, 601]).interval.is_some());
    }

    #[test]
    fn large_scores_lose_nothing_that_shows() {
        let far = 1_000_000_000_000_i64;
        let near = of(&[1, 2, 3, 4, 5]).interval.expect("an interval");
        assert_eq!(
            of(&[far + 1, far + 2, far + 3, far + 4, far + 5]).interval,
            Some(near.map(|end| end + far as f64))
        );
        for scores in [vec![i64::MIN, i64::MAX], vec![i64::MIN; 1000], vec![i64::MAX, 0, i64::MIN, 5]] {
            let Estimate { mean, interval, .. } = of(&scores);
            assert!(mean.is_finite());
            assert!(interval.is_none_or(|ends| ends[0] <= mean && mean <= ends[1]), "{scores:?}");
        }
    }

    #[test]
    fn nothing_prints_as_minus_zero() {
        let even = of(&[-1, 1, 0, 0]);
        assert!(even.mean.is_sign_positive());
        let mostly_nothing: Vec<i64> = (0..5000).map(|at| -i64::from(at == 0)).collect();
        assert_eq!(of(&mostly_nothing).mean.to_bits(), 0.0_f64.to_bits());
    }

    /// Chance that |T| is within `value`: with T = sqrt(f) · tan φ, the density is cos^(f−1) φ.
    fn within(value: f64, freedom: usize) -> f64 {
        let area = |to: f64| {
            let steps = 4000;
            let width = to / f64::from(steps);
            let height = |angle: f64| std::iter::repeat_n(angle.cos(), freedom - 1).product::<f64>();
            let mid = |step: i32| height((f64::from(step) + 0.5) * width);
            (0..steps).map(mid).sum::<f64>() * width
        };
        area((value / (freedom as f64).sqrt()).atan()) / area(std::f64::consts::FRAC_PI_2)
    }

    #[test]
    fn critical_values_hold_95_of_100() {
        let listed = (1..=CRITICAL.len()).map(|freedom| (freedom, CRITICAL[freedom - 1]));
        // The last of the others is the table's last again.
        for (freedom, value) in listed.chain(CRITICAL_FROM[..5].iter().copied()) {
            assert_eq!(critical(freedom), value);
            // The last digit is the nearest one.
            assert!(within(value - 0.000_51, freedom) < 0.95 && within(value + 0.000_51, freedom) > 0.95);
        }
        for freedom in [31, 35, 45, 59, 61, 119, 121, 500, 999, 1000, 1001, 3000] {
            let share = within(critical(freedom), freedom);
            assert!((0.9499..0.9530).contains(&share), "{freedom}: {share}");
            assert!(critical(freedom) <= critical(freedom - 1));
        }
    }
}

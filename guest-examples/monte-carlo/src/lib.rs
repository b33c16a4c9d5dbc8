//! A Monte-Carlo estimate whose exact answers are known: pi from points in a quarter of a circle, and the
//! integral of x² from 0 to 1, which is a third.
//!
//! Arguments: `samples`, 1 to 100 000 000; `seed`, an integer. The points are drawn by SplitMix64, whose ten
//! lines no upgrade of a crate changes.

use arena_sdk::experiment::{Experiment, Report, Run};
use arena_sdk::info;

const SAMPLES_MAX: u64 = 100_000_000;

/// Points in a square, counted in integers.
pub struct MonteCarlo;

impl Experiment for MonteCarlo {
    fn run(run: &mut Run) -> Result<Report, String> {
        let (samples, seed): (u64, u64) = (run.argument("samples")?, run.argument_or("seed", 0)?);
        if !(1..=SAMPLES_MAX).contains(&samples) {
            return Err(format!("samples: {samples}; from 1 to {SAMPLES_MAX}"));
        }
        let mut luck = SplitMix(seed);
        let mut inside = 0_u64;
        let mut squares = 0.0_f64;
        for _ in 0..samples {
            let word = luck.next();
            let (x, y) = (word >> 32, word & 0xffff_ffff);
            // At the very edge, x² + y² = 2^64 does not fit: the point is outside.
            inside += u64::from((x * x).checked_add(y * y).is_some());
            let unit = x as f64 / 4_294_967_296.0;
            squares += unit * unit;
        }
        info!("{inside} of {samples} points inside");
        Ok(Report::new()
            .int("samples", samples as i64)
            .int("inside", inside as i64)
            .decimal("pi", 4 * i128::from(inside), i128::from(samples), 6)
            .f64("third", squares / samples as f64))
    }
}

arena_sdk::export_experiment!(MonteCarlo);

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::experiment::testing;

    #[test]
    fn the_published_stream_comes_out() {
        let mut luck = SplitMix(1_234_567);
        let words = [luck.next(), luck.next(), luck.next()];
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn the_estimates_are_near_the_exact_values() {
        let bench = testing::bench().argument("samples", 1_000_000).argument("seed", 42);
        let report = bench.run::<MonteCarlo>().0.expect("it measures");
        let number = |name: &str| report.text(name).expect("it is reported");
        let pi: f64 = number("pi").parse().expect("a number");
        // Five standard deviations: 1.64 and 0.298 over the root of the samples.
        assert!((pi - std::f64::consts::PI).abs() < 0.0083, "{pi}");
        let third = f64::from_bits(u64::from_str_radix(&number("third"), 16).expect("bits"));
        assert!((third - 1.0 / 3.0).abs() < 0.0015, "{third}");
    }

    #[test]
    fn no_samples_are_no_estimate() {
        for samples in ["0", "100000001", "-1", "many"] {
            assert!(
                testing::bench().argument("samples", samples).run::<MonteCarlo>().0.is_err(),
                "{samples}"
            );
        }
    }
}

//! e to a power, the same to the last bit everywhere.

/// log2 of e.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// The first 32 bits of ln 2: its product with a power's exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// ln 2 less the above.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Beyond this, e^−x is below the smallest normal number, and zero here.
const LARGEST: f64 = 708.0;
/// Terms of the series: with |r| ≤ ln 2 ÷ 2, the first one left out is below 5e-18.
const TERMS: u32 = 13;

/// e^−`x` for `x` ≥ 0.
///
/// `x` is k·ln 2 − r with |r| ≤ 0.347, so that e^−x is 2^−k · e^r, and e^r is its Taylor series. The
/// relative error is below 4e-16: half a unit of the last place each for the reduction, for the first
/// terms of the series, and for what the others add up to.
pub(super) fn exp_of_minus(x: f64) -> f64 {
    debug_assert!(x >= 0.0, "{x} is not a power this is for");
    if x > LARGEST {
        return 0.0;
    }
    let k = (x * LOG2_E + 0.5).floor();
    let r = (k * LN_2_HIGH - x) + k * LN_2_LOW;
    let mut sum = 1.0;
    for n in (1..=TERMS).rev() {
        sum = 1.0 + sum * r / f64::from(n);
    }
    // k is at most 1021, so this is a normal number.
    sum * f64::from_bits((1023 - k as u64) << 52)
}

/// The chances of both sides where the first is `ahead` in the logarithm of its strength. Each is
/// precise in itself: neither is one less the other.
pub(super) fn chances(ahead: f64) -> [f64; 2] {
    let ratio = exp_of_minus(ahead.abs());
    let (strong, weak) = (1.0 / (1.0 + ratio), ratio / (1.0 + ratio));
    if ahead >= 0.0 { [strong, weak] } else { [weak, strong] }
}

#[cfg(test)]
mod tests {
    use super::{chances, exp_of_minus};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the platform's own is what ours is held against")]
    fn it_is_the_exponential() {
        for step in 0..708_000 {
            let x = f64::from(step) * 0.001 + f64::from(step % 7) * 1e-7;
            let (ours, theirs) = (exp_of_minus(x), (-x).exp());
            assert!((ours - theirs).abs() <= 4e-16 * theirs, "e^-{x}: {ours:e}, not {theirs:e}");
        }
        assert_eq!([exp_of_minus(0.0), exp_of_minus(708.1), exp_of_minus(1e300)], [1.0, 0.0, 0.0]);
        assert!(exp_of_minus(708.0) >= f64::MIN_POSITIVE);
    }

    /// Pinned bits, which are the nearest to the true values: whoever changes the series changes digests.
    #[test]
    fn it_has_the_same_last_bit_everywhere() {
        let bits = [0.1, 1.0, 2.5, 9.210_340_371_976_184, 100.0].map(|x| exp_of_minus(x).to_bits());
        let nearest = [
            4_606_325_270_462_671_674,
            4_600_298_746_774_613_816,
            4_590_579_268_170_609_701,
            4_547_007_122_018_943_782,
            3_957_129_287_720_677_213,
        ];
        assert_eq!(bits, nearest);
    }

    #[test]
    fn chances_add_up_to_one_and_swap() {
        for ahead in [0.0, 0.3, 5.0, 40.0, 700.0, 1e9] {
            let [strong, weak] = chances(ahead);
            assert!((strong + weak - 1.0).abs() < 1e-15 && strong >= weak, "{ahead}");
            assert_eq!(chances(-ahead), [weak, strong]);
        }
        assert!(chances(40.0)[1] > 4e-18, "a small chance is not rounded away");
    }
}

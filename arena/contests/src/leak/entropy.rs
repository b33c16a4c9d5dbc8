//! How random a text looks, in whole thousandths of a bit, so that every machine says the same.

/// Bits of a fraction.
const SCALE: u32 = 20;

/// Shannon's entropy of the bytes of `text`, per byte, in thousandths of a bit, rounded down.
pub fn millibits(text: &[u8]) -> u32 {
    let mut counts = [0_u64; 256];
    text.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = text.len() as u64;
    if total == 0 {
        return 0;
    }
    let terms = counts.iter().filter(|count| **count > 0);
    let sum: u64 = terms.map(|count| count * (log2(total) - log2(*count))).sum();
    u32::try_from((sum / total * 1_000) >> SCALE).unwrap_or(u32::MAX)
}

/// The binary logarithm of `n`, which is not 0, with [`SCALE`] bits of fraction: the whole part is
/// the position of the highest bit, and each squaring of the rest gives one more bit.
fn log2(n: u64) -> u64 {
    let whole = u64::from(n.ilog2());
    let mut rest = u128::from(n) << 62 >> whole;
    let mut result = whole;
    for _ in 0..SCALE {
        rest = (rest * rest) >> 62;
        result <<= 1;
        if rest >= 1 << 63 {
            rest >>= 1;
            result |= 1;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{SCALE, log2, millibits};

    #[test]
    fn known_entropies() {
        for (text, expected) in [
            (&b""[..], 0),
            (b"aaaa", 0),
            (b"abab", 1_000),
            (b"abcd", 2_000),
            (b"aab", 918),
            (b"0123456789abcdef", 4_000),
        ] {
            assert_eq!(millibits(text), expected, "{text:?}");
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(millibits(&all), 8_000);
    }

    #[test]
    fn logarithms_of_powers_are_exact_and_others_lie_between() {
        for power in 0..40 {
            assert_eq!(log2(1 << power), u64::from(power as u32) << SCALE);
        }
        // log2(3) = 1.58496250072115…
        assert_eq!((log2(3) * 1_000) >> SCALE, 1_584);
    }
}

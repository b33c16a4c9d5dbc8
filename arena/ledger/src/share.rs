use crate::Amount;

/// Why a total cannot be shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// Nobody has a weight, and something is left to give.
    #[error("{total} cannot be shared out: no share has a weight")]
    NoWeight {
        /// What was to be shared.
        total: Amount,
    },
}

/// Shares `total` out in proportion to `weights`, to the last unit: everybody gets the proportion
/// rounded down, and what is left goes by the largest remainder, the earlier one first among equals.
pub fn split(total: Amount, weights: &[Amount]) -> Result<Vec<Amount>, ShareError> {
    if total.is_zero() {
        return Ok(vec![Amount::ZERO; weights.len()]);
    }
    let sum = weights.iter().fold(0u128, |sum, weight| sum.saturating_add(u128::from(weight.units())));
    if sum == 0 {
        return Err(ShareError::NoWeight { total });
    }
    let parts = weights.iter().map(|weight| {
        let product = u128::from(total.units()).saturating_mul(u128::from(weight.units()));
        product.checked_div(sum).zip(product.checked_rem(sum))
    });
    let parts: Vec<(u128, u128)> = parts.collect::<Option<_>>().ok_or(ShareError::NoWeight { total })?;
    let given = parts.iter().fold(0u128, |given, (whole, _)| given.saturating_add(*whole));
    // Fewer units are left than there are shares with a remainder.
    let left = u128::from(total.units()).saturating_sub(given);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(parts[*i].1));
    let mut shares: Vec<u128> = parts.iter().map(|(whole, _)| *whole).collect();
    for i in order.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        shares[i] = shares[i].saturating_add(1);
    }
    let shares = shares.into_iter().map(|share| u64::try_from(share).ok().and_then(Amount::new));
    shares.collect::<Option<_>>().ok_or(ShareError::NoWeight { total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};

    fn amounts(units: &[u64]) -> Vec<Amount> {
        units.iter().map(|units| Amount::new(*units).expect("an amount")).collect()
    }

    fn check(total: u64, weights: &[u64], want: &[u64]) {
        let total = Amount::new(total).expect("an amount");
        assert_eq!(split(total, &amounts(weights)), Ok(amounts(want)));
    }

    #[test]
    fn the_largest_remainder_goes_first_and_the_earlier_among_equals() {
        check(3_000, &[1_000, 1_000, 1_000, 1], &[1_000, 1_000, 999, 1]);
        check(100, &[1, 1, 1], &[34, 33, 33]);
        check(0, &[1, 2], &[0, 0]);
        check(0, &[], &[]);
        check(5, &[0, 7, 0], &[0, 5, 0]);
        check(2, &[1, 1, 1, 1], &[1, 1, 0, 0]);
        let most = Amount::MAX.units();
        check(most, &[most, most], &[most / 2 + 1, most / 2]);
    }

    #[test]
    fn without_weights_nothing_can_be_shared() {
        let total = Amount::new(1).expect("an amount");
        assert_eq!(split(total, &[]), Err(ShareError::NoWeight { total }));
        assert_eq!(split(total, &amounts(&[0, 0])), Err(ShareError::NoWeight { total }));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_add_up_and_are_within_one_of_the_proportion(
            total in any::<u64>(), weights in prop::collection::vec(any::<u64>(), 1..12),
        ) {
            let total = Amount::new(total >> 1).expect("halved");
            let weights: Vec<Amount> =
                weights.into_iter().map(|w| Amount::new(w >> 1).expect("halved")).collect();
            let sum: u128 = weights.iter().map(|w| u128::from(w.units())).sum();
            let shares = split(total, &weights);
            prop_assert_eq!(shares.is_err(), sum == 0 && !total.is_zero());
            if let Ok(shares) = shares {
                prop_assert_eq!(Amount::checked_sum(shares.iter().copied()), Some(total));
                for (share, weight) in shares.iter().zip(&weights) {
                    let floor = u128::from(total.units()) * u128::from(weight.units());
                    let floor = floor.checked_div(sum).unwrap_or_default();
                    prop_assert!((floor..=floor + 1).contains(&u128::from(share.units())));
                }
            }
        }
    }
}

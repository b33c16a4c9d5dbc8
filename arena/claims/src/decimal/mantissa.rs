//! The integer of a decimal. Measurements have a few dozen digits at most, and for these the machine's own integers
//! do; whatever does not fit goes on in big ones, with the same result.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "big integers do not overflow, small ones are checked, and nothing is divided by 0"
)]

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

/// Digits that fit in any case.
const SMALL_DIGITS: usize = 38;

#[derive(Debug, Clone)]
pub(super) enum Mantissa {
    Small(i128),
    Big(BigInt),
}

/// `10^exponent`, if it fits.
fn small_power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

impl Mantissa {
    /// Of ASCII digits, those before and those behind the point.
    pub(super) fn of_digits(is_negative: bool, whole: &str, fraction: &str) -> Self {
        let digits = || whole.bytes().chain(fraction.bytes());
        if whole.len() + fraction.len() <= SMALL_DIGITS {
            let number = digits().fold(0_i128, |number, digit| number * 10 + i128::from(digit - b'0'));
            return Self::Small(if is_negative { -number } else { number });
        }
        // The caller has seen that there are digits, and nothing else.
        let number = BigUint::parse_bytes(&digits().collect::<Vec<u8>>(), 10).unwrap_or_default();
        Self::Big(BigInt::from_biguint(if is_negative { Sign::Minus } else { Sign::Plus }, number))
    }

    fn big(&self) -> BigInt {
        match self {
            Self::Small(number) => BigInt::from(*number),
            Self::Big(number) => number.clone(),
        }
    }

    /// Whether it is below, at or above 0.
    pub(super) fn sign(&self) -> Ordering {
        match self {
            Self::Small(number) => number.cmp(&0),
            Self::Big(number) => match number.sign() {
                Sign::Minus => Ordering::Less,
                Sign::NoSign => Ordering::Equal,
                Sign::Plus => Ordering::Greater,
            },
        }
    }

    pub(super) fn abs(&self) -> Self {
        match self {
            Self::Small(number) if *number != i128::MIN => Self::Small(number.abs()),
            _ => Self::Big(self.big().magnitude().clone().into()),
        }
    }

    /// Times `10^exponent`.
    pub(super) fn raised(&self, exponent: u32) -> Self {
        if let (Self::Small(number), Some(power)) = (self, small_power(exponent))
            && let Some(raised) = number.checked_mul(power)
        {
            return Self::Small(raised);
        }
        Self::Big(self.big() * BigInt::from(10).pow(exponent))
    }

    fn combined(
        &self,
        other: &Self,
        small: fn(i128, i128) -> Option<i128>,
        big: fn(BigInt, BigInt) -> BigInt,
    ) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (self, other)
            && let Some(number) = small(*a, *b)
        {
            return Self::Small(number);
        }
        Self::Big(big(self.big(), other.big()))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.combined(other, i128::checked_add, |a, b| a + b)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.combined(other, i128::checked_sub, |a, b| a - b)
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        self.combined(other, i128::checked_mul, |a, b| a * b)
    }

    /// `self / divisor` as an integer, half to even. The divisor is not 0.
    pub(super) fn ratio_half_even(&self, divisor: &Self) -> Self {
        let is_negative = (self.sign() == Ordering::Less) != (divisor.sign() == Ordering::Less);
        if let (Self::Small(top), Self::Small(bottom)) = (self, divisor) {
            let (top, bottom) = (top.unsigned_abs(), bottom.unsigned_abs());
            let (quotient, rest) = (top / bottom, top % bottom);
            // `rest` is below `bottom`, so this does not overflow where `2 * rest` would.
            let rounded = quotient + u128::from(is_up(rest.cmp(&(bottom - rest)), quotient & 1 == 0));
            if let Ok(number) = i128::try_from(rounded) {
                return Self::Small(if is_negative { -number } else { number });
            }
        }
        let (top, bottom) = (self.big(), divisor.big());
        let (top, bottom) = (top.magnitude(), bottom.magnitude());
        let (quotient, rest) = (top / bottom, top % bottom);
        let up = is_up((rest * 2_u32).cmp(bottom), !quotient.bit(0));
        let sign = if is_negative { Sign::Minus } else { Sign::Plus };
        Self::Big(BigInt::from_biguint(sign, quotient + u32::from(up)))
    }

    /// A tenth, if it is an integer.
    pub(super) fn tenth(&self) -> Option<Self> {
        match self {
            Self::Small(number) => (number % 10 == 0).then(|| Self::Small(number / 10)),
            Self::Big(number) => {
                let ten = BigInt::from(10);
                ((number % &ten).sign() == Sign::NoSign).then(|| Self::Big(number / &ten))
            }
        }
    }

    /// Its digits without a sign; of 0, one.
    pub(super) fn digits(&self) -> String {
        match self {
            Self::Small(number) => number.unsigned_abs().to_string(),
            Self::Big(number) => number.magnitude().to_string(),
        }
    }

    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a.cmp(b),
            _ => self.big().cmp(&other.big()),
        }
    }
}

/// Whether what is left of a division rounds away from 0.
fn is_up(half: Ordering, is_even: bool) -> bool {
    match half {
        Ordering::Greater => true,
        Ordering::Equal => !is_even,
        Ordering::Less => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = i128> {
        prop_oneof![any::<i128>(), any::<i64>().prop_map(i128::from), -100_i128..100, Just(i128::MIN)]
    }

    /// Both forms of one number.
    fn forms(number: i128) -> [Mantissa; 2] {
        [Mantissa::Small(number), Mantissa::Big(number.into())]
    }

    proptest! {
        #[test]
        fn small_and_big_integers_give_the_same(a in numbers(), b in numbers(), power in 0_u32..40) {
            let [small_a, big_a] = forms(a);
            let [small_b, big_b] = forms(b);
            let pairs = [
                (small_a.plus(&small_b), big_a.plus(&big_b)),
                (small_a.minus(&small_b), big_a.minus(&big_b)),
                (small_a.times(&small_b), big_a.times(&big_b)),
                (small_a.raised(power), big_a.raised(power)),
                (small_a.abs(), big_a.abs()),
            ];
            for (small, big) in pairs {
                prop_assert_eq!(small.big(), big.big());
                prop_assert_eq!(small.digits(), big.digits());
                prop_assert_eq!(small.sign(), big.sign());
            }
            if b != 0 {
                prop_assert_eq!(small_a.ratio_half_even(&small_b).big(), big_a.ratio_half_even(&big_b).big());
            }
            prop_assert_eq!(small_a.cmp(&small_b), big_a.cmp(&big_b));
            prop_assert_eq!(small_a.tenth().map(|it| it.big()), big_a.tenth().map(|it| it.big()));
        }

        #[test]
        fn digits_read_back(whole in "[1-9][0-9]{0,50}", fraction in "[0-9]{0,50}", is_negative: bool) {
            let digits = format!("{whole}{fraction}");
            let read = Mantissa::of_digits(is_negative, &whole, &fraction);
            prop_assert_eq!(read.digits(), digits);
            prop_assert_eq!(read.sign() == Ordering::Less, is_negative);
        }
    }
}

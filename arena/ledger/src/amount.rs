use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An amount of atomic units: 0 to 2^63 − 1. On the wire it is a decimal string, since JSON numbers
/// lose integers above 2^53.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u64);

/// One in basis points.
const WHOLE_BPS: u128 = 10_000;

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount there is.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// `units`, unless that is more than [`Amount::MAX`].
    pub const fn new(units: u64) -> Option<Self> {
        if units <= Self::MAX.0 { Some(Self(units)) } else { None }
    }

    /// The number of atomic units.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The amount as a signed number, which it always fits.
    pub const fn signed(self) -> i64 {
        self.0.cast_signed()
    }

    /// Whether it is nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, unless it is too large.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).and_then(Self::new)
    }

    /// The difference, unless it would be negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The difference, or nothing where it would be negative.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `times` as much, unless it is too large.
    pub fn checked_mul(self, times: u64) -> Option<Self> {
        self.0.checked_mul(times).and_then(Self::new)
    }

    /// `bps` ten-thousandths of it, rounded down. A fraction is at most the whole.
    #[must_use]
    pub fn fraction_floor(self, bps: u32) -> Self {
        let bps = u128::from(bps).min(WHOLE_BPS);
        let part = u128::from(self.0).saturating_mul(bps) / WHOLE_BPS;
        Self(u64::try_from(part).unwrap_or(self.0))
    }

    /// The sum of them, unless it is too large.
    pub fn checked_sum(amounts: impl IntoIterator<Item = Self>) -> Option<Self> {
        amounts.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Why a text is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseAmountError {
    /// Something other than digits, or a needless zero in front.
    #[error("an amount is decimal digits without sign, point or leading zeros")]
    NotDecimal,
    /// Above the largest amount.
    #[error("the largest amount is 9223372036854775807")]
    TooLarge,
}

impl FromStr for Amount {
    type Err = ParseAmountError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.as_bytes();
        let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        if !plain || (digits.len() > 1 && digits[0] == b'0') {
            return Err(ParseAmountError::NotDecimal);
        }
        text.parse().ok().and_then(Self::new).ok_or(ParseAmountError::TooLarge)
    }
}

impl Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_other_spellings_are_refused() {
        for text in ["0", "1", "4000", "9223372036854775807"] {
            assert_eq!(text.parse::<Amount>().expect("an amount").to_string(), text);
        }
        for wrong in ["", "-1", "+1", "01", "1.0", "1e3", " 1", "0x1", "٣"] {
            assert_eq!(wrong.parse::<Amount>(), Err(ParseAmountError::NotDecimal), "{wrong:?}");
        }
        for large in ["9223372036854775808", "18446744073709551615", "99999999999999999999999"] {
            assert_eq!(large.parse::<Amount>(), Err(ParseAmountError::TooLarge), "{large}");
        }
    }

    #[test]
    fn on_the_wire_it_is_a_string_and_never_a_number() {
        let json = serde_json::to_string(&Amount::MAX).expect("written");
        assert_eq!(json, "\"9223372036854775807\"");
        assert_eq!(serde_json::from_str::<Amount>(&json).expect("read"), Amount::MAX);
        assert!(serde_json::from_str::<Amount>("4000").is_err());
    }

    #[test]
    fn arithmetic_stops_at_both_ends() {
        let one = Amount::new(1).expect("small");
        assert_eq!(Amount::MAX.checked_add(one), None);
        assert_eq!(Amount::ZERO.checked_sub(one), None);
        assert_eq!(Amount::MAX.checked_mul(2), None);
        assert_eq!(Amount::ZERO.less(one), Amount::ZERO);
        assert_eq!(Amount::new(u64::MAX), None);
        assert_eq!(Amount::MAX.fraction_floor(10_000), Amount::MAX);
        assert_eq!(Amount::new(3).expect("small").fraction_floor(5_000), one);
    }
}

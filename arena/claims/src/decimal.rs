//! Exact decimals: what a tolerance is compared in. No binary fraction is anywhere near them.

mod mantissa;

use std::cmp::Ordering;
use std::fmt;

use mantissa::Mantissa;

/// Most bytes of a decimal's text.
pub const DECIMAL_BYTES_MAX: usize = 400;
/// Largest exponent, in both directions.
pub const EXPONENT_MAX: i32 = 400;

/// `mantissa / 10^scale`, exactly.
#[derive(Debug, Clone)]
pub struct Decimal {
    mantissa: Mantissa,
    scale: u32,
}

/// Why a text is no decimal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseDecimalError {
    /// More text than any measurement needs.
    #[error("a decimal has at most {DECIMAL_BYTES_MAX} bytes, this has {0}")]
    TooLong(usize),
    /// Not `-12.50` or `1.5e-9`.
    #[error("a decimal is digits with an optional sign, point and exponent, without needless zeros in front")]
    Form,
    /// An exponent out of bounds.
    #[error("an exponent is from -{EXPONENT_MAX} to {EXPONENT_MAX}")]
    Exponent,
}

impl Decimal {
    /// Reads `-12.50`, and `1.5e-9` where a tolerance is written so.
    pub fn parse(text: &str) -> Result<Self, ParseDecimalError> {
        if text.len() > DECIMAL_BYTES_MAX {
            return Err(ParseDecimalError::TooLong(text.len()));
        }
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let unsigned = number.strip_prefix('-').unwrap_or(number);
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((_, "")) => return Err(ParseDecimalError::Form),
            Some(parts) => parts,
            None => (unsigned, ""),
        };
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let needless = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || needless || !digits(whole) || !digits(fraction) {
            return Err(ParseDecimalError::Form);
        }
        let mantissa = Mantissa::of_digits(unsigned.len() < number.len(), whole, fraction);
        // Both are at most a few hundred.
        let scale = i32::try_from(fraction.len()).unwrap_or(EXPONENT_MAX).saturating_sub(exponent);
        Ok(match u32::try_from(scale) {
            Ok(scale) => Self { mantissa, scale },
            Err(_) => Self { mantissa: mantissa.raised(scale.unsigned_abs()), scale: 0 },
        })
    }

    /// An integer.
    pub fn integer(number: i128) -> Self {
        Self { mantissa: Mantissa::Small(number), scale: 0 }
    }

    /// Millionths.
    pub fn ppm(number: i128) -> Self {
        Self { mantissa: Mantissa::Small(number), scale: 6 }
    }

    /// Digits behind the point, as written.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa.sign() == Ordering::Equal
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.mantissa.sign() == Ordering::Less
    }

    /// Its distance from zero.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self { mantissa: self.mantissa.abs(), scale: self.scale }
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (a, b, scale) = self.aligned(other);
        Self { mantissa: a.plus(&b), scale }
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let (a, b, scale) = self.aligned(other);
        Self { mantissa: a.minus(&b), scale }
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mantissa = self.mantissa.times(&other.mantissa);
        Self { mantissa, scale: self.scale.saturating_add(other.scale) }
    }

    /// `self / divisor` to `places` digits behind the point, half to even; nothing for a divisor of 0.
    pub fn ratio_half_even(&self, divisor: &Self, places: u32) -> Option<Self> {
        if divisor.is_zero() {
            return None;
        }
        let (top, bottom, _) = self.aligned(divisor);
        Some(Self { mantissa: top.raised(places).ratio_half_even(&bottom), scale: places })
    }

    /// Without zeros at the end of the fraction: `0.500` is `0.5`.
    #[must_use]
    pub fn shortened(&self) -> Self {
        let mut short = self.clone();
        while short.scale > 0 {
            let Some(mantissa) = short.mantissa.tenth() else { break };
            short = Self { mantissa, scale: short.scale.saturating_sub(1) };
        }
        short
    }

    fn aligned(&self, other: &Self) -> (Mantissa, Mantissa, u32) {
        let scale = self.scale.max(other.scale);
        let raised = |of: &Self| of.mantissa.raised(scale.saturating_sub(of.scale));
        (raised(self), raised(other), scale)
    }
}

fn parse_exponent(text: &str) -> Result<i32, ParseDecimalError> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.is_empty() || unsigned.len() > 4 || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseDecimalError::Exponent);
    }
    let exponent = text.parse::<i32>().map_err(|_| ParseDecimalError::Exponent)?;
    if exponent.abs() > EXPONENT_MAX { Err(ParseDecimalError::Exponent) } else { Ok(exponent) }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.digits();
        let scale = self.scale as usize;
        if self.is_negative() {
            f.write_str("-")?;
        }
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(scale));
        f.write_str(if whole.is_empty() { "0" } else { whole })?;
        if scale > 0 {
            f.write_str(".")?;
            for _ in fraction.len()..scale {
                f.write_str("0")?;
            }
        }
        f.write_str(fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text).expect("a decimal")
    }

    #[test]
    fn text_round_trips_and_other_spellings_are_refused() {
        for text in ["0", "-1", "0.50", "1532.2500", "-0.001", "12345678901234567890.5"] {
            assert_eq!(d(text).to_string(), text);
        }
        for (text, plain) in [("1e3", "1000"), ("1.5e-3", "0.0015"), ("2E+1", "20"), ("-0", "0")] {
            assert_eq!(d(text).to_string(), plain);
        }
        for wrong in
            ["", "-", ".5", "1.", "01", "+1", "1.2.3", " 1", "1e", "1e5000", "NaN", "0x1", "1_0", "--1"]
        {
            assert!(Decimal::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(Decimal::parse(&"9".repeat(DECIMAL_BYTES_MAX + 1)).is_err());
        assert!(Decimal::parse("1e401").is_err());
        assert!(Decimal::parse("1e99999999999999999999").is_err());
    }

    #[test]
    fn comparison_is_by_value() {
        assert_eq!(d("1.0"), d("1"));
        assert!(d("-1") < d("0.001"));
        assert_eq!(d("0.878").minus(&d("0.873")).abs(), d("0.005"));
        assert_eq!(d("1.2500").shortened().to_string(), "1.25");
        assert_eq!(d("0.000").shortened().to_string(), "0");
    }

    #[test]
    fn ratios_round_half_to_even() {
        for (a, b, places, want) in [
            ("1", "8", 2, "0.12"),
            ("3", "8", 2, "0.38"),
            ("1", "3", 12, "0.333333333333"),
            ("-1", "8", 2, "-0.12"),
            ("1.2500", "1532.2500", 12, "0.000815793767"),
            ("1", "0.5", 0, "2"),
        ] {
            assert_eq!(
                d(a).ratio_half_even(&d(b), places).expect("not by zero").to_string(),
                want,
                "{a}/{b}"
            );
        }
        assert!(d("1").ratio_half_even(&d("0.00"), 3).is_none());
    }
}

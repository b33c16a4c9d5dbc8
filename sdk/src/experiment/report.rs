//! What an experiment reports, with numbers written the same everywhere.

use super::bindings::arena::experiment::types::{Metric, Value};

/// Most digits behind the point of a [`Report::decimal`].
pub const SCALE_MAX: u32 = 18;

/// The metrics of a run, in order. A name stands once: 1 to 64 of a-z, 0-9, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    metrics: Vec<Metric>,
}

impl Report {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An integer.
    #[must_use]
    pub fn int(self, name: &str, number: i64) -> Self {
        self.with(name, Value::Int(number))
    }

    /// The fraction `numerator / denominator` with `scale` digits behind the point, rounded half to even.
    /// Nothing but integers is calculated with, so it is exact to the last digit.
    ///
    /// ```
    /// use arena_sdk::experiment::Report;
    ///
    /// let report = Report::new().decimal("third", 1, 3, 4).decimal("half", -5, 2, 0);
    /// assert_eq!(report.text("third").as_deref(), Some("0.3333"));
    /// assert_eq!(report.text("half").as_deref(), Some("-2"));
    /// ```
    ///
    /// # Panics
    /// If the denominator is not above 0, the scale is above [`SCALE_MAX`], or the number leaves the range
    /// of an `i128`.
    #[must_use]
    pub fn decimal(self, name: &str, numerator: i128, denominator: i128, scale: u32) -> Self {
        let text = rounded(numerator, denominator, scale);
        self.with(name, Value::Decimal(text))
    }

    /// A number that is written already, like `-12.3450`.
    #[must_use]
    pub fn decimal_text(self, name: &str, text: impl Into<String>) -> Self {
        self.with(name, Value::Decimal(text.into()))
    }

    /// Yes or no.
    #[must_use]
    pub fn bool(self, name: &str, yes: bool) -> Self {
        self.with(name, Value::Boolean(yes))
    }

    /// A text of at most 4 096 bytes.
    #[must_use]
    pub fn text_of(self, name: &str, text: impl Into<String>) -> Self {
        self.with(name, Value::Text(text.into()))
    }

    /// A binary64, compared by its bits.
    #[must_use]
    pub fn f64(self, name: &str, number: f64) -> Self {
        self.with(name, Value::Float(number))
    }

    /// The SHA-256 of an output of this run.
    #[must_use]
    pub fn hash(self, name: &str, output: &str) -> Self {
        self.with(name, Value::Hash(output.to_owned()))
    }

    /// A metric as a test looks at it: the number or the text as it is written; of a hash, the name of the
    /// output.
    pub fn text(&self, name: &str) -> Option<String> {
        let metric = self.metrics.iter().find(|metric| metric.name == name)?;
        Some(match &metric.value {
            Value::Hash(text) | Value::Decimal(text) | Value::Text(text) => text.clone(),
            Value::Int(number) => number.to_string(),
            Value::Boolean(yes) => yes.to_string(),
            Value::Float(number) => format!("{:016x}", number.to_bits()),
        })
    }

    pub(super) fn into_metrics(self) -> Vec<Metric> {
        self.metrics
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.metrics.push(Metric { name: name.to_owned(), value });
        self
    }
}

fn rounded(numerator: i128, denominator: i128, scale: u32) -> String {
    assert!(denominator > 0, "a denominator is above 0, not {denominator}");
    assert!(scale <= SCALE_MAX, "a scale is at most {SCALE_MAX}, not {scale}");
    let unit = 10_i128.pow(scale);
    let scaled = numerator.checked_mul(unit).expect("a number that an i128 can hold");
    let (floor, rest) = (scaled.div_euclid(denominator), scaled.rem_euclid(denominator));
    let to_next = denominator - rest;
    let up = rest > to_next || rest == to_next && floor % 2 != 0;
    let whole = floor + i128::from(up);
    let sign = if whole < 0 { "-" } else { "" };
    let (before, behind) =
        (whole.unsigned_abs() / unit.unsigned_abs(), whole.unsigned_abs() % unit.unsigned_abs());
    match scale as usize {
        0 => format!("{sign}{before}"),
        width => format!("{sign}{before}.{behind:0width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn fractions_are_rounded_half_to_even() {
        for (numerator, denominator, scale, text) in [
            (1, 3, 4, "0.3333"),
            (2, 3, 4, "0.6667"),
            (1, 2, 0, "0"),
            (3, 2, 0, "2"),
            (5, 2, 0, "2"),
            (-1, 2, 0, "0"),
            (-3, 2, 0, "-2"),
            (-1, 400, 2, "0.00"),
            (-3, 400, 2, "-0.01"),
            (125, 1_000, 2, "0.12"),
            (135, 1_000, 2, "0.14"),
            (-13_545, 100, 1, "-135.4"),
            (0, 7, 3, "0.000"),
            (i128::from(i64::MAX), 1, 18, "9223372036854775807.000000000000000000"),
        ] {
            assert_eq!(rounded(numerator, denominator, scale), text, "{numerator}/{denominator}");
        }
    }
}

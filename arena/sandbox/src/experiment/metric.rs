//! What an experiment reports, read from what its guest handed over.

use std::collections::BTreeSet;

use arena_canon::Digest;

use super::{ExperimentEnding, METRICS_MAX, Output};
use crate::world::experiment::types;

const NAME_BYTES_MAX: usize = 64;
const DECIMAL_BYTES_MAX: usize = 128;
const TEXT_BYTES_MAX: usize = 4_096;

/// One metric of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Measured,
}

/// A measured value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measured {
    /// SHA-256 of an output of the run.
    Hash(Digest),
    /// An integer.
    Int(i64),
    /// A number as it is written.
    Decimal(String),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(String),
    /// The bits of a binary64; every NaN is the same one.
    F64(u64),
}

impl Measured {
    /// The kind's word in claims.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hash(_) => "hash",
            Self::Int(_) => "int",
            Self::Decimal(_) => "decimal",
            Self::Bool(_) => "bool",
            Self::Text(_) => "text",
            Self::F64(_) => "f64",
        }
    }

    /// The value as records write it.
    pub fn text(&self) -> String {
        match self {
            Self::Hash(digest) => digest.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Decimal(text) | Self::Text(text) => text.clone(),
            Self::Bool(yes) => yes.to_string(),
            Self::F64(bits) => format!("{bits:016x}"),
        }
    }
}

/// The ending that a report comes to.
pub(super) fn read(metrics: Vec<types::Metric>, outputs: &[Output]) -> ExperimentEnding {
    if metrics.len() > METRICS_MAX {
        return ExperimentEnding::OverLimit { what: "metrics", limit: METRICS_MAX as u64 };
    }
    let mut names = BTreeSet::new();
    let mut all = Vec::with_capacity(metrics.len());
    for types::Metric { name, value } in metrics {
        let value = match measured(&name, value, outputs) {
            Ok(_) if !names.insert(name.clone()) => Err("stands twice".to_owned()),
            value => value,
        };
        match value {
            Ok(value) => all.push(Metric { name, value }),
            Err(why) => {
                let name = arena_engine::Excerpt { text: &name, max: NAME_BYTES_MAX }.to_string();
                return ExperimentEnding::BadMetric { name, why };
            }
        }
    }
    ExperimentEnding::Measured(all)
}

fn measured(name: &str, value: types::Value, outputs: &[Output]) -> Result<Measured, String> {
    if !is_name(name) {
        return Err(format!("is no name: 1 to {NAME_BYTES_MAX} of a-z, 0-9, `_` and `.`"));
    }
    Ok(match value {
        types::Value::Hash(output) => {
            let output = outputs.iter().find(|found| found.name == output);
            Measured::Hash(output.ok_or("is of an output that was not written")?.sha256)
        }
        types::Value::Int(number) => Measured::Int(number),
        types::Value::Decimal(text) if is_decimal(&text) => Measured::Decimal(text),
        types::Value::Decimal(_) => {
            return Err(format!("is no decimal of at most {DECIMAL_BYTES_MAX} bytes like -12.3450"));
        }
        types::Value::Boolean(yes) => Measured::Bool(yes),
        types::Value::Text(text) if text.len() <= TEXT_BYTES_MAX => Measured::Text(text),
        types::Value::Text(text) => {
            return Err(format!("is a text of {} bytes; the limit is {TEXT_BYTES_MAX}", text.len()));
        }
        types::Value::Float(number) if number.is_nan() => Measured::F64(f64::NAN.to_bits() & !SIGN),
        types::Value::Float(number) => Measured::F64(number.to_bits()),
    })
}

const SIGN: u64 = 1 << 63;

fn is_name(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(fine)
}

/// `-12.3450`: an optional sign, digits, and digits behind a point; or a token that is no number.
fn is_decimal(text: &str) -> bool {
    if ["NaN", "Inf", "-Inf"].contains(&text) {
        return true;
    }
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let plain = match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(unsigned),
    };
    plain && text.len() <= DECIMAL_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_plainly() {
        for fine in ["0", "-0.5", "12.3450", "007", "NaN", "Inf", "-Inf", &"9".repeat(128)] {
            assert!(is_decimal(fine), "{fine}");
        }
        for wrong in ["", "-", ".5", "5.", "+1", "1e3", "1,5", " 1", "1 ", "1.2.3", "nan", "-NaN", "١"] {
            assert!(!is_decimal(wrong), "{wrong}");
        }
        assert!(!is_decimal(&"9".repeat(129)));
    }

    #[test]
    fn a_report_is_read_whole_or_not_at_all() {
        let of = |name: &str, value| types::Metric { name: name.to_owned(), value };
        let code = |metrics| read(metrics, &[]).code();
        assert_eq!(
            code(vec![of("a", types::Value::Int(-1)), of("b.c_1", types::Value::Float(0.5))]),
            "measured"
        );
        for wrong in [
            vec![of("a", types::Value::Int(1)), of("a", types::Value::Int(1))],
            vec![of("A", types::Value::Int(1))],
            vec![of("", types::Value::Int(1))],
            vec![of("#fuel", types::Value::Int(1))],
            vec![of("a", types::Value::Decimal("1e5".into()))],
            vec![of("a", types::Value::Text("x".repeat(4_097)))],
            vec![of("a", types::Value::Hash("missing".into()))],
        ] {
            assert_eq!(code(wrong), "bad_metric");
        }
        let many = |n: u32| (0..n).map(|i| of(&format!("m{i}"), types::Value::Boolean(true))).collect();
        assert_eq!((code(many(256)), code(many(257))), ("measured", "over_limit"));
    }

    #[test]
    fn there_is_one_nan() {
        let bits = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001)]
            .map(|number| measured("x", types::Value::Float(number), &[]));
        assert!(bits.iter().all(|found| *found == Ok(Measured::F64(0x7ff8_0000_0000_0000))), "{bits:?}");
    }
}

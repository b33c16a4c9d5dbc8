//! Values as a record reports them.

use arena_canon::Digest;
use arena_canon::json::Value;

use super::metric::Kind;
use crate::decimal::Decimal;

/// Most bytes of a text metric.
const TEXT_BYTES_MAX: usize = 4_096;

/// A value of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measured {
    /// SHA-256 of an output file.
    Hash(Digest),
    /// An integer or a decimal.
    Number(Decimal),
    /// `NaN`, `Inf` or `-Inf`: equal to the same token and to nothing else.
    NonFinite(&'static str),
    /// Yes or no.
    Bool(bool),
    /// A text, compared byte for byte.
    Text(String),
    /// The bits of a binary64.
    F64(u64),
}

const TOKENS: [&str; 3] = ["NaN", "Inf", "-Inf"];

impl Measured {
    /// Reads what a record gives for a metric of `kind`; says what it should have been otherwise.
    pub fn read(kind: Kind, value: &Value) -> Result<Self, String> {
        let wrong = |what: String| move || what;
        match kind {
            Kind::Hash => value
                .as_str()
                .and_then(|text| text.parse().ok())
                .map(Self::Hash)
                .ok_or_else(wrong("64 lower-case hexadecimal digits".into())),
            Kind::Int => integer(value).map(Self::Number).ok_or_else(wrong("an integer in a string".into())),
            Kind::Decimal { scale } => {
                let what = format!("a decimal string with {scale} digits behind the point");
                decimal(value, scale).ok_or_else(wrong(what))
            }
            Kind::Bool => match value {
                Value::Bool(yes) => Ok(Self::Bool(*yes)),
                Value::String(text) if text == "true" => Ok(Self::Bool(true)),
                Value::String(text) if text == "false" => Ok(Self::Bool(false)),
                _ => Err("true or false".into()),
            },
            Kind::Text => value
                .as_str()
                .filter(|text| text.len() <= TEXT_BYTES_MAX)
                .map(|text| Self::Text(text.to_owned()))
                .ok_or_else(wrong(format!("a text of at most {TEXT_BYTES_MAX} bytes"))),
            Kind::F64 => value
                .as_str()
                .and_then(bits)
                .map(Self::F64)
                .ok_or_else(wrong("the bits of a binary64 as 16 lower-case hexadecimal digits".into())),
        }
    }

    /// Whether it is a NaN or an infinity.
    pub fn is_nonfinite(&self) -> bool {
        match self {
            Self::NonFinite(_) => true,
            Self::F64(bits) => !f64::from_bits(*bits).is_finite(),
            Self::Hash(_) | Self::Number(_) | Self::Bool(_) | Self::Text(_) => false,
        }
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hash(digest) => write!(f, "{digest}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::NonFinite(token) => f.write_str(token),
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Text(text) => f.write_str(text),
            Self::F64(bits) => write!(f, "{bits:016x}"),
        }
    }
}

fn integer(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => {
            let number = i128::from(number.as_i64()?);
            (number.unsigned_abs() <= 1 << 53).then(|| Decimal::integer(number))
        }
        Value::String(text) => {
            let plain = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
            Decimal::parse(text).ok().filter(|_| plain)
        }
        _ => None,
    }
}

fn decimal(value: &Value, scale: u32) -> Option<Measured> {
    let text = value.as_str()?;
    if let Some(token) = TOKENS.into_iter().find(|token| *token == text) {
        return Some(Measured::NonFinite(token));
    }
    let plain = !text.contains(['e', 'E']);
    Decimal::parse(text).ok().filter(|number| plain && number.scale() == scale).map(Measured::Number)
}

fn bits(text: &str) -> Option<u64> {
    let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let plain = text.len() == 16 && text.bytes().all(digits);
    plain.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// Units in the last place between two finite binary64, both signs of zero being one number; nothing
/// across the signs, where no count of them means anything.
pub(crate) fn ulps_between(a: u64, b: u64) -> Option<u64> {
    const SIGN: u64 = 1 << 63;
    let (low, high) = (a & !SIGN, b & !SIGN);
    let same_sign = a & SIGN == b & SIGN;
    (same_sign || low == high && low == 0).then(|| low.abs_diff(high))
}

/// One metric of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Its name.
    pub name: String,
    /// Its kind's word, as the record says it.
    pub kind: String,
    /// Its value, not yet read.
    pub value: Value,
}

/// Where two files differ first; nothing if they are equal. The shorter one ends there.
pub fn first_differing_byte(a: &[u8], b: &[u8]) -> Option<u64> {
    let both = a.iter().zip(b).position(|(a, b)| a != b);
    let place = both.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())))?;
    u64::try_from(place).ok()
}

//! What a single value of a document may be. Each reader says what is wrong in words that follow the place.

use std::ops::RangeInclusive;

use arena_canon::Digest;
use arena_canon::json::Value;
use jiff::Timestamp;

use crate::hex;

pub(super) type Read<T> = Result<T, String>;

/// Names what stands there.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A text of the document, cut, with what could move a cursor escaped.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}

fn wanted<T>(what: impl std::fmt::Display, found: &Value) -> Read<T> {
    Err(format!("expected {what}, found {}", describe(found)))
}

pub(super) fn text(value: &Value, bytes: RangeInclusive<usize>) -> Read<String> {
    match value.as_str() {
        Some(text) if bytes.contains(&text.len()) => Ok(text.to_owned()),
        Some(text) => Err(format!("{} bytes; it has {} to {}", text.len(), bytes.start(), bytes.end())),
        None => wanted("a string", value),
    }
}

pub(super) fn digest(value: &Value) -> Read<Digest> {
    let digest = value.as_str().and_then(|text| text.parse().ok());
    digest.map_or_else(|| wanted("64 lower-case hexadecimal digits", value), Ok)
}

pub(super) fn bytes(value: &Value, count: RangeInclusive<usize>) -> Read<Vec<u8>> {
    // The length comes first: nobody decodes megabytes to learn that 48 were wanted.
    let digits = |bytes: usize| bytes.saturating_mul(2);
    let fits = |text: &&str| (digits(*count.start())..=digits(*count.end())).contains(&text.len());
    let read = value.as_str().filter(fits).and_then(hex::decode);
    let (low, high) = (digits(*count.start()), digits(*count.end()));
    let what = if high == 0 {
        "an empty string".to_owned()
    } else if low == high {
        format!("{low} lower-case hexadecimal digits")
    } else {
        format!("{low} to {high} lower-case hexadecimal digits, an even number of them")
    };
    read.map_or_else(|| wanted(what, value), Ok)
}

/// A number in decimal digits, as numbers are written that may exceed 2^53.
pub(super) fn decimal(value: &Value) -> Read<u64> {
    let canonical = |text: &&str| {
        text.bytes().all(|byte| byte.is_ascii_digit()) && (*text == "0" || !text.starts_with('0'))
    };
    let read = value.as_str().filter(canonical).and_then(|text| text.parse().ok());
    read.map_or_else(|| wanted(format!("a string of decimal digits up to \"{}\"", u64::MAX), value), Ok)
}

/// A JSON number.
pub(super) fn number(value: &Value, range: RangeInclusive<u32>) -> Read<u32> {
    let read = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|n| range.contains(n));
    let what = format!("an integer from {} to {}", range.start(), range.end());
    read.map_or_else(|| wanted(what, value), Ok)
}

/// A word of a fixed list.
pub(super) fn word<T: std::str::FromStr<Err: std::fmt::Display>>(value: &Value) -> Read<T> {
    let Some(text) = value.as_str() else { return wanted("a string", value) };
    text.parse().map_err(|why| format!("{why}; found {}", quoted(text)))
}

/// A time in whole seconds, in UTC: `2026-11-30T17:08:00Z`. There is one spelling of each.
pub(super) fn time(value: &Value) -> Read<u64> {
    let read = value.as_str().filter(|text| text.len() == 20).and_then(|text| {
        let time: Timestamp = text.parse().ok()?;
        let seconds = u64::try_from(time.as_second()).ok()?;
        (time_text(seconds).as_deref() == Some(text)).then_some(seconds)
    });
    read.map_or_else(|| wanted("a time like \"2026-11-30T17:08:00Z\", from 1970 on", value), Ok)
}

/// That spelling; nothing beyond the year 9999.
pub(super) fn time_text(seconds: u64) -> Option<String> {
    let time = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(time.to_string())
}

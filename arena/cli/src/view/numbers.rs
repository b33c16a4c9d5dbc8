//! Numbers as people read them: thousands apart, no more decimals than help, no minus zero.

/// `-12 345.60`
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", in_threes(whole))
}

/// `20 000 000`
pub(crate) fn count(value: u64) -> String {
    in_threes(&value.to_string())
}

/// Money or a metric that may have no value.
pub(crate) fn optional(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "none".to_owned(), |value| grouped(value, decimals))
}

/// Two decimals, unless the largest of `values` makes them noise.
pub(crate) fn decimals(values: impl IntoIterator<Item = f64>) -> usize {
    let largest = values.into_iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    match largest {
        small if small < 100.0 => 2,
        middle if middle < 1_000.0 => 1,
        _ => 0,
    }
}

/// `1 turn`, `24 turns`
pub(crate) fn counted(value: u64, one: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(value))
}

fn in_threes(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart_and_zero_has_no_sign() {
        for (value, decimals, text) in [
            (0.0, 0, "0"),
            (-0.3, 0, "0"),
            (-0.001, 2, "0.00"),
            (999.0, 0, "999"),
            (1_000.0, 0, "1 000"),
            (-12_345.6, 2, "-12 345.60"),
            (1e15, 0, "1 000 000 000 000 000"),
        ] {
            assert_eq!(grouped(value, decimals), text);
        }
        assert_eq!(count(20_000_000), "20 000 000");
    }
}

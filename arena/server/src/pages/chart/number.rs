//! Numbers as text, the same on every machine.

/// Between groups of three digits: a narrow space that does not break.
const SPACE: char = '\u{202f}';

/// `value` with so many decimals (at most nine), in groups of three; a dash for what is no number. A zero
/// has no sign.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{value:.*}", decimals.min(9));
    let zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if zero => ("", digits),
        Some(digits) => ("−", digits),
        None => ("", &*text),
    };
    let (whole, rest) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let grouped = group(whole);
    rest.map_or_else(|| format!("{sign}{grouped}"), |rest| format!("{sign}{grouped}.{rest}"))
}

/// A decimal integer of any length in groups of three; `None` if it is none.
pub(crate) fn grouped_integer(text: &str) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("−", digits));
    let decimal =
        !digits.is_empty() && digits.len() <= 80 && digits.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| format!("{sign}{}", group(digits)))
}

fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.char_indices() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(SPACE);
        }
        out.push(digit);
    }
    out
}

/// A coordinate: at most two decimals and no more of them than needed.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{coordinate, decimal, grouped_integer};

    #[test]
    fn numbers_are_grouped_and_have_no_negative_zero() {
        for (value, decimals, text) in [
            (1_234_567.891, 1, "1\u{202f}234\u{202f}567.9"),
            (-0.04, 1, "0.0"),
            (-0.05, 2, "−0.05"),
            (999.0, 0, "999"),
            (f64::NAN, 2, "–"),
            (f64::NEG_INFINITY, 2, "–"),
        ] {
            assert_eq!(decimal(value, decimals), text);
        }
    }

    #[test]
    fn integers_are_never_guessed() {
        assert_eq!(grouped_integer("1000").as_deref(), Some("1\u{202f}000"));
        for wrong in ["", "-", "+1", "1.5", "1e3", "--1", "١"] {
            assert_eq!(grouped_integer(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([coordinate(1.5), coordinate(-0.001), coordinate(10.0)], ["1.5", "0", "10"]);
    }
}

//! Figures of claims as people read them: a binary64 as the number it is, integers in groups.

use arena_canon::json::Value;

use super::{plain, text};
use crate::pages::chart::number;
use crate::pages::{Markup, guest, html};

/// Most characters of a value; a digest has fewer.
const VALUE_CHARS_MAX: usize = 100;

/// A value of a metric of `kind`. A claim gives a binary64 as its bits: it is shown as the shortest decimal that is this
/// very number, and the bits are in the title.
pub(super) fn measured(kind: &str, value: &Value) -> Markup {
    match value.as_str().filter(|_| kind == "f64").and_then(number_of) {
        Some(number) => {
            let bits = value.as_str().unwrap_or_default();
            html! { data.quantity value=(bits) title=(format!("bits {bits}")) { (number) } }
        }
        None => guest(&plain(value), VALUE_CHARS_MAX),
    }
}

/// The shortest decimal of a binary64 in 16 hexadecimal digits.
fn number_of(bits: &str) -> Option<String> {
    let is_bits = bits.len() == 16 && bits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bits = u64::from_str_radix(bits, 16).ok().filter(|_| is_bits)?;
    Some(format!("{:?}", f64::from_bits(bits)).replacen('-', "−", usize::from(bits >> 63 == 1)))
}

/// An integer in groups of three; what is none is shown as it came.
pub(super) fn grouped(value: &Value) -> Markup {
    let plain = plain(value);
    match number::grouped_integer(&plain) {
        Some(grouped) => html! { span.quantity { (grouped) } },
        None => guest(&plain, VALUE_CHARS_MAX),
    }
}

/// What kind the manifest of a claim gives a metric.
pub(super) fn kind_of<'a>(metrics: &'a [Value], name: &str) -> &'a str {
    metrics.iter().find(|metric| text(metric, "name") == name).map_or("", |metric| text(metric, "kind"))
}

/// On what a run works, in words that go on a sentence.
pub(super) fn inputs(count: usize) -> String {
    match count {
        0 => ", without any input".to_owned(),
        1 => ", on the one pinned input".to_owned(),
        _ => format!(", on the {count} pinned inputs"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{grouped, inputs, measured, number_of};

    #[test]
    fn a_binary64_is_the_shortest_decimal_that_is_the_same_number() {
        for (value, told) in [
            (1.0 / 3.0, "0.3333333333333333"),
            (0.1 + 0.2, "0.30000000000000004"),
            (48.0, "48.0"),
            (-2.5, "−2.5"),
            (-0.0, "−0.0"),
            (1e300, "1e300"),
            (-1e-9, "−1e-9"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "−inf"),
            (f64::NAN, "NaN"),
        ] {
            let bits = format!("{:016x}", f64::to_bits(value));
            assert_eq!(number_of(&bits).as_deref(), Some(told));
            let back = told.replace('−', "-").parse::<f64>().unwrap();
            assert!(back.to_bits() == value.to_bits() || value.is_nan(), "{told}");
        }
        for wrong in ["", "+fd5595b6ae495e6", "3fd5595b6ae495e", "3fd5595b6ae495e60", "0.5"] {
            assert_eq!(number_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bits_stay_within_reach_and_other_kinds_are_left_alone() {
        let bits = json!("3fd5595b6ae495e6");
        let told = measured("f64", &bits).into_string();
        assert!(
            told.contains(">0.3335789245487305<") && told.contains("title=\"bits 3fd5595b6ae495e6\""),
            "{told}"
        );
        assert_eq!(measured("text", &bits).into_string(), "<bdi>3fd5595b6ae495e6</bdi>");
        assert_eq!(measured("f64", &json!("<b>")).into_string(), "<bdi>&lt;b&gt;</bdi>");
    }

    #[test]
    fn counts_are_words_and_groups() {
        assert_eq!(inputs(0), ", without any input");
        assert_eq!(inputs(1), ", on the one pinned input");
        assert_eq!(inputs(2), ", on the 2 pinned inputs");
        let told = grouped(&json!(100_000_000)).into_string();
        assert!(told.contains("100\u{202f}000\u{202f}000"), "{told}");
        assert_eq!(grouped(&json!("<1>")).into_string(), "<bdi>&lt;1&gt;</bdi>");
    }
}

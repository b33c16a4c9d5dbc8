//! What stands in a line of text or in a cell: names of strangers, times, amounts, digests.

use arena_engine::Excerpt;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};

use crate::pages::chart::number;

/// Most characters of a name.
const NAME_CHARS_MAX: usize = 80;

/// Text of a stranger, at most `max` characters: control characters and those that hide or turn the direction
/// of writing are shown as escapes, and what is cut is counted. It cannot turn the text around it either.
pub(crate) fn guest(text: &str, max: usize) -> Markup {
    html! { bdi { (Excerpt { text, max }.to_string()) } }
}

/// The name of an agent or a company, which is a stranger's text.
pub(crate) fn agent_name(name: &str) -> Markup {
    html! { bdi.agent { (Excerpt { text: name, max: NAME_CHARS_MAX }.to_string()) } }
}

/// The name of an agent as a link. `href` is a path of ours, made with [`path_segment`] where it bears an id.
pub(crate) fn agent_link(href: &str, name: &str) -> Markup {
    link(href, &agent_name(if name.trim().is_empty() { "(no name)" } else { name }))
}

/// A link within this site. A target that is not an absolute path here is left out and the words stay, so no
/// stored text ever becomes a way out or a script.
pub(crate) fn link(href: &str, words: &Markup) -> Markup {
    let ours = href.starts_with('/') && !href.starts_with("//") && !href.contains(['\\', '\n', '\r', '\t']);
    html! { @if ours { a href=(href) { (words) } } @else { (words) } }
}

/// `text` as one segment of a path or one value of a query: everything but `A-Z a-z 0-9 - . _ ~` as `%XX`.
pub(crate) fn path_segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A moment in UTC, then how far it is from `now_ms`: `2026-11-30 17:45:12 UTC (3 h 12 min ago)`. Both are
/// milliseconds since 1970; the element's `datetime` has them all.
pub(crate) fn time_tag(at_ms: i64, now_ms: i64) -> Markup {
    let Ok(at) = Timestamp::from_millisecond(at_ms) else {
        return html! { (at_ms) " ms since 1970" };
    };
    let civil = TimeZone::UTC.to_datetime(at);
    let day = format!("{:04}-{:02}-{:02}", civil.year(), civil.month(), civil.day());
    let clock = format!("{:02}:{:02}:{:02}", civil.hour(), civil.minute(), civil.second());
    let millisecond = at_ms.rem_euclid(1_000);
    html! {
        time datetime=(format!("{day}T{clock}.{millisecond:03}Z")) { (day) " " (clock) " UTC" }
        " " span.relative { "(" (relative(at_ms, now_ms)) ")" }
    }
}

/// In the two largest units that matter: `now`, `in 45 s`, `3 h 12 min ago`, `in 2 d 4 h`.
fn relative(at_ms: i64, now_ms: i64) -> String {
    let seconds = at_ms.abs_diff(now_ms) / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let far = match seconds {
        0 => return "now".to_owned(),
        1..60 => format!("{seconds} s"),
        60..3_600 => two(minutes, "min", seconds % 60, "s"),
        3_600..86_400 => two(hours, "h", minutes % 60, "min"),
        86_400..2_592_000 => two(days, "d", hours % 24, "h"),
        _ => format!("{days} d"),
    };
    if at_ms > now_ms { format!("in {far}") } else { format!("{far} ago") }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// A digest in 64 hexadecimal digits: eight of them, the whole in the title, and the whole again behind them,
/// where one click selects it for copying. Stands in a cell or a list of facts, not within a paragraph.
pub(crate) fn digest(sha256: &str) -> Markup {
    let whole = Excerpt { text: sha256, max: 80 }.to_string();
    html! {
        details.digest {
            summary title=(whole) { code { (short(&whole)) } span.visually-hidden { ", show all digits" } }
            code.whole { (whole) }
        }
    }
}

/// A digest within a sentence: eight digits, the whole in the title.
pub(crate) fn digest_inline(sha256: &str) -> Markup {
    let whole = Excerpt { text: sha256, max: 80 }.to_string();
    html! { code.hash title=(whole) { (short(&whole)) } }
}

fn short(whole: &str) -> String {
    let digits = whole.strip_prefix("sha256:").unwrap_or(whole);
    match digits.char_indices().nth(8) {
        Some((end, _)) => format!("{}…", &digits[..end]),
        None => digits.to_owned(),
    }
}

/// An amount of money: an integer in decimal, of any length, in groups of three, with its unit after it.
/// What is no such integer is shown as it came.
pub(crate) fn money(amount: &str, unit: &str) -> Markup {
    match number::grouped_integer(amount) {
        Some(grouped) => html! { data.money value=(amount) { (grouped) " " small { (unit) } } },
        None => html! { span.money { (guest(amount, 40)) " " small { (unit) } } },
    }
}

/// A measured number with its unit: `quantity(1252.4, 1, "$/MWh")`. What is no number is a dash.
pub(crate) fn quantity(value: f64, decimals: usize, unit: &str) -> Markup {
    html! { span.quantity { (number::decimal(value, decimals)) " " small { (unit) } } }
}

#[cfg(test)]
mod tests {
    use super::{agent_link, agent_name, digest_inline, money, path_segment, relative, time_tag};

    #[test]
    fn a_moment_is_told_in_utc_and_from_now() {
        let now = 1_796_060_712_345;
        assert_eq!(
            time_tag(now, now + 11_520_000).into_string(),
            "<time datetime=\"2026-11-30T17:45:12.345Z\">2026-11-30 17:45:12 UTC</time> \
             <span class=\"relative\">(3 h 12 min ago)</span>"
        );
        assert!(time_tag(-1, 0).into_string().contains("1969-12-31T23:59:59.999Z"));
        assert_eq!(time_tag(i64::MAX, 0).into_string(), "9223372036854775807 ms since 1970");
    }

    #[test]
    fn the_distance_is_in_at_most_two_units() {
        for (ms, words) in [
            (0, "now"),
            (999, "now"),
            (45_000, "in 45 s"),
            (-60_000, "1 min ago"),
            (-61_000, "1 min 1 s ago"),
            (7_200_000, "in 2 h"),
            (187_200_000, "in 2 d 4 h"),
            (-8_640_000_000, "100 d ago"),
        ] {
            assert_eq!(relative(ms, 0), words);
        }
        assert_eq!(relative(i64::MIN, i64::MAX), "213503982334 d ago");
    }

    #[test]
    fn a_name_is_shown_and_never_obeyed() {
        assert_eq!(
            agent_name("</bdi><b>\u{202e}x\u{1b}[2J").into_string(),
            "<bdi class=\"agent\">&lt;/bdi&gt;&lt;b&gt;\\u{202e}x\\u{1b}[2J</bdi>"
        );
        assert!(agent_name(&"n".repeat(500)).into_string().contains("… (420 more characters)"));
    }

    #[test]
    fn a_link_stays_within_this_site() {
        for way_out in
            ["javascript:alert(1)", "//evil.example", "https://evil.example", "", "x", "/\\evil.example"]
        {
            assert!(!agent_link(way_out, "Bees").into_string().contains("href"), "{way_out}");
        }
        assert!(agent_link("/companies/7", " ").into_string().contains(">(no name)<"));
    }

    #[test]
    fn a_segment_cannot_end_its_path() {
        assert_eq!(path_segment("a/b?c#d%ü \"."), "a%2Fb%3Fc%23d%25%C3%BC%20%22.");
    }

    #[test]
    fn money_is_grouped_at_any_length_and_never_rounded() {
        let html = money("-12345678901234567890123", "credits").into_string();
        assert!(
            html.contains("−12\u{202f}345\u{202f}678\u{202f}901\u{202f}234\u{202f}567\u{202f}890\u{202f}123"),
            "{html}"
        );
        assert!(money("1e9", "credits").into_string().contains("<bdi>1e9</bdi>"));
    }

    #[test]
    fn a_short_digest_has_the_whole_in_its_title() {
        let whole = "9f1c3e7a".repeat(8);
        assert_eq!(
            digest_inline(&whole).into_string(),
            format!("<code class=\"hash\" title=\"{whole}\">9f1c3e7a…</code>")
        );
    }
}

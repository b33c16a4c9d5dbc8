//! Results to stdout, talk to stderr, colours only where they are wanted. A closed pipe is not an error.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Duration;

/// How a word stands out on a terminal.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Quiet,
}

/// One line of what the command was asked for.
pub(crate) fn result(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// One line about the work: a label in its column, then the news.
pub(crate) fn note(label: &str, news: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{label:<17} {news}");
}

/// Text for a person, with no label.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The word in colour, for lines that go to stderr.
pub(crate) fn tint(tone: Tone, word: &str) -> String {
    static ON_STDERR: OnceLock<bool> = OnceLock::new();
    let on = *ON_STDERR.get_or_init(|| colours_here(std::io::stderr().is_terminal()));
    paint(on, tone, word)
}

/// The word in colour, for lines that go to stdout.
pub(crate) fn tint_result(tone: Tone, word: &str) -> String {
    static ON_STDOUT: OnceLock<bool> = OnceLock::new();
    let on = *ON_STDOUT.get_or_init(|| colours_here(std::io::stdout().is_terminal()));
    paint(on, tone, word)
}

/// `0.4 s`, `21 s`, `3 min 05 s`.
pub(crate) fn seconds(spent: Duration) -> String {
    let whole = spent.as_secs();
    match whole {
        0..10 => format!("{:.1} s", spent.as_secs_f64()),
        10..120 => format!("{whole} s"),
        _ => format!("{} min {:02} s", whole / 60, whole % 60),
    }
}

fn paint(on: bool, tone: Tone, word: &str) -> String {
    let code = match tone {
        Tone::Good => "32",
        Tone::Bad => "1;31",
        Tone::Quiet => "2",
    };
    if on { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
}

fn colours_here(terminal: bool) -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    colours(set("NO_COLOR").is_some(), set("CARGO_TERM_COLOR").as_deref(), terminal)
}

/// `NO_COLOR` wins, then cargo's own setting, then whether anybody is looking.
fn colours(no_color: bool, cargo_term_color: Option<&str>, terminal: bool) -> bool {
    match (no_color, cargo_term_color) {
        (true, _) | (_, Some("never")) => false,
        (_, Some("always")) => true,
        _ => terminal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_beats_cargos_setting_beats_the_terminal() {
        assert!(!colours(true, Some("always"), true));
        assert!(colours(false, Some("always"), false));
        assert!(!colours(false, Some("never"), true));
        assert!(colours(false, Some("auto"), true));
        assert!(!colours(false, None, false));
    }

    #[test]
    fn durations_read_like_speech() {
        assert_eq!(seconds(Duration::from_millis(420)), "0.4 s");
        assert_eq!(seconds(Duration::from_secs(21)), "21 s");
        assert_eq!(seconds(Duration::from_secs(185)), "3 min 05 s");
    }
}

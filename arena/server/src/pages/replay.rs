//! The bar of a replay: first, back, forward and last are links, each to a page of its own.
//!
//! With the script, arrow keys, Home and End follow them, Space plays, and the button and the speed come
//! into sight.

use maud::{Markup, html};

/// The bar. `turn` is the one of this page, counted from zero, `last` the last one; `path` gives the page
/// of a turn. What is not there, such as a turn before the first, keeps its place without being a link.
pub(crate) fn replay_bar(turn: usize, last: usize, path: impl Fn(usize) -> String) -> Markup {
    let to = |target: Option<usize>| target.filter(|_| last > 0).map(&path);
    html! {
        nav.replay aria-label="Turns" {
            (jump("first", "First", to((turn > 0).then_some(0))))
            (jump("prev", "Back", to(turn.checked_sub(1))))
            span.where { "Turn " (turn) " of " (last) }
            (jump("next", "Forward", to((turn < last).then_some(turn + 1))))
            (jump("last", "Last", to((turn < last).then_some(last))))
            button.quiet type="button" hidden { "Play" }
            select aria-label="Turns a second" hidden {
                @for speed in ["0.5", "1", "2", "4", "8"] {
                    option value=(speed) selected[speed == "1"] { (speed) "×" }
                }
            }
        }
    }
}

fn jump(rel: &str, words: &str, path: Option<String>) -> Markup {
    html! {
        @match path {
            Some(path) => { a.button.quiet href=(path) rel=(rel) { (words) } }
            None => { span.button.none aria-hidden="true" { (words) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::replay_bar;
    use crate::pages::audit::audit_fragment;

    fn links(turn: usize, last: usize) -> Vec<String> {
        let html = replay_bar(turn, last, |turn| format!("/episodes/e/turns/{turn}")).into_string();
        assert_eq!(audit_fragment(&html), [""; 0]);
        let link = |it: &str| {
            Some(
                it.split("rel=\"").next()?.split('"').next()?.to_owned()
                    + " "
                    + it.split("rel=\"").nth(1)?.split('"').next()?,
            )
        };
        html.split("href=\"").skip(1).filter_map(link).collect()
    }

    #[test]
    fn a_bar_leads_to_what_is_there() {
        let at = |turn: usize, rel: &str| format!("/episodes/e/turns/{turn} {rel}");
        assert_eq!(links(0, 23), [at(1, "next"), at(23, "last")]);
        assert_eq!(links(9, 23), [at(0, "first"), at(8, "prev"), at(10, "next"), at(23, "last")]);
        assert_eq!(links(23, 23), [at(0, "first"), at(22, "prev")]);
        assert_eq!(links(0, 0), [""; 0]);
        assert_eq!(links(30, 23), [at(0, "first"), at(29, "prev")]);
    }
}

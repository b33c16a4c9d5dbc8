//! What stands for a meaning: chips, notices, an empty place, the way on. A colour never stands without a
//! shape, and a shape never without words.

use maud::{Markup, html};

use crate::pages::inline::path_segment;

/// What is meant. Red is kept for [`Mark::Order`], yellow for [`Mark::Appeal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Mandatory, rejected, emergency, failed: a filled octagon.
    Order,
    /// Voluntary, penalty, watch, caution: an outlined triangle.
    Appeal,
    /// Accepted, normal, verified: a check.
    Accepted,
    /// Pending, frozen, disputed: an hourglass; a table's cell is hatched as well ([`super::Cell::held`]).
    Pending,
    /// None of these: a state that is neither good nor bad. No shape.
    Plain,
}

impl Mark {
    /// The class that colours it.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Appeal => "appeal",
            Self::Accepted => "accepted",
            Self::Pending => "pending",
            Self::Plain => "plain",
        }
    }

    /// The shape in a box of 16 by 16: its class and its path.
    pub(super) const fn shape(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Order => Some(("mark", "M5 .5h6L15.5 5v6L11 15.5H5L.5 11V5Z")),
            Self::Appeal => Some(("mark outlined", "M8 2 15 14H1Z")),
            Self::Accepted => Some(("mark outlined", "M2 8.5 6 13 14 3")),
            Self::Pending => {
                Some(("mark outlined", "M3 1.5h10M3 14.5h10M4 1.5C4 6 12 10 12 14.5M12 1.5C12 6 4 10 4 14.5"))
            }
            Self::Plain => None,
        }
    }
}

/// The shape alone, hidden from a screen reader: words stand beside it.
pub(crate) fn mark(kind: Mark) -> Markup {
    html! {
        @if let Some((class, path)) = kind.shape() {
            svg class=(class) viewBox="0 0 16 16" aria-hidden="true" focusable="false" { path d=(path) {} }
        }
    }
}

/// A word or two in the colours of what is meant, with the shape before it: `chip(Mark::Order, "ORDER")`.
pub(crate) fn chip(kind: Mark, words: &str) -> Markup {
    html! { span.chip.(kind.class()) { (mark(kind)) (words) } }
}

/// A remark across the page: what it says in short, then the rest. Within `body` no headings.
pub(crate) fn notice(kind: Mark, words: &str, body: Markup) -> Markup {
    html! {
        div.notice.(kind.class()) role="note" {
            (mark(kind))
            div { strong { (words) } (body) }
        }
    }
}

/// Where a list would be: one sentence, and what to do about it as `(label, path)`.
pub(crate) fn empty_state(sentence: &str, action: Option<(&str, &str)>) -> Markup {
    html! {
        div.empty {
            p { (sentence) }
            @if let Some((label, path)) = action { p { a.button.quiet href=(path) { (label) } } }
        }
    }
}

/// The way through a long list. `here` is the path with its query but without a cursor; `cursor` is the one
/// of this page, `next` that of the following one. Nothing at all where everything fits on one page.
pub(crate) fn pager(here: &str, cursor: Option<&str>, next: Option<&str>) -> Markup {
    let joint = if here.contains('?') { '&' } else { '?' };
    html! {
        @if cursor.is_some() || next.is_some() {
            nav.pager aria-label="More of this list" {
                @if cursor.is_some() { a.button.quiet href=(here) rel="first" { "To the beginning" } }
                @if let Some(next) = next {
                    @let path = format!("{here}{joint}cursor={}", path_segment(next));
                    a.button.quiet href=(path) rel="next" { "Next page" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, chip, pager};

    #[test]
    fn a_chip_has_a_shape_and_words() {
        assert_eq!(
            chip(Mark::Appeal, "<APPEAL>").into_string(),
            "<span class=\"chip appeal\"><svg class=\"mark outlined\" viewBox=\"0 0 16 16\" \
             aria-hidden=\"true\" focusable=\"false\">\
             <path d=\"M8 2 15 14H1Z\"></path></svg>&lt;APPEAL&gt;</span>"
        );
    }

    #[test]
    fn a_cursor_is_one_value_of_a_query() {
        let html = pager("/list?status=live", None, Some("a&b=c/d+e")).into_string();
        assert!(html.contains("/list?status=live&amp;cursor=a%26b%3Dc%2Fd%2Be\""), "{html}");
        assert_eq!(pager("/list", None, None).into_string(), "");
        assert!(pager("/list", Some("x"), None).into_string().contains("href=\"/list\""));
    }
}

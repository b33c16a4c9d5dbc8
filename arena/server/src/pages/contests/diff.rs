//! What changes between two texts, word by word.

use arena_engine::Excerpt;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::pages::{Markup, html};

/// Words of one text times words of the other that are compared. Two texts of a redline at their full length
/// are far below it unless they are made of single characters; then the one replaces the other.
const COMPARED_MAX: usize = 8_000_000;

/// A stretch of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// In both.
    Same(String),
    /// In one of them, or differently in both.
    Changed { old: String, new: String },
}

/// The new text with what was taken out of the old one.
pub(super) fn word_diff(old: &str, new: &str) -> Markup {
    html! {
        div.prose {
            p {
                bdi {
                    @for part in &compared(old, new) {
                        @match part {
                            Part::Same(text) => (lines(text)),
                            Part::Changed { old, new } => {
                                @if !old.is_empty() {
                                    del { span.visually-hidden { "taken out: " } (lines(old)) }
                                }
                                @if !new.is_empty() {
                                    ins { span.visually-hidden { "put in: " } (lines(new)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A stranger's text within a line: its line breaks stay, and what hides is shown.
pub(super) fn lines(text: &str) -> Markup {
    html! {
        @for (i, line) in text.split('\n').enumerate() {
            @if i > 0 { br; }
            (Excerpt { text: line, max: usize::MAX }.to_string())
        }
    }
}

fn compared(old: &str, new: &str) -> Vec<Part> {
    let (before, after) = (words(old), words(new));
    if before.len().saturating_mul(after.len()) > COMPARED_MAX {
        return vec![Part::Changed { old: old.to_owned(), new: new.to_owned() }];
    }
    let operations = capture_diff_slices(Algorithm::Myers, &before, &after);
    let part = |operation: &DiffOp| {
        let (tag, from, to) = operation.as_tag_tuple();
        let (old, new) = (before[from].concat(), after[to].concat());
        match tag {
            DiffTag::Equal => Part::Same(old),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => Part::Changed { old, new },
        }
    };
    joined(operations.iter().map(part).collect())
}

/// A blank between two changes belongs to them: two words that are replaced are one change.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        let next_is_change = matches!(parts.peek(), Some(Part::Changed { .. }));
        match (joined.last_mut(), part) {
            (Some(Part::Changed { old, new }), Part::Changed { old: more_old, new: more_new }) => {
                old.push_str(&more_old);
                new.push_str(&more_new);
            }
            (Some(Part::Changed { old, new }), Part::Same(blank)) if next_is_change && is_blank(&blank) => {
                old.push_str(&blank);
                new.push_str(&blank);
            }
            (_, part) => joined.push(part),
        }
    }
    joined
}

fn is_blank(text: &str) -> bool {
    !text.contains('\n') && text.chars().all(char::is_whitespace)
}

#[derive(PartialEq, Clone, Copy)]
enum Kind {
    Word,
    Blank,
    Mark,
}

/// Words, blanks between them, and marks one by one.
fn words(text: &str) -> Vec<&str> {
    let kind = |character: char| match character {
        letter if letter.is_alphanumeric() => Kind::Word,
        blank if blank.is_whitespace() => Kind::Blank,
        _ => Kind::Mark,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, character) in text.char_indices() {
        let now = kind(character);
        if last.is_some_and(|last| last != now || now == Kind::Mark) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(now);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(old: &str, new: &str) -> String {
        let html = word_diff(old, new).into_string();
        html.replace("<span class=\"visually-hidden\">taken out: </span>", "")
            .replace("<span class=\"visually-hidden\">put in: </span>", "")
            .replace("<div class=\"prose\"><p><bdi>", "")
            .replace("</bdi></p></div>", "")
    }

    #[test]
    fn words_change_and_the_rest_stays() {
        for (old, new, expected) in [
            (
                "within thirty days.",
                "within fourteen days.",
                "within <del>thirty</del><ins>fourteen</ins> days.",
            ),
            ("a b c d", "a x y d", "a <del>b c</del><ins>x y</ins> d"),
            ("same", "same", "same"),
            ("", "new", "<ins>new</ins>"),
            ("old", "", "<del>old</del>"),
            ("one\ntwo", "one\nthree", "one<br><del>two</del><ins>three</ins>"),
            ("<b>", "<i>", "&lt;<del>b</del><ins>i</ins>&gt;"),
            ("it", "it\u{202e}", "it<ins>\\u{202e}</ins>"),
        ] {
            assert_eq!(drawn(old, new), expected);
        }
    }

    #[test]
    fn the_longest_texts_are_compared_soon() {
        let letters = |letter: &str| [letter, " "].concat().repeat(2_500);
        let started = std::time::Instant::now();
        let (one, other) = (letters("a"), letters("b"));
        assert_eq!(compared(&one, &other).len(), 1);
        let words = |n: usize| (0..700).map(|i| format!("word{} ", i * n)).collect::<String>();
        assert!(compared(&words(2), &words(3)).len() > 1, "a long clause is compared word by word");
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn both_texts_are_in_what_is_told(old in "[ab .\n]{0,40}", new in "[ab .\n]{0,40}") {
            let parts = compared(&old, &new);
            let of = |pick: fn(&Part) -> &str| parts.iter().map(pick).collect::<String>();
            let before = of(|part| match part { Part::Same(text) => text, Part::Changed { old, .. } => old });
            let after = of(|part| match part { Part::Same(text) => text, Part::Changed { new, .. } => new });
            prop_assert_eq!(before, old);
            prop_assert_eq!(after, new);
        }
    }
}

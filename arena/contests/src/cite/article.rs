//! Whether an act has the article that a citation names.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::registry::{Act, Articles, Family};

/// What comes of an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Article {
    /// The act has it.
    Ok,
    /// The act does not have it.
    OutOfRange,
    /// It is written in no form that is known.
    Malformed,
    /// Nobody knows which articles the act has.
    UnknownRange,
}

struct Forms {
    plain: Regex,
    in_book: Regex,
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let form = |pattern: &str| {
        let pattern = format!(r"^(?:art\.|article|str\.|straipsnis) ?{pattern}(?: ?\([0-9a-z]+\))*$");
        RegexBuilder::new(&pattern).case_insensitive(true).build().expect("the pattern is a constant")
    };
    Forms { plain: form("([0-9]+)([a-z])?"), in_book: form(r"([0-9]+)\.([0-9]+)(?:-[0-9]+)?") }
});

/// What comes of `text`, which has been cleaned, in an act of `family`.
pub(super) fn check(text: &str, family: Family, act: Option<&Act>) -> Article {
    let plain = FORMS.plain.captures(text);
    let in_book = FORMS.in_book.captures(text);
    // More digits than a number has are more than any act's last article.
    let number = |digits: &str| digits.parse().unwrap_or(u32::MAX);
    match act.map(|act| &act.articles) {
        Some(Articles::Plain { max, inserted }) => {
            let Some(found) = plain else { return Article::Malformed };
            let has_it = match found.get(2) {
                Some(letter) => {
                    let digits = found[1].trim_start_matches('0');
                    inserted.contains(&format!("{digits}{}", letter.as_str().to_ascii_lowercase()))
                }
                None => (1..=*max).contains(&number(&found[1])),
            };
            if has_it { Article::Ok } else { Article::OutOfRange }
        }
        Some(Articles::Books(books)) => {
            let Some(found) = in_book else { return Article::Malformed };
            let max = books.get(&number(&found[1])).copied().unwrap_or(0);
            if (1..=max).contains(&number(&found[2])) { Article::Ok } else { Article::OutOfRange }
        }
        None if plain.is_some() || (family == Family::LtLaw && in_book.is_some()) => Article::UnknownRange,
        None => Article::Malformed,
    }
}

//! Members of a query that choose among things: what none of them can be called is refused, not looked for.

use crate::http::paging::Wanted;
use crate::instance::agents::is_name;
use crate::problem::Problem;

/// The name of an agent, a company or a round.
pub(super) fn name<'a>(wanted: &'a Wanted, member: &str) -> Result<Option<&'a str>, Problem> {
    let rule = "is 1 to 64 of a-z 0-9 -, and no - at its start";
    fitting(wanted, member, is_name, rule)
}

/// A word of lower-case letters.
pub(super) fn word<'a>(wanted: &'a Wanted, member: &str) -> Result<Option<&'a str>, Problem> {
    let is_word =
        |text: &str| (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
    fitting(wanted, member, is_word, "is 1 to 16 of a-z")
}

/// A text of at most so many characters.
pub(super) fn text<'a>(
    wanted: &'a Wanted,
    member: &str,
    chars_max: usize,
) -> Result<Option<&'a str>, Problem> {
    let rule = format!("has at most {chars_max} characters");
    fitting(wanted, member, |text| text.chars().count() <= chars_max, &rule)
}

fn fitting<'a>(
    wanted: &'a Wanted,
    member: &str,
    fits: impl Fn(&str) -> bool,
    rule: &str,
) -> Result<Option<&'a str>, Problem> {
    match wanted.filter(member) {
        Some(given) if !fits(given) => Err(Problem::new("query", format_args!("`{member}` {rule}"))),
        given => Ok(given),
    }
}

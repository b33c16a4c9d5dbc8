//! What things are called inside a tournament: aliases for strategies, ids for matchups, and which
//! names a strategy may not bear because the formats use them themselves.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Most strategies of a tournament.
pub const STRATEGIES_MAX: usize = 1_000;
/// Most matchups of a tournament: ids have five digits.
pub const MATCHUPS_MAX: usize = 99_999;

/// What a strategy is called until disclosure: `p` and its place in the seating draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alias(pub u16);

/// What a matchup is called: `m` and its place in the matrix, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchId(pub u32);

/// `letter` and the digits of `number` after it. They are written by the thousand, so by hand; nothing bears a
/// number that has more digits.
fn padded<const N: usize>(letter: u8, number: u32) -> Option<[u8; N]> {
    let (mut text, mut rest) = ([letter; N], number);
    for digit in text[1..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    (rest == 0).then_some(text)
}

impl Alias {
    /// Its text, in bytes, if it is one that a tournament has.
    pub(crate) fn letters(self) -> Option<[u8; 5]> {
        padded(b'p', self.0.into())
    }
}

impl MatchId {
    /// Its text, in bytes, if it is one that a tournament has.
    pub(crate) fn letters(self) -> Option<[u8; 6]> {
        padded(b'm', self.0)
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.letters().as_ref().map(|text| std::str::from_utf8(text)) {
            Some(Ok(text)) => f.write_str(text),
            _ => write!(f, "p{}", self.0),
        }
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.letters().as_ref().map(|text| std::str::from_utf8(text)) {
            Some(Ok(text)) => f.write_str(text),
            _ => write!(f, "m{}", self.0),
        }
    }
}

/// The text is no alias or no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an alias is `p` and four digits, a matchup's id `m` and five")]
pub struct NameError;

fn digits(text: &str, letter: char, count: usize) -> Result<u32, NameError> {
    let digits = text.strip_prefix(letter).ok_or(NameError)?;
    let plain = digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().map_err(|_| NameError) } else { Err(NameError) }
}

impl FromStr for Alias {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        digits(text, 'p', 4).and_then(|n| n.try_into().map_err(|_| NameError)).map(Self)
    }
}

impl FromStr for MatchId {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        digits(text, 'm', 5).map(Self)
    }
}

impl Serialize for Alias {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Alias {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for MatchId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MatchId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Members and words that stand as whole JSON strings in what the host writes before disclosure. A
/// strategy of such a name would look like a leak in every record.
const TAKEN: &str = "\
    accept_offer alias applied asked battery_mw better block brief budget build_dependent campus \
    clamp clamps code commitment commitments cost_usd_per_mwh curtail_mw denominator diesel_mw \
    digest double_forfeit draw during energy_cost_usd engine_version field forfeit forfeits \
    frozen_sha256 fuel fuel_spent game guest_sha256 hidden higher host_retries id identity index \
    invalid it_served_share limits_version lower matchups matrix memory_capped metrics \
    move_validation moves name no_contest numerator outcome overtime p pack_id pack_version \
    payoff_sum payoffs protocol protocol_version r reason relief_share repetition requested rounds s \
    scenario schema score_version scores scoring seat_0 seat_1 seats secret_commit settlements \
    sha256 slug stars stars_then_pareto start start_failed strategies t text_sha256 title total \
    tournament.frozen.v1 tournament.identities.commit.v1 tournament.match.v1 trapped turn turns \
    unreadable value version wall_seconds wasmtime world";

/// Why `name` cannot be a strategy's name, if it cannot.
pub(crate) fn fault_of_name(name: &str) -> Option<String> {
    if let Some(fault) = fault_of_text(name, 64) {
        return Some(fault);
    }
    if name.parse::<Alias>().is_ok() {
        return Some("it looks like an alias of the tournament".to_owned());
    }
    if name.parse::<MatchId>().is_ok() {
        return Some("it looks like the id of a matchup".to_owned());
    }
    if TAKEN.split(' ').any(|word| word == name) {
        return Some("the formats use this word themselves".to_owned());
    }
    if name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some("it looks like a digest".to_owned());
    }
    None
}

/// Why `text` is not a line that people can tell from others.
pub(crate) fn fault_of_text(text: &str, max: usize) -> Option<String> {
    let letters = text.chars().count();
    if letters == 0 || letters > max {
        return Some(format!("it has {letters} characters; from 1 to {max} are allowed"));
    }
    if text.trim() != text {
        return Some("it begins or ends with a blank".to_owned());
    }
    let hidden = text.chars().find(|letter| is_hidden(*letter))?;
    Some(format!("it holds U+{:04X}, which does not show", u32::from(hidden)))
}

/// Characters that make two names look the same: controls, zero-width and direction marks, and odd
/// blanks.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || (letter.is_whitespace() && letter != ' ')
        || matches!(u32::from(letter),
            0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
            | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0
            | 0xfff0..=0xfffb | 0xe0000..=0xe0fff)
}

/// Why `slug` cannot name a tournament and its folder.
pub(crate) fn fault_of_slug(slug: &str) -> Option<String> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let plain = slug.bytes().all(|byte| letter(byte) || byte == b'-');
    let framed = slug.bytes().next().is_some_and(letter) && slug.bytes().last().is_some_and(letter);
    (!(plain && framed && slug.len() <= 64))
        .then(|| "a slug has 1 to 64 of a-z, 0-9 and `-`, and `-` neither first nor last".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Alias, MatchId, fault_of_name, fault_of_slug};

    #[test]
    fn names_round_trip_and_nothing_else_is_one() {
        assert_eq!(Alias(7).to_string(), "p0007");
        assert_eq!("p0007".parse(), Ok(Alias(7)));
        assert_eq!("m00012".parse(), Ok(MatchId(12)));
        for wrong in ["", "p", "p007", "p00007", "p+007", "P0007", "m0012", "p00\u{661}7"] {
            assert!(wrong.parse::<Alias>().is_err() && wrong.parse::<MatchId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_strategy_is_not_called_like_something_of_ours() {
        for fine in ["C", "act", "Tit For Tat", "a/b", "żółw", "p1", "moves ", "D"].map(str::trim_end) {
            assert_eq!(fault_of_name(fine).is_some(), fine == "moves", "{fine}");
        }
        let digest = "a".repeat(64);
        let long = "x".repeat(65);
        for wrong in ["", " a", "p0003", "m00001", "draw", "scores", "a\u{200b}b", "a\nb", &digest, &long] {
            assert!(fault_of_name(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn slugs_are_folder_names_everywhere() {
        for (slug, fine) in [("axelrod", true), ("a-1", true), ("", false), ("-a", false), ("..", false)] {
            assert_eq!(fault_of_slug(slug).is_none(), fine, "{slug}");
        }
    }
}

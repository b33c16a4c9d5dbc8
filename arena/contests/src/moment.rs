//! Points in time, as the texts of RFC 3339 name them.
//!
//! There is no clock here: every moment comes in with a command or a document.

use std::fmt;
use std::str::FromStr;

/// A point in time, to the nanosecond. Two moments are compared as what they are, never as texts,
/// so an offset makes no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Since 1970-01-01T00:00:00Z.
    second: i64,
    nano: u32,
}

const DAY: i64 = 86_400;

impl Moment {
    /// `ms` milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_unix_ms(ms: i64) -> Self {
        Self { second: ms.div_euclid(1_000), nano: ms.rem_euclid(1_000) as u32 * 1_000_000 }
    }

    /// Whole milliseconds since 1970-01-01T00:00:00Z; a fraction of one is dropped.
    pub const fn unix_ms(self) -> i64 {
        self.second * 1_000 + (self.nano / 1_000_000) as i64
    }

    /// This many seconds later, or earlier.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self { second: self.second + seconds, nano: self.nano }
    }

    /// This many milliseconds later, or earlier.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        let nanos = self.nano as i64 + ms.rem_euclid(1_000) * 1_000_000;
        Self {
            second: self.second + ms.div_euclid(1_000) + nanos / 1_000_000_000,
            nano: (nanos % 1_000_000_000) as u32,
        }
    }

    /// Whether a day begins here, in UTC.
    pub const fn is_midnight(self) -> bool {
        self.second.rem_euclid(DAY) == 0 && self.nano == 0
    }
}

/// In UTC, with as many digits of the second's fraction as it has, in groups of three.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.second.div_euclid(DAY));
        let of_day = self.second.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.nano {
            0 => {}
            n if n % 1_000_000 == 0 => write!(f, ".{:03}", n / 1_000_000)?,
            n if n % 1_000 == 0 => write!(f, ".{:06}", n / 1_000)?,
            n => write!(f, ".{n:09}")?,
        }
        f.write_str("Z")
    }
}

/// Why a text is no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseMomentError {
    /// Not of the form `2026-07-09T20:00:00.000Z`.
    #[error("expected a time such as 2026-07-09T20:00:00Z or 2026-07-09T22:00:00.000+02:00")]
    Form,
    /// A number that the calendar or the clock does not have.
    #[error("{part} {value} is outside {min} to {max}")]
    OutOfRange {
        /// Of what.
        part: &'static str,
        /// As it stands.
        value: u32,
        /// The least.
        min: u32,
        /// The most.
        max: u32,
    },
}

impl FromStr for Moment {
    type Err = ParseMomentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut rest = text.as_bytes();
        let year = number(&mut rest, 4, "year", 1, 9_999)?;
        literal(&mut rest, b"-")?;
        let month = number(&mut rest, 2, "month", 1, 12)?;
        literal(&mut rest, b"-")?;
        let day = number(&mut rest, 2, "day", 1, days_in(year, month))?;
        literal(&mut rest, b"Tt")?;
        let of_day = time(&mut rest, true)?;
        let nano = fraction(&mut rest)?;
        let offset = offset(&mut rest)?;
        if !rest.is_empty() {
            return Err(ParseMomentError::Form);
        }
        let second = days_to(year.into(), month.into(), day.into()) * DAY + of_day - offset;
        Ok(Self { second, nano })
    }
}

fn literal(rest: &mut &[u8], any_of: &[u8]) -> Result<u8, ParseMomentError> {
    match rest.split_first() {
        Some((byte, after)) if any_of.contains(byte) => {
            *rest = after;
            Ok(*byte)
        }
        _ => Err(ParseMomentError::Form),
    }
}

fn number(
    rest: &mut &[u8],
    digits: usize,
    part: &'static str,
    min: u32,
    max: u32,
) -> Result<u32, ParseMomentError> {
    let (head, tail) = rest.split_at_checked(digits).ok_or(ParseMomentError::Form)?;
    if !head.iter().all(u8::is_ascii_digit) {
        return Err(ParseMomentError::Form);
    }
    *rest = tail;
    let value = head.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    if value < min || value > max {
        return Err(ParseMomentError::OutOfRange { part, value, min, max });
    }
    Ok(value)
}

/// Seconds of `hh:mm`, or `hh:mm:ss`. A leap second has no place on a clock that is compared, and is
/// refused.
fn time(rest: &mut &[u8], with_seconds: bool) -> Result<i64, ParseMomentError> {
    let hour = number(rest, 2, "hour", 0, 23)?;
    literal(rest, b":")?;
    let minute = number(rest, 2, "minute", 0, 59)?;
    let mut second = 0;
    if with_seconds {
        literal(rest, b":")?;
        second = number(rest, 2, "second", 0, 59)?;
    }
    Ok(i64::from(hour * 3_600 + minute * 60 + second))
}

/// Digits beyond the ninth are read and dropped.
fn fraction(rest: &mut &[u8]) -> Result<u32, ParseMomentError> {
    if literal(rest, b".").is_err() {
        return Ok(0);
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 32 {
        return Err(ParseMomentError::Form);
    }
    let (head, tail) = rest.split_at(digits);
    *rest = tail;
    let kept = head.iter().copied().chain(std::iter::repeat(b'0')).take(9);
    Ok(kept.fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
}

fn offset(rest: &mut &[u8]) -> Result<i64, ParseMomentError> {
    Ok(match literal(rest, b"Zz+-")? {
        b'+' => time(rest, false)?,
        b'-' => -time(rest, false)?,
        _ => 0,
    })
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years start in March here, so that the
/// leap day is the last of its year.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_to`].
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Moment {
        text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn an_offset_names_the_same_moment() {
        assert_eq!(at("2026-07-10T23:59:59.999+02:00"), at("2026-07-10T21:59:59.999Z"));
        assert_eq!(at("2026-03-01T00:30:00-00:45"), at("2026-03-01T01:15:00Z"));
        assert!(at("2026-07-10T22:00:00Z") > at("2026-07-10T23:59:59.999999999+02:00"));
    }

    #[test]
    fn known_days_are_where_they_are() {
        for (text, second) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2026-07-09T00:00:00Z", 1_783_555_200),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            assert_eq!(at(text).unix_ms(), second * 1_000, "{text}");
            assert_eq!(at(text).to_string(), text);
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for days in -146_097..146_097 {
            let (year, month, day) = date_of(days);
            assert_eq!(days_to(year, month, day), days);
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for wrong in [
            "",
            "2026-07-09",
            "2026-07-09T20:00Z",
            "2026-07-09 20:00:00Z",
            "2026-07-09T20:00:00",
            "2026-07-09T20:00:00.Z",
            "2026-07-09T20:00:00Zx",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-07-09T24:00:00Z",
            "2026-07-09T23:59:60Z",
            "2026-07-09T20:00:00+2:00",
            "２026-07-09T20:00:00Z",
        ] {
            assert!(wrong.parse::<Moment>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn fractions_are_kept() {
        let moment = at("2026-07-23T21:37:57.80397+00:00");
        assert_eq!(moment.to_string(), "2026-07-23T21:37:57.803970Z");
        assert_eq!(moment.plus_ms(-1).plus_ms(1), moment);
        assert_eq!(Moment::from_unix_ms(moment.unix_ms()).to_string(), "2026-07-23T21:37:57.803Z");
    }
}

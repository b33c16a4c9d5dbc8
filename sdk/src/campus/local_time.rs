//! Local time with a numeric offset, on the civil calendar and without a time-zone database: an
//! episode keeps one offset from its first turn to its last.

use std::fmt;

const MINUTES_PER_DAY: i64 = 24 * 60;

/// A moment in the campus' local time. Prints as `2022-12-23T01:00:00-05:00`.
///
/// ```
/// use arena_sdk::campus::LocalTime;
///
/// let start = LocalTime::parse("2022-12-23T12:00:00-05:00").unwrap();
/// let later = start.plus_minutes(13 * 60);
/// assert_eq!(later.to_string(), "2022-12-24T01:00:00-05:00");
/// assert_eq!(later.hour, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// Year of the Gregorian calendar.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Hour of the day, 0 to 23.
    pub hour: u8,
    /// Minute of the hour, 0 to 59.
    pub minute: u8,
    /// Second of the minute, 0 to 59.
    pub second: u8,
    /// Minutes that local time is ahead of UTC; negative west of Greenwich.
    pub offset_minutes: i16,
}

impl LocalTime {
    /// Reads an RFC 3339 time with its offset (`Z` is an offset of zero). A fraction of a second is
    /// dropped. `None` if the text is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, rest) = number(text, 4)?;
        let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
        let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
        let (hour, rest) = number(rest.strip_prefix(['T', 't', ' '])?, 2)?;
        let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
        let (second, rest) = number(rest.strip_prefix(':')?, 2)?;
        let offset_minutes = offset(without_fraction(rest)?)?;
        let sound = (1..=12).contains(&month)
            && (1..=days_in_month(i64::from(year), month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let two_digits = |value: u16| value as u8;
        sound.then(|| Self {
            year: i64::from(year),
            month: two_digits(month),
            day: two_digits(day),
            hour: two_digits(hour),
            minute: two_digits(minute),
            second: two_digits(second),
            offset_minutes,
        })
    }

    /// The moment `minutes` later (earlier, if negative), with the same offset.
    pub fn plus_minutes(self, minutes: i64) -> Self {
        let today = i64::from(self.hour) * 60 + i64::from(self.minute) + minutes;
        let days = days_from_civil(self.year, i64::from(self.month), i64::from(self.day));
        let (year, month, day) = civil_from_days(days + today.div_euclid(MINUTES_PER_DAY));
        let minute_of_day = today.rem_euclid(MINUTES_PER_DAY);
        Self {
            year,
            month: month as u8,
            day: day as u8,
            hour: (minute_of_day / 60) as u8,
            minute: (minute_of_day % 60) as u8,
            ..self
        }
    }

    /// Hours since local midnight, with the minutes as a fraction: 18.25 at a quarter past six in
    /// the evening.
    pub fn hour_of_day(self) -> f64 {
        f64::from(self.hour) + f64::from(self.minute) / 60.0 + f64::from(self.second) / 3600.0
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, offset_minutes } = self;
        let sign = if *offset_minutes < 0 { '-' } else { '+' };
        let offset = offset_minutes.unsigned_abs();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        write!(f, "{sign}{:02}:{:02}", offset / 60, offset % 60)
    }
}

/// The number in the first `digits` bytes, and what follows them.
fn number(text: &str, digits: usize) -> Option<(u16, &str)> {
    let head = text.get(..digits)?;
    let all_digits = head.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| head.parse().ok()).flatten().map(|value| (value, &text[digits..]))
}

fn without_fraction(text: &str) -> Option<&str> {
    match text.strip_prefix('.') {
        None => Some(text),
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < fraction.len()).then_some(rest)
        }
    }
}

fn offset(text: &str) -> Option<i16> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, rest) = number(&text[1..], 2)?;
    let (minutes, rest) = number(rest.strip_prefix(':')?, 2)?;
    (rest.is_empty() && hours < 24 && minutes < 60).then(|| sign * (hours * 60 + minutes) as i16)
}

fn days_in_month(year: i64, month: u16) -> u16 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

// The calendar repeats every 400 years (an era of 146 097 days). Years are counted from March, so
// that the leap day is the last of a year and month lengths follow one formula.
const DAYS_PER_ERA: i64 = 146_097;

/// Days from 0000-03-01 to a date.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
}

/// Year, month and day of a count of days from 0000-03-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / (DAYS_PER_ERA - 1)) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &str, minutes: i64, want: &str) {
        let start = LocalTime::parse(start).expect("a valid start");
        assert_eq!(start.plus_minutes(minutes).to_string(), want);
    }

    #[test]
    fn hours_pass_within_a_day() {
        check("2022-12-23T01:00:00-05:00", 0, "2022-12-23T01:00:00-05:00");
        check("2022-12-23T01:00:00-05:00", 95, "2022-12-23T02:35:00-05:00");
    }

    #[test]
    fn midnight_months_and_years_turn_over() {
        check("2022-12-23T12:00:00-05:00", 12 * 60, "2022-12-24T00:00:00-05:00");
        check("2024-04-30T23:55:00+10:00", 5, "2024-05-01T00:00:00+10:00");
        check("2023-12-31T23:00:00-06:00", 60, "2024-01-01T00:00:00-06:00");
        check("2024-01-01T00:00:00-06:00", -1, "2023-12-31T23:59:00-06:00");
    }

    #[test]
    fn leap_days_follow_the_gregorian_rule() {
        check("2024-02-28T23:00:00+01:00", 60, "2024-02-29T00:00:00+01:00");
        check("2023-02-28T23:00:00+01:00", 60, "2023-03-01T00:00:00+01:00");
        check("2000-02-28T23:00:00+01:00", 60, "2000-02-29T00:00:00+01:00");
        check("2100-02-28T23:00:00+01:00", 60, "2100-03-01T00:00:00+01:00");
        check("2024-02-29T12:00:00+01:00", 365 * MINUTES_PER_DAY, "2025-02-28T12:00:00+01:00");
    }

    #[test]
    fn offsets_are_kept_as_given() {
        check("2024-05-08T23:50:30+05:45", 15, "2024-05-09T00:05:30+05:45");
        check("2024-05-08T00:10:00-09:30", -20, "2024-05-07T23:50:00-09:30");
        check("2024-05-08T00:10:00Z", 0, "2024-05-08T00:10:00+00:00");
        check("2024-05-08t00:10:00.250-00:30", 0, "2024-05-08T00:10:00-00:30");
    }

    #[test]
    fn every_day_of_four_centuries_is_a_day_after_the_last() {
        let mut date = LocalTime::parse("1999-12-31T00:00:00+00:00").expect("a valid start");
        for _ in 0..DAYS_PER_ERA {
            let next = date.plus_minutes(MINUTES_PER_DAY);
            let month_ends = u16::from(date.day) == days_in_month(date.year, u16::from(date.month));
            assert_eq!(next.day, if month_ends { 1 } else { date.day + 1 }, "after {date}");
            date = next;
        }
        assert_eq!(date.to_string(), "2399-12-31T00:00:00+00:00");
    }

    #[test]
    fn anything_else_is_not_a_time() {
        for text in [
            "",
            "2024",
            "2024-05-08",
            "2024-05-08T00:10:00",
            "2024-13-08T00:10:00Z",
            "2024-04-31T00:10:00Z",
            "2023-02-29T00:10:00Z",
            "2024-05-08T24:00:00Z",
            "2024-05-08T00:10:00.Z",
            "2024-05-08T00:10:00+5:45",
            "2024-05-08T00:10:00+05:45 ",
            "2024-05-08T00:1€:00Z",
            "+024-05-08T00:10:00Z",
        ] {
            assert_eq!(LocalTime::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_hour_of_day_has_a_fraction() {
        let time = LocalTime::parse("2024-05-08T18:15:00-05:00").expect("a valid time");
        assert_eq!(time.hour_of_day(), 18.25);
    }
}

//! Times as everybody is told them.

use arena_contests::Moment;

/// A time as the wire has it: RFC 3339 in UTC, with milliseconds at least. What a document that somebody gave says of
/// its times stays as it was given.
pub(crate) fn stamp(at: Moment) -> String {
    let text = at.to_string();
    match text.strip_suffix('Z') {
        Some(whole) if !whole.contains('.') => format!("{whole}.000Z"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_milliseconds_even_if_there_are_none() {
        for (given, told) in [
            ("2026-07-09T20:00:00Z", "2026-07-09T20:00:00.000Z"),
            ("2026-07-09T22:00:00.5+02:00", "2026-07-09T20:00:00.500Z"),
            ("2026-07-09T20:00:00.123Z", "2026-07-09T20:00:00.123Z"),
            // What was given more finely is not cut.
            ("2026-07-09T20:00:00.1234Z", "2026-07-09T20:00:00.123400Z"),
        ] {
            let at: Moment = given.parse().unwrap();
            assert_eq!(stamp(at), told);
            assert_eq!(stamp(at).parse::<Moment>().unwrap(), at);
        }
    }
}

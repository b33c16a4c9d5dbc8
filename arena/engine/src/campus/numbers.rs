//! The two comparisons the rules use. `f64::min` and `f64::max` leave the sign of a tie between
//! zeros open; these return the first argument of a tie, on every machine.

pub(super) fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

pub(super) fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

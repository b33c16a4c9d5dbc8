//! A score, opened: the sum with every number of it, and every cap that bit.
//!
//! Nothing is scored here. The numbers are given; only the running sums of plain additions are formed, so
//! that the line reads as arithmetic.

use maud::{Markup, html};

use crate::pages::chart::number;
use crate::pages::marks::{Mark, mark};

/// One term of a sum, in the order in which it is applied.
#[derive(Debug, Clone)]
pub(crate) enum Line<'a> {
    /// So many points more.
    Plus {
        /// For what.
        label: &'a str,
        /// How many, after its cap.
        points: i64,
        /// What held it: "stops at 20; 34 were earned".
        cap: Option<String>,
    },
    /// Times a factor that is written out, as the rules write it.
    Times {
        /// Why.
        label: &'a str,
        /// "0.85".
        factor: &'a str,
        /// What is then left, rounded as the rules say.
        gives: i64,
        /// A remark on the rounding or the limit.
        cap: Option<String>,
    },
    /// So many points less.
    Minus {
        /// For what.
        label: &'a str,
        /// How many.
        points: i64,
        /// What is then left.
        gives: i64,
        /// What held it: "never below 0".
        cap: Option<String>,
    },
}

/// A score and what it is made of.
#[derive(Debug, Clone)]
pub(crate) struct Sum<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// What is scored, for those who hear the page: "Bees, window 2".
    pub(crate) of: &'a str,
    /// The result.
    pub(crate) total: i64,
    /// The terms.
    pub(crate) lines: &'a [Line<'a>],
}

struct Term {
    sign: &'static str,
    amount: String,
    gives: i64,
}

/// The total, which opens into `60 + 20 + 10 + 20 = 110 × 0.85 = 93, − 10 = 83` and a line for each term.
pub(crate) fn sum_breakdown(sum: &Sum<'_>) -> Markup {
    let terms = terms(sum.lines);
    html! {
        details.sum id=(sum.id) {
            summary { (whole(sum.total)) span.visually-hidden { " points of " (sum.of) ", show the sum" } }
            p.arithmetic { (arithmetic(&terms, sum.lines)) }
            ul {
                @for (line, term) in sum.lines.iter().zip(&terms) {
                    li {
                        span { (label(line)) }
                        span.term { (term.sign) " " (term.amount) }
                        span.running { "= " (whole(term.gives)) }
                        @if let Some(cap) = cap(line) { span.cap { (mark(Mark::Appeal)) (cap) } }
                    }
                }
            }
        }
    }
}

fn terms(lines: &[Line<'_>]) -> Vec<Term> {
    let mut running = 0_i64;
    let mut terms = Vec::with_capacity(lines.len());
    for line in lines {
        let (sign, amount) = match line {
            Line::Plus { points, .. } => {
                running = running.saturating_add(*points);
                ("+", whole(*points))
            }
            Line::Times { factor, gives, .. } => {
                running = *gives;
                ("×", (*factor).to_owned())
            }
            Line::Minus { points, gives, .. } => {
                running = *gives;
                ("−", whole(*points))
            }
        };
        terms.push(Term { sign, amount, gives: running });
    }
    terms
}

/// Additions that follow one another share one equals sign.
fn arithmetic(terms: &[Term], lines: &[Line<'_>]) -> String {
    let mut text = String::new();
    for (i, (term, line)) in terms.iter().zip(lines).enumerate() {
        let plus = matches!(line, Line::Plus { .. });
        let begins = i == 0 && plus;
        if !begins {
            text.push_str(match line {
                _ if i == 0 => "0 ",
                Line::Minus { .. } => ", ",
                _ => " ",
            });
            text.push_str(&format!("{} ", term.sign));
        }
        text.push_str(&term.amount);
        let goes_on = plus && matches!(lines.get(i + 1), Some(Line::Plus { .. }));
        if !(begins || goes_on) {
            text.push_str(&format!(" = {}", whole(term.gives)));
        }
    }
    if text.is_empty() { "nothing was scored".to_owned() } else { text }
}

fn label<'a>(line: &Line<'a>) -> &'a str {
    match line {
        Line::Plus { label, .. } | Line::Times { label, .. } | Line::Minus { label, .. } => label,
    }
}

fn cap<'a>(line: &'a Line<'_>) -> Option<&'a str> {
    match line {
        Line::Plus { cap, .. } | Line::Times { cap, .. } | Line::Minus { cap, .. } => cap.as_deref(),
    }
}

fn whole(value: i64) -> String {
    number::grouped_integer(&value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Line, Sum, arithmetic, sum_breakdown, terms};

    fn plus(points: i64) -> Line<'static> {
        Line::Plus { label: "part", points, cap: None }
    }

    fn line(lines: &[Line<'_>]) -> String {
        arithmetic(&terms(lines), lines)
    }

    #[test]
    fn a_sum_reads_as_arithmetic() {
        let times = Line::Times { label: "late", factor: "0.85", gives: 93, cap: None };
        let minus = Line::Minus { label: "penalty", points: 10, gives: 83, cap: None };
        let all = [plus(60), plus(20), plus(10), plus(20), times.clone(), minus.clone()];
        assert_eq!(line(&all), "60 + 20 + 10 + 20 = 110 × 0.85 = 93, − 10 = 83");
        assert_eq!(line(&[plus(60)]), "60");
        assert_eq!(line(&[plus(60), times]), "60 × 0.85 = 93");
        assert_eq!(line(&[minus, plus(5)]), "0 − 10 = 83 + 5 = 88");
        assert_eq!(line(&[plus(i64::MAX), plus(1)]).matches('=').count(), 1);
        assert_eq!(line(&[]), "nothing was scored");
    }

    #[test]
    fn a_cap_that_bit_is_told() {
        let capped =
            Line::Plus { label: "<volume>", points: 20, cap: Some("stops at 20; 34 were earned".into()) };
        let html = sum_breakdown(&Sum { id: "s", of: "Bees", total: 20, lines: &[capped] }).into_string();
        assert!(html.contains("stops at 20; 34 were earned") && html.contains("&lt;volume&gt;"), "{html}");
    }
}

//! Ratings that do not depend on the order of games: Bradley–Terry by maximum likelihood, on the Elo
//! scale, with 95 % intervals.
//!
//! In the model, a beats b with probability s(a) ÷ (s(a) + s(b)); a rating is 400·log10 of a strength s.
//! The likelihood has a maximum only among strategies where each scored, directly or through others,
//! against each other. The largest such group is rated and its mean is 1500. A game between two groups
//! says nothing about either: the most likely distance of their ratings is infinite. Everybody else is
//! told why there is no figure.
//!
//! A rating is a part of a digest, so each platform must find the same last digit: the arithmetic is
//! + − × ÷ and sqrt in a fixed order, and the exponential is our own.
//!
//! Absent: a prior, which would give everybody a figure that nobody played for. Two cautions go with the
//! intervals: they are about the distance to the group's mean, and they take games as independent, which
//! repetitions of one deterministic game are not.

mod exp;
mod group;
mod newton;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::names::STRATEGIES_MAX;
use newton::{Fit, Pair};

/// Mean rating of those who are rated.
const CENTRE: f64 = 1500.0;
/// 400 ÷ ln 10: rating points of a strength e times as high.
const POINTS_PER_NAT: f64 = 173.717_792_761_300_73;
/// Standard errors on either side of a rating that hold it 95 times of 100.
const SIDE: f64 = 1.959_963_984_540_054;

/// How a game ended, for its first strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Score {
    /// It won.
    Win,
    /// Neither won.
    Draw,
    /// It lost.
    Loss,
}

/// Results of games between strategies, counted in half points.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    strategies: usize,
    /// Half points of both, by (lower index, higher index).
    halves: BTreeMap<(usize, usize), [u64; 2]>,
}

impl Tally {
    /// No games between that many strategies.
    pub(crate) fn new(strategies: usize) -> Self {
        assert!(strategies <= STRATEGIES_MAX, "{strategies} strategies; the limit is {STRATEGIES_MAX}");
        Self { strategies, halves: BTreeMap::new() }
    }

    /// One game between two different strategies. A game that was no contest is none.
    pub(crate) fn record(&mut self, a: u32, b: u32, score: Score) {
        let (a, b) = (a as usize, b as usize);
        assert!(a != b && a.max(b) < self.strategies, "a game of {a} and {b} among {}", self.strategies);
        let (of_a, of_b) = match score {
            Score::Win => (2, 0),
            Score::Draw => (1, 1),
            Score::Loss => (0, 2),
        };
        let halves = self.halves.entry((a.min(b), a.max(b))).or_default();
        halves[usize::from(a > b)] += of_a;
        halves[usize::from(a < b)] += of_b;
    }
}

/// What the games say of one strategy. Figures have one decimal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Rating {
    /// It is in the group that is rated.
    Rated {
        /// Rating; the mean of all that are rated is 1500.
        elo: f64,
        /// Lower end of the 95 % interval.
        low: f64,
        /// Upper end of it.
        high: f64,
    },
    /// The games do not determine a rating.
    Insufficient {
        /// Why not.
        reason: Reason,
    },
}

/// Why a strategy has no rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It played nobody.
    NoGames,
    /// Its most likely strength is infinite.
    WonEveryGame,
    /// Its most likely strength is zero.
    LostEveryGame,
    /// It and the rated group did not both score against each other, not even through others.
    NoPath,
    /// It met only the far stronger and the far weaker: any rating between them is as likely.
    TooWide,
    /// The maximum was not found within the limit of steps.
    Unsettled,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoGames => "no games",
            Self::WonEveryGame => "won every game",
            Self::LostEveryGame => "lost every game",
            Self::NoPath => "no path of results to the others",
            Self::TooWide => "met only the far stronger and the far weaker",
            Self::Unsettled => "the calculation did not settle",
        })
    }
}

/// One rating for each strategy.
pub(crate) fn rate(tally: &Tally) -> Vec<Rating> {
    let group = group::largest(tally.strategies, &scored(tally));
    let mut ratings: Vec<Rating> = reasons(tally).map(|reason| Rating::Insufficient { reason }).collect();
    if group.len() < 2 {
        return ratings;
    }
    let place: BTreeMap<usize, usize> = group.iter().enumerate().map(|(at, member)| (*member, at)).collect();
    let within = |(names, halves): (&(usize, usize), &[u64; 2])| {
        let (a, b) = (*place.get(&names.0)?, *place.get(&names.1)?);
        Some(Pair { a, b, won: halves.map(|count| count as f64 / 2.0) })
    };
    let pairs: Vec<Pair> = tally.halves.iter().filter_map(within).collect();
    let fits = newton::fit(group.len(), &pairs);
    let too_wide = Rating::Insufficient { reason: Reason::TooWide };
    for (at, member) in group.iter().enumerate() {
        ratings[*member] = match &fits {
            Some(fits) => fits[at].as_ref().map_or(too_wide, rated),
            None => Rating::Insufficient { reason: Reason::Unsettled },
        };
    }
    ratings
}

/// Whom each strategy took at least half a point from.
fn scored(tally: &Tally) -> Vec<Vec<usize>> {
    let mut against = vec![Vec::new(); tally.strategies];
    for (&(a, b), halves) in &tally.halves {
        if halves[0] > 0 {
            against[a].push(b);
        }
        if halves[1] > 0 {
            against[b].push(a);
        }
    }
    against
}

/// What to say of each strategy if it is not in the group.
fn reasons(tally: &Tally) -> impl Iterator<Item = Reason> {
    let mut halves = vec![[0; 2]; tally.strategies];
    for (&(a, b), &[of_a, of_b]) in &tally.halves {
        for (strategy, scored, yielded) in [(a, of_a, of_b), (b, of_b, of_a)] {
            halves[strategy][0] += scored;
            halves[strategy][1] += yielded;
        }
    }
    halves.into_iter().map(|of_it| match of_it {
        [0, 0] => Reason::NoGames,
        [_, 0] => Reason::WonEveryGame,
        [0, _] => Reason::LostEveryGame,
        _ => Reason::NoPath,
    })
}

fn rated(fit: &Fit) -> Rating {
    let elo = CENTRE + POINTS_PER_NAT * fit.log_strength;
    let side = SIDE * POINTS_PER_NAT * fit.variance.sqrt();
    Rating::Rated { elo: tenths(elo), low: tenths(elo - side), high: tenths(elo + side) }
}

/// `value` with one decimal; never `-0`.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0
}

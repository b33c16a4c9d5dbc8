//! Who stands where: points, results, ratings, and what repetitions say of each pair.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::frozen::{Frozen, Matchup, Scenario};
use crate::interval::Estimate;
use crate::rating::{self, Rating, Score, Tally};
use crate::record::{Outcome, Record};
use crate::seating::Seating;

/// What one strategy came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// By [`Standing::score`]; equal scores share a rank, and the next one skips.
    pub rank: u32,
    /// Its name.
    pub strategy: String,
    /// Its place in the frozen list, which tells two of one name apart.
    pub index: u32,
    /// Its version.
    pub version: String,
    /// Points of all games. Of a game against itself, the first seat's.
    pub score: i64,
    /// Points of the games against others.
    pub score_without_self_play: i64,
    /// By the points of the games against others.
    pub rank_without_self_play: u32,
    /// Games against others: the sum of the next four.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games that neither won, double forfeits included.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Games in which neither could begin.
    pub no_contests: u64,
    /// Games against itself; they are no win, draw or loss.
    pub self_play_games: u64,
    /// Games in which it forfeited, those against itself included.
    pub forfeits: u64,
    /// Order-free rating from the games against others.
    pub rating: Rating,
}

/// A pair at one scenario, over its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The strategy in the first seat.
    pub a: String,
    /// The strategy in the second seat.
    pub b: String,
    /// Their places in the frozen list.
    pub indices: [u32; 2],
    /// The pack, if it is a pack that is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack_id: Option<String>,
    /// Points of both over the repetitions.
    pub scores: [Estimate; 2],
}

/// Collects what the records say, one after the other.
pub(crate) struct Standings<'f> {
    frozen: &'f Frozen,
    seating: &'f Seating,
    sums: Vec<Sum>,
    tally: Tally,
    cells: BTreeMap<([u32; 2], &'f Scenario), [Vec<i64>; 2]>,
}

#[derive(Debug, Clone, Default)]
struct Sum {
    score: i64,
    score_without_self_play: i64,
    wins: u64,
    draws: u64,
    losses: u64,
    no_contests: u64,
    self_play_games: u64,
    forfeits: u64,
}

/// What of a record the standings count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatchResult {
    pub(crate) outcome: Outcome,
    pub(crate) scores: [i64; 2],
    pub(crate) forfeited: [bool; 2],
}

impl MatchResult {
    pub(crate) fn of(record: &Record) -> Self {
        let forfeited = record.forfeits().each_ref().map(Option::is_some);
        Self { outcome: record.outcome(), scores: record.scores(), forfeited }
    }
}

/// The indices of those who sit at `matchup`.
pub(crate) fn seats(seating: &Seating, matchup: &Matchup) -> [u32; 2] {
    let index = |alias| seating.index_of(alias).expect("a checked frozen file seats its strategies");
    matchup.seats.map(index)
}

/// What one seat took from a game.
enum Result {
    Win,
    Draw,
    Loss,
    NoContest,
}

impl<'f> Standings<'f> {
    pub(crate) fn new(frozen: &'f Frozen, seating: &'f Seating) -> Self {
        let count = frozen.strategies.len();
        Self {
            frozen,
            seating,
            sums: vec![Sum::default(); count],
            tally: Tally::new(count),
            cells: BTreeMap::new(),
        }
    }

    /// Adds what came of a matchup.
    pub(crate) fn add(&mut self, matchup: &'f Matchup, result: &MatchResult) {
        let seats = seats(self.seating, matchup);
        let [a, b] = seats;
        let scores = result.scores;
        let cell = self.cells.entry((seats, &matchup.scenario)).or_default();
        for (kept, score) in cell.iter_mut().zip(scores) {
            kept.push(score);
        }
        for (index, forfeited) in seats.into_iter().zip(result.forfeited) {
            self.sums[index as usize].forfeits += u64::from(forfeited);
        }
        if a == b {
            let sum = &mut self.sums[a as usize];
            sum.self_play_games += 1;
            sum.score = sum.score.saturating_add(scores[0]);
            return;
        }
        let (first, second, rated) = match result.outcome {
            Outcome::First => (Result::Win, Result::Loss, Some(Score::Win)),
            Outcome::Second => (Result::Loss, Result::Win, Some(Score::Loss)),
            Outcome::Draw | Outcome::DoubleForfeit => (Result::Draw, Result::Draw, Some(Score::Draw)),
            Outcome::NoContest => (Result::NoContest, Result::NoContest, None),
        };
        if let Some(score) = rated {
            self.tally.record(a, b, score);
        }
        self.sums[a as usize].add(scores[0], &first);
        self.sums[b as usize].add(scores[1], &second);
    }

    /// Everybody, the best first.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let ratings = rating::rate(&self.tally);
        let ranks = ranks(&self.sums.iter().map(|sum| sum.score).collect::<Vec<_>>());
        let without: Vec<i64> = self.sums.iter().map(|sum| sum.score_without_self_play).collect();
        let without = self::ranks(&without);
        let mut standings: Vec<Standing> = self
            .frozen
            .strategies
            .iter()
            .zip(&self.sums)
            .zip(ratings)
            .enumerate()
            .map(|(i, ((pin, sum), rating))| Standing {
                rank: ranks[i],
                strategy: pin.name.clone(),
                index: pin.index,
                version: pin.version.clone(),
                score: sum.score,
                score_without_self_play: sum.score_without_self_play,
                rank_without_self_play: without[i],
                games: sum.wins + sum.draws + sum.losses + sum.no_contests,
                wins: sum.wins,
                draws: sum.draws,
                losses: sum.losses,
                no_contests: sum.no_contests,
                self_play_games: sum.self_play_games,
                forfeits: sum.forfeits,
                rating,
            })
            .collect();
        standings.sort_by_key(|standing| (standing.rank, standing.index));
        standings
    }

    /// Every pair at every scenario.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        let name = |index: u32| self.frozen.strategies[index as usize].name.clone();
        self.cells.iter().filter_map(move |((indices, scenario), [first, second])| {
            let pack_id = match scenario {
                Scenario::Campus(pin) => Some(pin.pack_id.clone()),
                Scenario::Matrix(_) => None,
            };
            let scores = [Estimate::of(first)?, Estimate::of(second)?];
            Some(Cell { a: name(indices[0]), b: name(indices[1]), indices: *indices, pack_id, scores })
        })
    }
}

impl Sum {
    fn add(&mut self, score: i64, result: &Result) {
        self.score = self.score.saturating_add(score);
        self.score_without_self_play = self.score_without_self_play.saturating_add(score);
        match result {
            Result::Win => self.wins += 1,
            Result::Draw => self.draws += 1,
            Result::Loss => self.losses += 1,
            Result::NoContest => self.no_contests += 1,
        }
    }
}

/// Ranks by score, the highest first: equal scores share one, and the next skips.
fn ranks(scores: &[i64]) -> Vec<u32> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let rank = |score: &i64| sorted.partition_point(|other| other > score) as u32 + 1;
    scores.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn equal_scores_share_a_rank_and_the_next_skips() {
        assert_eq!(ranks(&[5, 9, 5, 7, 9, 1]), [4, 1, 4, 3, 1, 6]);
        assert!(ranks(&[]).is_empty());
        assert_eq!(ranks(&[0, 0, 0]), [1, 1, 1]);
    }
}

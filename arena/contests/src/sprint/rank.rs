//! The order of companies: by score, then by the five tie-breaks, with first place for those who may
//! have it.

use std::cmp::{Ordering, Reverse};

use super::score::RoundScore;
use crate::moment::Moment;

/// One line of the standings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place. Equals share one, and the next place is skipped.
    pub rank: u32,
    /// The company.
    pub id: String,
    /// Its round.
    pub round: RoundScore,
}

/// Ranks companies. The order in which they are given makes no difference.
pub fn standings(rounds: Vec<(String, RoundScore)>) -> Vec<Row> {
    let mut rows: Vec<Row> = rounds.into_iter().map(|(id, round)| Row { rank: 0, id, round }).collect();
    rows.sort_unstable_by(|a, b| merit(&a.round, &b.round).then_with(|| a.id.cmp(&b.id)));
    let (mut first, rest) = first_place(rows);
    let winners = u32::try_from(first.len()).unwrap_or(u32::MAX);
    first.iter_mut().for_each(|row| row.rank = 1);
    first.extend(numbered(rest, winners.max(1) + 1));
    first
}

/// Which of two rounds is better; `Equal` only if all six values are.
pub fn merit(a: &RoundScore, b: &RoundScore) -> Ordering {
    key(a).cmp(&key(b))
}

type Key = (Reverse<i32>, Reverse<u32>, Reverse<u32>, u32, u32, (bool, Option<Moment>));

/// A Window 3 that was not accepted stands after every time.
fn key(round: &RoundScore) -> Key {
    let tie = &round.tie_break;
    let w3 = tie.w3_submitted_at.as_ref().map(|stamp| stamp.moment);
    (
        Reverse(round.round_score),
        Reverse(tie.external_accepted),
        Reverse(tie.accepted_delivery),
        tie.operator_assisted,
        tie.reversals,
        (w3.is_none(), w3),
    )
}

/// The eligible of the best group of equals that has any; and everybody else, in their order.
fn first_place(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    let eligible = |row: &Row| row.round.ineligible_reasons.is_empty();
    let Some(best) = rows.iter().find(|row| eligible(row)).map(|row| row.round.clone()) else {
        return (Vec::new(), rows);
    };
    rows.into_iter().partition(|row| eligible(row) && merit(&row.round, &best) == Ordering::Equal)
}

fn numbered(mut rows: Vec<Row>, from: u32) -> Vec<Row> {
    let mut rank = from;
    for i in 0..rows.len() {
        if i > 0 && merit(&rows[i - 1].round, &rows[i].round) != Ordering::Equal {
            rank = from.saturating_add(u32::try_from(i).unwrap_or(u32::MAX));
        }
        rows[i].rank = rank;
    }
    rows
}

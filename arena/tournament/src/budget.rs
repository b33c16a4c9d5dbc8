//! Deterministic budgets: a matchup counts if what was used before it is below every one of them.

use crate::frozen::Budget;
use crate::record::Used;

/// A budget that is spent, and by how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) name: &'static str,
    pub(crate) limit: u64,
    pub(crate) used: u64,
}

/// The first budget that is spent once `counted` matchups have used `used`: then no further one counts.
pub(crate) fn spent(budget: &Budget, counted: usize, used: Used) -> Option<Spent> {
    let all = [
        ("matchups", budget.matchups, counted as u64),
        ("fuel", budget.fuel, used.fuel),
        ("turns", budget.turns, used.turns),
    ];
    let spent = |(name, limit, used): (&'static str, Option<u64>, u64)| {
        limit.filter(|limit| used >= *limit).map(|limit| Spent { name, limit, used })
    };
    all.into_iter().find_map(spent)
}

/// The first matchup of `counted`, from 0, that should not have counted.
pub(crate) fn first_beyond(budget: &Budget, counted: impl IntoIterator<Item = Used>) -> Option<usize> {
    let mut before = Used::default();
    counted.into_iter().enumerate().find_map(|(k, used)| {
        let beyond = spent(budget, k, before).is_some();
        before = before.plus(used);
        beyond.then_some(k)
    })
}

impl Spent {
    /// What a receipt says of it.
    pub(crate) fn reason(&self, counted: usize, planned: usize) -> String {
        let Self { name, limit, used } = self;
        let remaining = planned - counted;
        format!(
            "the budget of {name} is spent ({used} of {limit}): {counted} of {planned} matchups are completed, \
             {remaining} remain"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Used, first_beyond, spent};

    #[test]
    fn what_reaches_a_budget_counts_and_what_comes_after_does_not() {
        let budget = Budget { turns: Some(10), ..Budget::default() };
        let used = |turns| Used { fuel: 1, turns };
        for (games, beyond) in [
            (&[5, 5][..], None),
            (&[5, 5, 5], Some(2)),
            (&[4, 5, 90], None),
            (&[4, 5, 90, 1], Some(3)),
            (&[], None),
        ] {
            assert_eq!(first_beyond(&budget, games.iter().map(|turns| used(*turns))), beyond, "{games:?}");
        }
        assert_eq!(
            spent(&Budget { matchups: Some(0), ..Budget::default() }, 0, used(0)).map(|s| s.name),
            Some("matchups")
        );
        assert_eq!(spent(&Budget::default(), 99, used(99)), None);
    }
}

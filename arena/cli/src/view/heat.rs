//! A heat map as data: a figure for each strategy against each other. What it is drawn with is below.

pub(crate) mod blocks;
pub(crate) mod svg;

use arena_engine::Excerpt;

use crate::view::lines::width;
use crate::view::numbers::grouped;

/// Everything a drawing needs.
#[derive(Debug, Clone)]
pub(crate) struct Heat {
    pub(crate) title: String,
    /// What a figure is: `points per round of the row's strategy against the column's`.
    pub(crate) unit: String,
    /// As their authors wrote them.
    pub(crate) names: Vec<String>,
    /// A row for each strategy, with a figure against each; none where they did not play.
    pub(crate) cells: Vec<Vec<Option<f64>>>,
}

impl Heat {
    /// A row or a figure that is missing is a game that was not played.
    fn cell(&self, row: usize, column: usize) -> Option<f64> {
        self.cells.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
    }

    /// The figures of the first `shown` strategies against each other.
    fn figures(&self, shown: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        let pairs = (0..shown).flat_map(move |row| (0..shown).map(move |column| (row, column)));
        pairs.filter_map(|(row, column)| Some((row, column, self.cell(row, column)?)))
    }

    /// The name of strategy `at` on one line of at most `max` characters.
    fn label(&self, at: usize, max: usize) -> String {
        let name = Excerpt::line(&self.names[at]).to_string();
        if width(&name) <= max {
            return name;
        }
        name.chars().take(max.saturating_sub(1)).chain(['…']).collect()
    }

    /// That not all strategies are shown, if so.
    fn remark(&self, shown: usize) -> Option<String> {
        let all = self.names.len();
        (shown < all).then(|| format!("(the first {shown} of {all} strategies)"))
    }
}

/// From the lowest figure to the highest, in levels of equal width.
#[derive(Debug, Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    decimals: usize,
}

impl Scale {
    /// Of all figures, shown or not; `None` without any.
    fn of(heat: &Heat) -> Option<Self> {
        let values = || heat.figures(heat.names.len()).map(|(_, _, value)| value);
        let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        let decimals = match high - low {
            _ if values().all(|value| value.fract() == 0.0) => 0,
            wide if wide >= 100.0 => 0,
            middle if middle >= 10.0 => 1,
            _ => 2,
        };
        Some(Self { low, high, decimals })
    }

    fn is_flat(&self) -> bool {
        self.low == self.high
    }

    /// The level of `value` among `levels`; the middle one if all figures are the same.
    fn level(&self, value: f64, levels: usize) -> usize {
        if self.is_flat() {
            return levels / 2;
        }
        // Halves, because the distance of two large figures may not be a number.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        ((share * levels as f64) as usize).min(levels - 1)
    }

    /// The lowest figure of a level.
    fn from(&self, level: usize, levels: usize) -> f64 {
        let share = level as f64 / levels as f64;
        self.low * (1.0 - share) + self.high * share
    }

    fn text(&self, value: f64) -> String {
        grouped(value, self.decimals)
    }

    /// Characters of the longest figure.
    fn width(&self) -> usize {
        width(&self.text(self.low)).max(width(&self.text(self.high)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Heat, Scale};

    /// `names.len()` strategies, whose figures are what `cell` says.
    pub(super) fn heat(names: &[&str], cell: impl Fn(usize, usize) -> Option<f64>) -> Heat {
        let count = names.len();
        Heat {
            title: "Who beats whom".to_owned(),
            unit: "points of the row's strategy against the column's".to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            cells: (0..count).map(|row| (0..count).map(|column| cell(row, column)).collect()).collect(),
        }
    }

    #[test]
    fn levels_part_the_range_evenly() {
        let scale = Scale { low: -1.0, high: 3.0, decimals: 2 };
        assert_eq!([-1.0, -0.1, 0.0, 1.0, 2.9, 3.0].map(|value| scale.level(value, 4)), [0, 0, 1, 2, 3, 3]);
        assert_eq!([0, 1, 2, 3].map(|level| scale.from(level, 4)), [-1.0, 0.0, 1.0, 2.0]);
        let flat = Scale { low: 7.0, high: 7.0, decimals: 0 };
        assert_eq!(flat.level(7.0, 9), 4);
    }

    #[test]
    fn the_largest_numbers_have_levels_too() {
        let scale = Scale { low: -f64::MAX, high: f64::MAX, decimals: 0 };
        assert_eq!([-f64::MAX, 0.0, f64::MAX].map(|value| scale.level(value, 4)), [0, 2, 3]);
        assert!((0..4).all(|level| scale.from(level, 4).is_finite()));
    }

    #[test]
    fn what_is_no_number_was_not_played() {
        let figures = [Some(f64::NAN), Some(f64::INFINITY), None, Some(1.0)];
        let mut map = heat(&["a", "b"], |row, column| figures[2 * row + column]);
        assert_eq!(map.figures(2).collect::<Vec<_>>(), [(1, 1, 1.0)]);
        map.cells = vec![vec![], vec![Some(2.0)]];
        assert_eq!(map.figures(2).collect::<Vec<_>>(), [(1, 0, 2.0)]);
        map.cells.clear();
        assert!(Scale::of(&map).is_none());
    }

    #[test]
    fn decimals_are_those_that_tell_figures_apart() {
        for (low, high, decimals) in
            [(0.0, 5.0, 0), (0.5, 5.0, 2), (0.5, 20.0, 1), (0.5, 900.0, 0), (599.5, 600.0, 2)]
        {
            let map = heat(&["a", "b"], |row, _| Some(if row == 0 { low } else { high }));
            assert_eq!(Scale::of(&map).expect("figures").decimals, decimals, "{low} {high}");
        }
    }

    #[test]
    fn names_stay_on_their_line() {
        let map = heat(&["a\n\u{1b}[2Jb", "Tit For Two Tats", "żółw"], |_, _| None);
        assert_eq!(map.label(0, 20), r"a\n\u{1b}[2Jb");
        assert_eq!([map.label(1, 8), map.label(2, 8), map.label(2, 1)], ["Tit For…", "żółw", "…"]);
    }
}

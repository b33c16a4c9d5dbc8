//! A square matrix in shades: everybody against everybody.

use maud::{Markup, html};

use super::bars::cut;
use super::number::{coordinate, decimal};
use super::scale::drawable;
use super::{Head, WIDTH, figure, figures};
use crate::pages::table::{Cell, Column, Row};

const LEFT: f64 = 190.0;
const TOP: f64 = 34.0;
const NAMES_MAX: usize = 32;
/// Columns up to which a cell has room for its number.
const WRITTEN_MAX: usize = 12;
const SHADES: usize = 6;

/// A matrix: the row's value against the column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heat<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// What is shown.
    pub(crate) title: &'a str,
    /// In a sentence, what a person should see in it.
    pub(crate) description: &'a str,
    /// Of every value.
    pub(crate) unit: &'a str,
    /// Of every value.
    pub(crate) decimals: usize,
    /// Of rows and columns; columns bear their number only. The first 32 are drawn, all are in the table.
    pub(crate) names: &'a [&'a str],
    /// Row by row; `None` where nothing was played. Missing ones at the end are `None` too.
    pub(crate) values: &'a [Option<f64>],
}

impl Heat<'_> {
    fn value(&self, row: usize, column: usize) -> Option<f64> {
        let at = row * self.names.len() + column;
        self.values.get(at).copied().flatten().filter(|value| drawable(*value))
    }
}

/// Shades with their numbers, a key, and the matrix as a table.
pub(crate) fn heat_map(heat: &Heat<'_>) -> Markup {
    let count = heat.names.len().min(NAMES_MAX);
    let known = || heat.values.iter().flatten().copied().filter(|value| drawable(*value));
    let (low, high) =
        known().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
    let width = (WIDTH - LEFT) / count.max(1) as f64;
    let height = width.clamp(22.0, 34.0);
    let drawing = html! {
        @for column in 0..count {
            @let at = LEFT + width * (column as f64 + 0.5);
            text.middle.minor[count > WRITTEN_MAX && column % 2 == 1] x=(coordinate(at)) y=(TOP - 10.0) {
                (column + 1)
            }
        }
        @for row in 0..count {
            @let y = TOP + height * row as f64;
            text x="0" y=(coordinate(y + height * 0.5 + 4.0)) { (row + 1) " " (cut(heat.names[row], 18)) }
            @for column in 0..count { (cell(heat, (row, column), (width, height), (low, high), count)) }
        }
    };
    let head = Head { id: heat.id, title: heat.title, description: heat.description };
    figure(head, "chart", TOP + height * count as f64, key(heat, low, high), drawing, table(heat, head))
}

fn cell(
    heat: &Heat<'_>,
    (row, column): (usize, usize),
    (width, height): (f64, f64),
    (low, high): (f64, f64),
    count: usize,
) -> Markup {
    let value = heat.value(row, column);
    let class =
        value.map_or_else(|| "heat-none".to_owned(), |value| format!("heat-{}", shade(value, low, high)));
    let (x, y) = (LEFT + width * column as f64, TOP + height * row as f64);
    let (middle, line) = (coordinate(x + width * 0.5), coordinate(y + height * 0.5 + 4.0));
    html! {
        rect class=(class) x=(coordinate(x + 1.0)) y=(coordinate(y + 1.0)) rx="2"
            width=(coordinate(width - 2.0)) height=(coordinate(height - 2.0)) {}
        @if let (Some(value), true) = (value, count <= WRITTEN_MAX) {
            text.cell x=(middle) y=(line) { (decimal(value, heat.decimals)) }
        } @else if count <= WRITTEN_MAX {
            text.middle x=(middle) y=(line) { "–" }
        }
    }
}

/// Which of the shades, each a sixth of the range.
fn shade(value: f64, low: f64, high: f64) -> usize {
    if high <= low {
        return 0;
    }
    // A float that is cast saturates; it is never outside.
    (((value - low) / (high - low) * SHADES as f64) as usize).min(SHADES - 1)
}

fn key(heat: &Heat<'_>, low: f64, high: f64) -> Markup {
    let bound = |i: usize| decimal(low + (high - low) * i as f64 / SHADES as f64, heat.decimals);
    html! {
        @if high > low {
            ul.legend {
                @for i in 0..SHADES {
                    li {
                        svg viewBox="0 0 28 12" aria-hidden="true" focusable="false" {
                            rect class=(format!("heat-{i}")) width="28" height="12" rx="2" {}
                        }
                        (bound(i)) " to " (bound(i + 1))
                        @if i + 1 == SHADES { " " (heat.unit) }
                    }
                }
            }
        }
    }
}

fn table(heat: &Heat<'_>, head: Head<'_>) -> Markup {
    let mut columns = vec![Column::name("Row against column")];
    columns.extend(heat.names.iter().map(|name| Column::number(name)));
    let rows = heat.names.iter().enumerate().map(|(row, name)| {
        let value = |column| match heat.value(row, column) {
            Some(value) => decimal(value, heat.decimals).into(),
            None => Cell::none("not played"),
        };
        Row::new([(*name).into()].into_iter().chain((0..heat.names.len()).map(value)))
    });
    figures(head, &columns, rows.collect())
}

#[cfg(test)]
mod tests {
    use super::shade;

    #[test]
    fn a_shade_is_a_sixth_of_the_range() {
        assert_eq!([0.0, 0.99, 1.0, 5.9, 6.0].map(|value| shade(value, 0.0, 6.0)), [0, 0, 1, 5, 5]);
        assert_eq!(shade(3.0, 3.0, 3.0), 0);
    }
}

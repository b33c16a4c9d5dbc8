//! Bars, one below the other with their names above them, and lines as small as a word.

use maud::{Markup, html};

use super::number::{coordinate, decimal};
use super::scale::{Scale, drawable, places};
use super::{Head, WIDTH, figure, figures, plot};
use crate::pages::table::{Column, Row};

const BARS_MAX: usize = 60;
const ROW: f64 = 50.0;
const BAR: f64 = 14.0;
/// Values of a line as small as a word, at most.
const SPARK_MAX: usize = 2_000;

/// A chart of bars.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bars<'a> {
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
    /// Name and value, in the order in which they are drawn. The first sixty are drawn, all are in the table.
    pub(crate) bars: &'a [(&'a str, f64)],
}

/// Bars from a common zero.
pub(crate) fn bar_chart(chart: &Bars<'_>) -> Markup {
    let drawn = &chart.bars[..chart.bars.len().min(BARS_MAX)];
    let x = Scale::around(drawn.iter().map(|(_, value)| *value).chain([0.0]), (1.0, WIDTH - 1.0));
    let height = ROW * drawn.len().max(1) as f64 + 4.0;
    let zero = x.at(0.0);
    let drawing = html! {
        @for (i, (name, value)) in drawn.iter().enumerate() {
            @let y = ROW * i as f64;
            text.strong x="0" y=(y + 22.0) { (cut(name, 32)) }
            text.end.strong x=(WIDTH) y=(y + 22.0) { (decimal(*value, chart.decimals)) " " (chart.unit) }
            @if drawable(*value) {
                @let (from, to) = (x.at(*value).min(zero), x.at(*value).max(zero));
                rect.fill.s1 x=(coordinate(from)) y=(y + 30.0) rx="2"
                    width=(coordinate((to - from).max(1.0))) height=(BAR) {}
            }
            line.axis x1=(coordinate(zero)) x2=(coordinate(zero)) y1=(y + 27.0) y2=(y + 47.0) {}
        }
    };
    let head = Head { id: chart.id, title: chart.title, description: chart.description };
    let rows = chart
        .bars
        .iter()
        .map(|(name, value)| Row::new([(*name).into(), decimal(*value, chart.decimals).into()]));
    let columns = [Column::name("Name"), Column::number("Value").unit(chart.unit)];
    figure(head, "chart", height, html! {}, drawing, figures(head, &columns, rows.collect()))
}

/// At most so many characters, with an ellipsis where some are missing.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some(_) => text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// A line as small as a word, for a cell. It is read out as `of`, its first and last value, and its extremes.
pub(crate) fn sparkline(of: &str, values: &[f64], decimals: usize) -> Markup {
    let points: Vec<_> =
        values.iter().take(SPARK_MAX).enumerate().map(|(i, value)| (i as f64, *value)).collect();
    let x = Scale::around(points.iter().map(|(x, _)| *x), (2.0, 94.0));
    let y = Scale::around(points.iter().map(|(_, y)| *y), (21.0, 3.0));
    let finite: Vec<f64> = values.iter().copied().filter(|value| drawable(*value)).collect();
    let title = match (finite.first(), finite.last()) {
        (Some(first), Some(last)) => {
            let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
            let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let [first, last, low, high] = [*first, *last, low, high].map(|value| decimal(value, decimals));
            format!("{of}: from {first} to {last}, lowest {low}, highest {high}")
        }
        _ => format!("{of}: no values"),
    };
    html! {
        svg.spark viewBox="0 0 96 24" role="img" {
            title { (title) }
            path.line.s1 d=(plot::straight(&places(&points, &x, &y))) {}
        }
    }
}

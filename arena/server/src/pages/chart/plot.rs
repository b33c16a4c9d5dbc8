//! Lines and steps over one horizontal axis.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::number::{coordinate, decimal};
use super::scale::{Scale, places};
use super::{Head, WIDTH, figure, figures, legend, look};
use crate::pages::table::{Cell, Column, Row};

const HEIGHT: f64 = 300.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
pub(super) const TOP: f64 = 40.0;
const BOTTOM: f64 = 64.0;

/// What an axis measures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis<'a> {
    /// "price"
    pub(crate) label: &'a str,
    /// "$/MWh"
    pub(crate) unit: &'a str,
    /// Of the figures in the table; ticks have as many as they need.
    pub(crate) decimals: usize,
}

impl Axis<'_> {
    fn words(&self) -> String {
        if self.unit.is_empty() { self.label.to_owned() } else { format!("{}, {}", self.label, self.unit) }
    }
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series<'a> {
    /// Its name, escaped here. A stranger's goes through `Excerpt` first.
    pub(crate) name: &'a str,
    /// `(x, y)`; in any order.
    pub(crate) points: &'a [(f64, f64)],
}

/// A chart of up to six series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plot<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// What is shown.
    pub(crate) title: &'a str,
    /// In a sentence, what a person should see in it.
    pub(crate) description: &'a str,
    /// The horizontal axis.
    pub(crate) x: Axis<'a>,
    /// The vertical axis.
    pub(crate) y: Axis<'a>,
    /// The lines; a seventh and further ones are in the table only.
    pub(crate) series: &'a [Series<'a>],
}

/// Points joined by straight lines.
pub(crate) fn line_chart(plot: &Plot<'_>) -> Markup {
    chart(plot, straight)
}

/// Each value holds until the next: for scores and balances over time.
pub(crate) fn step_chart(plot: &Plot<'_>) -> Markup {
    // The last value holds, too.
    chart(plot, |places| if places.is_empty() { String::new() } else { steps(places) + "h8" })
}

fn chart(plot: &Plot<'_>, path: fn(&[(f64, f64)]) -> String) -> Markup {
    let all = || plot.series.iter().flat_map(|series| series.points.iter().copied());
    let x = Scale::around(all().map(|(x, _)| x), (LEFT, WIDTH - RIGHT));
    let y = Scale::around(all().map(|(_, y)| y), (HEIGHT - BOTTOM, TOP)).rounded(4);
    let drawing = html! {
        (axes(&x, &y, &plot.x.words(), &plot.y.words()))
        @for (i, series) in plot.series.iter().take(6).enumerate() {
            path.line.(look(i)) d=(path(&places(series.points, &x, &y))) {}
        }
    };
    let head = Head { id: plot.id, title: plot.title, description: plot.description };
    let names = legend(plot.series.iter().take(6).map(|series| series.name).collect::<Vec<_>>().into_iter());
    figure(head, "chart", HEIGHT, names, drawing, figures(head, &columns(plot), rows(plot)))
}

fn axes(x: &Scale, y: &Scale, x_words: &str, y_words: &str) -> Markup {
    let floor = coordinate(HEIGHT - BOTTOM);
    html! {
        @for (i, tick) in y.ticks(4).iter().enumerate() {
            line.rule x1=(LEFT) x2=(WIDTH - RIGHT) y1=(coordinate(tick.at)) y2=(coordinate(tick.at)) {}
            text.end.minor[i % 2 == 1] x=(LEFT - 8.0) y=(coordinate(tick.at + 4.0)) { (tick.text) }
        }
        line.axis x1=(LEFT) x2=(WIDTH - RIGHT) y1=(floor) y2=(floor) {}
        @for (i, tick) in x.ticks(7).iter().enumerate() {
            @let at = coordinate(tick.at);
            line.axis x1=(at) x2=(at) y1=(floor) y2=(coordinate(HEIGHT - BOTTOM + 5.0)) {}
            text.middle.minor[i % 2 == 1] x=(at) y=(coordinate(HEIGHT - BOTTOM + 24.0)) { (tick.text) }
        }
        text x="0" y="20" { (y_words) }
        text.end x=(WIDTH - RIGHT) y=(HEIGHT - 8.0) { (x_words) }
    }
}

/// A path through places; nothing for none, a dot for one.
pub(super) fn straight(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (i, (x, y)) in places.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{} {}", coordinate(*x), coordinate(*y));
    }
    dotted(path, places.len())
}

/// The same in right angles.
pub(super) fn steps(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (i, (x, y)) in places.iter().enumerate() {
        let _ = match i {
            0 => write!(path, "M{} {}", coordinate(*x), coordinate(*y)),
            _ => write!(path, "H{}V{}", coordinate(*x), coordinate(*y)),
        };
    }
    dotted(path, places.len())
}

fn dotted(mut path: String, places: usize) -> String {
    if places == 1 {
        path.push_str("h0.01");
    }
    path
}

fn columns<'a>(plot: &Plot<'a>) -> Vec<Column<'a>> {
    let mut columns = vec![Column::name("Series"), Column::number(plot.x.label).unit(plot.x.unit)];
    columns.push(Column::number(plot.y.label).unit(plot.y.unit));
    columns
}

fn rows(plot: &Plot<'_>) -> Vec<Row> {
    let row = |name: &str, (x, y): (f64, f64)| {
        let cells: [Cell; 3] =
            [name.into(), decimal(x, plot.x.decimals).into(), decimal(y, plot.y.decimals).into()];
        Row::new(cells)
    };
    plot.series
        .iter()
        .flat_map(|series| series.points.iter().map(move |point| row(series.name, *point)))
        .collect()
}

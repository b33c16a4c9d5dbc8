//! What happened turn by turn, on one axis of time: quantities in panels, one below the other, and orders,
//! offers and the like as bands below them.

use maud::{Markup, html};

use super::bars::cut;
use super::number::{coordinate, decimal};
use super::scale::{Scale, drawable, places};
use super::{Head, WIDTH, figure, figures, plot};
use crate::pages::inline::link;
use crate::pages::marks::Mark;
use crate::pages::table::{Cell, Column, Row};

const LEFT: f64 = 84.0;
const RIGHT: f64 = 12.0;
/// From the top of a panel to that of the next: its name, its drawing, a gap.
const PANEL: f64 = 128.0;
const NAME: f64 = 30.0;
const DRAWN: f64 = 84.0;
const BAND: f64 = 56.0;
const SPAN: f64 = 18.0;
const PANELS_MAX: usize = 6;
const BANDS_MAX: usize = 6;
const SPANS_MAX: usize = 400;
const SLOTS_MAX: usize = 10_000;

/// How a panel's values are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each value holds for its slot.
    Step,
    /// From zero, up or down: flows with a sign.
    Bars,
}

/// One quantity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel<'a> {
    /// "price"
    pub(crate) name: &'a str,
    /// "$/MWh"
    pub(crate) unit: &'a str,
    /// Of the figures in the table.
    pub(crate) decimals: usize,
    /// One for each slot; `None` where it is not known (yet).
    pub(crate) values: &'a [Option<f64>],
    /// How it is drawn.
    pub(crate) shape: Shape,
}

/// Something that lasts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    /// First slot.
    pub(crate) from: usize,
    /// The slot after the last.
    pub(crate) to: usize,
    /// What it means.
    pub(crate) mark: Mark,
    /// In words: "curtail 20 MW". Written into the span where there is room, and always into the table.
    pub(crate) words: &'a str,
}

/// A row of spans.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band<'a> {
    /// "orders"
    pub(crate) name: &'a str,
    /// They should not overlap.
    pub(crate) spans: &'a [Span<'a>],
}

/// Something that happened at one slot, and where to read about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    /// When.
    pub(crate) slot: usize,
    /// "the battery was full: +40.0 became +36.2"
    pub(crate) words: &'a str,
    /// A path of ours.
    pub(crate) href: &'a str,
}

/// The chart. Its length is that of `slots`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bands<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// What is shown.
    pub(crate) title: &'a str,
    /// In a sentence, what a person should see in it.
    pub(crate) description: &'a str,
    /// Name of each slot: "18:15".
    pub(crate) slots: &'a [&'a str],
    /// The quantities, at most six.
    pub(crate) panels: &'a [Panel<'a>],
    /// The bands, at most six.
    pub(crate) bands: &'a [Band<'a>],
    /// The slot that is shown on this page.
    pub(crate) now: Option<usize>,
    /// Dotted lines in the chart, links beneath it.
    pub(crate) moments: &'a [Moment<'a>],
}

/// Panels and bands on one axis.
pub(crate) fn band_chart(chart: &Bands<'_>) -> Markup {
    let slots = chart.slots.len().clamp(1, SLOTS_MAX);
    let x = Scale::around([0.0, slots as f64].into_iter(), (LEFT, WIDTH - RIGHT));
    let panels = &chart.panels[..chart.panels.len().min(PANELS_MAX)];
    let bands = &chart.bands[..chart.bands.len().min(BANDS_MAX)];
    let floor = PANEL * panels.len() as f64 + BAND * bands.len() as f64;
    let drawing = html! {
        @for moment in chart.moments.iter().filter(|moment| moment.slot < slots) {
            @let at = coordinate(x.at(moment.slot as f64 + 0.5));
            line.moment x1=(at) x2=(at) y1="8" y2=(floor) {}
        }
        @for (i, panel) in panels.iter().enumerate() { (draw_panel(panel, i, slots, &x)) }
        @if let Some(now) = chart.now.filter(|now| *now < slots) {
            @let at = coordinate(x.at(now as f64 + 0.5));
            line.now x1=(at) x2=(at) y1="8" y2=(floor) {}
        }
        @for (i, band) in bands.iter().enumerate() {
            (draw_band(band, PANEL * panels.len() as f64 + BAND * i as f64, slots, &x))
        }
        (axis(chart.slots, slots, floor, &x))
    };
    let head = Head { id: chart.id, title: chart.title, description: chart.description };
    let beneath = html! { (moments(chart)) (table(chart, head, slots)) };
    figure(head, "chart bands", floor + 36.0, html! {}, drawing, beneath)
}

fn draw_panel(panel: &Panel<'_>, i: usize, slots: usize, x: &Scale) -> Markup {
    let top = PANEL * i as f64 + NAME;
    let values = &panel.values[..panel.values.len().min(slots)];
    let zero = (panel.shape == Shape::Bars).then_some(0.0);
    let y = Scale::around(values.iter().flatten().copied().chain(zero), (top + DRAWN, top)).rounded(3);
    html! {
        text.strong x=(LEFT) y=(top - 9.0) { (panel.name) ", " (panel.unit) }
        @for (n, tick) in y.ticks(3).iter().enumerate() {
            line.rule x1=(LEFT) x2=(WIDTH - RIGHT) y1=(coordinate(tick.at)) y2=(coordinate(tick.at)) {}
            text.end.minor[n % 2 == 1] x=(LEFT - 8.0) y=(coordinate(tick.at + 4.0)) { (tick.text) }
        }
        @match panel.shape {
            Shape::Step => {
                @for (from, run) in runs(values) {
                    @let last = run.last().map(|value| ((from + run.len()) as f64, *value));
                    @let each = run.iter().enumerate().map(|(n, value)| ((from + n) as f64, *value));
                    @let points: Vec<_> = each.chain(last).collect();
                    path.line.(super::look(i)) d=(plot::steps(&places(&points, x, &y))) {}
                }
            }
            Shape::Bars => (draw_bars(values, slots, i, x, &y))
        }
    }
}

/// The stretches in which every value is known.
fn runs(values: &[Option<f64>]) -> Vec<(usize, Vec<f64>)> {
    let mut runs: Vec<(usize, Vec<f64>)> = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let Some(value) = value.filter(|value| drawable(*value)) else { continue };
        match runs.last_mut() {
            Some((from, run)) if *from + run.len() == i => run.push(value),
            _ => runs.push((i, vec![value])),
        }
    }
    runs
}

/// A bar for each slot, or for each column of about two units where slots are narrower: from its least to
/// its most.
fn draw_bars(values: &[Option<f64>], slots: usize, look: usize, x: &Scale, y: &Scale) -> Markup {
    let width = (WIDTH - LEFT - RIGHT) / slots as f64;
    let together = ((2.0 / width).ceil() as usize).max(1);
    html! {
        @for (n, group) in values.chunks(together).enumerate() {
            @let known = group.iter().flatten().copied().filter(|value| drawable(*value));
            @let (low, high) = known.fold((0.0_f64, 0.0_f64), |(a, b), value| (a.min(value), b.max(value)));
            @if low < high {
                @let top = y.at(high);
                rect.fill.(super::look(look)) x=(coordinate(x.at((n * together) as f64) + 0.15 * width))
                    y=(coordinate(top)) width=(coordinate(0.7 * width * together as f64))
                    height=(coordinate((y.at(low) - top).max(1.0))) {}
            }
        }
        line.axis x1=(LEFT) x2=(WIDTH - RIGHT) y1=(coordinate(y.at(0.0))) y2=(coordinate(y.at(0.0))) {}
    }
}

fn draw_band(band: &Band<'_>, top: f64, slots: usize, x: &Scale) -> Markup {
    let bar = top + NAME - 2.0;
    html! {
        text.strong x=(LEFT) y=(top + NAME - 9.0) { (band.name) }
        line.rule x1=(LEFT) x2=(WIDTH - RIGHT) y1=(bar + SPAN) y2=(bar + SPAN) {}
        @for span in band.spans.iter().take(SPANS_MAX).filter(|it| it.from < it.to && it.from < slots) {
            @let (from, to) = (x.at(span.from as f64), x.at(span.to.min(slots) as f64));
            @let kind = span.mark.class();
            rect.span.(kind) x=(coordinate(from + 1.0)) y=(bar) rx="2"
                width=(coordinate((to - from - 2.0).max(1.5))) height=(SPAN) {}
            @if let (Some((shape, path)), true) = (span.mark.shape(), to - from >= 22.0) {
                @let (at_x, at_y) = (coordinate(from + 6.0), coordinate(bar + 3.5));
                g transform=(format!("translate({at_x} {at_y}) scale(0.7)")) {
                    path class=(format!("{shape} on-{kind}")) d=(path) {}
                }
            }
            @let room = ((to - from - 28.0) / 8.0).max(0.0) as usize;
            @if room >= span.words.chars().count().min(6) {
                text.minor.(format!("on-{kind}")) x=(coordinate(from + 22.0)) y=(bar + 13.5) {
                    (cut(span.words, room))
                }
            }
        }
    }
}

fn axis(names: &[&str], slots: usize, floor: f64, x: &Scale) -> Markup {
    // Halves of an hour, hours: slots come in quarters of one.
    let every = slots.div_ceil(8).next_power_of_two();
    html! {
        line.axis x1=(LEFT) x2=(WIDTH - RIGHT) y1=(floor) y2=(floor) {}
        @for (n, (i, name)) in names.iter().take(slots).enumerate().step_by(every).enumerate() {
            @let at = coordinate(x.at(i as f64));
            line.axis x1=(at) x2=(at) y1=(floor) y2=(floor + 5.0) {}
            text.minor[n % 2 == 1] x=(at) y=(floor + 24.0) { (cut(name, 16)) }
        }
    }
}

fn moments(chart: &Bands<'_>) -> Markup {
    html! {
        @if !chart.moments.is_empty() {
            ul.moments aria-label="Key moments" {
                @for moment in chart.moments.iter().take(SPANS_MAX) {
                    li {
                        @if let Some(name) = chart.slots.get(moment.slot) { span.quiet { (name) } " " }
                        (link(moment.href, &html! { (moment.words) }))
                    }
                }
            }
        }
    }
}

fn table(chart: &Bands<'_>, head: Head<'_>, slots: usize) -> Markup {
    let mut columns = vec![Column::name("Time")];
    columns.extend(chart.panels.iter().map(|panel| Column::number(panel.name).unit(panel.unit)));
    columns.extend(chart.bands.iter().map(|band| Column::words(band.name)));
    let rows = chart.slots.iter().take(slots).enumerate().map(|(i, name)| {
        let mut cells: Vec<Cell> = vec![(*name).into()];
        cells.extend(chart.panels.iter().map(|panel| match panel.values.get(i).copied().flatten() {
            Some(value) => decimal(value, panel.decimals).into(),
            None => Cell::none("not known"),
        }));
        cells.extend(chart.bands.iter().map(|band| {
            let words: Vec<_> =
                band.spans.iter().filter(|it| it.from <= i && i < it.to).map(|it| it.words).collect();
            words.join("; ").into()
        }));
        Row::new(cells)
    });
    figures(head, &columns, rows.collect())
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn a_gap_ends_a_line() {
        let values = [None, Some(1.0), Some(2.0), None, Some(f64::NAN), Some(3.0)];
        assert_eq!(runs(&values), [(1, vec![1.0, 2.0]), (5, vec![3.0])]);
    }
}

//! Sweeps as one SVG file that stands alone: a panel for each axis, a dot with its interval for each value.

use std::fmt::{Arguments, Write as _};

use arena_claims::simulate::{Axis, Point, Sweep};

use super::breaking::{tone, whole};
use super::percent;
use crate::ink::Tone;
use crate::view::numbers::grouped;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 88.0;
const RIGHT: f64 = 32.0;
const TOP: f64 = 52.0;
/// Of the dots of one panel.
const HEIGHT: f64 = 200.0;
/// From one panel to the next.
const STEP: f64 = 300.0;

const STYLE: &str = "\
:root { --ink: #1c2128; --quiet: #6b7280; --line: #d5d9e0; --paper: #ffffff; --good: #2f8f46; --warn: #b97d0a; --bad: #c93a35; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --quiet: #9aa3b0; --line: #3a414c; --paper: #14181e; --good: #63c37a; --warn: #f0bd55; --bad: #f0726c; } }
text { font: 13px system-ui, sans-serif; fill: var(--ink); } .title { font-size: 16px; font-weight: 600; }
.quiet { fill: var(--quiet); font-size: 12px; } .paper { fill: var(--paper); } .line { stroke: var(--line); }
.zero { stroke: var(--ink); } .said { stroke: var(--quiet); stroke-dasharray: 5 4; }
.good { fill: var(--good); stroke: var(--good); } .warn { fill: var(--warn); stroke: var(--warn); }
.bad { fill: var(--bad); stroke: var(--bad); }";

/// The file's text.
pub(super) fn svg(sweeps: &[Sweep]) -> String {
    let height = TOP + STEP * sweeps.len() as f64;
    let mut out = Lines(String::new());
    let title = "Where honesty stops being best";
    out.put(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">"#
    ));
    out.put(format_args!("<title>{title}</title>\n<style>{STYLE}</style>"));
    out.put(format_args!(r#"<rect class="paper" width="{WIDTH}" height="{height}"/>"#));
    out.put(format_args!(r#"<text class="title" x="16" y="28">{title}</text>"#));
    for (i, sweep) in sweeps.iter().enumerate() {
        panel(&mut out, sweep, TOP + STEP * i as f64 + 28.0);
    }
    out.put(format_args!("</svg>"));
    out.0
}

struct Lines(String);

impl Lines {
    fn put(&mut self, line: Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a String takes any text");
    }
}

/// Where values and margins of a panel stand.
struct Scale {
    first: u64,
    last: u64,
    low: f64,
    high: f64,
    top: f64,
}

impl Scale {
    fn of(sweep: &Sweep, top: f64) -> Self {
        let ends = sweep.points.iter().filter_map(|point| ends(point, sweep.axis));
        let (low, high) =
            ends.fold((0.0f64, 0.0f64), |(low, high), (_, from, to)| (low.min(from), high.max(to)));
        let first = sweep.points.first().map_or(0, |point| point.value);
        let last = sweep.points.last().map_or(1, |point| point.value);
        let high = if high > low { high } else { low + 1.0 };
        Self { first, last, low, high, top }
    }

    fn x(&self, value: u64) -> f64 {
        let span = self.last.saturating_sub(self.first).max(1) as f64;
        LEFT + (value.saturating_sub(self.first)) as f64 / span * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, margin: f64) -> f64 {
        self.top + (self.high - margin) / (self.high - self.low) * HEIGHT
    }
}

/// The margin of a point and the ends of its interval.
fn ends(point: &Point, axis: Axis) -> Option<(f64, f64, f64)> {
    let (margin, half) = (point.margin(axis)?, point.margin_half(axis)?);
    Some((whole(margin), whole(margin - half), whole(margin + half)))
}

fn panel(out: &mut Lines, sweep: &Sweep, top: f64) {
    let axis = sweep.axis;
    let scale = Scale::of(sweep, top);
    let said = sweep.predicted.least.filter(|least| (scale.first..=scale.last).contains(least));
    out.put(format_args!(
        r#"<text x="16" y="{}">{}: {} <tspan class="quiet">({} rounds at each value)</tspan></text>"#,
        top - 12.0,
        axis.title(),
        axis.measure(),
        sweep.claims
    ));
    for margin in [scale.high, 0.0, scale.low] {
        let (y, class) = (scale.y(margin), if margin == 0.0 { "zero" } else { "line" });
        out.put(format_args!(
            r#"<line class="{class}" x1="{LEFT}" x2="{}" y1="{y:.1}" y2="{y:.1}"/>"#,
            WIDTH - RIGHT
        ));
        let (x, y) = (LEFT - 8.0, y + 4.0);
        out.put(format_args!(
            r#"<text class="quiet" x="{x}" y="{y:.1}" text-anchor="end">{}</text>"#,
            grouped(margin, 0)
        ));
    }
    if let Some(least) = said {
        let (x, bottom) = (scale.x(least), top + HEIGHT);
        let told = percent(least, axis.whole());
        out.put(format_args!(r#"<line class="said" x1="{x:.1}" x2="{x:.1}" y1="{top}" y2="{bottom}"/>"#));
        out.put(format_args!(
            r#"<text class="quiet" x="{x:.1}" y="{}" text-anchor="middle">condition {}: {told}</text>"#,
            bottom + 34.0,
            sweep.predicted.id
        ));
    }
    dots(out, sweep, &scale);
}

fn dots(out: &mut Lines, sweep: &Sweep, scale: &Scale) {
    let axis = sweep.axis;
    let mut labelled = f64::NEG_INFINITY;
    for point in &sweep.points {
        let x = scale.x(point.value);
        let told = percent(point.value, axis.whole());
        // As many labels as do not touch.
        if x - labelled >= 48.0 {
            labelled = x;
            let y = scale.top + HEIGHT + 18.0;
            out.put(format_args!(
                r#"<text class="quiet" x="{x:.1}" y="{y}" text-anchor="middle">{told}</text>"#
            ));
        }
        let Some((margin, low, high)) = ends(point, axis) else { continue };
        let class = match tone(point, axis) {
            Tone::Good => "good",
            Tone::Bad => "bad",
            _ => "warn",
        };
        let (y, upper, lower) = (scale.y(margin), scale.y(high), scale.y(low));
        out.put(format_args!(
            r#"<g class="{class}"><title>{told}: {} ({} to {})</title>"#,
            grouped(margin, 1),
            grouped(low, 1),
            grouped(high, 1)
        ));
        out.put(format_args!(
            r#"<line x1="{x:.1}" x2="{x:.1}" y1="{upper:.1}" y2="{lower:.1}" stroke-width="2"/>"#
        ));
        out.put(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4"/></g>"#));
    }
}

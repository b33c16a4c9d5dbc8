//! A chart as one SVG file that stands alone, for light and dark pages.

use std::fmt::{self, Display, Write as _};

use crate::ink::Tone;
use crate::view::chart::{Band, Chart, Mark, Panel};
use crate::view::numbers::{decimals, grouped};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 44.0;
/// Height of one row of text that a panel asks for.
const ROW: f64 = 26.0;
const PANEL_GAP: f64 = 34.0;
const BAND: f64 = 14.0;
const BAND_STEP: f64 = 34.0;
/// Most columns; more turns share one.
const COLUMNS_MAX: usize = 1_000;

const STYLE: &str = "\
:root { --ink: #1c2128; --quiet: #6b7280; --line: #d5d9e0; --paper: #ffffff;
  --blue: #2563c9; --magenta: #a03a9b; --cyan: #0e8a94; --good: #2f8f46; --warn: #d99a1c; --bad: #c93a35; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --quiet: #9aa3b0; --line: #3a414c; --paper: #14181e;
    --blue: #6ea3f5; --magenta: #d98ad3; --cyan: #4fc3cc; --good: #63c37a; --warn: #f0bd55; --bad: #f0726c; } }
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.title { font-size: 16px; font-weight: 600; } .quiet { fill: var(--quiet); font-size: 12px; }
.line { stroke: var(--line); } .paper { fill: var(--paper); } .none { fill: var(--line); fill-opacity: .4; }
.faint { fill: var(--quiet); fill-opacity: .5; } .half { fill-opacity: .55; }
.blue { fill: var(--blue); } .magenta { fill: var(--magenta); } .cyan { fill: var(--cyan); }
.good { fill: var(--good); } .warn { fill: var(--warn); } .bad { fill: var(--bad); }";

/// The file's text.
pub(crate) fn draw(chart: &Chart) -> String {
    let mut text = String::new();
    write(&mut text, &chart.squeezed(COLUMNS_MAX)).expect("a String takes any text");
    text
}

fn write(out: &mut String, chart: &Chart) -> fmt::Result {
    let panels: f64 = chart.panels.iter().map(|panel| panel_height(panel) + PANEL_GAP).sum();
    let height = TOP + panels + 10.0 + BAND_STEP * chart.bands.len() as f64 + 24.0;
    let title = Escaped(&chart.title);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">"#
    )?;
    writeln!(out, "<title>{title}</title>\n<style>{STYLE}</style>")?;
    writeln!(out, r#"<rect class="paper" width="{WIDTH}" height="{height}"/>"#)?;
    writeln!(out, r#"<text class="title" x="{LEFT}" y="24">{title}</text>"#)?;
    let mut y = TOP;
    for panel in &chart.panels {
        write_panel(out, chart, panel, y + 18.0)?;
        y += panel_height(panel) + PANEL_GAP;
    }
    write_ticks(out, chart, y)?;
    y += 18.0;
    for band in &chart.bands {
        write_band(out, chart, band, y)?;
        y += BAND_STEP;
    }
    if let Some(remark) = &chart.remark {
        writeln!(out, r#"<text class="quiet" x="{LEFT}" y="{}">{}</text>"#, y + 8.0, Escaped(remark))?;
    }
    writeln!(out, "</svg>")
}

fn panel_height(panel: &Panel) -> f64 {
    panel.rows as f64 * ROW
}

fn column(chart: &Chart) -> f64 {
    (WIDTH - LEFT - RIGHT) / chart.ticks.len().max(1) as f64
}

fn write_panel(out: &mut String, chart: &Chart, panel: &Panel, y: f64) -> fmt::Result {
    let top = panel.values.iter().copied().fold(0.0, f64::max);
    let bottom = panel.values.iter().copied().fold(0.0, f64::min);
    let span = if top > bottom { top - bottom } else { 1.0 };
    let height = panel_height(panel);
    let at = |value: f64| y + (top - value) / span * height;
    let places = decimals([span]);
    writeln!(out, r#"<text x="{LEFT}" y="{}">{}</text>"#, y - 5.0, Escaped(&panel.label))?;
    let mut marked = vec![top, 0.0, bottom];
    marked.dedup();
    for value in marked {
        let (line, text) = (at(value), at(value) + 4.0);
        writeln!(
            out,
            r#"<line class="line" x1="{LEFT}" x2="{}" y1="{line:.1}" y2="{line:.1}"/>"#,
            WIDTH - RIGHT
        )?;
        let (x, label) = (LEFT - 6.0, if value == 0.0 { "0".to_owned() } else { grouped(value, places) });
        writeln!(out, r#"<text class="quiet" x="{x}" y="{text:.1}" text-anchor="end">{label}</text>"#)?;
    }
    writeln!(out, r#"<g class="{}">"#, class(panel.tone))?;
    let step = column(chart);
    for ((i, value), tick) in panel.values.iter().enumerate().zip(&chart.ticks) {
        let (x, w) = (LEFT + i as f64 * step, (step * 0.92).max(0.4));
        let (upper, lower) = (at(value.max(0.0)), at(value.min(0.0)));
        let h = (lower - upper).max(0.6);
        let told = grouped(*value, decimals([*value]));
        writeln!(
            out,
            r#"<rect x="{x:.2}" y="{upper:.1}" width="{w:.2}" height="{h:.1}"><title>{}: {told}</title></rect>"#,
            Escaped(tick)
        )?;
    }
    writeln!(out, "</g>")
}

fn write_ticks(out: &mut String, chart: &Chart, y: f64) -> fmt::Result {
    let step = column(chart);
    let every = (56.0 / step).ceil().max(1.0) as usize;
    for (i, tick) in chart.ticks.iter().enumerate().step_by(every) {
        let x = LEFT + i as f64 * step;
        writeln!(out, r#"<text class="quiet" x="{x:.1}" y="{:.1}">{}</text>"#, y, Escaped(tick))?;
    }
    Ok(())
}

fn write_band(out: &mut String, chart: &Chart, band: &Band, y: f64) -> fmt::Result {
    write_legend(out, band, y + 10.0)?;
    let step = column(chart);
    let mut start = 0;
    // One rectangle for each run of equal marks.
    for run in band.marks.chunk_by(|a, b| a == b) {
        let class = mark_class(run[0]);
        let (x, w) = (LEFT + start as f64 * step, run.len() as f64 * step);
        let y = y + 14.0;
        writeln!(
            out,
            r#"<rect class="{class}" x="{x:.2}" y="{y:.1}" width="{w:.2}" height="{}"/>"#,
            BAND - 4.0
        )?;
        start += run.len();
    }
    Ok(())
}

/// The label, then a square of each colour with its word.
fn write_legend(out: &mut String, band: &Band, y: f64) -> fmt::Result {
    write!(out, r#"<text class="quiet" x="{LEFT}" y="{y}">{}"#, Escaped(&band.label))?;
    for (mark, word) in &band.legend {
        let class = mark_class(*mark);
        write!(
            out,
            r#"  <tspan class="{class}" dx="10">■</tspan><tspan class="quiet" dx="3">{word}</tspan>"#
        )?;
    }
    writeln!(out, "</text>")
}

fn mark_class(mark: Mark) -> String {
    match mark {
        Mark::None => "none".to_owned(),
        Mark::Faint => "faint".to_owned(),
        Mark::Half(tone) => format!("{} half", class(tone)),
        Mark::Full(tone) => class(tone).to_owned(),
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Blue => "blue",
        Tone::Magenta => "magenta",
        Tone::Cyan => "cyan",
        Tone::Good => "good",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
        Tone::Plain | Tone::Strong | Tone::Quiet => "faint",
    }
}

/// Text within XML.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // Most control characters and these two may not stand in XML at all.
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                control if control.is_control() => f.write_char('\u{fffd}')?,
                plain => f.write_char(plain)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_element() {
        let escaped = Escaped("<script>\"&'\u{1}\u{fffe}\u{ffff}").to_string();
        assert_eq!(escaped, "&lt;script&gt;&quot;&amp;'\u{fffd}\u{fffd}\u{fffd}");
    }
}

//! A heat map as one SVG file that stands alone, for light and dark pages.

use std::fmt::{self, Write as _};

use super::{Heat, Scale};
use crate::view::lines::width;
use crate::view::svg::Escaped;

/// Width of the drawing, if the cells fill it.
const WIDTH: f64 = 960.0;
/// So that the legend has room under few strategies.
const WIDTH_MIN: f64 = 480.0;
const MARGIN: f64 = 16.0;
const CELL_WIDTH_MAX: f64 = 60.0;
const CELL_HEIGHT_MAX: f64 = 32.0;
/// Most strategies: a picture has a cell for each two of them.
const SHOWN_MAX: usize = 100;
/// Most characters of a name beside the cells. Where the pointer rests, all of it is told.
const NAME_MAX: usize = 24;
/// Width of a character of a label, about.
const LETTER: f64 = 7.0;
/// And of the title.
const TITLE_LETTER: f64 = 9.5;
/// Distance of two labels.
const LABEL_STEP: f64 = 13.0;
/// Width of a digit in a cell, about.
const DIGIT: f64 = 6.4;
/// Slope of the labels over the columns: cosine and sine of 60 degrees.
const SLOPE: (f64, f64) = (0.5, 0.867);
/// Shades of one hue whose lightness alone tells them apart.
const LEVELS: usize = 9;
/// From this level on, a figure has the other ink. Every figure has a contrast of 4.5 or more.
const OTHER_INK: usize = 5;
const SWATCH: f64 = 28.0;

const STYLE: &str = "\
:root { --ink: #1c2128; --quiet: #6b7280; --line: #d5d9e0; --paper: #ffffff; --low: #1c2128; --high: #ffffff;
  --h0: #eef4fb; --h1: #d0e0f2; --h2: #aac8e7; --h3: #84afdc; --h4: #6197cd; --h5: #3978b5; --h6: #20609b;
  --h7: #0c4a7d; --h8: #023259; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --quiet: #9aa3b0; --line: #3a414c; --paper: #14181e; --low: #ffffff; --high: #1c2128;
    --h0: #192837; --h1: #213a53; --h2: #284d71; --h3: #2f6191; --h4: #4078b0; --h5: #6197cd; --h6: #81afdf;
    --h7: #aacbee; --h8: #d4e7fc; } }
text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.title { font-size: 16px; font-weight: 600; } .quiet { fill: var(--quiet); } .paper { fill: var(--paper); }
.none { fill: none; stroke: var(--line); pointer-events: all; } .end { text-anchor: end; }
.figure { font-size: 11px; text-anchor: middle; } .low { fill: var(--low); } .high { fill: var(--high); }
.h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); } .h3 { fill: var(--h3); }
.h4 { fill: var(--h4); } .h5 { fill: var(--h5); } .h6 { fill: var(--h6); } .h7 { fill: var(--h7); }
.h8 { fill: var(--h8); }";

/// The file's text.
pub(crate) fn draw(heat: &Heat) -> String {
    let mut text = String::new();
    write(&mut text, heat).expect("a String takes any text");
    text
}

fn write(out: &mut String, heat: &Heat) -> fmt::Result {
    let frame = Frame::of(heat);
    let scale = Scale::of(heat);
    let Frame { width, height, .. } = frame;
    let title = Escaped(&heat.title);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1} {height:.1}" role="img" aria-label="{title}">"#
    )?;
    writeln!(out, "<title>{title}</title>\n<desc>{}</desc>", Escaped(&description(heat, &frame, scale)))?;
    writeln!(out, "<style>{STYLE}</style>")?;
    writeln!(out, r#"<rect class="paper" width="{width:.1}" height="{height:.1}"/>"#)?;
    writeln!(out, r#"<text class="title" x="{MARGIN}" y="26">{title}</text>"#)?;
    writeln!(out, r#"<text class="quiet" x="{MARGIN}" y="46">{}</text>"#, Escaped(&heat.unit))?;
    write_labels(out, heat, &frame)?;
    if let Some(scale) = scale {
        for row in 0..frame.shown {
            for column in 0..frame.shown {
                write_cell(out, heat, &frame, &scale, (row, column))?;
            }
        }
        write_legend(out, &frame, &scale)?;
    }
    if let Some(remark) = heat.remark(frame.shown) {
        let y = frame.legend() + 40.0;
        writeln!(out, r#"<text class="quiet" x="{MARGIN}" y="{y:.1}">{remark}</text>"#)?;
    }
    writeln!(out, "</svg>")
}

/// What goes where.
struct Frame {
    shown: usize,
    width: f64,
    height: f64,
    left: f64,
    top: f64,
    cell: (f64, f64),
}

impl Frame {
    fn of(heat: &Heat) -> Self {
        let shown = heat.names.len().min(SHOWN_MAX);
        let longest = (0..shown).map(|at| width(&label(heat, at))).max().unwrap_or_default();
        let label = longest as f64 * LETTER;
        let left = MARGIN + label + 8.0;
        // The last column's label leans over the edge.
        let right = label * SLOPE.0 + MARGIN;
        let top = 62.0 + label * SLOPE.1;
        let count = shown.max(1) as f64;
        let across = ((WIDTH - left - right) / count).min(CELL_WIDTH_MAX);
        let cell = (across, across.min(CELL_HEIGHT_MAX));
        let remark = if shown < heat.names.len() { 22.0 } else { 0.0 };
        let title = width(&heat.title) as f64 * TITLE_LETTER;
        let unit = width(&heat.unit) as f64 * LETTER;
        let head = title.max(unit).min(WIDTH - 2.0 * MARGIN) + 2.0 * MARGIN;
        let width = (left + cell.0 * count + right).max(WIDTH_MIN).max(head);
        Self { shown, width, height: top + cell.1 * count + 56.0 + remark, left, top, cell }
    }

    fn x(&self, column: usize) -> f64 {
        self.left + self.cell.0 * column as f64
    }

    fn y(&self, row: usize) -> f64 {
        self.top + self.cell.1 * row as f64
    }

    /// Upper edge of the legend.
    fn legend(&self) -> f64 {
        self.y(self.shown.max(1)) + 18.0
    }
}

/// `12 Tit For Tat`
fn label(heat: &Heat, at: usize) -> String {
    format!("{} {}", at + 1, heat.label(at, NAME_MAX))
}

fn description(heat: &Heat, frame: &Frame, scale: Option<Scale>) -> String {
    let shown = frame.shown;
    let Some(scale) = scale else {
        return format!("A heat map of {shown} strategies, of which no two played.");
    };
    let Heat { unit, .. } = heat;
    let (low, high) = (scale.text(scale.low), scale.text(scale.high));
    format!("A heat map of {shown} by {shown} strategies: {unit}. The figures go from {low} to {high}.")
}

fn write_labels(out: &mut String, heat: &Heat, frame: &Frame) -> fmt::Result {
    let every = |step: f64| (LABEL_STEP / step).ceil().max(1.0) as usize;
    for at in (0..frame.shown).step_by(every(frame.cell.1)) {
        let (x, y) = (frame.left - 8.0, frame.y(at) + frame.cell.1 / 2.0 + 4.0);
        let label = label(heat, at);
        writeln!(out, r#"<text class="end" x="{x:.1}" y="{y:.1}">{}</text>"#, Escaped(&label))?;
    }
    for at in (0..frame.shown).step_by(every(frame.cell.0)) {
        let (x, y) = (frame.x(at) + frame.cell.0 / 2.0 + 3.0, frame.top - 6.0);
        let label = label(heat, at);
        writeln!(
            out,
            r#"<text transform="translate({x:.1} {y:.1}) rotate(-60)">{}</text>"#,
            Escaped(&label)
        )?;
    }
    Ok(())
}

fn write_cell(
    out: &mut String,
    heat: &Heat,
    frame: &Frame,
    scale: &Scale,
    (row, column): (usize, usize),
) -> fmt::Result {
    let (x, y) = (frame.x(column), frame.y(row));
    let gap = if frame.cell.0 < 12.0 { 0.0 } else { 1.0 };
    let (w, h) = (frame.cell.0 - gap, frame.cell.1 - gap);
    let value = heat.cell(row, column);
    let class = value.map_or_else(|| "none".to_owned(), |value| format!("h{}", scale.level(value, LEVELS)));
    let told = value.map_or_else(|| "no game".to_owned(), |value| scale.text(value));
    let (this, other) = (heat.label(row, usize::MAX), heat.label(column, usize::MAX));
    writeln!(
        out,
        r#"<path class="{class}" d="{}"><title>{} against {}: {told}</title></path>"#,
        outline((x, y), (w, h), value.is_none()),
        Escaped(&this),
        Escaped(&other)
    )?;
    let fits = frame.cell.1 >= LABEL_STEP && width(&told) as f64 * DIGIT + 4.0 <= w;
    if let (Some(value), true) = (value, fits) {
        let ink = if scale.level(value, LEVELS) < OTHER_INK { "low" } else { "high" };
        let (x, y) = (x + w / 2.0, y + h / 2.0 + 4.0);
        writeln!(
            out,
            r#"<text class="figure {ink}" x="{x:.1}" y="{y:.1}" pointer-events="none">{told}</text>"#
        )?;
    }
    Ok(())
}

/// A rectangle; with a diagonal if it is empty, because a frame alone looks like a shade.
fn outline((x, y): (f64, f64), (w, h): (f64, f64), empty: bool) -> String {
    let diagonal = if empty { format!("l{w:.2} {h:.2}") } else { String::new() };
    format!("M{x:.2} {y:.2}h{w:.2}v{h:.2}h-{w:.2}z{diagonal}")
}

/// All shades between the lowest figure and the highest, and what an empty cell is.
fn write_legend(out: &mut String, frame: &Frame, scale: &Scale) -> fmt::Result {
    let y = frame.legend();
    let text = y + 13.0;
    let low = scale.text(scale.low);
    writeln!(out, r#"<text class="quiet" x="{MARGIN}" y="{text:.1}">{low}</text>"#)?;
    let mut x = MARGIN + width(&low) as f64 * (LETTER + 1.0) + 8.0;
    let levels = if scale.is_flat() { LEVELS / 2..LEVELS / 2 + 1 } else { 0..LEVELS };
    for level in levels {
        let from = scale.text(scale.from(level, LEVELS));
        writeln!(
            out,
            r#"<rect class="h{level}" x="{x:.1}" y="{y:.1}" width="{SWATCH}" height="16"><title>from {from}</title></rect>"#
        )?;
        x += SWATCH;
    }
    x += if scale.is_flat() { 24.0 } else { 8.0 };
    if !scale.is_flat() {
        let high = scale.text(scale.high);
        writeln!(out, r#"<text class="quiet" x="{x:.1}" y="{text:.1}">{high}</text>"#)?;
        x += width(&high) as f64 * (LETTER + 1.0) + 24.0;
    }
    writeln!(out, r#"<path class="none" d="{}"/>"#, outline((x, y), (16.0, 16.0), true))?;
    writeln!(out, r#"<text class="quiet" x="{:.1}" y="{text:.1}">no game</text>"#, x + 24.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::heat;
    use super::draw;

    /// How many elements `name` there are. Every `<` belongs to one, or text did not stay text.
    fn elements(svg: &str, name: &str) -> usize {
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        svg.matches(&format!("<{name}")).count()
    }

    #[test]
    fn each_pair_has_a_cell_with_its_names_and_its_figure() {
        let svg = draw(&heat(&["Alice", "Bob"], |row, column| (row != column).then_some(1.0 + row as f64)));
        assert_eq!([elements(&svg, "rect"), elements(&svg, "path")], [1 + 9, 4 + 1]);
        for part in [
            "<title>Who beats whom</title>",
            "<desc>A heat map of 2 by 2 strategies: points of the row's strategy against the column's. The \
             figures go from 1 to 2.</desc>",
            "<title>Alice against Bob: 1</title>",
            "<title>Bob against Alice: 2</title>",
            "<title>Bob against Bob: no game</title>",
            ">1 Alice</text>",
            r#"class="figure low""#,
            r#"class="figure high""#,
            "prefers-color-scheme: dark",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
    }

    #[test]
    fn names_are_text() {
        let wicked = r#"</title><script>alert("&'")</script>"#;
        let mut map = heat(&[wicked, "]]>\u{1}\u{202e}\u{ffff}"], |_, _| Some(1.0));
        (map.title, map.unit) = (wicked.to_owned(), wicked.to_owned());
        let svg = draw(&map);
        assert!(!svg.contains("<script") && !svg.contains("\"&'\""), "{svg}");
        assert!(!svg.contains(['\u{1}', '\u{202e}', '\u{ffff}']));
        assert_eq!(elements(&svg, "title"), svg.matches("</title>").count());
    }

    #[test]
    fn a_thousand_strategies_are_a_picture_of_a_hundred() {
        let name = "n".repeat(64);
        let svg = draw(&heat(&vec![&*name; 1000], |row, column| Some((row * column) as f64)));
        assert!(svg.contains("(the first 100 of 1000 strategies)"));
        assert!(svg.len() < 4 << 20, "{} bytes", svg.len());
        assert_eq!(elements(&svg, "path"), 10_000 + 1);
        assert!(!svg.contains("class=\"figure"), "no figure fits");
    }

    #[test]
    fn nothing_to_show_is_a_picture_too() {
        for names in [vec![], vec!["a"]] {
            let svg = draw(&heat(&names, |_, _| None));
            assert!(svg.contains("of which no two played") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let flat = draw(&heat(&["a"], |_, _| Some(3.0)));
        assert!(flat.contains("from 3 to 3") && flat.contains("a against a: 3"));
    }
}

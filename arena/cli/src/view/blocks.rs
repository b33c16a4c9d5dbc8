//! A chart in block characters, for a terminal.

use crate::ink::{Ink, Tone};
use crate::view::chart::{Band, Chart, Mark, Panel};
use crate::view::lines::width;
use crate::view::numbers::{decimals, grouped};

/// Heights in eighths of a row, upwards.
const UP: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Most columns of a terminal that one turn takes.
const TURN_MAX: usize = 4;

/// The lines of `chart`, at most `columns` wide.
pub(crate) fn draw(chart: &Chart, columns: usize, ink: Ink) -> Vec<String> {
    let axis = axis_width(chart);
    let room = columns.saturating_sub(axis + 2).max(10);
    let chart = chart.squeezed(room);
    let each = turn_width(&chart, room);
    let mut lines = Vec::new();
    for panel in &chart.panels {
        lines.push(ink.paint(Tone::Strong, &panel.label));
        lines.extend(draw_panel(panel, axis, each, ink));
    }
    let indent = " ".repeat(axis);
    lines.push(format!("{indent} └{}", "─".repeat(each * chart.ticks.len())));
    lines.push(format!("{indent}  {}", tick_line(&chart.ticks, each, room)).trim_end().to_owned());
    for band in &chart.bands {
        lines.push(draw_band(band, axis, each, columns, ink));
    }
    lines.extend(chart.remark.iter().map(|remark| ink.paint(Tone::Quiet, format!("({remark})"))));
    lines
}

/// Columns of one turn: labels stand beside their bands if two are left then.
fn turn_width(chart: &Chart, room: usize) -> usize {
    let turns = chart.ticks.len().max(1);
    let labels = chart.bands.iter().map(|band| width(&band_label(band)) + 2).max().unwrap_or_default();
    match room.saturating_sub(labels) / turns {
        0 | 1 => (room / turns).clamp(1, TURN_MAX),
        beside => beside.min(TURN_MAX),
    }
}

/// Where the axis of a panel stands: rows above and below zero, and what one row is worth.
struct Scale {
    above: usize,
    below: usize,
    row: f64,
}

impl Scale {
    fn of(panel: &Panel) -> Self {
        let top = panel.values.iter().copied().fold(0.0, f64::max);
        let bottom = panel.values.iter().copied().fold(0.0, f64::min);
        let rows = panel.rows.max(2);
        // One scale for both sides of zero: the finest that fits, in as few rows as it needs.
        let sizes = (1..=rows).flat_map(|above| (0..=rows - above).map(move |below| (above, below)));
        let fits = |scale: &Self| scale.bottom() <= bottom && scale.rows() > 1;
        let order = |a: &Self, b: &Self| {
            a.row.total_cmp(&b.row).then(a.rows().cmp(&b.rows())).then(a.below.cmp(&b.below))
        };
        let scales = sizes.map(|(above, below)| Self::with(above, below, top, bottom));
        scales.filter(fits).min_by(order).unwrap_or(Self { above: 1, below: 1, row: 1.0 })
    }

    fn with(above: usize, below: usize, top: f64, bottom: f64) -> Self {
        let up = top / above as f64;
        let down = if below == 0 { 0.0 } else { -bottom / below as f64 };
        Self { above, below, row: round_up(up.max(down)) }
    }

    fn rows(&self) -> usize {
        self.above + self.below
    }

    fn top(&self) -> f64 {
        self.above as f64 * self.row
    }

    fn bottom(&self) -> f64 {
        -(self.below as f64) * self.row
    }
}

/// The next number of the kind 1, 2, 2.5, 5, 10 …
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(10.0 * power)
}

fn axis_width(chart: &Chart) -> usize {
    let labels = chart.panels.iter().flat_map(|panel| {
        let scale = Scale::of(panel);
        [label(scale.top(), &scale), label(scale.bottom(), &scale)]
    });
    labels.map(|label| width(&label)).max().unwrap_or_default()
}

fn label(value: f64, scale: &Scale) -> String {
    let decimals = if scale.row.fract() == 0.0 { 0 } else { decimals([scale.row]).max(1) };
    grouped(value, decimals)
}

fn draw_panel(panel: &Panel, axis: usize, each: usize, ink: Ink) -> Vec<String> {
    let scale = Scale::of(panel);
    let rows = scale.rows();
    let draw_row = |row: usize| {
        let text = match row {
            0 => label(scale.top(), &scale),
            row if row + 1 == rows && scale.below > 0 => label(scale.bottom(), &scale),
            row if row + 1 == scale.above => "0".to_owned(),
            _ => String::new(),
        };
        let tick = if text.is_empty() { '│' } else { '┤' };
        let cells: String = panel
            .values
            .iter()
            .flat_map(|value| std::iter::repeat_n(cell(*value, row, &scale), each))
            .collect();
        format!("{text:>axis$} {tick}{}", ink.paint(panel.tone, cells.trim_end())).trim_end().to_owned()
    };
    (0..rows).map(draw_row).collect()
}

/// What of a column shows in a row, counted from the top.
fn cell(value: f64, row: usize, scale: &Scale) -> char {
    let eighths = |height: f64| (height * 8.0).round().clamp(0.0, 8.0) as usize;
    if row < scale.above {
        let floor = (scale.above - 1 - row) as f64;
        UP[eighths(value / scale.row - floor)]
    } else {
        let ceiling = (row - scale.above) as f64;
        match eighths(-value / scale.row - ceiling) {
            0 => ' ',
            1 | 2 => '▔',
            3..=6 => '▀',
            _ => '█',
        }
    }
}

/// Labels below their columns, as many as do not touch.
fn tick_line(ticks: &[String], each: usize, room: usize) -> String {
    let mut line = String::new();
    for (i, tick) in ticks.iter().enumerate() {
        let at = i * each;
        let apart = at >= width(&line) + 3 && at + width(tick) <= room;
        if i == 0 || apart {
            line.push_str(&" ".repeat(at - width(&line)));
            line.push_str(tick);
        }
    }
    line
}

fn draw_band(band: &Band, axis: usize, each: usize, columns: usize, ink: Ink) -> String {
    let mut line = " ".repeat(axis + 2);
    for run in band.marks.chunk_by(|a, b| a == b) {
        let (letter, tone) = letter(run[0]);
        line.push_str(&ink.paint(tone, letter.to_string().repeat(each * run.len())));
    }
    let used = axis + 2 + each * band.marks.len();
    let label = band_label(band);
    if used + 2 + width(&label) <= columns {
        format!("{line}  {label}")
    } else {
        format!("{}{label}\n{line}", " ".repeat(axis + 2))
    }
}

fn letter(mark: Mark) -> (char, Tone) {
    match mark {
        Mark::None => ('·', Tone::Quiet),
        Mark::Faint => ('░', Tone::Quiet),
        Mark::Half(tone) => ('▒', tone),
        Mark::Full(tone) => ('█', tone),
    }
}

/// `grid: watch ▒, emergency █`
fn band_label(band: &Band) -> String {
    let legend: Vec<String> =
        band.legend.iter().map(|(mark, word)| format!("{word} {}", letter(*mark).0)).collect();
    if legend.is_empty() { band.label.clone() } else { format!("{}: {}", band.label, legend.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64]) -> Chart {
        let panel = Panel { label: "MW".to_owned(), values: values.to_vec(), tone: Tone::Blue, rows: 4 };
        let ticks = (0..values.len()).map(|t| format!("{t:02}:00")).collect();
        Chart { title: String::new(), panels: vec![panel], bands: Vec::new(), ticks, remark: None }
    }

    #[test]
    fn columns_rise_from_zero() {
        assert_eq!(
            draw(&chart(&[0.0, 1.0, 2.0, 4.0]), 20, Ink::NONE),
            [
                "MW",
                "4 ┤            ████",
                "  │            ████",
                "  │        ████████",
                "0 ┤    ████████████",
                "  └────────────────",
                "   00:00   02:00"
            ]
        );
    }

    #[test]
    fn and_hang_from_it_where_they_are_negative() {
        let lines = draw(&chart(&[30.0, -10.0]), 12, Ink::NONE);
        assert_eq!(lines[1..5], [" 30 ┤████", "    │████", "  0 ┤████", "-10 ┤    ████"]);
    }

    #[test]
    fn many_turns_share_columns_and_that_is_said() {
        let lines = draw(&chart(&[1.0; 1000]), 80, Ink::NONE);
        assert!(lines.iter().all(|line| width(line) <= 80));
        assert_eq!(lines.last().expect("a remark"), "(each column shows the peak of 14 turns)");
    }

    #[test]
    fn flat_zero_does_not_divide_by_zero() {
        assert_eq!(draw(&chart(&[0.0, 0.0]), 30, Ink::NONE)[1..3], ["2 ┤", "0 ┤"]);
    }
}

//! A heat map in figures, each with a block as dark as the figure is high, for a terminal.

use arena_engine::Excerpt;

use super::{Heat, Scale};
use crate::ink::{Ink, Tone};
use crate::view::lines::{width, wrapped};

/// From low to high. They are told apart without a colour, and the figure stands beside them.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// Where two did not play.
const NOTHING: char = '·';
/// Most characters of a name.
const NAME_MAX: usize = 24;
/// To so many a name is cut if all strategies fit beside it then.
const NAME_MIN: usize = 8;
/// And to so many if they do not fit anyway.
const NAME_SHORT: usize = 12;

/// The lines of `heat`, at most `columns` wide. Columns are numbered as rows are; where not all fit, the
/// first ones are shown.
pub(crate) fn draw(heat: &Heat, columns: usize, ink: Ink) -> Vec<String> {
    let title = Excerpt { text: &heat.title, max: 120 }.to_string();
    let mut lines = vec![ink.paint(Tone::Strong, title)];
    let Some(scale) = Scale::of(heat) else {
        lines.push("(no game was played)".to_owned());
        return lines;
    };
    let frame = Frame::of(heat, &scale, columns);
    lines.push(ink.paint(Tone::Quiet, frame.head()));
    lines.extend((0..frame.shown).map(|row| frame.row(heat, row, &scale, ink)));
    let legend = format!("{}: {}", heat.unit, legend(heat, &scale, frame.shown));
    lines.extend(wrapped(&legend, columns));
    lines.extend(heat.remark(frame.shown).map(|remark| ink.paint(Tone::Quiet, remark)));
    lines
}

/// What goes where.
struct Frame {
    /// Strategies, on both sides.
    shown: usize,
    /// Characters of a strategy's number.
    digits: usize,
    /// Characters of a name.
    name: usize,
    /// Characters of a figure.
    figure: usize,
}

impl Frame {
    fn of(heat: &Heat, scale: &Scale, columns: usize) -> Self {
        let all = heat.names.len();
        let digits = width(&all.to_string());
        let figure = scale.width().max(digits);
        let longest = (0..all).map(|at| width(&heat.label(at, NAME_MAX))).max().unwrap_or_default();
        let frame = |name| Self { shown: all, digits, name, figure };
        let room = columns.saturating_sub(frame(0).line());
        if room >= longest.min(NAME_MIN) {
            return frame(longest.min(room));
        }
        let name = longest.min(NAME_SHORT);
        let cells = columns.saturating_sub(digits + 1 + name) / frame(name).cell();
        Self { shown: cells.clamp(1, all), ..frame(name) }
    }

    /// Columns of a line.
    fn line(&self) -> usize {
        self.digits + 1 + self.name + self.shown * self.cell()
    }

    /// Columns of a cell: a gap, a block, a figure.
    fn cell(&self) -> usize {
        2 + self.figure
    }

    fn head(&self) -> String {
        let mut line = " ".repeat(self.digits + 1 + self.name);
        for number in 1..=self.shown {
            line.push_str(&format!("{number:>w$}", w = self.cell()));
        }
        line
    }

    fn row(&self, heat: &Heat, row: usize, scale: &Scale, ink: Ink) -> String {
        let label = heat.label(row, self.name);
        let padding = " ".repeat(self.name - width(&label));
        let mut line = format!("{:>d$} {label}{padding}", row + 1, d = self.digits);
        for column in 0..self.shown {
            line.push(' ');
            match heat.cell(row, column) {
                Some(value) => {
                    let shade = SHADES[scale.level(value, SHADES.len())];
                    line.push_str(&ink.paint(Tone::Blue, shade));
                    line.push_str(&format!("{:>f$}", scale.text(value), f = self.figure));
                }
                None => line.push_str(&format!("{NOTHING:>f$}", f = self.figure + 1)),
            }
        }
        line
    }
}

/// `░ from 0, ▒ from 2, ▓ from 4, █ from 6 to 8; · no game`
fn legend(heat: &Heat, scale: &Scale, shown: usize) -> String {
    let levels = SHADES.len();
    let mut text = if scale.is_flat() {
        format!("{} always {}", SHADES[levels / 2], scale.text(scale.low))
    } else {
        let from = |level: usize| format!("{} from {}", SHADES[level], scale.text(scale.from(level, levels)));
        let all: Vec<String> = (0..levels).map(from).collect();
        format!("{} to {}", all.join(", "), scale.text(scale.high))
    };
    if heat.figures(shown).count() < shown * shown {
        text.push_str(&format!("; {NOTHING} no game"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::heat;
    use super::*;

    #[test]
    fn figures_stand_in_columns() {
        let map = heat(&["Cooperator", "Defector", "Tit For Tat"], |row, column| {
            (row != column).then_some((100 * row + 10 * column) as f64)
        });
        assert_eq!(
            draw(&map, 60, Ink::NONE),
            [
                "Who beats whom",
                "                 1    2    3",
                "1 Cooperator     · ░ 10 ░ 20",
                "2 Defector    ▒100    · ▓120",
                "3 Tit For Tat █200 █210    ·",
                "points of the row's strategy against the column's: ░ from",
                "10, ▒ from 60, ▓ from 110, █ from 160 to 210; · no game",
            ]
        );
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_that_is_said() {
        let names: Vec<String> = (0..1000).map(|at| format!("a strategy with a long name {at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let map = heat(&names, |row, column| Some(row as f64 - column as f64));
        for columns in [40, 80, 100, 200] {
            let lines = draw(&map, columns, Ink::NONE);
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
            let shown = lines.iter().filter(|line| line.contains("a strategy")).count();
            assert!((3..40).contains(&shown), "{columns}: {shown}");
            assert_eq!(*lines.last().expect("a line"), format!("(the first {shown} of 1000 strategies)"));
        }
        assert_eq!(draw(&map, 0, Ink::NONE).iter().filter(|line| line.contains("a strat")).count(), 1);
    }

    #[test]
    fn names_are_shortened_before_strategies_are_left_out() {
        let name = "a name of thirty-one characters";
        let map = heat(&[name; 8], |_, column| Some(column as f64));
        for (columns, start, last) in [
            (60, "1 a name of thirty-one ch… ░0", 8),
            (40, "1 a name of thi… ░0", 8),
            (34, "1 a name … ░0", 8),
            (33, "1 a name of t… ░0", 6),
        ] {
            let lines = draw(&map, columns, Ink::NONE);
            assert!(lines[2].starts_with(start), "{lines:#?}");
            assert!(lines[1].ends_with(&last.to_string()) && width(&lines[2]) <= columns, "{lines:#?}");
        }
    }

    #[test]
    fn one_figure_and_none_are_no_trouble() {
        assert_eq!(draw(&heat(&[], |_, _| None), 40, Ink::NONE)[1..], ["(no game was played)"]);
        assert_eq!(draw(&heat(&["a"], |_, _| None), 40, Ink::NONE)[1..], ["(no game was played)"]);
        let one = draw(&heat(&["a"], |_, _| Some(3.0)), 70, Ink::NONE);
        assert_eq!(one[2..], ["1 a ▓3", "points of the row's strategy against the column's: ▓ always 3"]);
    }

    #[test]
    fn colours_do_not_move_anything() {
        let map = heat(&["a", "b"], |row, column| (row > 0).then_some(column as f64));
        let coloured = draw(&map, 80, Ink::new(true)).join("\n");
        let plain = ["\x1b[1m", "\x1b[2m", "\x1b[34m", "\x1b[0m"]
            .iter()
            .fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(plain, draw(&map, 80, Ink::NONE).join("\n"));
    }
}

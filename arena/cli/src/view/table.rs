//! Tables for a terminal: columns as wide as their widest cell, notes beside a row where they fit
//! and below it where they do not.

use crate::ink::{Ink, Tone};
use crate::view::lines::{width, wrapped};

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    head: String,
    side: Side,
    /// Spaces before it.
    gap: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Column {
    /// For words.
    pub(crate) fn left(head: impl Into<String>) -> Self {
        Self { head: head.into(), side: Side::Left, gap: 2 }
    }

    /// For numbers.
    pub(crate) fn right(head: impl Into<String>) -> Self {
        Self { head: head.into(), side: Side::Right, gap: 2 }
    }

    /// With `gap` spaces before it instead of two.
    pub(crate) fn after(self, gap: usize) -> Self {
        Self { gap, ..self }
    }
}

/// One cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// `text` in the colour of `tone`.
    pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }
}

#[derive(Debug)]
struct Row {
    cells: Vec<Cell>,
    note: Option<Cell>,
}

/// Of a note below its row.
const INDENT: usize = 4;

/// Columns and rows.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row { cells: cells.into_iter().collect(), note: None });
    }

    /// A remark on the last row.
    pub(crate) fn note(&mut self, note: Cell) {
        if let Some(row) = self.rows.last_mut() {
            row.note = Some(note);
        }
    }

    /// The head, then one entry for each row; an entry has more lines where a note does not fit
    /// beside its row.
    pub(crate) fn lines(&self, columns: usize, ink: Ink) -> Vec<String> {
        let widths = self.widths();
        let total: usize = widths.iter().zip(&self.columns).map(|(width, column)| width + column.gap).sum();
        let head = self.columns.iter().map(|column| Cell::toned(Tone::Strong, &*column.head));
        let mut lines = vec![self.line(&head.collect::<Vec<_>>(), &widths, ink)];
        for row in &self.rows {
            let mut line = self.line(&row.cells, &widths, ink);
            if let Some(note) = &row.note {
                let fits = total + 2 + width(&note.text) <= columns;
                if fits {
                    let used = self.used(&row.cells, &widths);
                    line.push_str(&" ".repeat(total - used + 2));
                    line.push_str(&ink.paint(note.tone, &note.text));
                } else {
                    for words in wrapped(&note.text, columns.saturating_sub(INDENT)) {
                        let painted = ink.paint(note.tone, words);
                        line.push_str(&format!("\n{:INDENT$}{painted}", ""));
                    }
                }
            }
            lines.push(line);
        }
        lines
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |(i, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(i));
            cells.map(|cell| width(&cell.text)).fold(width(&column.head), usize::max)
        };
        self.columns.iter().enumerate().map(widest).collect()
    }

    /// Up to the last cell that has text: nothing ends with white space.
    fn line(&self, cells: &[Cell], widths: &[usize], ink: Ink) -> String {
        let mut line = String::new();
        let used = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
        for (i, ((cell, column), width_of)) in cells.iter().zip(&self.columns).zip(widths).enumerate() {
            if i == used {
                break;
            }
            let padding = " ".repeat(width_of - width(&cell.text));
            let painted = ink.paint(cell.tone, &cell.text);
            line.push_str(&" ".repeat(column.gap));
            match column.side {
                Side::Left if i + 1 == used => line.push_str(&painted),
                Side::Left => line.extend([painted, padding]),
                Side::Right => line.extend([padding, painted]),
            }
        }
        line
    }

    /// Columns the line of `cells` takes.
    fn used(&self, cells: &[Cell], widths: &[usize]) -> usize {
        width(&self.line(cells, widths, Ink::NONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new([Column::left("name").after(0), Column::right("cost $")]);
        table.push(["a".into(), "1 000".into()]);
        table.note("a remark".into());
        table.push(["longer".into(), Cell::default()]);
        table
    }

    #[test]
    fn notes_stand_beside_their_row_where_they_fit() {
        assert_eq!(sample().lines(80, Ink::NONE), ["name    cost $", "a        1 000  a remark", "longer"]);
    }

    #[test]
    fn and_below_it_where_they_do_not() {
        assert_eq!(sample().lines(20, Ink::NONE)[1], "a        1 000\n    a remark");
    }

    #[test]
    fn colours_do_not_move_anything() {
        let coloured = sample().lines(80, Ink::new(true)).join("\n");
        let plain = coloured.replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(plain, sample().lines(80, Ink::NONE).join("\n"));
    }
}

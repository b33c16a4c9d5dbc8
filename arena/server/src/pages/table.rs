//! Tables and lists of facts.

use maud::{Markup, html};

/// One column: its head, the unit of its numbers, and whether it is the row's own head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<'a> {
    head: &'a str,
    unit: Option<&'a str>,
    number: bool,
    names_row: bool,
}

impl<'a> Column<'a> {
    /// For words.
    pub(crate) const fn words(head: &'a str) -> Self {
        Self { head, unit: None, number: false, names_row: false }
    }

    /// For numbers: to the right, in tabular figures.
    pub(crate) const fn number(head: &'a str) -> Self {
        Self { head, unit: None, number: true, names_row: false }
    }

    /// The column whose cell names its row; the cells are `<th scope="row">`. Each table should have one.
    pub(crate) const fn name(head: &'a str) -> Self {
        Self { head, unit: None, number: false, names_row: true }
    }

    /// With a unit below the head.
    pub(crate) const fn unit(self, unit: &'a str) -> Self {
        Self { unit: Some(unit), ..self }
    }
}

/// What is in a row's place under a column. [`Markup`] becomes one by itself, and so does a `&str`, escaped.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    content: Markup,
    class: Option<&'static str>,
}

impl Cell {
    /// Pending, frozen or disputed: hatched. The words must say which.
    pub(crate) fn held(content: Markup) -> Self {
        Self { content, class: Some("held") }
    }

    /// Nothing to tell: a dash, read out as `why` ("not played").
    pub(crate) fn none(why: &str) -> Self {
        let content = html! { span aria-hidden="true" { "–" } span.visually-hidden { (why) } };
        Self { content, class: Some("none") }
    }

    /// How many characters of words it has, if there is a place where they could be broken. What is folded, drawn or
    /// never broken has a width of its own.
    fn words_long(&self) -> usize {
        const OWN_WIDTH: [&str; 7] = ["<details", "<time", "<svg", "<form", "<data", "<div", "nowrap"];
        let html = &self.content.0;
        if self.class == Some("none") || OWN_WIDTH.iter().any(|part| html.contains(part)) {
            return 0;
        }
        let (mut is_tag, mut text) = (false, String::new());
        for character in html.chars() {
            match character {
                '<' => is_tag = true,
                '>' => is_tag = false,
                _ if !is_tag => text.push(character),
                _ => {}
            }
        }
        if text.contains([' ', '-']) { text.chars().count() } else { 0 }
    }
}

impl From<Markup> for Cell {
    fn from(content: Markup) -> Self {
        Self { content, class: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        html! { (text) }.into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        html! { (text) }.into()
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        super::chart::number::grouped_integer(&value.to_string()).unwrap_or_default().into()
    }
}

/// One row, a cell for each column.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    cells: Vec<Cell>,
    class: Option<&'static str>,
    key: Option<String>,
}

impl Row {
    /// From its cells.
    pub(crate) fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self { cells: cells.into_iter().collect(), class: None, key: None }
    }

    /// With a name that stays the same when the table is drawn again; the live script keeps focus by it.
    pub(crate) fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// The viewer's own row: set off by an edge. A cell must say so in words.
    pub(crate) fn mine(self) -> Self {
        Self { class: Some("mine"), ..self }
    }

    /// Out of the ranking: quieter.
    pub(crate) fn out(self) -> Self {
        Self { class: Some("out"), ..self }
    }
}

/// A table in a region that can be focused and scrolled sideways. `id` is unique on the page; `caption` may
/// have a second line in `<small>`. A row that is short is filled with empty cells, a long one is cut.
pub(crate) fn data_table(
    id: &str,
    caption: &Markup,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Row>,
) -> Markup {
    let rows: Vec<Row> = rows.into_iter().collect();
    let room: Vec<_> = columns.iter().enumerate().map(|(i, column)| room(column, i, &rows)).collect();
    let labelled_by = format!("{id}-caption");
    html! {
        div.sheet role="region" tabindex="0" aria-labelledby=(labelled_by) {
            table id=(id) {
                caption id=(labelled_by) { span { (caption) } }
                thead {
                    tr {
                        @for (column, room) in columns.iter().zip(&room) {
                            th scope="col" class=[room] {
                                (column.head)
                                @if let Some(unit) = column.unit { small { (unit) } }
                            }
                        }
                    }
                }
                tbody {
                    @if rows.is_empty() {
                        tr { td.none colspan=(columns.len().max(1)) { "Nothing here yet." } }
                    }
                    @for row in &rows {
                        tr class=[row.class] data-key=[row.key.as_deref()] {
                            @for (i, column) in columns.iter().enumerate() {
                                (cell(column, row.cells.get(i)))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a column's head. A narrow page would wrap words at every space, in a column that is out of sight too, and
/// make each row as tall as its longest cell: a column has room for its longest words, within reason.
fn room(column: &Column<'_>, place: usize, rows: &[Row]) -> Option<&'static str> {
    if column.number {
        return Some("number");
    }
    let cells = rows.iter().filter_map(|row| row.cells.get(place));
    match cells.map(Cell::words_long).max().unwrap_or_default() {
        0..10 => None,
        10..18 => Some("some-words"),
        18..30 => Some("more-words"),
        _ => Some("many-words"),
    }
}

fn cell(column: &Column<'_>, cell: Option<&Cell>) -> Markup {
    let own = cell.and_then(|it| it.class);
    let class = match (column.number, own) {
        (true, Some(own)) => Some(format!("number {own}")),
        (true, None) => Some("number".to_owned()),
        (false, own) => own.map(str::to_owned),
    };
    html! {
        @if column.names_row {
            th scope="row" class=[class] { @if let Some(cell) = cell { (cell.content) } }
        } @else {
            td class=[class] { @if let Some(cell) = cell { (cell.content) } }
        }
    }
}

/// Facts: what, then its value. The names are ours; the values are [`Markup`].
pub(crate) fn definition_list<'a>(facts: impl IntoIterator<Item = (&'a str, Markup)>) -> Markup {
    html! {
        dl.facts { @for (name, value) in facts { dt { (name) } dd { (value) } } }
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::{Cell, Column, Row, data_table};

    #[test]
    fn a_row_has_a_cell_for_each_column_whatever_it_was_given() {
        let columns = [Column::name("Company"), Column::number("Score").unit("points")];
        let rows = [
            Row::new(["<Bees>".into()]),
            Row::new(["Ants".into(), 1_234.into(), "cut".into()]).mine().key("a"),
        ];
        let html = data_table("t", &html! { "T" }, &columns, rows).into_string();
        assert!(
            html.contains("<tr><th scope=\"row\">&lt;Bees&gt;</th><td class=\"number\"></td></tr>"),
            "{html}"
        );
        assert!(
            html.contains(
                "<tr class=\"mine\" data-key=\"a\"><th scope=\"row\">Ants</th>\
                 <td class=\"number\">1\u{202f}234</td></tr>"
            ),
            "{html}"
        );
    }

    #[test]
    fn a_column_of_words_has_room_for_them() {
        let head_of = |cell: Cell| {
            let rows = [Row::new(["a".into(), "x".into()]), Row::new(["b".into(), cell])];
            let html =
                data_table("t", &html! { "T" }, &[Column::name("A"), Column::words("B")], rows).into_string();
            let head = html.split("<th scope=\"col\"").nth(2).unwrap();
            head.split('>').next().unwrap().trim().to_owned()
        };
        for (cell, class) in [
            (Cell::from("two words"), ""),
            (Cell::from("absolute 0.5"), "class=\"some-words\""),
            (Cell::from("absolute 0.5, relative 0.01"), "class=\"more-words\""),
            (Cell::from("a sentence that is as long as sentences are on a page"), "class=\"many-words\""),
            // A word alone is not broken, what is hidden is not seen, and some things have a width of their own.
            (Cell::from("e93ca46b3aa55b6029565ca1d3dec5"), ""),
            (Cell::none("there is nothing to tell of it here"), ""),
            (html! { span.nowrap { "1 650 (1 600 to 1 700)" } }.into(), ""),
            (crate::pages::digest(&"0".repeat(64)).into(), ""),
            (html! { a href="/a-long-path-with-a-title" title="many words here" { "c 1" } }.into(), ""),
        ] {
            assert_eq!(head_of(cell.clone()), class, "{cell:?}");
        }
    }

    #[test]
    fn an_empty_table_says_so() {
        let html =
            data_table("t", &html! { "T" }, &[Column::name("A"), Column::words("B")], []).into_string();
        assert!(html.contains("colspan=\"2\">Nothing here yet."), "{html}");
        let held = Cell::held(html! { "pending" });
        let html = data_table("t", &html! { "T" }, &[Column::number("A")], [Row::new([held])]).into_string();
        assert!(html.contains("<td class=\"number held\">pending</td>"), "{html}");
    }
}

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
    let labelled_by = format!("{id}-caption");
    html! {
        div.sheet role="region" tabindex="0" aria-labelledby=(labelled_by) {
            table id=(id) {
                caption id=(labelled_by) { span { (caption) } }
                thead {
                    tr {
                        @for column in columns {
                            th scope="col" class=[column.number.then_some("number")] {
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
    fn an_empty_table_says_so() {
        let html =
            data_table("t", &html! { "T" }, &[Column::name("A"), Column::words("B")], []).into_string();
        assert!(html.contains("colspan=\"2\">Nothing here yet."), "{html}");
        let held = Cell::held(html! { "pending" });
        let html = data_table("t", &html! { "T" }, &[Column::number("A")], [Row::new([held])]).into_string();
        assert!(html.contains("<td class=\"number held\">pending</td>"), "{html}");
    }
}

//! The grid of stakes as one SVG file that stands alone, for light and dark pages.

use std::fmt::Write as _;

use crate::view::numbers::count;

const CELL_WIDTH: usize = 110;
const CELL_HEIGHT: usize = 34;
const LEFT: usize = 70;
const TOP: usize = 78;

const STYLE: &str = "\
:root { --ink: #1c2128; --quiet: #6b7280; --paper: #ffffff; --heat: #c93a35; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --quiet: #9aa3b0; --paper: #14181e; --heat: #f0726c; } }
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.title { font-size: 16px; font-weight: 600; } .quiet { fill: var(--quiet); }
.paper { fill: var(--paper); } .heat { fill: var(--heat); }";

/// A probability in parts per million, as it is typed.
pub(super) fn share(ppm: u64) -> String {
    let text = format!("{}.{:06}", ppm / 1_000_000, ppm % 1_000_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// Rows over p, columns over q; the higher the stake, the stronger the colour. Where no stake is enough there
/// is a dash.
pub(super) fn svg(title: &str, p: &[u64], q: &[u64], stakes: &[Vec<Option<u64>>]) -> String {
    let (width, height) = (LEFT + q.len() * CELL_WIDTH + 16, TOP + p.len() * CELL_HEIGHT + 16);
    let mut out = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a String takes any text");
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">"#
    ));
    line(format_args!("<title>{title}</title>\n<style>{STYLE}</style>"));
    line(format_args!(r#"<rect class="paper" width="{width}" height="{height}"/>"#));
    line(format_args!(r#"<text class="title" x="16" y="26">{title}</text>"#));
    line(format_args!(
        r#"<text class="quiet" x="16" y="46">p: how often a run is checked; q: how often a check is right</text>"#
    ));
    for (i, q) in q.iter().enumerate() {
        let x = LEFT + i * CELL_WIDTH + CELL_WIDTH / 2;
        line(format_args!(
            r#"<text class="quiet" x="{x}" y="{}" text-anchor="middle">q {}</text>"#,
            TOP - 10,
            share(*q)
        ));
    }
    let most = stakes.iter().flatten().flatten().max().copied().unwrap_or_default();
    for (row, (p, stakes)) in p.iter().zip(stakes).enumerate() {
        let y = TOP + row * CELL_HEIGHT;
        line(format_args!(r#"<text class="quiet" x="16" y="{}">p {}</text>"#, y + 21, share(*p)));
        for (column, stake) in stakes.iter().enumerate() {
            let x = LEFT + column * CELL_WIDTH;
            let text = stake.map_or_else(|| "-".to_owned(), count);
            // By its number of bits: stakes span orders of magnitude.
            let bits = |stake: u64| u64::from(u64::BITS - stake.leading_zeros());
            let percent = stake.map_or(0, |stake| bits(stake) * 70 / bits(most).max(1));
            let (inner, tall) = (CELL_WIDTH - 4, CELL_HEIGHT - 4);
            line(format_args!(
                r#"<rect class="heat" x="{x}" y="{y}" width="{inner}" height="{tall}" rx="3" fill-opacity="0.{percent:02}"/>"#
            ));
            let middle = x + inner / 2;
            line(format_args!(r#"<text x="{middle}" y="{}" text-anchor="middle">{text}</text>"#, y + 20));
        }
    }
    line(format_args!("</svg>"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_a_cell_for_each_pair() {
        let text = svg("a title", &[100_000, 1_000_000], &[950_000], &[vec![Some(3_445)], vec![None]]);
        assert!(
            text.contains("q 0.95</text>") && text.contains("p 0.1</text>") && text.contains("p 1</text>")
        );
        assert_eq!(text.matches("class=\"heat\"").count(), 2);
        assert!(text.ends_with("</svg>\n"));
    }
}

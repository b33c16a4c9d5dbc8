//! Charts as SVG within a page: text stays text, colours come from the style sheet, and the figures stand
//! beneath once more as a table.
//!
//! A chart draws what it is given and nothing else: what is no finite number is left out, never guessed.
//! The same input gives the same bytes. No chart has a script, a style attribute or a link inside; links
//! are in the page.

mod bands;
mod bars;
mod heat;
pub(crate) mod number;
mod picture;
mod plot;
mod scale;

use maud::{Markup, html};

pub(crate) use bands::{Band, Bands, Moment, Panel, Shape, Span, band_chart};
pub(crate) use bars::{Bars, bar_chart, sparkline};
pub(crate) use heat::{Heat, heat_map};
pub(crate) use picture::{picture, picture_policy};
pub(crate) use plot::{Axis, Plot, Series, line_chart, step_chart};

use super::table::{Column, Row, data_table};

/// Width of every drawing, in its own units. The page scales it.
const WIDTH: f64 = 720.0;
/// Rows of a table beneath a chart; where there are more, every second, third … is shown.
const TABLE_ROWS_MAX: usize = 240;

/// What every chart says of itself.
#[derive(Debug, Clone, Copy)]
struct Head<'a> {
    id: &'a str,
    title: &'a str,
    description: &'a str,
}

/// The figure: its title in sight, the drawing, and what stands beneath.
fn figure(
    head: Head<'_>,
    class: &str,
    height: f64,
    legend: Markup,
    drawing: Markup,
    beneath: Markup,
) -> Markup {
    let (title, desc) = (format!("{}-title", head.id), format!("{}-desc", head.id));
    let view = format!("0 0 {WIDTH} {}", number::coordinate(height));
    html! {
        figure class=(class) id=(head.id) {
            figcaption { (head.title) small { (head.description) } }
            (legend)
            svg viewBox=(view) role="img" aria-labelledby=(title) aria-describedby=(desc) {
                title id=(title) { (head.title) }
                desc id=(desc) { (head.description) }
                (drawing)
            }
            (beneath)
        }
    }
}

/// The figures as a table, folded. `rows` are thinned evenly where there are too many, and the caption says
/// so.
fn figures(head: Head<'_>, columns: &[Column<'_>], rows: Vec<Row>) -> Markup {
    let every = rows.len().div_ceil(TABLE_ROWS_MAX).max(1);
    let caption = html! {
        (head.title)
        @if every > 1 { small { "Every " (every) "th of " (rows.len()) " rows." } }
    };
    html! {
        details.more {
            summary { "Figures as a table" span.visually-hidden { ": " (head.title) } }
            (data_table(&format!("{}-figures", head.id), &caption, columns, rows.into_iter().step_by(every)))
        }
    }
}

/// Which of the six looks of a series.
const fn look(i: usize) -> &'static str {
    ["s1", "s2", "s3", "s4", "s5", "s6"][i % 6]
}

/// A sample of a line and its name, for each series, if there is more than one.
fn legend<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Markup {
    html! {
        @if names.len() > 1 {
            ul.legend {
                @for (i, name) in names.enumerate() {
                    li {
                        svg viewBox="0 0 28 12" aria-hidden="true" focusable="false" {
                            path.line.(look(i)) d="M1 6H27" {}
                        }
                        (name)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pages::audit::audit_fragment;

    /// Numbers as hostile as a float can be.
    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            -1_000.0..1_000.0,
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::MAX),
            Just(f64::MIN),
            Just(f64::MIN_POSITIVE),
            Just(-0.0)
        ]
    }

    fn sound(html: Markup) {
        let html = html.into_string();
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        assert_eq!(audit_fragment(&html), [""; 0], "{html}");
        assert!(html.len() < 400_000, "{}", html.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_the_numbers_a_chart_is_sound(
            points in prop::collection::vec((any_number(), any_number()), 0..60),
            values in prop::collection::vec(prop::option::of(any_number()), 0..60),
        ) {
            let axis = Axis { label: "t", unit: "s", decimals: 1 };
            let series = [Series { name: "<a>", points: &points }, Series { name: "b", points: &[] }];
            let plot = Plot { id: "c", title: "C", description: "D", x: axis, y: axis, series: &series };
            sound(line_chart(&plot));
            sound(step_chart(&plot));
            let bars: Vec<_> = values.iter().map(|value| ("bar", value.unwrap_or(f64::NAN))).collect();
            let (id, title, description) = ("c", "C", "D");
            sound(bar_chart(&Bars { id, title, description, unit: "MW", decimals: 2, bars: &bars }));
            let plain: Vec<_> = values.iter().flatten().copied().collect();
            sound(sparkline("scores", &plain, 1));
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let (unit, decimals) = ("points", 1);
            sound(heat_map(&Heat { id, title, description, unit, decimals, names: &names, values: &values }));
            let panels = [
                Panel { name: "price", unit: "$/MWh", decimals: 2, values: &values, shape: Shape::Step },
                Panel { name: "battery", unit: "MW", decimals: 1, values: &values, shape: Shape::Bars },
            ];
            let spans = [Span { from: 3, to: 90, mark: super::super::Mark::Order, words: "curtail 20 MW" }];
            let bands = Bands {
                id, title, description, slots: &["18:00", "18:15", "18:30", "18:45"], panels: &panels,
                bands: &[Band { name: "orders", spans: &spans }], now: Some(77),
                moments: &[Moment { slot: 200, words: "clamp", href: "/episodes/e/turns/200" }],
            };
            sound(band_chart(&bands));
        }
    }

    #[test]
    fn a_long_series_is_drawn_by_its_extremes_and_tabled_thinly() {
        let points: Vec<_> =
            (0..50_000).map(|i| (f64::from(i), if i == 31_234 { 9.0 } else { f64::from(i % 2) })).collect();
        let axis = Axis { label: "t", unit: "s", decimals: 0 };
        let series = [Series { name: "a", points: &points }];
        let html =
            line_chart(&Plot { id: "c", title: "C", description: "D", x: axis, y: axis, series: &series })
                .into_string();
        assert!(html.len() < 120_000, "{}", html.len());
        assert!(html.contains("Every 209th of 50000 rows."), "thinned");
        // The one peak is the top of the scale's ninth unit: its height is drawn, though one in 50,000.
        let path = html.split("<path class=\"line s1\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        let least = path
            .split(['M', 'L'])
            .filter_map(|pair| pair.split(' ').nth(1)?.parse::<f64>().ok())
            .fold(f64::MAX, f64::min);
        assert!((least - plot::TOP).abs() < 30.0, "{least}");
    }
}

//! A chart as a picture of its own: an SVG with its colours inside, which any page may show in an `<img>`.

use std::sync::LazyLock;

use arena_canon::Digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::Markup;

use crate::pages::assets::STYLE_SHEET;

/// Parts of the style sheet that a chart needs; the first is what stands before all parts.
const PARTS: [&str; 3] = ["One sheet", "Marks, always", "Charts"];

/// The style within a picture: those parts, as they stand in the sheet of all pages.
static STYLE: LazyLock<String> = LazyLock::new(|| {
    let parts = STYLE_SHEET.split("\n/* ").map(|part| part.trim_start_matches("/* "));
    let wanted = parts.filter(|part| PARTS.iter().any(|name| part.starts_with(name)));
    // What stands before the end of the first comment is for its readers.
    wanted
        .filter_map(|part| part.split_once("*/"))
        .map(|(_, rules)| rules.trim())
        .collect::<Vec<_>>()
        .join("\n")
});

/// The value of `Content-Security-Policy` for a picture: its own style and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Digest::of(STYLE.as_bytes()).as_bytes());
    format!("default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'")
});

/// The policy a picture is served with.
pub(crate) fn picture_policy() -> &'static str {
    &POLICY
}

/// The drawing of a chart's figure. Nothing, if there is none in it.
pub(crate) fn picture(figure: &Markup) -> Option<String> {
    let figure = &figure.0;
    let drawn = figure.find(" role=\"img\"")?;
    let begins = figure[..drawn].rfind("<svg viewBox=\"")?;
    let (view, rest) = figure[begins..].strip_prefix("<svg viewBox=\"")?.split_once('"')?;
    let (attributes, rest) = rest.split_once('>')?;
    let (drawing, _) = rest.split_once("</svg>")?;
    let mut size = view.split(' ').skip(2);
    let (width, height) = (size.next()?, size.next()?);
    let style = &*STYLE;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{view}\" width=\"{width}\" height=\"{height}\"{attributes}>\
         <style>{style}</style><rect class=\"heat-none\" width=\"{width}\" height=\"{height}\"/>\
         <g class=\"chart bands\">{drawing}</g></svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::{PARTS, STYLE, picture, picture_policy};

    #[test]
    fn a_picture_has_its_style_inside() {
        for rule in ["--page: #0C111D", ".chart text {", ".mark.outlined", ".span.order", ".line.s2"] {
            assert!(STYLE.contains(rule), "{rule}");
        }
        assert!(!STYLE.contains(".masthead") && STYLE.len() < 12_000, "{}", STYLE.len());
        // Within XML these would be something else.
        assert!(!STYLE.contains(['<', '&']) && PARTS.len() == 3);
        assert!(picture_policy().contains("style-src 'sha256-") && !picture_policy().contains("unsafe"));
    }

    #[test]
    fn what_is_not_the_drawing_stays_out() {
        let figure = html! {
            figure {
                ul.legend { li { svg viewBox="0 0 28 12" aria-hidden="true" { path d="M1 6H27" {} } } }
                svg viewBox="0 0 720 300.5" role="img" { title { "A < B" } line x1="1" {} }
                details { "more" }
            }
        };
        let svg = picture(&figure).unwrap();
        assert!(svg.contains("width=\"720\" height=\"300.5\" role=\"img\">"), "{svg}");
        assert!(svg.contains("<title>A &lt; B</title><line x1=\"1\"></line></g></svg>"), "{svg}");
        assert!(!svg.contains("M1 6H27") && !svg.contains("more"), "{svg}");
        assert_eq!(picture(&html! { p { "none" } }), None);
    }
}

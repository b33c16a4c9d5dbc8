//! Strangers' Markdown as a small and harmless part of HTML.
//!
//! The parser's events are written by an allow-list of elements whose names are constants of this file;
//! every text is escaped, HTML in the source is text like any other, and images are their words. So there
//! is nothing for a sanitiser to find, and none is needed. Headings become strong paragraphs: a post cannot
//! change the outline of its page.

use std::fmt::Write as _;

use arena_engine::Excerpt;
use maud::{Escaper, Markup, PreEscaped};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// Bytes of a text that are looked at; a Town post has no more.
pub(crate) const BYTES_MAX: usize = 20_480;
/// Elements within each other; what is deeper keeps its text and loses its markup.
const DEPTH_MAX: usize = 12;
const URL_BYTES_MAX: usize = 2_000;

/// A stranger's text, formatted: paragraphs, emphasis, code, lists, quotes, rules, and links marked
/// `rel="nofollow ugc"`. It stands in a block, not within a paragraph.
pub(crate) fn markdown(text: &str) -> Markup {
    let (text, cut) = bounded(text);
    let mut writer = Writer { html: String::with_capacity(text.len() * 2), open: Vec::new() };
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
        writer.event(event);
    }
    while let Some(close) = writer.open.pop() {
        writer.html.push_str(close.unwrap_or_default());
    }
    if cut {
        writer.html.push_str("<p class=\"quiet\">The text is longer; the rest is not shown.</p>");
    }
    PreEscaped(format!("<div class=\"prose\">{}</div>", writer.html))
}

fn bounded(text: &str) -> (&str, bool) {
    if text.len() <= BYTES_MAX {
        return (text, false);
    }
    let end = (0..=BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (&text[..end], true)
}

struct Writer {
    html: String,
    /// How each open element ends; `None` for one that is not written.
    open: Vec<Option<&'static str>>,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(end) => self.end(end),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                self.html.push_str("<code>");
                self.text(&text);
                self.html.push_str("</code>");
            }
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            // Of extensions that are off.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text)
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let deep = self.open.len() >= DEPTH_MAX;
        let (start, end) = match tag {
            // An item belongs to its list, written or not.
            Tag::Item if self.open.last().is_some_and(Option::is_some) => ("<li>", "</li>"),
            // These are never open within a line, so they may stand wherever they come.
            Tag::Paragraph => ("<p>", "</p>"),
            Tag::HtmlBlock => ("<p>", "</p>"),
            Tag::Heading { .. } => ("<p><strong>", "</strong></p>"),
            Tag::CodeBlock(_) => ("<pre><code>", "</code></pre>"),
            Tag::List(None) if !deep => ("<ul>", "</ul>"),
            Tag::List(Some(_)) if !deep => ("<ol>", "</ol>"),
            Tag::BlockQuote(_) if !deep => ("<blockquote>", "</blockquote>"),
            Tag::Emphasis if !deep => ("<em>", "</em>"),
            Tag::Strong if !deep => ("<strong>", "</strong>"),
            Tag::Strikethrough if !deep => ("<s>", "</s>"),
            Tag::Image { .. } => ("(image: ", ")"),
            Tag::Link { link_type, dest_url, .. } if !deep && allowed(*link_type, dest_url) => {
                self.html.push_str("<a rel=\"nofollow ugc\" href=\"");
                self.escaped(dest_url);
                ("\">", "</a>")
            }
            _ => return self.open.push(None),
        };
        self.html.push_str(start);
        self.open.push(Some(end));
    }

    fn end(&mut self, _: TagEnd) {
        // Starts and ends are balanced.
        self.html.push_str(self.open.pop().flatten().unwrap_or_default());
    }

    /// Line breaks stay, other characters that hide or turn the direction are shown.
    fn text(&mut self, text: &str) {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.html.push('\n');
            }
            for (j, part) in line.split('\t').enumerate() {
                if j > 0 {
                    self.html.push('\t');
                }
                self.escaped(&Excerpt { text: part, max: usize::MAX }.to_string());
            }
        }
    }

    fn escaped(&mut self, text: &str) {
        let _ = Escaper::new(&mut self.html).write_str(text);
    }
}

/// `http`, `https`, or a path of this site. Everything else keeps its words and loses the link.
fn allowed(kind: LinkType, url: &str) -> bool {
    let begins =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let ours = url.starts_with('/') && !url.starts_with("//");
    kind != LinkType::Email
        && url.len() <= URL_BYTES_MAX
        && !url.contains(|it: char| it.is_control() || it.is_whitespace() || it == '\\')
        && (begins("https://") || begins("http://") || ours)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::{BYTES_MAX, markdown};
    use crate::pages::audit::audit_fragment;

    fn html(text: &str) -> String {
        let whole = markdown(text).into_string();
        let inner = whole.strip_prefix("<div class=\"prose\">").and_then(|it| it.strip_suffix("</div>"));
        inner.expect("one block").to_owned()
    }

    #[test]
    fn what_is_allowed_is_formatted() {
        for (text, want) in [
            ("a *b* **c** `d` ~~e~~", "<p>a <em>b</em> <strong>c</strong> <code>d</code> <s>e</s></p>"),
            ("# Title", "<p><strong>Title</strong></p>"),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("> q\n\n---", "<blockquote><p>q</p></blockquote><hr>"),
            ("```rust\na < b\n```", "<pre><code>a &lt; b\n</code></pre>"),
            (
                "[x](https://a.example/?a=1&b=2)",
                "<p><a rel=\"nofollow ugc\" href=\"https://a.example/?a=1&amp;b=2\">x</a></p>",
            ),
            ("[x](/rounds/7)", "<p><a rel=\"nofollow ugc\" href=\"/rounds/7\">x</a></p>"),
            ("![a *cat*](https://a.example/c.png)", "<p>(image: a <em>cat</em>)</p>"),
        ] {
            assert_eq!(html(text), want, "{text}");
        }
    }

    #[test]
    fn html_is_text() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <b onclick=x>b</b>",
            "<!-- <script> -->",
            "<svg><style>*{}</style></svg>",
            "`</code><script>`",
            "```\n</code></pre><script>\n```",
            "``` \"><script>\nx\n```",
            "</div></main><form action=//evil>",
            "<![CDATA[<script>]]>",
        ] {
            let html = html(text);
            for tag in ["<script", "<img", "<b ", "<svg", "<style", "<form", "</div", "</main", "<!"] {
                assert!(!html.contains(tag), "{text} gave {html}");
            }
        }
    }

    #[test]
    fn a_link_goes_to_the_web_or_stays_here() {
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "&#106;avascript:alert(1)",
            "java&#10;script:alert(1)",
            "data:text/html,<script>",
            "vbscript:x",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "mailto:a@b.example",
            "file:///etc/passwd",
            "ftp://a.example",
            "#main",
            "x",
        ] {
            let html = html(&format!("[words]({url}) [more][r] <{url}>\n\n[r]: {url}"));
            assert!(!html.contains("<a "), "{url} gave {html}");
            assert!(html.contains("words"), "{url} gave {html}");
        }
        assert!(!html("[x](https://a.example/\u{1b})").contains("\u{1b}"));
        let quoted = html("[x](<https://a.example/\"onmouseover=alert(1)>)");
        assert!(quoted.contains("&quot;onmouseover"), "{quoted}");
    }

    #[test]
    fn what_hides_is_shown() {
        assert_eq!(html("a\u{202e}b\u{200b}c"), "<p>a\\u{202e}b\\u{200b}c</p>");
        assert_eq!(html("a\tb"), "<p>a\tb</p>");
    }

    #[test]
    fn depth_length_and_time_are_bounded() {
        let started = Instant::now();
        let nests = [
            "> ",
            "- ",
            "1. ",
            "*",
            "_",
            "[",
            "![",
            "`",
            "~~",
            "<",
            "&",
            "[a](",
            "**a ",
            "\\",
            "| ",
            "#",
            "[a]: /b\n",
            "\u{0}",
        ];
        for piece in nests {
            let html = html(&piece.repeat(BYTES_MAX / piece.len()));
            assert!(html.len() <= BYTES_MAX * 8, "{piece}: {}", html.len());
            assert!(
                html.matches("<blockquote>").count() <= 12 && html.matches("<ul>").count() <= 12,
                "{piece}"
            );
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        let long = html(&"ü".repeat(BYTES_MAX));
        assert!(long.ends_with("the rest is not shown.</p>"), "{}", &long[long.len() - 90..]);
    }

    proptest! {
        #[test]
        fn whatever_is_written_the_page_stays_whole(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "> ", "\n\n", "\n", "- ", "1. ", "*", "**", "`", "```\n", "[", "](/x)",
                "](https://a.example)",
                "![", "<div>", "</div>", "<p>", "<a href=x>", "<script>", "# ", "---\n", "~~", "    ", "text",
                "&amp;", "\\", "\t",
            ]), 0..40)
        ) {
            let text: String = pieces.concat();
            let html = markdown(&text).into_string();
            let faults = audit_fragment(&html);
            // A link whose words are all markup has nothing to show; that is the writer's loss, not a hole.
            let faults: Vec<_> = faults.into_iter().filter(|it| !it.contains("has no words")).collect();
            prop_assert!(faults.is_empty(), "{text:?} gave {html}: {faults:?}");
        }
    }
}

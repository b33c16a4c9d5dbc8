//! Whether a page can be used by everybody, as far as its HTML tells: read with a browser's tokenizer, so
//! that nothing is judged by the code that wrote it.
//!
//! [`audit`] takes a whole document, [`audit_fragment`] a part of one. Each fault is a sentence with the
//! element in it; a sound page gives none.

use std::cell::RefCell;
use std::collections::BTreeMap;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

const VOID: [&str; 9] = ["br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"];
const BLOCKS: [&str; 24] = [
    "article",
    "aside",
    "blockquote",
    "details",
    "div",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];
const PHRASING_ONLY: [&str; 20] = [
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "span", "a", "b", "em", "strong", "code", "button", "label",
    "small", "bdi", "time", "data", "pre",
];

/// Every fault of a whole document.
pub(crate) fn audit(html: &str) -> Vec<String> {
    let mut page = Page::read(html);
    page.whole_document();
    page.parts();
    page.faults
}

/// Every fault of a part: what [`audit`] checks, but for what only a whole document has.
pub(crate) fn audit_fragment(html: &str) -> Vec<String> {
    let mut page = Page::read(html);
    page.parts();
    page.faults
}

#[derive(Debug, Default)]
struct Node {
    name: String,
    attributes: BTreeMap<String, String>,
    parent: Option<usize>,
    /// Its own text, not that of its children.
    text: String,
}

#[derive(Debug, Default)]
struct Page {
    doctype: bool,
    nodes: Vec<Node>,
    faults: Vec<String>,
}

#[derive(Default)]
struct Reader {
    page: RefCell<Page>,
    open: RefCell<Vec<usize>>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.page.borrow_mut();
        match token {
            Token::DoctypeToken(doctype) => page.doctype = doctype.name.as_deref() == Some("html"),
            Token::ParseError(why) => page.faults.push(format!("not well-formed: {why}")),
            Token::NullCharacterToken => page.faults.push("a character with the number zero".to_owned()),
            Token::CommentToken(_) | Token::EOFToken => {}
            Token::CharacterTokens(text) => {
                if let Some(node) = self.open.borrow().last() {
                    page.nodes[*node].text.push_str(&text);
                }
            }
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return self.start(&mut page, &tag),
            Token::TagToken(tag) => self.end(&mut page, &tag.name),
        }
        TokenSinkResult::Continue
    }
}

impl Reader {
    fn start(&self, page: &mut Page, tag: &Tag) -> TokenSinkResult<()> {
        let name = tag.name.to_string();
        if tag.had_duplicate_attributes {
            page.faults.push(format!("<{name}> has an attribute twice"));
        }
        let mut open = self.open.borrow_mut();
        let attributes =
            tag.attrs.iter().map(|it| (it.name.local.to_string(), it.value.to_string())).collect();
        page.nodes.push(Node {
            name: name.clone(),
            attributes,
            parent: open.last().copied(),
            text: String::new(),
        });
        let drawn = open.iter().any(|node| page.nodes[*node].name == "svg");
        if VOID.contains(&&*name) || tag.self_closing {
            return TokenSinkResult::Continue;
        }
        open.push(page.nodes.len() - 1);
        match &*name {
            "title" | "textarea" if !drawn => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" if !drawn => TokenSinkResult::RawData(RawKind::Rawtext),
            "script" if !drawn => TokenSinkResult::RawData(RawKind::ScriptData),
            _ => TokenSinkResult::Continue,
        }
    }

    fn end(&self, page: &mut Page, name: &str) {
        let mut open = self.open.borrow_mut();
        match open.last().map(|node| page.nodes[*node].name.clone()) {
            Some(last) if last == name => {
                open.pop();
            }
            last => {
                page.faults.push(format!("</{name}> ends {}", last.unwrap_or_else(|| "nothing".to_owned())))
            }
        }
    }
}

impl Page {
    fn read(html: &str) -> Self {
        let tokenizer =
            Tokenizer::new(Reader::default(), TokenizerOpts { exact_errors: true, ..Default::default() });
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(html));
        while !input.is_empty() {
            let _ = tokenizer.feed(&input);
        }
        tokenizer.end();
        let mut page = tokenizer.sink.page.into_inner();
        for node in tokenizer.sink.open.into_inner() {
            page.faults.push(format!("<{}> never ends", page.nodes[node].name));
        }
        page
    }

    fn fault(&mut self, node: usize, what: &str) {
        let it = &self.nodes[node];
        let names = ["id", "name", "href", "class"];
        let which = names.iter().find_map(|name| Some(format!(" {name}=\"{}\"", it.attributes.get(*name)?)));
        self.faults.push(format!("<{}{}> {what}", it.name, which.unwrap_or_default()));
    }

    fn all(&self, name: &str) -> Vec<usize> {
        (0..self.nodes.len()).filter(|node| self.nodes[*node].name == name).collect()
    }

    fn get(&self, node: usize, attribute: &str) -> Option<&str> {
        self.nodes[node].attributes.get(attribute).map(String::as_str)
    }

    fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.nodes[node].parent, |it| self.nodes[*it].parent)
    }

    fn within(&self, node: usize, names: &[&str]) -> bool {
        self.ancestors(node).any(|it| names.contains(&&*self.nodes[it].name))
    }

    fn below(&self, node: usize) -> Vec<usize> {
        (node..self.nodes.len())
            .filter(|it| *it == node || self.ancestors(*it).any(|up| up == node))
            .collect()
    }

    /// Whether one who hears the page hears anything of this element.
    fn has_words(&self, node: usize) -> bool {
        self.below(node).into_iter().any(|it| {
            let hidden = std::iter::once(it)
                .chain(self.ancestors(it))
                .any(|up| self.get(up, "aria-hidden") == Some("true"));
            let named = self
                .get(it, "aria-label")
                .or(self.get(it, "alt"))
                .is_some_and(|words| !words.trim().is_empty());
            !hidden && (named || !self.nodes[it].text.trim().is_empty())
        })
    }

    fn whole_document(&mut self) {
        let mut missing = Vec::new();
        let html = self.all("html").first().copied();
        let metas = self.all("meta");
        let first_link = self.all("a").first().and_then(|link| self.get(*link, "href")).map(str::to_owned);
        let main = self.all("main").first().and_then(|main| self.get(*main, "id")).map(|id| format!("#{id}"));
        let polite = (0..self.nodes.len()).filter(|it| self.get(*it, "aria-live").is_some()).count();
        for (sound, what) in [
            (self.doctype, "no `<!DOCTYPE html>`"),
            (
                html.is_some_and(|it| self.get(it, "lang").is_some_and(|lang| !lang.is_empty())),
                "no lang at <html>",
            ),
            (self.all("title").first().is_some_and(|it| self.has_words(*it)), "no <title>"),
            (metas.iter().any(|it| self.get(*it, "name") == Some("viewport")), "no viewport"),
            (metas.iter().any(|it| self.get(*it, "charset").is_some()), "no charset"),
            (self.all("h1").len() == 1, "there has to be one <h1>"),
            (self.all("main").len() == 1, "there has to be one <main>"),
            (main.is_some() && first_link == main, "the first link does not skip to <main>"),
            (polite == 1, "there has to be one live region"),
        ] {
            if !sound {
                missing.push(what.to_owned());
            }
        }
        self.faults.extend(missing);
    }

    fn parts(&mut self) {
        self.outline();
        self.identities();
        for node in 0..self.nodes.len() {
            self.nesting(node);
            self.nothing_inline(node);
            match self.nodes[node].name.clone().as_str() {
                "input" | "select" | "textarea" => self.control(node),
                "table" => self.table(node),
                "svg" => self.drawing(node),
                "img" if self.get(node, "alt").is_none() => self.fault(node, "has no alt"),
                "a" if self.get(node, "href").is_none() => self.fault(node, "goes nowhere"),
                "a" | "button" | "summary" | "legend" | "caption" | "label" | "th" | "option" | "h1"
                | "h2" | "h3" | "h4"
                    if !self.has_words(node) =>
                {
                    self.fault(node, "has no words");
                }
                "form" => self.form(node),
                "fieldset" if !self.child_is(node, "legend") => self.fault(node, "has no legend"),
                "nav" if self.all("nav").len() > 1 && self.get(node, "aria-label").is_none() => {
                    self.fault(node, "is one of several and has no name");
                }
                _ => {}
            }
        }
    }

    fn outline(&mut self) {
        let mut last = 0;
        for node in 0..self.nodes.len() {
            let level = match self.nodes[node].name.as_bytes() {
                [b'h', digit @ b'1'..=b'6'] => usize::from(digit - b'0'),
                _ => continue,
            };
            if last > 0 && level > last + 1 {
                self.fault(node, &format!("follows <h{last}>: a level is left out"));
            }
            last = level;
        }
    }

    fn identities(&mut self) {
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        for node in 0..self.nodes.len() {
            let Some(id) = self.get(node, "id").map(str::to_owned) else { continue };
            if id.is_empty() || id.contains(char::is_whitespace) {
                self.fault(node, "has an id that cannot be referred to");
            }
            if ids.insert(id, node).is_some() {
                self.fault(node, "has an id that another one has");
            }
        }
        for node in 0..self.nodes.len() {
            for attribute in ["aria-describedby", "aria-labelledby", "aria-controls", "for", "list"] {
                let targets = self.get(node, attribute).unwrap_or_default().to_owned();
                for target in targets.split_whitespace().filter(|target| !ids.contains_key(*target)) {
                    self.fault(node, &format!("refers by {attribute} to #{target}, which is not there"));
                }
            }
            let href = self.get(node, "href").unwrap_or_default().to_owned();
            if let Some(target) = href.strip_prefix('#').filter(|target| !ids.contains_key(*target)) {
                self.fault(node, &format!("goes to #{target}, which is not there"));
            }
        }
    }

    fn nesting(&mut self, node: usize) {
        let name = self.nodes[node].name.clone();
        let parent = self.nodes[node].parent.map(|it| self.nodes[it].name.clone());
        if BLOCKS.contains(&&*name) && self.within(node, &PHRASING_ONLY) {
            self.fault(node, "is a block within a line of text");
        }
        if ["a", "button", "input", "select", "textarea", "summary"].contains(&&*name)
            && self.within(node, &["a", "button", "summary"])
        {
            self.fault(node, "can be pressed within something that can be pressed");
        }
        let allowed: &[&str] = match &*name {
            "li" => &["ul", "ol"],
            "dt" | "dd" => &["dl"],
            "tr" => &["thead", "tbody", "tfoot"],
            "td" | "th" => &["tr"],
            "summary" => &["details"],
            "figcaption" => &["figure"],
            "caption" | "thead" | "tbody" => &["table"],
            "form" if self.within(node, &["form"]) => return self.fault(node, "is a form within a form"),
            _ => return,
        };
        if !parent.is_some_and(|parent| allowed.contains(&&*parent)) {
            self.fault(node, &format!("is not a child of {}", allowed.join(" or ")));
        }
    }

    fn nothing_inline(&mut self, node: usize) {
        let it = &self.nodes[node];
        let mut found = Vec::new();
        for (name, value) in &it.attributes {
            let url = matches!(&**name, "href" | "src" | "action" | "formaction" | "xlink:href");
            let lower = value.trim_start().to_ascii_lowercase();
            if name == "style" {
                found.push("has a style attribute".to_owned());
            } else if name.starts_with("on") {
                found.push(format!("has a handler, {name}"));
            } else if url
                && ["javascript:", "vbscript:", "data:"].iter().any(|scheme| lower.starts_with(scheme))
            {
                found.push(format!("has a scheme that runs: {value}"));
            } else if url && it.name != "a" && !value.starts_with('/') && !value.starts_with('#') {
                found.push(format!("loads or sends from elsewhere: {value}"));
            }
        }
        match &*it.name {
            "style" | "iframe" | "object" | "embed" | "base" | "noscript" => {
                found.push("does not belong on a page".to_owned())
            }
            "script" if !it.attributes.contains_key("src") || !it.text.trim().is_empty() => {
                found.push("is an inline script".to_owned());
            }
            _ => {}
        }
        for what in found {
            self.fault(node, &what);
        }
    }

    fn control(&mut self, node: usize) {
        if self.get(node, "type") == Some("hidden") {
            return;
        }
        let id = self.get(node, "id").map(str::to_owned);
        let labels = self.all("label");
        let labelled = labels.iter().any(|label| id.is_some() && self.get(*label, "for") == id.as_deref())
            || self.get(node, "aria-label").is_some_and(|label| !label.is_empty())
            || self.get(node, "aria-labelledby").is_some();
        if !labelled {
            self.fault(node, "has no label");
        }
        if self.get(node, "name").is_none() && self.within(node, &["form"]) {
            self.fault(node, "is in a form and has no name");
        }
    }

    fn child_is(&self, node: usize, name: &str) -> bool {
        let first = self.nodes.iter().position(|it| it.parent == Some(node));
        first.is_some_and(|first| self.nodes[first].name == name)
    }

    fn table(&mut self, node: usize) {
        if !self.child_is(node, "caption") {
            self.fault(node, "has no caption");
        }
        let heads: Vec<_> = self.below(node).into_iter().filter(|it| self.nodes[*it].name == "th").collect();
        if heads.is_empty() {
            self.fault(node, "has no heads");
        }
        for head in heads {
            if !matches!(self.get(head, "scope"), Some("col" | "row" | "colgroup" | "rowgroup")) {
                self.fault(head, "has no scope");
            }
        }
        let scrolls = self.ancestors(node).any(|it| {
            self.get(it, "role") == Some("region")
                && self.get(it, "tabindex") == Some("0")
                && self.get(it, "aria-labelledby").is_some()
        });
        if !scrolls {
            self.fault(node, "is in no region that can be focused and scrolled");
        }
    }

    fn drawing(&mut self, node: usize) {
        let titled = self.child_is(node, "title")
            && self.below(node).iter().any(|it| self.nodes[*it].name == "title" && self.has_words(*it));
        let named = titled || self.get(node, "aria-label").is_some_and(|label| !label.is_empty());
        match (self.get(node, "aria-hidden"), self.get(node, "role")) {
            (Some("true"), _) => {}
            (_, Some("img")) if named => {}
            (_, Some("img")) => self.fault(node, "is a picture without a title"),
            _ => self.fault(node, "is neither hidden nor a picture with a title"),
        }
    }

    fn form(&mut self, node: usize) {
        let inside = self.below(node);
        let token = inside.iter().any(|it| {
            self.get(*it, "name") == Some("csrf")
                && self.get(*it, "value").is_some_and(|value| !value.is_empty())
        });
        if self.get(node, "method").is_some_and(|method| method.eq_ignore_ascii_case("post")) && !token {
            self.fault(node, "posts without a token");
        }
        let buttons: Vec<_> = inside.iter().copied().filter(|it| self.nodes[*it].name == "button").collect();
        if !buttons.iter().any(|it| self.get(*it, "type") == Some("submit")) {
            self.fault(node, "has no button that sends it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{audit, audit_fragment};

    #[track_caller]
    fn check(html: &str, want: &str) {
        let faults = audit_fragment(html);
        assert!(faults.len() == 1 && faults[0].contains(want), "{html}: {faults:?}, not {want}");
    }

    #[test]
    fn each_rule_finds_its_fault() {
        for (html, want) in [
            ("<h1>a</h1><h3>b</h3>", "a level is left out"),
            ("<p id=a>x</p><p id=a>y</p>", "another one has"),
            ("<input name=a>", "has no label"),
            ("<label for=b>B</label><input id=a name=a><p id=b>x</p>", "has no label"),
            ("<select></select>", "has no label"),
            ("<svg><path></path></svg>", "neither hidden"),
            ("<svg role=img><path></path></svg>", "without a title"),
            ("<svg role=img><title> </title></svg>", "without a title"),
            ("<img src=/a>", "no alt"),
            ("<a href=/x><svg aria-hidden=true><title>x</title></svg></a>", "no words"),
            ("<a href='#gone'>x</a>", "not there"),
            ("<p aria-describedby='gone'>x</p>", "not there"),
            ("<p style='color:red'>x</p>", "style attribute"),
            ("<p onclick='x'>x</p>", "handler"),
            ("<a href='JavaScript:x'>x</a>", "scheme that runs"),
            ("<script>x</script>", "inline script"),
            ("<style>p{}</style>", "does not belong"),
            ("<script src='https://a.example/x.js'></script>", "elsewhere"),
            ("<p><div>x</div></p>", "block within"),
            ("<p>x", "never ends"),
            ("<p>x</b></p>", "ends p"),
            ("<p class=a class=b>x</p>", "Duplicate attribute"),
            ("<li>x</li>", "not a child"),
            ("<a href=/a>x<button type=button>y</button></a>", "can be pressed"),
            ("<form action=/a method=post><button type=submit>x</button></form>", "without a token"),
            ("<form action=/a method=get><button type=button>x</button></form>", "no button"),
            ("<fieldset><p>x</p></fieldset>", "no legend"),
            ("<nav aria-label=a><p>x</p></nav><nav><p>y</p></nav>", "has no name"),
        ] {
            let faults = audit_fragment(html);
            assert!(faults.iter().any(|it| it.contains(want)), "{html}: {faults:?}, not {want}");
        }
        let table = |inner: &str| {
            format!("<div role=region tabindex=0 aria-labelledby=c><table>{inner}</table></div>")
        };
        check(&table("<caption id=c>C</caption><tbody><tr><th>x</th></tr></tbody>"), "no scope");
        check(&table("<caption id=c>C</caption><tbody><tr><td>x</td></tr></tbody>"), "no heads");
        check(
            "<table><caption>C</caption><tbody><tr><th scope=col>x</th></tr></tbody></table>",
            "in no region",
        );
    }

    #[test]
    fn a_document_has_what_only_a_document_has() {
        let faults = audit("<p>x</p>").join("\n");
        for want in
            ["DOCTYPE", "lang", "<title>", "viewport", "charset", "<h1>", "<main>", "skip", "live region"]
        {
            assert!(faults.contains(want), "{want} not in {faults}");
        }
    }

    #[test]
    fn what_is_sound_has_no_fault() {
        let html = "<h2>T</h2><p>a &lt; b<br>c</p>\
                    <label for=a>A</label><textarea id=a name=a>\n</p><b></textarea>\
                    <svg role=img><title>x</title><path></path></svg><svg aria-hidden=true><path/></svg>";
        assert_eq!(audit_fragment(html), [""; 0]);
    }
}

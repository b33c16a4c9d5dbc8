//! How far a citation can be trusted, from its text alone: no clock, no network.
//!
//! A citation earns points for naming an act in a known form, for an act that exists, an article the
//! act has, an official link and the right jurisdiction. Whatever contradicts itself is capped below
//! the threshold of the gate.

mod act;
mod article;
mod checked;
mod registry;
mod url;

use unicode_normalization::UnicodeNormalization;

use arena_canon::json::{Pointer, Value};
use serde_json::json;

pub use checked::{Check, Checked, TextRead};
pub use registry::{Act, Family, Registry};

use crate::document::{Faults, Length, Object};
use crate::words::words;
use act::Named;
use article::Article;
use url::Link;

/// A citation with less confidence is flagged, and rejects its submission.
pub const THRESHOLD: u32 = 30;

/// The year that bounds the years of acts, where a contest does not say another one.
pub const YEAR_NOW: u32 = 2026;

/// What somebody cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The act, by a name or a number.
    pub act: String,
    /// The article.
    pub article: String,
    /// Whose law it is.
    pub jurisdiction: String,
    /// Where it can be read.
    pub url: String,
}

words! {
    /// What is wrong with a citation, in the order in which it is told.
    pub enum Reason {
        /// It names no act in any form that is known.
        FormatUnrecognised = "format_unrecognised",
        /// There is an act of this number, and it is of the other type.
        ActTypeMismatch = "act_type_mismatch",
        /// No act can have this number.
        ImplausibleNumber = "implausible_number",
        /// The registry does not have it.
        ActNotInRegistry = "act_not_in_registry",
        /// The act has no such article.
        ArticleOutOfRange = "article_out_of_range",
        /// No article is named in any form that is known.
        ArticleMalformed = "article_malformed",
        /// The link is official and does not say which act it leads to.
        UrlWithoutIdentifier = "url_without_identifier",
        /// The link is not official.
        UrlNotOfficial = "url_not_official",
        /// The link leads to another act.
        UrlIdentifiesAnotherAct = "url_identifies_another_act",
        /// The link is none.
        UrlMalformed = "url_malformed",
        /// It is the law of somebody else.
        JurisdictionMismatch = "jurisdiction_mismatch",
    }
}

words! {
    /// What the gate does with a citation.
    pub enum Gate {
        /// It may stand.
        Pass = "pass",
        /// It looks invented.
        FlaggedHallucination = "flagged_hallucination",
    }
}

/// What came of a citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// 0 to 100.
    pub confidence: u32,
    /// The kind of act, if it names one.
    pub family: Option<Family>,
    /// The registry's name of the act, if it has it.
    pub resolved: Option<String>,
    /// What is wrong.
    pub reasons: Vec<Reason>,
    /// What follows from it.
    pub gate: Gate,
}

/// Judges one citation.
pub fn check(citation: &Citation, registry: &Registry, year_now: u32) -> Verdict {
    let (act, article) = (cleaned(&citation.act), cleaned(&citation.article));
    let Some(named) = act::named(&act, registry, year_now) else {
        return Verdict {
            confidence: 0,
            family: None,
            resolved: None,
            reasons: vec![Reason::FormatUnrecognised],
            gate: Gate::FlaggedHallucination,
        };
    };
    let article = article::check(&article, named.family, named.known);
    let link = url::check(&citation.url, &named, registry);
    let is_at_home = jurisdictions(named.family).iter().any(|known| {
        let said = citation.jurisdiction.trim();
        said.eq_ignore_ascii_case(known)
    });
    let confidence = points(&named, article, link, is_at_home).min(cap(&named, article, link, is_at_home));
    let gate = if confidence < THRESHOLD { Gate::FlaggedHallucination } else { Gate::Pass };
    Verdict {
        confidence,
        family: Some(named.family),
        resolved: named.known.map(|act| act.id.clone()),
        reasons: reasons(&named, article, link, is_at_home),
        gate,
    }
}

/// The confidence of a submission: that of its weakest citation, and 0 without any.
pub fn least(verdicts: &[Verdict]) -> u32 {
    verdicts.iter().map(|verdict| verdict.confidence).min().unwrap_or(0)
}

const fn jurisdictions(family: Family) -> &'static [&'static str] {
    match family {
        Family::EuRegulation | Family::EuDirective => &["EU"],
        Family::LtLaw => &["LT"],
        Family::Echr => &["COE", "ECHR", "INT"],
        Family::UnCharter => &["UN", "INT"],
    }
}

fn points(named: &Named<'_>, article: Article, link: Link, is_at_home: bool) -> u32 {
    let act = if named.known.is_some() { 40 } else { 5 };
    let article = if article == Article::Ok { 20 } else { 0 };
    let link = match link {
        Link::Match => 20,
        Link::WithoutIdentifier => 10,
        Link::Unofficial | Link::Mismatch | Link::Malformed => 0,
    };
    15 + act + article + link + if is_at_home { 5 } else { 0 }
}

/// Whatever contradicts itself is worth no more than this.
fn cap(named: &Named<'_>, article: Article, link: Link, is_at_home: bool) -> u32 {
    let flags = if named.is_other_type || named.is_implausible { 10 } else { 100 };
    let article = match article {
        Article::OutOfRange => 10,
        Article::Malformed => 20,
        Article::Ok | Article::UnknownRange => 100,
    };
    let link = match link {
        Link::Mismatch | Link::Malformed => 20,
        Link::Match | Link::WithoutIdentifier | Link::Unofficial => 100,
    };
    flags.min(article).min(link).min(if is_at_home { 100 } else { 25 })
}

fn reasons(named: &Named<'_>, article: Article, link: Link, is_at_home: bool) -> Vec<Reason> {
    let article = match article {
        Article::OutOfRange => Some(Reason::ArticleOutOfRange),
        Article::Malformed => Some(Reason::ArticleMalformed),
        Article::Ok | Article::UnknownRange => None,
    };
    let link = match link {
        Link::Match => None,
        Link::WithoutIdentifier => Some(Reason::UrlWithoutIdentifier),
        Link::Unofficial => Some(Reason::UrlNotOfficial),
        Link::Mismatch => Some(Reason::UrlIdentifiesAnotherAct),
        Link::Malformed => Some(Reason::UrlMalformed),
    };
    let found = [
        named.is_other_type.then_some(Reason::ActTypeMismatch),
        named.is_implausible.then_some(Reason::ImplausibleNumber),
        named.known.is_none().then_some(Reason::ActNotInRegistry),
        article,
        link,
        (!is_at_home).then_some(Reason::JurisdictionMismatch),
    ];
    found.into_iter().flatten().collect()
}

/// One spelling of a text: superscript digits become `-` and digits before normalization, which
/// would turn article 6.364¹ into 6.3641; then NFKC, one kind of dash, and single blanks.
fn cleaned(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut in_superscript = false;
    for letter in text.chars() {
        let digit = superscript(letter);
        if digit.is_some() && !in_superscript {
            spelled.push('-');
        }
        in_superscript = digit.is_some();
        spelled.push(digit.unwrap_or(letter));
    }
    let plain: String = spelled.nfkc().map(|letter| if is_dash(letter) { '-' } else { letter }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

const fn superscript(letter: char) -> Option<char> {
    Some(match letter {
        '\u{b9}' => '1',
        '\u{b2}' => '2',
        '\u{b3}' => '3',
        '\u{2070}' => '0',
        '\u{2074}'..='\u{2079}' => (b'4' + (letter as u32 - 0x2074) as u8) as char,
        _ => return None,
    })
}

const fn is_dash(letter: char) -> bool {
    matches!(
        letter,
        '-' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2212}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{2e5d}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{fe31}'
                | '\u{fe32}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
                | '\u{10d6e}'
                | '\u{10ead}'
    )
}

/// Characters of a field where a citation stands alone; beyond it nothing is even judged.
const ALONE: Length = Length::new(0, 10_000);

impl Citation {
    /// The bounds of the fields within a submission.
    pub(crate) const BOUNDS: [Length; 4] =
        [Length::new(1, 200), Length::new(1, 60), Length::new(1, 16), Length::new(1, 2_048)];

    /// Reads `{act, article, jurisdiction, url}` of any length that can be judged.
    pub fn read(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Self> {
        Self::within([ALONE; 4], value, at, faults)
    }

    /// Reads a citation whose fields keep their bounds.
    pub(crate) fn within(
        bounds: [Length; 4],
        value: &Value,
        at: &Pointer,
        faults: &mut Faults,
    ) -> Option<Self> {
        let keys = ["act", "article", "jurisdiction", "url"];
        let object = Object::read(value, at, &keys, faults)?;
        let mut field = |i: usize| {
            let text = object.text(keys[i], faults)?;
            if let Some(fault) = bounds[i].fault(text) {
                faults.add(&object.at(keys[i]), fault);
            }
            Some(text.to_owned())
        };
        let [act, article, jurisdiction, url] = [field(0), field(1), field(2), field(3)];
        Some(Self { act: act?, article: article?, jurisdiction: jurisdiction?, url: url? })
    }
}

impl Verdict {
    /// As it is shown.
    pub fn json(&self) -> Value {
        json!({
            "confidence": self.confidence,
            "family": self.family,
            "resolved": self.resolved,
            "reasons": self.reasons,
            "gate": self.gate,
        })
    }
}

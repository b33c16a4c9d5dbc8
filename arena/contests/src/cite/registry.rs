//! The acts that are known, as versioned data. A correction is a new version, never an edit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};

use super::checked::Checked;
use crate::document::{Faults, Object, array, text};
use crate::words::words;

words! {
    /// A kind of act.
    pub enum Family {
        /// A regulation of the European Union.
        EuRegulation = "eu_regulation",
        /// A directive of the European Union.
        EuDirective = "eu_directive",
        /// A law of Lithuania.
        LtLaw = "lt_law",
        /// The European Convention on Human Rights.
        Echr = "echr",
        /// The Charter of the United Nations.
        UnCharter = "un_charter",
    }
}

/// Where an act stands in the numbering of the European Union.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EuNumber {
    pub(crate) is_directive: bool,
    pub(crate) year: u32,
    pub(crate) number: u32,
}

impl EuNumber {
    pub(crate) fn family(self) -> Family {
        if self.is_directive { Family::EuDirective } else { Family::EuRegulation }
    }

    /// The same year and number as an act of the other type.
    pub(crate) fn other_type(self) -> Self {
        Self { is_directive: !self.is_directive, ..self }
    }
}

/// How the articles of an act are numbered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Articles {
    /// From 1 to `max`, and those that were inserted with a letter.
    Plain { max: u32, inserted: BTreeSet<String> },
    /// From 1 within each book.
    Books(BTreeMap<u32, u32>),
}

/// An act that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    pub(crate) id: String,
    pub(crate) family: Family,
    pub(crate) eu: Option<EuNumber>,
    pub(crate) articles: Articles,
    pub(crate) tar: Option<String>,
    pub(crate) tais: Option<String>,
    pub(crate) law: Option<String>,
    checked: Checked,
}

impl Act {
    /// Its short name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its kind.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The number of its last article: `99`, or of the last one of each book: `1.138 2.184`.
    pub fn last_article(&self) -> String {
        match &self.articles {
            Articles::Plain { max, .. } => max.to_string(),
            Articles::Books(books) => {
                let last = books.iter().map(|(book, max)| format!("{book}.{max}"));
                last.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The articles that were inserted with a letter.
    pub fn inserted(&self) -> impl Iterator<Item = &str> {
        let inserted = match &self.articles {
            Articles::Plain { inserted, .. } => Some(inserted),
            Articles::Books(_) => None,
        };
        inserted.into_iter().flatten().map(String::as_str)
    }

    /// What of this was looked up at a source. In version 1 nothing says so.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }
}

/// Every known act of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    version: u32,
    sha256: Digest,
    acts: Vec<Act>,
    by_alias: BTreeMap<String, usize>,
    by_number: BTreeMap<EuNumber, usize>,
}

const V1: &str = include_str!("../../data/acts-v1.json");
const V2: &str = include_str!("../../data/acts-v2.json");
/// Bytes of a registry.
const BYTES_MAX: usize = 1 << 20;
const ACTS_MAX: usize = 10_000;
const LIST_MAX: usize = 1_000;

/// The members of an act. The last one belongs to the second form of a registry.
const KEYS: [&str; 14] = [
    "id", "family", "kind", "year", "number", "max", "ins", "aliases", "celex", "books", "tar", "tais",
    "law", "checked",
];

/// The forms in which a registry is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Acts and their articles.
    V1,
    /// And for each act, where its articles were looked up.
    V2,
}

impl Form {
    fn named(schema: &str) -> Option<Self> {
        match schema {
            "arena.contest.registry.v1" => Some(Self::V1),
            "arena.contest.registry.v2" => Some(Self::V2),
            _ => None,
        }
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &KEYS[..KEYS.len() - 1],
            Self::V2 => &KEYS,
        }
    }
}

impl Registry {
    /// Version 1, by which citations are judged where a contest does not pin another one.
    pub fn v1() -> &'static Self {
        static REGISTRY: LazyLock<Registry> =
            LazyLock::new(|| Registry::read(V1.as_bytes()).expect("the built-in registry has no fault"));
        &REGISTRY
    }

    /// Version 2: the articles that were inserted into Brussels I, and for each act, what of it was
    /// looked up at a source.
    pub fn v2() -> &'static Self {
        static REGISTRY: LazyLock<Registry> =
            LazyLock::new(|| Registry::read(V2.as_bytes()).expect("the built-in registry has no fault"));
        &REGISTRY
    }

    /// The built-in registry of a version.
    pub fn of_version(version: u32) -> Option<&'static Self> {
        [Self::v1(), Self::v2()].into_iter().find(|registry| registry.version == version)
    }

    /// Reads a registry of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let root = Pointer::default();
        let document = match json::read(bytes, BYTES_MAX) {
            Ok(document) => document,
            Err(why) => {
                faults.add(&root, why.to_string());
                return Err(faults);
            }
        };
        let read = Self::of(&document, &mut faults);
        faults.or(read)
    }

    fn of(document: &Value, faults: &mut Faults) -> Option<Self> {
        let object = Object::read(document, &Pointer::default(), &["schema", "version", "acts"], faults)?;
        let form = object.word("schema", Form::named, faults)?;
        let version = number(&object, "version", faults)?;
        let mut registry = Self {
            version,
            sha256: Digest::of(&json::canonical(document)),
            acts: Vec::new(),
            by_alias: BTreeMap::new(),
            by_number: BTreeMap::new(),
        };
        for (i, item) in object.array("acts", ACTS_MAX, faults)?.iter().enumerate() {
            let at = object.at("acts").index(i);
            if let Some(act) = Object::read(item, &at, form.keys(), faults) {
                registry.add(&act, form, faults);
            }
        }
        Some(registry)
    }

    fn add(&mut self, object: &Object<'_>, form: Form, faults: &mut Faults) -> Option<()> {
        let act = read_act(object, form, faults)?;
        let index = self.acts.len();
        if let Some(eu) = act.eu
            && self.by_number.insert(eu, index).is_some()
        {
            faults.add(&object.at("number"), "an act before it has the same year and number");
        }
        for alias in object.array("aliases", LIST_MAX, faults)? {
            let alias = text(alias, &object.at("aliases"), faults)?;
            if self.by_alias.insert(alias.to_lowercase(), index).is_some() {
                faults.add(&object.at("aliases"), format!("an act before it has the alias {alias:?}"));
            }
        }
        self.acts.push(act);
        Some(())
    }

    /// Its version.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The digest of its canonical JSON. A verdict that pins it can be derived again.
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// The acts, in the order of the file.
    pub fn acts(&self) -> &[Act] {
        &self.acts
    }

    pub(crate) fn by_alias(&self, alias: &str) -> Option<&Act> {
        self.by_alias.get(&alias.to_lowercase()).map(|&index| &self.acts[index])
    }

    pub(crate) fn by_number(&self, eu: EuNumber) -> Option<&Act> {
        self.by_number.get(&eu).map(|&index| &self.acts[index])
    }

    pub(crate) fn by_law(&self, law: &str) -> Option<&Act> {
        self.acts.iter().find(|act| act.law.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(law)))
    }
}

fn read_act(object: &Object<'_>, form: Form, faults: &mut Faults) -> Option<Act> {
    let word = object.text("family", faults)?;
    let Some(family) = Family::named(word) else {
        faults.add(&object.at("family"), "no family has this name");
        return None;
    };
    let is_directive = family == Family::EuDirective;
    let eu = match family {
        Family::EuRegulation | Family::EuDirective => Some(EuNumber {
            is_directive,
            year: number(object, "year", faults)?,
            number: number(object, "number", faults)?,
        }),
        _ => None,
    };
    let owned = |text: &str| text.to_owned();
    Some(Act {
        id: object.text("id", faults)?.to_owned(),
        family,
        eu,
        articles: read_articles(object, faults)?,
        tar: object.optional_text("tar", faults).map(owned),
        tais: object.optional_text("tais", faults).map(owned),
        law: object.optional_text("law", faults).map(owned),
        checked: if form == Form::V2 { Checked::read(object, faults)? } else { Checked::default() },
    })
}

fn read_articles(object: &Object<'_>, faults: &mut Faults) -> Option<Articles> {
    if let Some(Value::Object(books)) = object.optional("books") {
        let number = |(book, max): (&String, &Value)| {
            Some((book.parse().ok()?, max.as_u64().and_then(|max| u32::try_from(max).ok())?))
        };
        let books: Option<BTreeMap<u32, u32>> = books.iter().map(number).collect();
        if books.is_none() {
            faults
                .add(&object.at("books"), "expected numbers of books with the number of their last article");
        }
        return books.map(Articles::Books);
    }
    let max = number(object, "max", faults)?;
    let inserted = array(object.required("ins", faults)?, &object.at("ins"), LIST_MAX, faults)?;
    let inserted = inserted.iter().map(|item| text(item, &object.at("ins"), faults).map(str::to_owned));
    Some(Articles::Plain { max, inserted: inserted.collect::<Option<_>>()? })
}

fn number(object: &Object<'_>, key: &str, faults: &mut Faults) -> Option<u32> {
    let number = object.required(key, faults)?.as_u64().and_then(|number| u32::try_from(number).ok());
    if number.is_none() {
        faults.add(&object.at(key), "expected a whole number");
    }
    number
}

//! Where the articles of an act were looked up. What nobody looked up says so.

use arena_canon::json::{Pointer, Value};

use crate::document::{Faults, Object};
use crate::words::words;

words! {
    /// Which text of an act was read.
    pub enum TextRead {
        /// As it was first published. It says nothing about what was inserted later.
        AsAdopted = "as_adopted",
        /// With its later changes worked in.
        Consolidated = "consolidated",
    }
}

/// A source at which somebody looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The repository of legal texts.
    pub source: String,
    /// Its commit.
    pub commit: String,
    /// The file.
    pub path: String,
    /// Which text it holds.
    pub text: TextRead,
}

/// What was looked up about an act, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of its last article, or of the last one of each book.
    pub last_article: Option<Check>,
    /// That these articles were inserted, and no others.
    pub inserted: Option<Check>,
}

impl Checked {
    /// Reads the member `checked` of an act.
    pub(super) fn read(act: &Object<'_>, faults: &mut Faults) -> Option<Self> {
        let value = act.required("checked", faults)?;
        let object = Object::read(value, &act.at("checked"), &["last_article", "inserted"], faults)?;
        // That nobody looked is said, never left out.
        let [last_article, inserted] =
            ["last_article", "inserted"].map(|key| match object.required(key, faults)? {
                Value::Null => Some(None),
                value => Check::read(value, &object.at(key), faults).map(Some),
            });
        Some(Self { last_article: last_article?, inserted: inserted? })
    }
}

impl Check {
    fn read(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Self> {
        let object = Object::read(value, at, &["source", "commit", "path", "text"], faults)?;
        let [source, commit, path] =
            ["source", "commit", "path"].map(|key| object.text(key, faults).map(str::to_owned));
        let text = object.word("text", TextRead::named, faults);
        Some(Self { source: source?, commit: commit?, path: path?, text: text? })
    }
}

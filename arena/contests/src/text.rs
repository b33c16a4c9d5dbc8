//! Texts of users, and what stays of one that lies elsewhere.
//!
//! A text is looked at once, when it comes. A journal keeps what rules need of it afterwards: a digest that nobody
//! can guess the text from, its length, what was found in it, which artifacts it names. The text itself lies where it
//! can be taken away for good. How that place makes its digests is not known here.

use std::collections::BTreeSet;

use arena_canon::json::{Pointer, Value};
use arena_canon::{Digest, Preimage};
use serde_json::json;

use crate::document::{Faults, Object, kind_of};
use crate::leak::{self, Finding, Severity};

/// Digests that one text may name and still be kept; a text of 20 000 bytes has no room for more.
const NAMES_MAX: usize = 512;
/// Characters of a digest in a text.
const DIGITS: usize = 64;

/// A text of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// As it was said.
    Said(String),
    /// It lies elsewhere.
    Kept(Kept),
}

/// What is kept of a text that lies elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The digest of its place, which holds random bytes beside the text: without the place nobody can tell by it
    /// what the text was.
    pub sha256: Digest,
    /// Bytes of the text.
    pub bytes: u64,
    /// The artifacts that it names, each as [`name_of`] gives it.
    pub names: BTreeSet<Digest>,
    /// What was found when it was looked at.
    pub findings: Vec<Finding>,
}

impl From<String> for Text {
    fn from(said: String) -> Self {
        Self::Said(said)
    }
}

impl From<&str> for Text {
    fn from(said: &str) -> Self {
        Self::Said(said.to_owned())
    }
}

impl Text {
    /// The text, unless it lies elsewhere.
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Said(text) => Some(text),
            Self::Kept(_) => None,
        }
    }

    /// What is kept of it, if it lies elsewhere.
    pub fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Said(_) => None,
            Self::Kept(kept) => Some(kept),
        }
    }

    /// Its digest: that of the text, or that of the place where it lies.
    pub fn sha256(&self) -> Digest {
        match self {
            Self::Said(text) => Digest::of(text.as_bytes()),
            Self::Kept(kept) => kept.sha256,
        }
    }

    /// What was found in it when it was looked at; of one that is here it is still to be looked for.
    pub fn findings(&self) -> &[Finding] {
        self.kept().map_or(&[], |kept| &kept.findings)
    }

    /// Whether it names an artifact by its digest. In one that lies elsewhere a digest stands by itself, with no
    /// further hexadecimal digit beside it.
    pub fn names(&self, artifact: &Digest) -> bool {
        match self {
            Self::Said(text) => text.contains(&artifact.to_string()),
            Self::Kept(kept) => kept.names.contains(&name_of(artifact)),
        }
    }

    /// Lays a text that is here by: `place` puts it elsewhere and tells the digest of the place.
    pub fn lay_by(&mut self, findings: Vec<Finding>, place: &mut dyn FnMut(&str) -> Digest) {
        let Self::Said(text) = self else { return };
        let kept = Kept { sha256: place(text), bytes: text.len() as u64, names: named_in(text), findings };
        *self = Self::Kept(kept);
    }

    /// As a journal holds it: a text, or an object of what is kept.
    pub fn json(&self) -> Value {
        match self {
            Self::Said(text) => json!(text),
            Self::Kept(kept) => json!({
                "sha256": kept.sha256, "bytes": kept.bytes, "names": kept.names, "findings": kept.findings,
            }),
        }
    }

    /// Reads what [`json`](Self::json) gives. Only a journal holds a text that lies elsewhere: taken from a request
    /// it would be a way to read what somebody else wrote.
    pub fn read(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Said(text.clone())),
            Value::Object(_) => Kept::read(value, at, faults).map(Self::Kept),
            other => {
                faults.add(at, format!("expected a text or what is kept of one, found {}", kind_of(other)));
                None
            }
        }
    }
}

impl Kept {
    fn read(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Self> {
        let object = Object::read(value, at, &["sha256", "bytes", "names", "findings"], faults)?;
        let (sha256, bytes) = (object.parsed("sha256", faults), object.whole("bytes", faults));
        let names = object.texts("names", NAMES_MAX, faults).and_then(|names| {
            let names: Option<BTreeSet<Digest>> = names.iter().map(|name| name.parse().ok()).collect();
            if names.is_none() {
                faults.add(&object.at("names"), "expected digests");
            }
            names
        });
        let findings = read_findings(&object, faults);
        Some(Self { sha256: sha256?, bytes: bytes?, names: names?, findings: findings? })
    }
}

/// What was found in a text, as a journal holds it under `findings`.
pub(crate) fn read_findings(object: &Object<'_>, faults: &mut Faults) -> Option<Vec<Finding>> {
    let items = object.array("findings", leak::FINDINGS_MAX, faults)?;
    let read = |(i, item)| {
        let at = object.at("findings").index(i);
        let object = Object::read(item, &at, &["field", "offset", "rule", "severity"], faults)?;
        let field = object.text("field", faults);
        let offset = object.whole("offset", faults);
        let rule = object.word("rule", leak::rule_named, faults);
        let severity = object.word("severity", Severity::named, faults);
        let offset = usize::try_from(offset?).ok()?;
        Some(Finding { field: field?.to_owned(), offset, rule: rule?, severity: severity? })
    };
    items.iter().enumerate().map(read).collect()
}

/// What is kept of the digest of an artifact that a text names. Sixty-four hexadecimal digits may be a secret as
/// well, and of a secret nothing may stay.
pub fn name_of(artifact: &Digest) -> Digest {
    Preimage::new("named in a text").bytes(artifact.as_bytes()).digest()
}

/// Every digest that stands by itself in a text.
fn named_in(text: &str) -> BTreeSet<Digest> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let runs = text.split(|c| !is_digit(c)).filter(|run| run.len() == DIGITS);
    runs.filter_map(|run| run.parse().ok()).take(NAMES_MAX).map(|artifact| name_of(&artifact)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_by(text: &str, findings: Vec<Finding>) -> Text {
        let mut laid_by = Text::from(text);
        laid_by.lay_by(findings, &mut |text| Digest::of_parts(&[b"salt", text.as_bytes()]));
        laid_by
    }

    #[test]
    fn nothing_of_a_text_stays_with_what_is_kept_of_it() {
        let artifact = Digest::of(b"an artifact");
        let text = format!("see {artifact}, and keep quiet about it");
        let found =
            Finding { field: "body".to_owned(), offset: 3, rule: "marker", severity: Severity::Review };
        let kept = laid_by(&text, vec![found.clone()]);
        let written = kept.json().to_string();
        for word in ["quiet", &artifact.to_string(), &Digest::of(text.as_bytes()).to_string()] {
            assert!(!written.contains(word), "{word} in {written}");
        }
        let mut faults = Faults::default();
        let read = Text::read(&kept.json(), &Pointer::default(), &mut faults);
        assert_eq!((read.as_ref(), faults.0.len()), (Some(&kept), 0));
        assert_eq!((kept.said(), kept.findings()), (None, &[found][..]));
        assert_eq!(kept.kept().map(|kept| kept.bytes), Some(text.len() as u64));
    }

    #[test]
    fn what_is_kept_names_the_artifacts_that_the_text_names() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        for (text, names) in [
            (format!("locker:{one}"), true),
            (format!("0x{one}."), true),
            (format!("{other} {one}"), true),
            (one.to_string(), true),
            (other.to_string(), false),
            (format!("{one}")[1..].to_owned(), false),
            (one.to_string().to_uppercase(), false),
        ] {
            assert_eq!(Text::from(&*text).names(&one), names, "{text}");
            assert_eq!(laid_by(&text, Vec::new()).names(&one), names, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for value in [json!(null), json!(1), json!([]), json!({}), json!({ "sha256": "00" })] {
            let mut faults = Faults::default();
            assert_eq!(Text::read(&value, &Pointer::default(), &mut faults), None, "{value}");
            assert!(!faults.0.is_empty(), "{value}");
        }
    }
}

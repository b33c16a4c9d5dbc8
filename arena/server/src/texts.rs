//! The texts of users, where they lie and how they are shown.
//!
//! A text is a blob: a line of random digits, then the text. An event holds the digest of both, so once the blob is
//! withheld nothing tells what the text was, not even a good guess. Two texts that are alike are two blobs, and each
//! is withheld by itself. What is answered holds a mark for a text until it is sent; then the mark is filled in from
//! the blob as it is at that moment, so that no answer that is kept, and no state, has a text in it.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::text::Text;
use arena_store::{Blobs, Found};
use serde_json::json;

/// What is said of a text where it is a blob.
pub(crate) const MEDIA_TYPE: &str = "text/plain; charset=utf-8";
/// Bytes of the longest text with its line of random digits.
const BLOB_BYTES_MAX: u64 = 256 << 10;
/// Digits of that line.
const SALT_DIGITS: usize = 64;
/// The one member of a mark.
const MARK: &str = "kept_text";

/// A text as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// It is here.
    Here {
        /// As it was said.
        text: String,
        /// The random digits before it; none of a text that stands in a row.
        salt: Option<String>,
    },
    /// It was taken away.
    Withheld {
        /// Why.
        reason: String,
    },
    /// It should be here, and cannot be read.
    Unreadable {
        /// In words.
        why: &'static str,
    },
}

/// Where texts are read.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a>(pub(crate) &'a Blobs);

/// The blob of a text, with its digest. `luck` is of the request, `place` says which of its texts this is.
pub(crate) fn blob_of(text: &str, luck: &[u8], place: usize) -> (Digest, Vec<u8>) {
    let salt = Digest::of_parts(&[b"arena text salt", luck, &(place as u64).to_be_bytes()]);
    let blob = format!("{salt}\n{text}").into_bytes();
    (Digest::of(&blob), blob)
}

/// What stands for a text in an answer until that is sent.
pub(crate) fn mark_of(text: &Text) -> Value {
    match text {
        Text::Said(text) => json!(text),
        Text::Kept(kept) => json!({ MARK: kept.sha256 }),
    }
}

/// The text that a value stands for. A user's text is never an object, so none can be taken for a mark.
fn marked(value: &Value) -> Option<Digest> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.get(MARK)?.as_str()?.parse().ok()
}

impl Texts<'_> {
    /// A text as it is shown now.
    pub(crate) fn look(self, text: &Text) -> Shown {
        match text {
            Text::Said(text) => Shown::Here { text: text.clone(), salt: None },
            Text::Kept(kept) => self.read(kept.sha256),
        }
    }

    fn read(self, sha256: Digest) -> Shown {
        let content = match self.0.read(sha256, BLOB_BYTES_MAX) {
            Ok(Found::Content(content)) => content,
            Ok(Found::Withheld { reason }) => return Shown::Withheld { reason },
            Ok(Found::Missing) => return Shown::Unreadable { why: "it is missing" },
            Err(_) => return Shown::Unreadable { why: "it is damaged" },
        };
        let said = String::from_utf8(content).ok();
        let parts = said.as_deref().and_then(|said| said.split_once('\n'));
        match parts.filter(|(salt, _)| salt.len() == SALT_DIGITS) {
            Some((salt, text)) => Shown::Here { text: text.to_owned(), salt: Some(salt.to_owned()) },
            None => Shown::Unreadable { why: "it is of another form" },
        }
    }

    /// Fills the marks of an answer in. Beside a text stand its digest and its salt, or why it is not there.
    pub(crate) fn fill(self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(members) => {
                let mut beside = Vec::new();
                for (name, member) in members.iter_mut() {
                    let Some(sha256) = marked(member) else {
                        self.fill(member);
                        continue;
                    };
                    let (text, what, said) = match self.read(sha256) {
                        Shown::Here { text, salt } => (json!(text), "salt", json!(salt)),
                        Shown::Withheld { reason } => (Value::Null, "withheld", json!(reason)),
                        Shown::Unreadable { why } => (Value::Null, "unreadable", json!(why)),
                    };
                    *member = text;
                    beside.push((format!("{name}_{what}"), said));
                    beside.push((format!("{name}_sha256"), json!(sha256)));
                }
                members.extend(beside);
            }
            _ => {}
        }
    }
}

//! Reading the members of an untrusted document, each with its bounds, collecting every fault.

use std::fmt;

use arena_canon::Digest;
use arena_canon::json::{Map, Pointer, Value};

use crate::fault::Findings;

/// Integers that every JSON reader keeps exactly.
const EXACT_MAX: u64 = 1 << 53;

/// An object of a document and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a> {
    pub(crate) at: Pointer,
    members: &'a Map<String, Value>,
}

/// `text`, cut and escaped for a message.
pub(crate) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(64).collect();
    let rest = if cut.len() < text.len() { "…" } else { "" };
    format!("`{}{rest}`", cut.escape_debug())
}

impl<'a> Object<'a> {
    /// `value` as an object.
    pub(crate) fn of(value: &'a Value, at: Pointer, findings: &mut Findings) -> Option<Self> {
        let members = value.as_object();
        if members.is_none() {
            findings.add(&at, "must be an object");
        }
        members.map(|members| Self { at, members })
    }

    /// Names every member that is not among `known`.
    pub(crate) fn only(&self, known: &[&str], findings: &mut Findings) {
        for key in self.members.keys().filter(|key| !known.contains(&key.as_str())) {
            let known = known.join(", ");
            findings.add(&self.at.key(key), format!("unknown member {}; known are {known}", shown(key)));
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a String> {
        self.members.keys()
    }

    pub(crate) fn place(&self, key: &str) -> Pointer {
        self.at.key(key)
    }

    /// The member, or nothing where it is absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key)
    }

    /// The member; its absence is a fault.
    pub(crate) fn need(&self, key: &str, findings: &mut Findings) -> Option<&'a Value> {
        let member = self.get(key);
        if member.is_none() {
            findings.add(&self.at, format!("the member `{key}` is missing"));
        }
        member
    }

    /// What `read` makes of the member; where it makes nothing, the member must be `what`.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        what: impl fmt::Display,
        findings: &mut Findings,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let member = self.need(key, findings)?;
        let found = read(member);
        if found.is_none() {
            findings.add(&self.place(key), format!("must be {what}"));
        }
        found
    }

    /// As [`Object::read`], with `default` where the member is absent.
    pub(crate) fn read_or<T>(
        &self,
        key: &str,
        what: impl fmt::Display,
        default: T,
        findings: &mut Findings,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        if self.get(key).is_some() { self.read(key, what, findings, read) } else { Some(default) }
    }

    pub(crate) fn constant(&self, key: &str, want: &str, findings: &mut Findings) {
        self.read(key, format_args!("\"{want}\""), findings, |value| {
            (value.as_str() == Some(want)).then_some(())
        });
    }

    /// A text of 1 to `max` bytes without control characters.
    pub(crate) fn text(&self, key: &str, max: usize, findings: &mut Findings) -> Option<&'a str> {
        let what = format_args!("a text of 1 to {max} bytes without control characters");
        self.read(key, what, findings, |value| value.as_str().filter(|text| is_line(text, max)))
    }

    pub(crate) fn digest(&self, key: &str, findings: &mut Findings) -> Option<Digest> {
        self.read(key, "64 lower-case hexadecimal digits", findings, digest_of)
    }

    pub(crate) fn number(&self, key: &str, max: u64, findings: &mut Findings) -> Option<u64> {
        let what = format_args!("an integer from 0 to {max}, as a number up to 2^53 or a decimal string");
        self.read(key, what, findings, |value| number_of(value).filter(|number| *number <= max))
    }

    pub(crate) fn flag_or(&self, key: &str, default: bool, findings: &mut Findings) -> Option<bool> {
        self.read_or(key, "true or false", default, findings, Value::as_bool)
    }

    /// An array of at most `max` elements, each with its place; an absent one is empty.
    pub(crate) fn list_or_empty(
        &self,
        key: &str,
        max: usize,
        findings: &mut Findings,
    ) -> Vec<(Pointer, &'a Value)> {
        let what = format_args!("an array of at most {max} elements");
        let fits = |value: &'a Value| value.as_array().filter(|array| array.len() <= max);
        let array = if self.get(key).is_some() { self.read(key, what, findings, fits) } else { None };
        let at = self.place(key);
        array.into_iter().flatten().enumerate().map(|(i, value)| (at.index(i), value)).collect()
    }

    /// An array that must be there.
    pub(crate) fn list(&self, key: &str, max: usize, findings: &mut Findings) -> Vec<(Pointer, &'a Value)> {
        self.need(key, findings);
        self.list_or_empty(key, max, findings)
    }
}

/// A document of these members.
pub(crate) fn document<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(crate) fn is_line(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && !text.chars().any(char::is_control)
}

pub(crate) fn digest_of(value: &Value) -> Option<Digest> {
    value.as_str().and_then(|text| text.parse().ok())
}

/// An integer as a JSON number that every reader keeps, or as a decimal string.
pub(crate) fn number_of(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().filter(|number| *number <= EXACT_MAX),
        Value::String(text) => text.parse::<u64>().ok().filter(|number| number.to_string() == *text),
        _ => None,
    }
}

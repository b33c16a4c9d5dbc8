//! Reading the members of a JSON document: every fault is kept with its place, and whoever asked
//! gets a value that has none.
//!
//! What a value means is decided elsewhere.

use std::fmt;
use std::str::FromStr;

use arena_canon::json::{Map, Pointer, Value};

/// What is wrong at one place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The place; empty for the document as a whole.
    pub pointer: Pointer,
    /// What is wrong there.
    pub message: String,
}

/// Everything that is wrong with a document, in the order in which it was met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

/// Faults that are kept of one document. The rest of a hostile one is counted as one more.
const FAULTS_MAX: usize = 100;

impl Faults {
    /// Keeps one more fault.
    pub fn add(&mut self, pointer: &Pointer, message: impl Into<String>) {
        match self.0.len() {
            n if n < FAULTS_MAX => self.0.push(Fault { pointer: pointer.clone(), message: message.into() }),
            FAULTS_MAX => self.0.push(Fault {
                pointer: Pointer::default(),
                message: format!("more faults than the {FAULTS_MAX} that are told"),
            }),
            _ => {}
        }
    }

    /// `value`, unless there is a fault.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Fault { pointer, message }) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "; " };
            write!(f, "{separator}{pointer}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// An object and its place.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    members: &'a Map<String, Value>,
    at: Pointer,
}

impl<'a> Object<'a> {
    /// `value` as an object that has no member but those in `allowed`.
    pub fn read(value: &'a Value, at: &Pointer, allowed: &[&str], faults: &mut Faults) -> Option<Self> {
        let Value::Object(members) = value else {
            faults.add(at, format!("expected an object, found {}", kind_of(value)));
            return None;
        };
        for key in members.keys().filter(|key| !allowed.contains(&key.as_str())) {
            let key: String = key.chars().take(64).collect();
            faults.add(&at.key(&key), format!("unknown field; known here are {}", allowed.join(", ")));
        }
        Some(Self { members, at: at.clone() })
    }

    /// The place of the member `key`.
    pub fn at(&self, key: &str) -> Pointer {
        self.at.key(key)
    }

    /// The place of this object.
    pub fn pointer(&self) -> &Pointer {
        &self.at
    }

    /// A member that may be absent or `null`.
    pub fn optional(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    /// A member that must be there; `null` counts as there.
    pub fn required(&self, key: &str, faults: &mut Faults) -> Option<&'a Value> {
        let value = self.members.get(key);
        if value.is_none() {
            faults.add(&self.at(key), "missing");
        }
        value
    }

    /// A text that must be there.
    pub fn text(&self, key: &str, faults: &mut Faults) -> Option<&'a str> {
        let value = self.required(key, faults)?;
        text(value, &self.at(key), faults)
    }

    /// A text that may be absent or `null`.
    pub fn optional_text(&self, key: &str, faults: &mut Faults) -> Option<&'a str> {
        self.optional(key).and_then(|value| text(value, &self.at(key), faults))
    }

    /// A text that must be there and keep its bounds.
    pub fn bounded(&self, key: &str, length: Length, faults: &mut Faults) -> Option<String> {
        let text = self.text(key, faults)?;
        if let Some(fault) = length.fault(text) {
            faults.add(&self.at(key), fault);
        }
        Some(text.to_owned())
    }

    /// A text that must be there and be one of the words that `named` knows.
    pub fn word<T>(&self, key: &str, named: fn(&str) -> Option<T>, faults: &mut Faults) -> Option<T> {
        let word = self.text(key, faults)?;
        let found = named(word);
        if found.is_none() {
            let shown: String = word.chars().take(64).collect();
            faults.add(&self.at(key), format!("{shown:?} is not known here"));
        }
        found
    }

    /// As [`Object::word`], of a member that may be absent or `null`.
    pub fn optional_word<T>(
        &self,
        key: &str,
        named: fn(&str) -> Option<T>,
        faults: &mut Faults,
    ) -> Option<T> {
        self.optional(key).and_then(|_| self.word(key, named, faults))
    }

    /// A text that must be there and mean a `T`.
    pub fn parsed<T: FromStr<Err: fmt::Display>>(&self, key: &str, faults: &mut Faults) -> Option<T> {
        match self.text(key, faults)?.parse() {
            Ok(value) => Some(value),
            Err(why) => {
                faults.add(&self.at(key), why.to_string());
                None
            }
        }
    }

    /// A whole number of at least 0 that must be there.
    pub fn whole(&self, key: &str, faults: &mut Faults) -> Option<u64> {
        let number = self.required(key, faults)?.as_u64();
        if number.is_none() {
            faults.add(&self.at(key), "expected a whole number of at least 0");
        }
        number
    }

    /// A boolean that must be there.
    pub fn boolean(&self, key: &str, faults: &mut Faults) -> Option<bool> {
        let value = self.required(key, faults)?.as_bool();
        if value.is_none() {
            faults.add(&self.at(key), "expected a boolean");
        }
        value
    }

    /// An array of at most `max` texts that must be there.
    pub fn texts(&self, key: &str, max: usize, faults: &mut Faults) -> Option<Vec<String>> {
        let items = self.array(key, max, faults)?.iter().enumerate();
        let read = |(i, item)| text(item, &self.at(key).index(i), faults).map(str::to_owned);
        items.map(read).collect()
    }

    /// An array that must be there and have at most `max` elements.
    pub fn array(&self, key: &str, max: usize, faults: &mut Faults) -> Option<&'a [Value]> {
        let value = self.required(key, faults)?;
        array(value, &self.at(key), max, faults)
    }
}

/// `value` as a text.
pub fn text<'a>(value: &'a Value, at: &Pointer, faults: &mut Faults) -> Option<&'a str> {
    let text = value.as_str();
    if text.is_none() {
        faults.add(at, format!("expected a text, found {}", kind_of(value)));
    }
    text
}

/// `value` as an array of at most `max` elements.
pub fn array<'a>(value: &'a Value, at: &Pointer, max: usize, faults: &mut Faults) -> Option<&'a [Value]> {
    match value {
        Value::Array(items) if items.len() <= max => Some(items),
        Value::Array(items) => {
            faults.add(at, format!("has {} elements; the limit is {max}", items.len()));
            None
        }
        other => {
            faults.add(at, format!("expected an array, found {}", kind_of(other)));
            None
        }
    }
}

/// What kind of value it is, in words.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A field of text with its bounds, in Unicode scalar values after its ends are trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// The fewest.
    pub min: usize,
    /// The most.
    pub max: usize,
}

impl Length {
    /// From `min` to `max`.
    pub const fn new(min: usize, max: usize) -> Self {
        Self { min, max }
    }

    /// What is wrong with `text`, if anything. What is stored is what was sent, so white space
    /// around it is bounded as well.
    pub fn fault(self, text: &str) -> Option<String> {
        let characters = text.trim().chars().count();
        let Self { min, max } = self;
        if characters < min {
            Some(format!("has {characters} characters; at least {min} are needed"))
        } else if characters > max {
            Some(format!("has {characters} characters; the limit is {max}"))
        } else if text.len() > max * 4 + 64 {
            Some(format!(
                "has {} bytes with the white space around it; the limit is {}",
                text.len(),
                max * 4 + 64
            ))
        } else {
            None
        }
    }
}

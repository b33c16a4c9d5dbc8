//! Reading JSON strictly and writing it canonically (RFC 8785).
//!
//! A document with a key twice has two meanings, so it is refused here, once, for everybody.

mod ordered;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
pub use serde_json::{Map, Number, Value};

/// Why a text is not a document.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// More bytes than the caller allows.
    #[error("the document is {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// Bytes given.
        bytes: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Not JSON, nested beyond 128 levels, or with a key twice. The message ends with line and
    /// column.
    #[error("not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
}

/// Reads one document of at most `limit` bytes. A key that stands twice in an object is an error.
pub fn read(bytes: &[u8], limit: usize) -> Result<Value, ReadError> {
    if bytes.len() > limit {
        return Err(ReadError::TooLarge { bytes: bytes.len(), limit });
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// The canonical bytes of `value`: sorted keys, shortest numbers, no white space (RFC 8785).
///
/// Numbers are binary64 there, so an integer above 2^53 does not survive; such amounts are written
/// as strings. `-0.0` is written as `0`.
pub fn canonical(value: &Value) -> Vec<u8> {
    // Fails only on non-string keys and non-finite numbers; neither can be in a document.
    serde_json_canonicalizer::to_vec(value).expect("a document has string keys and finite numbers")
}

/// [`canonical`] of what `value` is written as. A type whose members are declared in the order of their
/// names is written without a detour.
///
/// # Panics
/// If it has a key that is no text, or a number that is not finite: no record has one.
pub fn canonical_of(value: &impl serde::Serialize) -> Vec<u8> {
    let in_order = ordered::to_vec(value);
    in_order.unwrap_or_else(|_| {
        serde_json_canonicalizer::to_vec(value).expect("a record has string keys and finite numbers")
    })
}

/// A place in a document, as a JSON pointer (RFC 6901). The whole document is the empty text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer(String);

impl Pointer {
    /// The member `name` of this object.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        if name.contains(['~', '/']) {
            return Self(format!("{}/{}", self.0, name.replace('~', "~0").replace('/', "~1")));
        }
        Self([&self.0, "/", name].concat())
    }

    /// The element `index` of this array.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// The place `inner` of what stands here.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self(format!("{}{}", self.0, inner.0))
    }

    /// The pointer's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The first place where two documents differ, with what stands there (`None`: nothing). Numbers
/// are compared as binary64, so `3` equals `3.0`.
pub fn first_difference<'a>(
    left: &'a Value,
    right: &'a Value,
) -> Option<(Pointer, Option<&'a Value>, Option<&'a Value>)> {
    differ(&Pointer::default(), left, right)
}

type Difference<'a> = (Pointer, Option<&'a Value>, Option<&'a Value>);

fn differ<'a>(at: &Pointer, left: &'a Value, right: &'a Value) -> Option<Difference<'a>> {
    match (left, right) {
        (Value::Object(l), Value::Object(r)) => {
            let keys: std::collections::BTreeSet<&String> = l.keys().chain(r.keys()).collect();
            keys.into_iter().find_map(|key| both(&at.key(key), l.get(key), r.get(key)))
        }
        (Value::Array(l), Value::Array(r)) => {
            (0..l.len().max(r.len())).find_map(|i| both(&at.index(i), l.get(i), r.get(i)))
        }
        (Value::Number(l), Value::Number(r)) if l.as_f64() == r.as_f64() => None,
        (l, r) if l == r => None,
        (l, r) => Some((at.clone(), Some(l), Some(r))),
    }
}

fn both<'a>(at: &Pointer, left: Option<&'a Value>, right: Option<&'a Value>) -> Option<Difference<'a>> {
    match (left, right) {
        (Some(left), Some(right)) => differ(at, left, right),
        (None, None) => None,
        (left, right) => Some((at.clone(), left, right)),
    }
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                let shown: String = key.chars().take(64).collect();
                return Err(serde::de::Error::custom(format!("the key {shown:?} stands twice")));
            }
            object.insert(key, members.next_value_seed(Strict)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::{Pointer, canonical, first_difference, read};
    use serde_json::json;

    fn text(value: &serde_json::Value) -> String {
        String::from_utf8(canonical(value)).expect("canonical JSON is UTF-8")
    }

    #[test]
    fn canonical_form_sorts_and_shortens() {
        assert_eq!(text(&json!({"b": 3.0, "a": [1e21, -0.0, 0.1]})), r#"{"a":[1e+21,0,0.1],"b":3}"#);
    }

    #[test]
    fn seventeen_digits_come_back_to_the_last_bit() {
        let value = read(b"[1517.1185129044802, 0.30000000000000004]", 100).expect("valid");
        assert_eq!(text(&value), "[1517.1185129044802,0.30000000000000004]");
    }

    #[test]
    fn a_key_twice_is_refused_wherever_it_stands() {
        for (document, ok) in [
            (r#"{"a":1,"a":1}"#, false),
            (r#"[{"x":{"k":1,"k":2}}]"#, false),
            (r#"{"a":1,"b":{"a":1}}"#, true),
        ] {
            assert_eq!(read(document.as_bytes(), 100).is_ok(), ok, "{document}");
        }
    }

    #[test]
    fn what_is_not_one_document_is_refused() {
        for wrong in [&b""[..], b"{", b"1 2", b"\xff", b"1e999", b"NaN", "[".repeat(100_000).as_bytes()] {
            assert!(read(wrong, 1 << 20).is_err());
        }
        assert!(read(b"[1, 2]", 5).is_err());
    }

    #[test]
    fn the_first_difference_is_named_by_its_pointer() {
        let left = json!({"a": 3, "b": [1.0, {"c/d": null}]});
        let right = json!({"a": 3.0, "b": [1, {"c/d": false}, 2]});
        let (at, l, r) = first_difference(&left, &right).expect("they differ");
        assert_eq!(at, Pointer::default().key("b").index(1).key("c/d"));
        assert_eq!(at.as_str(), "/b/1/c~1d");
        assert_eq!((l, r), (Some(&json!(null)), Some(&json!(false))));
        assert_eq!(first_difference(&left, &left.clone()), None);
    }
}

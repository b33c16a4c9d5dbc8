//! Canonical JSON of what is already in order: it is written as it comes, and given up at the first key
//! that is not greater than the one before.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// The canonical bytes of `value`, or an error if its keys do not come in order.
pub(super) fn to_vec(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1_024);
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Ordered::default()))?;
    Ok(bytes)
}

/// Writes nothing but what RFC 8785 lets stand.
#[derive(Default)]
struct Ordered {
    /// The last key of each object that is open; beyond these, room that was used before.
    keys: Vec<Vec<u8>>,
    /// How many objects are open.
    open: usize,
    /// The key that is being written.
    key: Vec<u8>,
    in_key: bool,
}

fn out_of_order() -> io::Error {
    io::Error::other("the keys are not in order")
}

/// Beyond it an integer is not its own nearest binary64.
const EXACT_MAX: u64 = 1 << 53;

impl Formatter for Ordered {
    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if value > EXACT_MAX {
            return self.write_f64(writer, value as f64);
        }
        writer.write_all(itoa::Buffer::new().format(value).as_bytes())
    }

    fn write_i64<W: ?Sized + Write>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        if value.unsigned_abs() > EXACT_MAX {
            return self.write_f64(writer, value as f64);
        }
        writer.write_all(itoa::Buffer::new().format(value).as_bytes())
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(ryu_js::Buffer::new().format_finite(value).as_bytes())
    }

    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, value.into())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        match self.keys.get_mut(self.open) {
            Some(last) => last.clear(),
            None => self.keys.push(Vec::new()),
        }
        self.open += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open = self.open.saturating_sub(1);
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.key.clear();
        self.in_key = true;
        if first { Ok(()) } else { writer.write_all(b",") }
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.in_key = false;
        let Some(last) = self.open.checked_sub(1).and_then(|open| self.keys.get_mut(open)) else {
            return Ok(());
        };
        // Bytes and UTF-16 agree on the order of ASCII, and there is only that here.
        if self.key.is_empty() || self.key <= *last {
            return Err(out_of_order());
        }
        std::mem::swap(last, &mut self.key);
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        if self.in_key {
            if !text.is_ascii() {
                return Err(out_of_order());
            }
            self.key.extend_from_slice(text.as_bytes());
        }
        writer.write_all(text.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        if self.in_key {
            return Err(out_of_order());
        }
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::to_vec;

    #[derive(Serialize)]
    struct Sorted {
        a: Value,
        b: Vec<f64>,
    }

    #[derive(Serialize)]
    struct Unsorted {
        b: u8,
        a: u8,
    }

    /// Whatever is written without a detour is what the other way writes, to the byte.
    #[test]
    fn both_ways_write_the_same() {
        let numbers = [0.0, -0.0, 0.1, 1e21, 1e-7, 123.0, -5e-324, f64::MAX, 9_007_199_254_740_993.0];
        let integers = json!([0, -1, u64::MAX, i64::MIN, 1u64 << 53, (1u64 << 53) + 1, -(1i64 << 53)]);
        let texts = json!(["", "\"\\/\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}", "żółw 🐢", "\u{2028}"]);
        for a in [integers, texts, json!({ "x": { "y": null }, "z": [true, false] }), json!({})] {
            let sorted = Sorted { a, b: numbers.to_vec() };
            let other = serde_json_canonicalizer::to_vec(&sorted).expect("canonical");
            assert_eq!(to_vec(&sorted).expect("in order"), other);
        }
    }

    #[test]
    fn what_is_not_in_order_is_given_up() {
        assert!(to_vec(&Unsorted { b: 1, a: 2 }).is_err());
        assert!(to_vec(&vec![Unsorted { b: 1, a: 2 }]).is_err());
        assert_eq!(super::super::canonical_of(&Unsorted { b: 1, a: 2 }), br#"{"a":2,"b":1}"#);
        for key in ["é", "a\n", ""] {
            assert!(to_vec(&json!({ key: 1 })).is_err(), "{key:?}");
        }
    }
}

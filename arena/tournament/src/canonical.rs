//! Canonical JSON put down member by member, and read as it was put down: for what there is much of. Whether
//! a text is the canonical one, writing it again tells.

use arena_canon::{Digest, json};
use serde::Serialize;

use crate::names::{Alias, MatchId};

/// Largest number that survives canonical JSON.
pub(crate) const COUNT_MAX: u64 = (1 << 53) - 1;
/// The first number that has more digits than a word has bytes.
pub(crate) const WORD_END: u64 = 100_000_000;

/// Canonical JSON that is being written.
pub(crate) struct Text(pub(crate) Vec<u8>);

impl Text {
    pub(crate) fn raw(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// What is canonical JSON already.
    pub(crate) fn written(&mut self, json: &[u8]) -> &mut Self {
        self.0.extend_from_slice(json);
        self
    }

    /// The name of a member, which is not the first.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.raw(",\"").raw(name).raw("\":")
    }

    pub(crate) fn any(&mut self, value: &impl Serialize) -> &mut Self {
        self.0.extend_from_slice(&json::canonical_of(value));
        self
    }

    pub(crate) fn digest(&mut self, digest: &Digest) -> &mut Self {
        self.plain(&digest.digits())
    }

    pub(crate) fn id(&mut self, id: MatchId) -> &mut Self {
        match id.letters() {
            Some(letters) => self.plain(&letters),
            None => self.any(&id),
        }
    }

    pub(crate) fn alias(&mut self, alias: Alias) -> &mut Self {
        match alias.letters() {
            Some(letters) => self.plain(&letters),
            None => self.any(&alias),
        }
    }

    /// Text in which there is nothing to escape.
    fn plain(&mut self, text: &[u8]) -> &mut Self {
        self.0.push(b'"');
        self.0.extend_from_slice(text);
        self.0.push(b'"');
        self
    }

    /// Any text.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        if text.as_bytes().iter().all(is_plain) { self.plain(text.as_bytes()) } else { self.any(&text) }
    }

    /// Any count. One that binary64 does not hold is written as what it holds instead.
    pub(crate) fn count(&mut self, count: u64) -> &mut Self {
        if count <= COUNT_MAX { self.number(count) } else { self.any(&count) }
    }

    /// A number of points, which binary64 holds likewise.
    pub(crate) fn signed(&mut self, number: i64) -> &mut Self {
        self.raw(if number < 0 { "-" } else { "" }).number(number.unsigned_abs())
    }

    /// A number that no check of a record lets be so large that binary64 would round it.
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        if number >= WORD_END {
            self.number(number / WORD_END);
            return self.raw(&format!("{:08}", number % WORD_END));
        }
        // The first digit ends in the lowest byte. A copy of a fixed size and a cut are cheaper than a copy
        // of so many bytes.
        let (mut digits, mut count, mut rest) = (0, 0, number);
        loop {
            digits = digits << 8 | (u64::from(b'0') + rest % 10);
            count += 1;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let end = self.0.len() + count;
        self.0.extend_from_slice(&u64::to_le_bytes(digits));
        self.0.truncate(end);
        self
    }
}

/// What is left of a text that is being read.
pub(crate) struct Scan<'t>(pub(crate) &'t [u8]);

impl Scan<'_> {
    pub(crate) fn past(&mut self, text: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(text.as_bytes())?;
        Some(self)
    }

    pub(crate) fn by(&mut self, bytes: usize) -> Option<&mut Self> {
        self.0 = self.0.get(bytes..)?;
        Some(self)
    }

    /// A number of at most fifteen digits, as it is written: without zeros before it.
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (mut value, mut digits) = (0, 0);
        while let Some(digit) = self.0.get(digits).filter(|byte| byte.is_ascii_digit()) {
            value = value * 10 + u64::from(digit - b'0');
            digits += 1;
            if digits > 15 {
                return None;
            }
        }
        if digits == 0 || (digits > 1 && self.0[0] == b'0') {
            return None;
        }
        self.0 = &self.0[digits..];
        Some(value)
    }

    /// A number of so many digits.
    pub(crate) fn number_of(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        let plain = number.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(number).ok().filter(|_| plain)?.parse().ok()
    }

    pub(crate) fn digest(&mut self) -> Option<Digest> {
        let (digits, rest) = self.past("\"")?.0.split_at_checked(64)?;
        self.0 = rest;
        self.past("\"")?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

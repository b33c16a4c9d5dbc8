//! What an experiment works with: its arguments, its inputs, its outputs.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// Bytes that are read at once.
const READ_BYTES: u32 = 256 << 10;

/// Where inputs come from and outputs go: the host, or a test's own memory.
pub(super) trait Bench {
    fn names(&self) -> Vec<String>;
    fn len(&self, name: &str) -> Option<u64>;
    fn read(&self, name: &str, offset: u64, len: u32) -> Option<Vec<u8>>;
    fn write(&mut self, name: &str, chunk: &[u8]);
}

/// One run: its arguments, its pinned inputs and its outputs.
pub struct Run {
    arguments: BTreeMap<String, String>,
    bench: Box<dyn Bench>,
}

impl Run {
    pub(super) fn new(arguments: BTreeMap<String, String>, bench: Box<dyn Bench>) -> Self {
        Self { arguments, bench }
    }

    /// An argument that must be there. The error says what is missing or wrong, ready to be returned.
    pub fn argument<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, String> {
        let text = self.arguments.get(name).ok_or_else(|| format!("the argument `{name}` is missing"))?;
        text.parse().map_err(|why| format!("the argument `{name}` is `{text}`: {why}"))
    }

    /// An argument, or `default` where it is absent. One that is there and cannot be read is an error.
    pub fn argument_or<T: FromStr<Err: Display>>(&self, name: &str, default: T) -> Result<T, String> {
        if self.arguments.contains_key(name) { self.argument(name) } else { Ok(default) }
    }

    /// Names of the inputs, in the order of their bytes.
    pub fn input_names(&self) -> Vec<String> {
        self.bench.names()
    }

    /// All bytes of an input.
    pub fn input(&self, name: &str) -> Result<Vec<u8>, String> {
        let missing = || format!("there is no input `{name}`");
        let len = self.bench.len(name).ok_or_else(missing)?;
        let mut bytes = Vec::with_capacity(usize::try_from(len).map_err(|why| why.to_string())?);
        while (bytes.len() as u64) < len {
            let part = self.bench.read(name, bytes.len() as u64, READ_BYTES).ok_or_else(missing)?;
            if part.is_empty() {
                return Err(format!("the input `{name}` ends after {} of {len} bytes", bytes.len()));
            }
            bytes.extend(part);
        }
        Ok(bytes)
    }

    /// An input as text.
    pub fn input_text(&self, name: &str) -> Result<String, String> {
        String::from_utf8(self.input(name)?).map_err(|why| format!("the input `{name}` is no text: {why}"))
    }

    /// At most `len` bytes of an input from `offset`; fewer at its end, none beyond it. For inputs that
    /// do not fit into memory.
    pub fn input_part(&self, name: &str, offset: u64, len: u32) -> Result<Vec<u8>, String> {
        self.bench.read(name, offset, len).ok_or_else(|| format!("there is no input `{name}`"))
    }

    /// Appends to an output. Its digest is part of the record, and can be a metric:
    /// [`Report::hash`](super::Report::hash).
    pub fn output(&mut self, name: &str, chunk: impl AsRef<[u8]>) {
        self.bench.write(name, chunk.as_ref());
    }
}

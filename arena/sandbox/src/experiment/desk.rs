//! What the host keeps for a run: its inputs, its outputs as they grow, and the digest of its log.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arena_canon::{Digest, Hasher, Preimage};
use arena_engine::campus::LogLevel;

use super::{Inputs, OUTPUTS_MAX, Output, is_file_name};
use crate::ending::Stop;

/// Most bytes of an input that are handed over at once.
const READ_BYTES_MAX: u64 = 1 << 20;

/// Where a stream over the inputs is.
pub(crate) enum Cursor {
    /// In the n-th input.
    File { file: u32, offset: u64 },
    /// Among the names.
    Folder { next: u32 },
}

pub(crate) struct Desk {
    inputs: Inputs,
    /// Streams that are open, by handle; the store bounds how many there are at once.
    cursors: BTreeMap<u32, Cursor>,
    cursors_opened: u32,
    outputs: BTreeMap<String, (Hasher, Vec<u8>)>,
    output_bytes: u64,
    output_bytes_max: u64,
    log: Preimage,
    lines: u64,
}

impl Desk {
    pub(crate) fn new(inputs: Inputs, output_bytes_max: u64) -> Self {
        Self {
            inputs,
            cursors: BTreeMap::new(),
            cursors_opened: 0,
            outputs: BTreeMap::new(),
            output_bytes: 0,
            output_bytes_max,
            log: Preimage::new("ARENA-EXPERIMENT-LOG-V1"),
            lines: 0,
        }
    }

    pub(crate) fn input_names(&self) -> Vec<String> {
        self.inputs.names().map(str::to_owned).collect()
    }

    pub(crate) fn input_len(&self, name: &str) -> Option<u64> {
        self.inputs.get(name).map(|bytes| bytes.len() as u64)
    }

    /// The input, and which of its bytes are asked for.
    pub(crate) fn part(&self, name: &str, offset: u64, len: u32) -> Option<(Arc<[u8]>, Range<usize>)> {
        let bytes = self.inputs.get(name)?;
        Some((Arc::clone(bytes), within(bytes.len(), offset, u64::from(len).min(READ_BYTES_MAX))))
    }

    /// The n-th input, and which of its bytes are asked for.
    pub(crate) fn file_part(&self, file: u32, offset: u64, len: u64) -> Option<(Arc<[u8]>, Range<usize>)> {
        let bytes = self.inputs.0.values().nth(file as usize)?;
        Some((Arc::clone(bytes), within(bytes.len(), offset, len)))
    }

    pub(crate) fn file_named(&self, name: &str) -> Option<u32> {
        let place = self.inputs.names().position(|found| found == name)?;
        u32::try_from(place).ok()
    }

    /// A handle for a new stream; 0 is none.
    pub(crate) fn open_cursor(&mut self, cursor: Cursor) -> Result<u32, Stop> {
        let next = self.cursors_opened.checked_add(1);
        self.cursors_opened = next.ok_or_else(|| Stop::Unreadable("too many streams were opened".into()))?;
        self.cursors.insert(self.cursors_opened, cursor);
        Ok(self.cursors_opened)
    }

    pub(crate) fn close_cursor(&mut self, handle: u32) {
        self.cursors.remove(&handle);
    }

    /// The next bytes of a stream; nothing at its end.
    pub(crate) fn advance(&mut self, handle: u32, len: u64) -> Option<(Arc<[u8]>, Range<usize>)> {
        let Some(Cursor::File { file, offset }) = self.cursors.get(&handle) else { return None };
        let (file, offset) = (*file, *offset);
        let (bytes, range) = self.file_part(file, offset, len)?;
        if range.start == bytes.len() {
            return None;
        }
        let offset = range.end as u64;
        self.cursors.insert(handle, Cursor::File { file, offset });
        Some((bytes, range))
    }

    /// The next name of a stream over the names; nothing at its end.
    pub(crate) fn next_name(&mut self, handle: u32) -> Option<String> {
        let Some(Cursor::Folder { next }) = self.cursors.get_mut(&handle) else { return None };
        let name = self.inputs.0.keys().nth(*next as usize)?;
        *next += 1;
        Some(name.clone())
    }

    pub(crate) fn write(&mut self, name: &str, chunk: &[u8]) -> Result<(), Stop> {
        if !is_file_name(name) {
            return Err(Stop::Unreadable("a name of an output that is no file's name".into()));
        }
        let total = self.output_bytes.saturating_add(chunk.len() as u64);
        if total > self.output_bytes_max {
            return Err(Stop::OverLimit { what: "bytes of output", limit: self.output_bytes_max });
        }
        if !self.outputs.contains_key(name) && self.outputs.len() == OUTPUTS_MAX {
            return Err(Stop::OverLimit { what: "outputs", limit: OUTPUTS_MAX as u64 });
        }
        self.output_bytes = total;
        let (hasher, bytes) = self.outputs.entry(name.to_owned()).or_default();
        hasher.update(chunk);
        bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// Takes a whole line into the digest of the log.
    pub(crate) fn say(&mut self, level: LogLevel, text: &str) {
        let log = std::mem::replace(&mut self.log, Preimage::new(""));
        self.log = log.number(level as u64).bytes(text.as_bytes());
        self.lines += 1;
    }

    /// The digest of the log, and the outputs by name.
    pub(crate) fn close(self) -> (Digest, Vec<Output>) {
        let outputs = self.outputs.into_iter();
        let outputs = outputs.map(|(name, (hasher, bytes))| Output { name, sha256: hasher.digest(), bytes });
        (self.log.number(self.lines).digest(), outputs.collect())
    }
}

/// What there is of `len` bytes from `offset`.
fn within(bytes: usize, offset: u64, len: u64) -> Range<usize> {
    let end = bytes as u64;
    let start = offset.min(end);
    start as usize..start.saturating_add(len).min(end) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> Desk {
        let bytes = b"0123456789".to_vec();
        let inputs = Inputs::pin([("digits".to_owned(), Digest::of(&bytes), bytes)]).expect("pinned");
        Desk::new(inputs, 10)
    }

    #[test]
    fn a_part_ends_with_its_input() {
        let part = |offset, len| desk().part("digits", offset, len).map(|(_, range)| range);
        assert_eq!(part(0, 4), Some(0..4));
        assert_eq!(part(8, 4), Some(8..10));
        assert_eq!(part(10, 1), Some(10..10));
        assert_eq!(part(u64::MAX, u32::MAX), Some(10..10));
        assert!(desk().part("letters", 0, 1).is_none());
    }

    #[test]
    fn outputs_share_one_allowance() {
        let mut desk = desk();
        assert_eq!(desk.write("a", b"01234"), Ok(()));
        assert_eq!(desk.write("b", b"567"), Ok(()));
        assert_eq!(desk.write("a", b"89"), Ok(()));
        assert_eq!(desk.write("c", b"x"), Err(Stop::OverLimit { what: "bytes of output", limit: 10 }));
        assert!(matches!(desk.write("../c", b""), Err(Stop::Unreadable(_))));
        let (_, outputs) = desk.close();
        assert_eq!((outputs[0].sha256, outputs.len()), (Digest::of(b"0123489"), 2));
    }

    #[test]
    fn empty_outputs_run_out_too() {
        let mut desk = desk();
        (0..64).for_each(|n| assert_eq!(desk.write(&format!("f{n}"), b""), Ok(())));
        assert_eq!(desk.write("f64", b""), Err(Stop::OverLimit { what: "outputs", limit: 64 }));
        assert_eq!(desk.write("f0", b"more"), Ok(()));
    }

    #[test]
    fn the_log_is_hashed_line_by_line() {
        let digest = |lines: &[(LogLevel, &str)]| {
            let mut desk = desk();
            lines.iter().for_each(|(level, text)| desk.say(*level, text));
            desk.close().0
        };
        use LogLevel::{Info, Warn};
        let all = [
            digest(&[]),
            digest(&[(Info, "")]),
            digest(&[(Info, "ab")]),
            digest(&[(Warn, "ab")]),
            digest(&[(Info, "a"), (Info, "b")]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|other| other != one), "{i}");
        }
    }
}

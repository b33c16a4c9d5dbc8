//! The journal: a hash chain of records in the order of the matrix. What it holds has happened.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use arena_canon::{Digest, json};
use serde::{Deserialize, Serialize};

use crate::beside::side_by_side;
use crate::canonical::{Scan, Text};
use crate::fault::RunFault;
use crate::folder::{Folder, JOURNAL};
use crate::names::{MATCHUPS_MAX, MatchId};
use crate::record::Used;

/// One record, as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The digest that its record bears.
    pub(crate) digest: Digest,
    /// The matchup.
    pub(crate) id: MatchId,
    /// Digest of the line before, or of the frozen file.
    pub(crate) prev: Digest,
    /// What it counts for budgets.
    pub(crate) used: Used,
}

/// A line of the journal that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of journal.ndjson {why}")]
pub(crate) struct Broken {
    /// Which line, from 1.
    pub(crate) line: usize,
    /// The matchup that should stand there.
    pub(crate) id: MatchId,
    /// What is wrong with it.
    pub(crate) why: String,
}

/// The whole chain so far.
#[derive(Debug)]
pub(crate) struct Journal {
    entries: Vec<Entry>,
    head: Digest,
    file: File,
    folder_path: std::path::PathBuf,
}

/// Room for a line.
const LINE_BYTES: usize = 256;
/// Longest line that is read.
const LINE_BYTES_MAX: usize = 1_024;
/// Longest journal that is read.
const BYTES_MAX: u64 = (MATCHUPS_MAX * LINE_BYTES_MAX) as u64;

impl Entry {
    fn line(&self) -> Vec<u8> {
        let Self { digest, id, prev, used: Used { fuel, turns } } = self;
        let mut text = Text(Vec::with_capacity(LINE_BYTES));
        text.raw("{\"digest\":").digest(digest).key("id").id(*id).key("prev").digest(prev);
        text.key("used").raw("{\"fuel\":").count(*fuel).key("turns").count(*turns).raw("}}");
        debug_assert_eq!(text.0, json::canonical_of(self), "not what canonical JSON is");
        text.0
    }

    /// A line as nearly all are. Whether it is canonical, only writing it again can tell.
    fn scan(line: &[u8]) -> Option<Self> {
        let mut scan = Scan(line);
        let digest = scan.past("{\"digest\":")?.digest()?;
        let id = scan.past(",\"id\":\"m")?.number_of(5)?;
        let prev = scan.past("\",\"prev\":")?.digest()?;
        let fuel = scan.past(",\"used\":{\"fuel\":")?.number()?;
        let turns = scan.past(",\"turns\":")?.number()?;
        Some(Self { digest, id: MatchId(id), prev, used: Used { fuel, turns } })
    }
}

/// Reads the chain that `bytes` hold after `root`. A last line that is not whole does not count; its
/// first byte is returned as the journal's true length.
pub(crate) fn read(bytes: &[u8], root: Digest) -> Result<(Vec<Entry>, Digest, usize), Broken> {
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    // Whatever is beyond the longest matrix is broken there already.
    let lines = bytes[..length].split_inclusive(|byte| *byte == b'\n').take(MATCHUPS_MAX + 1);
    let lines: Vec<&[u8]> = lines.collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let (first, second) = side_by_side(|| read_lines(first), || read_lines(second));
    let (mut entries, mut head) = (Vec::with_capacity(lines.len()), root);
    for line in first.into_iter().chain(second) {
        let id = MatchId(entries.len() as u32 + 1);
        let broken = |why: &str| Broken { line: entries.len() + 1, id, why: why.to_owned() };
        let Line { entry, digest } = line.map_err(broken)?;
        if entry.id != id {
            return Err(broken(&format!("is about {}, not {id}", entry.id)));
        }
        if entry.prev != head {
            return Err(broken("does not continue the line before"));
        }
        head = digest;
        entries.push(entry);
    }
    Ok((entries, head, length))
}

/// Lines up to the first that is none.
fn read_lines(lines: &[&[u8]]) -> Vec<Result<Line, &'static str>> {
    let mut read = Vec::new();
    for line in lines {
        read.push(Line::read(&line[..line.len() - 1]));
        if read.last().is_some_and(Result::is_err) {
            break;
        }
    }
    read
}

/// One line, as far as it can be read without those before it.
struct Line {
    entry: Entry,
    digest: Digest,
}

impl Line {
    fn read(line: &[u8]) -> Result<Self, &'static str> {
        if line.len() > LINE_BYTES_MAX {
            return Err("is too long");
        }
        let entry = Entry::scan(line).map_or_else(|| serde_json::from_slice(line), Ok);
        let entry = entry.map_err(|_| "is no entry")?;
        if entry.line() != line {
            return Err("is not in canonical form");
        }
        Ok(Self { entry, digest: Digest::of(line) })
    }
}

impl Journal {
    /// Opens the journal of a run of the tournament `root`, and cuts a last line that is not whole.
    pub(crate) fn open(folder: &Folder, root: Digest) -> Result<Result<Self, Broken>, RunFault> {
        let path = folder.at(JOURNAL);
        let bytes = folder.read(JOURNAL, BYTES_MAX)?.unwrap_or_default();
        let (entries, head, length) = match read(&bytes, root) {
            Ok(read) => read,
            Err(broken) => return Ok(Err(broken)),
        };
        let mut options = OpenOptions::new();
        let file =
            options.create(true).append(true).mode(0o644).open(&path).map_err(RunFault::io("open", &path))?;
        if length < bytes.len() {
            file.set_len(length as u64).map_err(RunFault::io("cut", &path))?;
        }
        file.sync_all().map_err(RunFault::io("sync", &path))?;
        Ok(Ok(Self { entries, head, file, folder_path: path }))
    }

    /// Every entry.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Appends the records of a batch and makes them last.
    pub(crate) fn append(
        &mut self,
        batch: impl IntoIterator<Item = (MatchId, Digest, Used)>,
    ) -> Result<(), RunFault> {
        let mut lines = Vec::new();
        for (id, digest, used) in batch {
            let entry = Entry { id, digest, used, prev: self.head };
            let line = entry.line();
            self.head = Digest::of(&line);
            lines.extend_from_slice(&line);
            lines.push(b'\n');
            self.entries.push(entry);
        }
        let path = &self.folder_path;
        self.file.write_all(&lines).map_err(RunFault::io("write", path))?;
        self.file.sync_data().map_err(RunFault::io("sync", path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::COUNT_MAX;

    fn chain(count: u32) -> Vec<u8> {
        let mut head = Digest::of(b"root");
        let mut bytes = Vec::new();
        for n in 1..=count {
            let digest = Digest::of(&n.to_be_bytes());
            let entry = Entry { id: MatchId(n), digest, used: Used { fuel: 7, turns: 2 }, prev: head };
            head = Digest::of(&entry.line());
            bytes.extend(entry.line());
            bytes.push(b'\n');
        }
        bytes
    }

    #[test]
    fn a_chain_is_read_to_its_last_whole_line() {
        let bytes = chain(3);
        let root = Digest::of(b"root");
        let whole = bytes.len();
        for cut in 0..=whole {
            let (entries, _, length) = read(&bytes[..cut], root).expect("a cut is no break");
            assert_eq!(entries.len(), bytes[..cut].iter().filter(|byte| **byte == b'\n').count());
            assert!(length <= cut && bytes[..length].last().is_none_or(|byte| *byte == b'\n'));
        }
    }

    #[test]
    fn nothing_is_read_after_the_first_line_that_is_none() {
        let newlines = vec![b'\n'; 1 << 20];
        let broken = read(&newlines, Digest::of(b"root")).expect_err("no entries");
        assert_eq!((broken.line, broken.id), (1, MatchId(1)));
        let lines: Vec<&[u8]> = newlines.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(read_lines(&lines).len(), 1);
    }

    /// A line that is scanned is taken exactly if it is canonical JSON of an entry.
    #[test]
    fn scanning_takes_what_canonical_json_is() {
        let line = chain(1);
        let line = &line[..line.len() - 1];
        let as_json = |line: &[u8]| {
            serde_json::from_slice::<Entry>(line).is_ok_and(|entry| json::canonical_of(&entry) == line)
        };
        for at in 0..line.len() {
            for byte in b"0a9f\"{},:mM -.eE\\\xc5" {
                let mut changed = line.to_vec();
                changed[at] = *byte;
                assert_eq!(Line::read(&changed).is_ok(), as_json(&changed), "{}", changed.escape_ascii());
            }
            assert!(Line::read(&line[..at]).is_err());
        }
        for count in [0, 7, COUNT_MAX, COUNT_MAX + 1, 1 << 60, u64::MAX] {
            for id in [1, 99_999, 100_000] {
                let used = Used { fuel: count, turns: count };
                let entry = Entry { id: MatchId(id), digest: Digest::of(b""), used, prev: Digest::of(b"a") };
                let line = json::canonical_of(&entry);
                assert_eq!(entry.line(), line);
                assert_eq!(Line::read(&line).is_ok(), as_json(&line), "{}", line.escape_ascii());
            }
        }
    }

    #[test]
    fn any_other_change_is_a_break() {
        let bytes = chain(3);
        let root = Digest::of(b"root");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let last_line = bytes.iter().take(at).filter(|byte| **byte == b'\n').count() == 2;
            let read = read(&changed, root);
            // The last line is held by nothing after it but its records.
            assert!(read.is_err() || last_line, "byte {at}");
        }
        assert!(read(&bytes, Digest::of(b"another")).is_err());
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        assert!(read(&[lines[1], lines[0], lines[2]].concat(), root).is_err());
        assert!(read(&[lines[0], lines[2]].concat(), root).is_err());
        assert!(read(&[lines[0], lines[1], lines[1]].concat(), root).is_err());
    }
}

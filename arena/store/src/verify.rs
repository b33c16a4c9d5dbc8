//! Recomputes all there is: the chain, the tables that keep it, the contents of blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use arena_canon::Digest;
use rusqlite::Connection;

use crate::blobs::{BLOB_BYTES_MAX, Blobs, Streamed};
use crate::chain::{GENESIS, Head, follows};
use crate::event::Event;
use crate::fault::StoreFault;
use crate::folder::{BLOBS, find_journal};
use crate::journal::{COLUMNS, event, unsigned};
use crate::schema;

/// Faults that are told one by one.
pub const FAULTS_MAX: usize = 100;

/// What is to be verified beside the chain.
#[derive(Default)]
pub struct Wanted<'a> {
    /// Places and hashes that are known from elsewhere. A chain says nothing of what was cut off its end, or
    /// of one that was computed anew; these do.
    pub heads: Vec<Head>,
    /// Read every blob and hash it.
    pub blobs: bool,
    /// The digests of blobs that an event names. Each has to be booked, and what is wrong with one is told with the
    /// first event that names it.
    pub named: Option<Named<'a>>,
}

/// The digests that an event names.
pub type Named<'a> = &'a dyn Fn(&Event) -> Vec<Digest>;

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The event, if it is one.
    pub seq: Option<u64>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seq {
            Some(seq) => write!(f, "event {seq}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The first event; 1 unless it is a part of an export.
    pub first_seq: u64,
    /// Events looked at.
    pub events: u64,
    /// Sealed ones among them.
    pub sealed: u64,
    /// Where it ends.
    pub head: Head,
    /// Blobs that are whole.
    pub blobs: u64,
    /// Blobs that are withheld.
    pub withheld: u64,
    /// The first [`FAULTS_MAX`] faults.
    pub findings: Vec<Finding>,
    /// Further ones.
    pub more: u64,
}

impl Report {
    /// Whether everything is as it should be.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// A walk along a chain. After an event that does not follow it goes on from that one, so that one fault is
/// told once.
pub(crate) struct Walk {
    head: Option<Head>,
    wanted: BTreeMap<u64, Vec<Digest>>,
    report: Report,
}

impl Walk {
    pub(crate) fn new(heads: &[Head]) -> Self {
        let mut wanted: BTreeMap<u64, Vec<Digest>> = BTreeMap::new();
        for head in heads {
            wanted.entry(head.seq).or_default().push(head.hash);
        }
        let report = Report {
            first_seq: 1,
            events: 0,
            sealed: 0,
            head: Head::EMPTY,
            blobs: 0,
            withheld: 0,
            findings: Vec::new(),
            more: 0,
        };
        Self { head: None, wanted, report }
    }

    /// What the event at `seq` has to follow. The first of a part follows what it says.
    pub(crate) fn before(&mut self, seq: u64, prev: Digest) -> Head {
        *self.head.get_or_insert_with(|| {
            self.report.first_seq = seq.max(1);
            if seq > 1 { Head { seq: seq - 1, hash: prev } } else { Head::EMPTY }
        })
    }

    pub(crate) fn step(&mut self, seq: u64, hash: Digest, is_sealed: bool, wrong: Option<String>) {
        self.report.events += 1;
        self.report.sealed += u64::from(is_sealed);
        for wanted in self.wanted.remove(&seq).unwrap_or_default() {
            if wanted != hash {
                self.find(Some(seq), format!("its hash is {hash}, and {wanted} is known of it"));
            }
        }
        if let Some(wrong) = wrong {
            self.find(Some(seq), wrong);
        }
        self.head = Some(Head { seq, hash });
    }

    pub(crate) fn find(&mut self, seq: Option<u64>, message: String) {
        if self.report.findings.len() < FAULTS_MAX {
            self.report.findings.push(Finding { seq, message });
        } else {
            self.report.more += 1;
        }
    }

    pub(crate) fn end(mut self) -> Report {
        for (seq, hashes) in std::mem::take(&mut self.wanted) {
            if seq > 0 || hashes.iter().any(|hash| *hash != GENESIS) {
                self.find(Some(seq), "it is known from elsewhere, and it is not here".to_owned());
            }
        }
        self.report.head = self.head.unwrap_or(Head::EMPTY);
        self.report
    }
}

/// Verifies the journal and the blobs of the folder `root`, at work or not. Faults are findings; an error is
/// a folder that cannot be looked at.
pub fn verify(root: &Path, wanted: &Wanted<'_>) -> Result<Report, StoreFault> {
    let path = find_journal(root)?;
    let db = schema::open_to_read(&path)?;
    let mut walk = Walk::new(&wanted.heads);
    walk.head = Some(Head::EMPTY);
    // All of it is one state of the tables, whatever a writer does meanwhile.
    db.execute_batch("BEGIN")?;
    if let Err(why) = examine(&db, root, wanted, &mut walk)? {
        walk.find(None, format!("the database cannot be read on: {why}"));
    }
    Ok(walk.end())
}

/// The inner error is a finding: the database is damaged.
fn examine(
    db: &Connection,
    root: &Path,
    wanted: &Wanted<'_>,
    walk: &mut Walk,
) -> Result<rusqlite::Result<()>, StoreFault> {
    let tables = (|| {
        check_pages(db, walk)?;
        check_tables(db, walk)?;
        check_events(db, wanted, walk)
    })();
    let named = match tables {
        Ok(named) if wanted.blobs => named,
        other => return Ok(other.map(|_| ())),
    };
    check_blobs(db, root, &named, walk)
}

fn check_pages(db: &Connection, walk: &mut Walk) -> rusqlite::Result<()> {
    let mut statement = db.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let said: String = row.get(0)?;
        if said != "ok" {
            walk.find(None, format!("the database is damaged: {said}"));
        }
    }
    Ok(())
}

/// The tables and triggers that keep the journal append-only have to be there, word for word.
fn check_tables(db: &Connection, walk: &mut Walk) -> rusqlite::Result<()> {
    let (found, expected) = (schema::journal_tables(db)?, schema::expected_tables()?);
    for (name, sql) in &expected {
        if found.get(name) != Some(sql) {
            walk.find(None, format!("`{name}` of the tables is missing or another"));
        }
    }
    for name in found.keys().filter(|name| !expected.contains_key(*name)) {
        walk.find(None, format!("`{name}` does not belong to the journal's tables"));
    }
    Ok(())
}

/// Tells which event is the first that names a blob.
fn check_events(
    db: &Connection,
    wanted: &Wanted<'_>,
    walk: &mut Walk,
) -> rusqlite::Result<BTreeMap<Digest, u64>> {
    let mut statement = db.prepare("SELECT kind, version FROM event_kinds")?;
    let listed: BTreeSet<(String, u32)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut statement = db.prepare(&format!("SELECT {COLUMNS} ORDER BY seq"))?;
    let mut rows = statement.query([])?;
    let (mut unlisted, mut first) = (BTreeSet::new(), BTreeMap::new());
    while let Some(row) = rows.next()? {
        let event = match event(row) {
            Ok(event) => event,
            Err(why) => {
                walk.find(unsigned(row, 0).ok(), format!("its row cannot be read: {why}"));
                continue;
            }
        };
        let head = walk.before(event.seq, event.prev);
        walk.step(event.seq, event.hash, event.is_sealed(), follows(head, &event).err());
        for sha256 in wanted.named.map(|named| named(&event)).unwrap_or_default() {
            first.entry(sha256).or_insert(event.seq);
            if crate::blobs::meta(db, sha256)?.is_none() {
                walk.find(Some(event.seq), format!("it names blob {sha256}, which is not booked"));
            }
        }
        let (seq, kind) = (event.seq, (event.kind, event.version));
        if !listed.contains(&kind) && unlisted.insert(kind.clone()) {
            walk.find(Some(seq), format!("its kind `{}` version {} is not listed", kind.0, kind.1));
        }
    }
    Ok(first)
}

fn check_blobs(
    db: &Connection,
    root: &Path,
    named: &BTreeMap<Digest, u64>,
    walk: &mut Walk,
) -> Result<rusqlite::Result<()>, StoreFault> {
    let blobs = Blobs::open(&root.join(BLOBS))?;
    Ok((|| {
        let mut statement = db.prepare("SELECT sha256, bytes, withheld FROM blobs_meta ORDER BY sha256")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (sha256, bytes) = (crate::journal::digest(row, 0)?, unsigned(row, 1)?);
            let is_withheld = row.get::<_, Option<String>>(2)?.is_some();
            let (mut length, seq) = (0, named.get(&sha256).copied());
            match blobs.stream(sha256, BLOB_BYTES_MAX, &mut |piece| length += piece.len() as u64) {
                Ok(Streamed::Whole) if is_withheld => {
                    walk.find(seq, format!("blob {sha256} is withheld, and still there"));
                }
                Ok(Streamed::Whole) if length != bytes => {
                    walk.find(seq, format!("blob {sha256} has {length} bytes, and {bytes} are booked"));
                }
                Ok(Streamed::Whole) => walk.report.blobs += 1,
                Ok(Streamed::Withheld { .. }) => walk.report.withheld += 1,
                Ok(Streamed::Missing) if is_withheld => walk.report.withheld += 1,
                Ok(Streamed::Missing) => walk.find(seq, format!("blob {sha256} is missing")),
                Err(why) => walk.find(seq, why.to_string()),
            }
        }
        Ok(())
    })())
}

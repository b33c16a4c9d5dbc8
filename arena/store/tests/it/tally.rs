//! A domain to test with: it adds numbers to names.

use std::collections::BTreeMap;
use std::path::Path;

use arena_canon::{Digest, json};
use arena_store::rusqlite::{self, Connection};
use arena_store::{
    Append, Domain, Draft, Event, Failed, Kept, KeptBody, Options, Projection, Recall, Salt, Slot, Stop,
    Store, StoreFault, Unfit,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) const AT_MS: u64 = 1_767_225_600_000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sums(pub(crate) BTreeMap<String, u64>);

#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Adds; zero is refused, but only after it has been appended.
    Add { name: String, n: u64 },
    /// The same, sealed.
    AddSealed { name: String, n: u64, salt: Salt },
    /// The same, once for a slot.
    AddOnce { slot: Slot, at_ms: u64, name: String, n: u64 },
    /// A vote; one for oneself is refused by the projection's constraint.
    Vote { by: String, of: String },
    /// The same, by a domain that does not pass the fault on.
    VoteAndGoOn { by: String, of: String },
    /// Books a blob.
    Book { sha256: Digest, bytes: u64 },
    /// Books one over what is booked as "text/plain".
    BookOver { sha256: Digest, bytes: u64 },
    /// Writes a blob, books it, and appends; the text "refused" is refused after that, and "panic" panics.
    Keep { text: String },
    /// The same with an answer that is kept and names the blob.
    KeepOnce { slot: Slot, text: String },
    /// Withholds one.
    Withhold { sha256: Digest },
    /// Appends and panics.
    Panic,
    /// Appends what cannot be folded.
    Unfit,
    /// Appends what nobody knows.
    Unknown,
    /// An event as it is given.
    Raw(Draft),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Seq(u64),
    Replayed(Kept),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    Zero,
    SelfVote,
    KeyReused,
}

/// The domain; `newest` is the newest version of its event that it knows.
pub(crate) struct Tally {
    pub(crate) newest: u32,
    pub(crate) discriminator: &'static str,
    /// Votes are counted in the state as well, and snapshots leave them out.
    pub(crate) counts_votes: bool,
}

/// Votes in the state, by whom they are for.
pub(crate) const VOTES_OF: &str = "votes of ";

impl Default for Tally {
    fn default() -> Self {
        Self { newest: 2, discriminator: "tally-1", counts_votes: false }
    }
}

impl Tally {
    fn add(at_ms: u64, name: &str, n: u64) -> Draft {
        Draft::new(at_ms, &format!("tally/{name}"), "tally.added", 1, &json!({ "name": name, "n": n }))
    }
}

/// An event that names a blob.
fn named(sha256: Digest) -> Draft {
    Draft::new(AT_MS, "blobs", "tally.added", 2, &json!({ "blob": sha256 }))
}

impl Domain for Tally {
    type State = Sums;
    type Command = Command;
    type Answer = Answer;
    type Refusal = Refusal;

    fn initial(&self) -> Sums {
        Sums::default()
    }

    fn knows(&self, kind: &str, version: u32) -> bool {
        match kind {
            "tally.added" => (1..=self.newest).contains(&version),
            "tally.voted" | "tally.unfit" => version == 1,
            _ => false,
        }
    }

    fn decide(&self, _: &Sums, command: Command, tx: &mut Append<'_>) -> Result<Answer, Stop<Refusal>> {
        let seq = match command {
            Command::Add { name, n } => {
                let seq = tx.append(Self::add(AT_MS, &name, n))?;
                if n == 0 {
                    return Err(Stop::Refused(Refusal::Zero));
                }
                seq
            }
            Command::AddSealed { name, n, salt } => tx.append(Self::add(AT_MS, &name, n).sealed(salt))?,
            Command::AddOnce { slot, at_ms, name, n } => {
                match tx.recall(at_ms, &slot)? {
                    Recall::Same(kept) => return Ok(Answer::Replayed(kept)),
                    Recall::Other => return Err(Stop::Refused(Refusal::KeyReused)),
                    Recall::Fresh => {}
                }
                let seq = tx.append(Self::add(at_ms, &name, n))?;
                tx.remember(at_ms, &slot, &kept(seq))?;
                if n == 0 {
                    return Err(Stop::Refused(Refusal::Zero));
                }
                seq
            }
            Command::Vote { by, of } => match tx.append(vote(&by, &of)) {
                Err(StoreFault::Constraint { projection: "votes", .. }) => {
                    return Err(Stop::Refused(Refusal::SelfVote));
                }
                appended => appended?,
            },
            Command::VoteAndGoOn { by, of } => tx.append(vote(&by, &of)).unwrap_or_default(),
            Command::Book { sha256, bytes } => {
                tx.book_blob(sha256, bytes, "text/plain")?;
                tx.append(named(sha256))?
            }
            Command::BookOver { sha256, bytes } => {
                tx.book_blob_over((sha256, bytes), "text/plain", "text/plain; of=another")?;
                tx.append(named(sha256))?
            }
            Command::Keep { text } => {
                let sha256 = tx.keep_blob(text.as_bytes(), "text/plain")?;
                let seq = tx.append(named(sha256))?;
                match text.as_str() {
                    "refused" => return Err(Stop::Refused(Refusal::Zero)),
                    "panic" => panic!("on purpose"),
                    _ => seq,
                }
            }
            Command::KeepOnce { slot, text } => {
                match tx.recall(AT_MS, &slot)? {
                    Recall::Same(kept) => return Ok(Answer::Replayed(kept)),
                    Recall::Other => return Err(Stop::Refused(Refusal::KeyReused)),
                    Recall::Fresh => {}
                }
                let sha256 = tx.keep_blob(text.as_bytes(), "text/plain")?;
                let headers = vec![("text".to_owned(), sha256.to_string())];
                tx.remember(AT_MS, &slot, &Kept { headers, ..kept(0) })?;
                tx.append(named(sha256))?
            }
            Command::Withhold { sha256 } => {
                tx.withhold_blob(sha256, "a name leaked")?;
                tx.append(Draft::new(AT_MS, "blobs", "tally.added", 2, &json!({ "gone": sha256 })))?
            }
            Command::Panic => {
                tx.append(Self::add(AT_MS, "lost", 1))?;
                panic!("on purpose")
            }
            Command::Unfit => tx.append(Draft::new(AT_MS, "tally", "tally.unfit", 1, &json!({})))?,
            Command::Unknown => tx.append(Draft::new(AT_MS, "tally", "tally.unknown", 1, &json!({})))?,
            Command::Raw(draft) => tx.append(draft)?,
        };
        Ok(Answer::Seq(seq))
    }

    fn evolve(&self, sums: &mut Sums, event: &Event) -> Result<(), Unfit> {
        if event.kind == "tally.unfit" {
            return Err(Unfit("it says so itself".to_owned()));
        }
        let body = event.json().map_err(|why| Unfit(why.to_string()))?;
        if let (Some(name), Some(n)) = (body["name"].as_str(), body["n"].as_u64()) {
            let sum = sums.0.entry(name.to_owned()).or_default();
            *sum = sum.checked_add(n).ok_or_else(|| Unfit(format!("too much for `{name}`")))?;
        }
        if let Some(of) = body["of"].as_str().filter(|_| self.counts_votes) {
            *sums.0.entry(format!("{VOTES_OF}{of}")).or_default() += 1;
        }
        Ok(())
    }

    fn discriminator(&self) -> String {
        self.discriminator.to_owned()
    }

    fn is_in_snapshot(&self, kind: &str) -> bool {
        !(self.counts_votes && kind == "tally.voted")
    }

    fn snapshot(&self, sums: &Sums) -> Option<Vec<u8>> {
        let mut sums = sums.clone();
        sums.0.retain(|name, _| !name.starts_with(VOTES_OF));
        Some(json::canonical_of(&sums))
    }

    fn restore(&self, bytes: &[u8]) -> Option<Sums> {
        serde_json::from_slice(bytes).ok()
    }
}

fn vote(by: &str, of: &str) -> Draft {
    Draft::new(AT_MS, "votes", "tally.voted", 1, &json!({ "by": by, "of": of }))
}

pub(crate) fn kept(seq: u64) -> Kept {
    let headers = vec![("location".to_owned(), format!("/tally/{seq}"))];
    Kept { status: 201, headers, body: KeptBody::Bytes(format!("{{\"seq\":{seq}}}").into_bytes()) }
}

/// The sums as a table.
pub(crate) struct SumsTable {
    pub(crate) version: u32,
}

impl Projection for SumsTable {
    fn name(&self) -> &'static str {
        "sums"
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn tables(&self) -> &'static str {
        "CREATE TABLE p_sums (name TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT;
         CREATE INDEX p_sums__n ON p_sums (n)"
    }

    fn apply(&self, db: &Connection, event: &Event) -> rusqlite::Result<()> {
        let body = event.json().unwrap_or_default();
        let (Some(name), Some(n)) = (body["name"].as_str(), body["n"].as_u64()) else { return Ok(()) };
        let n = n as i64 * i64::from(self.version);
        let upsert = "INSERT INTO p_sums (name, n) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET n = n + ?2";
        db.prepare_cached(upsert)?.execute(rusqlite::params![name, n]).map(|_| ())
    }
}

/// Votes, none of them for oneself.
pub(crate) struct VotesTable;

impl Projection for VotesTable {
    fn name(&self) -> &'static str {
        "votes"
    }

    fn version(&self) -> u32 {
        1
    }

    fn tables(&self) -> &'static str {
        "CREATE TABLE p_votes (voter TEXT PRIMARY KEY, choice TEXT NOT NULL, CHECK (voter <> choice)) STRICT"
    }

    fn apply(&self, db: &Connection, event: &Event) -> rusqlite::Result<()> {
        if event.kind != "tally.voted" {
            return Ok(());
        }
        let body = event.json().unwrap_or_default();
        let row = (body["by"].as_str(), body["of"].as_str());
        db.prepare_cached("INSERT INTO p_votes VALUES (?1, ?2)")?.execute(row).map(|_| ())
    }
}

pub(crate) fn tables() -> Vec<Box<dyn Projection>> {
    vec![Box::new(SumsTable { version: 1 }), Box::new(VotesTable)]
}

pub(crate) fn open(root: &Path) -> Store<Tally> {
    open_with(root, Options::default()).expect("it opens")
}

pub(crate) fn open_with(root: &Path, options: Options) -> Result<Store<Tally>, StoreFault> {
    Store::open(root, Tally::default(), tables(), options)
}

pub(crate) fn add(name: &str, n: u64) -> Command {
    Command::Add { name: name.to_owned(), n }
}

/// Carries a command out that has to succeed.
pub(crate) fn did(store: &Store<Tally>, command: Command) -> u64 {
    match store.submit(command).wait().expect("it succeeds") {
        Answer::Seq(seq) => seq,
        Answer::Replayed(kept) => panic!("replayed: {kept:?}"),
    }
}

pub(crate) fn failed(store: &Store<Tally>, command: Command) -> Failed<Refusal> {
    store.submit(command).wait().expect_err("it fails")
}

pub(crate) fn sums(store: &Store<Tally>) -> BTreeMap<String, u64> {
    store.look(|sums| sums.0.clone()).expect("there is a state")
}

/// The projection, as the state would have it.
pub(crate) fn sums_table(store: &Store<Tally>) -> BTreeMap<String, u64> {
    let read = store.journal().read(|db| {
        let mut statement = db.prepare_cached("SELECT name, n FROM p_sums")?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?.collect()
    });
    read.expect("it is read")
}

/// Has somebody write to the database behind the store's back, without what keeps the journal append-only.
pub(crate) fn tamper(root: &Path, sql: &str) {
    let db = Connection::open(root.join(arena_store::JOURNAL)).expect("it opens");
    db.execute_batch(
        "DROP TRIGGER events_no_update; DROP TRIGGER events_no_delete; DROP TRIGGER events_next",
    )
    .expect("the triggers go");
    db.execute_batch(sql).expect("it is done");
    for text in triggers() {
        db.execute_batch(&text).expect("the triggers are back");
    }
}

/// The triggers as a fresh journal has them.
fn triggers() -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    drop(open(folder.path()));
    let db = Connection::open(folder.path().join(arena_store::JOURNAL)).expect("it opens");
    let mut statement =
        db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").expect("it is read");
    let texts = statement.query_map([], |row| row.get(0)).expect("they are read");
    texts.collect::<Result<_, _>>().expect("they are texts")
}

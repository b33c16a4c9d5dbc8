use std::collections::BTreeSet;

use arena_canon::Digest;
use rusqlite::{Connection, params};

use crate::blobs::{self, BlobMeta, Blobs};
use crate::chain::{Head, content_sha256, link};
use crate::event::{Draft, Event};
use crate::fault::StoreFault;
use crate::idempotency::{self, Kept, Recall, Slot};
use crate::journal::signed;
use crate::projection::{self, Projections};

/// One command's part of a transaction: what it appends stands or falls together, with the projections, the
/// answer that is kept and the rows of its blobs.
pub struct Append<'a> {
    db: &'a Connection,
    blobs: &'a Blobs,
    projections: &'a Projections,
    /// Whether the domain can fold a kind, and the kinds that have a row already.
    knows: &'a dyn Fn(&str, u32) -> bool,
    known: &'a BTreeSet<(String, u32)>,
    head: Head,
    done: Done,
}

/// What a command has appended so far.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) events: Vec<Event>,
    /// Blobs whose files go once the command is committed.
    pub(crate) withheld: Vec<(Digest, String)>,
    /// Blobs that were written here. Those of a command that is not carried out go again.
    pub(crate) written: Vec<Digest>,
    /// Something was written by half; the command must not be carried out.
    pub(crate) failed: bool,
}

impl<'a> Append<'a> {
    pub(crate) fn new(
        (db, blobs): (&'a Connection, &'a Blobs),
        projections: &'a Projections,
        knows: &'a dyn Fn(&str, u32) -> bool,
        known: &'a BTreeSet<(String, u32)>,
        head: Head,
    ) -> Self {
        Self { db, blobs, projections, knows, known, head, done: Done::default() }
    }

    pub(crate) fn into_done(self) -> (Head, Done) {
        (self.head, self.done)
    }

    /// Where the journal ends, with what was appended here.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Appends an event and tells its place. After an error nothing of the command can be kept: it is to be
    /// passed on, or made a refusal.
    pub fn append(&mut self, draft: Draft) -> Result<u64, StoreFault> {
        let appended = self.try_append(draft);
        self.done.failed |= appended.is_err();
        appended
    }

    fn try_append(&mut self, draft: Draft) -> Result<u64, StoreFault> {
        draft.check()?;
        let Draft { at_ms, topic, kind, version, body, salt } = draft;
        let (seq, prev) = (self.head.seq + 1, self.head.hash);
        if !(self.knows)(&kind, version) {
            return Err(StoreFault::UnknownKind { seq, kind, version });
        }
        let content_sha256 = content_sha256(at_ms, &topic, &kind, version, &body, salt.as_ref());
        let hash = link(seq, prev, content_sha256);
        let event = Event { seq, at_ms, topic, kind, version, body, salt, content_sha256, prev, hash };
        self.insert(&event)?;
        for projection in self.projections {
            projection::apply(self.db, projection.as_ref(), &event)?;
        }
        self.head = Head { seq, hash };
        self.done.events.push(event);
        Ok(seq)
    }

    fn insert(&self, event: &Event) -> Result<(), StoreFault> {
        let insert = "INSERT INTO events
            (seq, at_ms, topic, kind, version, body, salt, content_sha256, prev, hash)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let seq = signed(event.seq);
        self.db.prepare_cached(insert)?.execute(params![
            seq,
            signed(event.at_ms),
            event.topic,
            event.kind,
            event.version,
            event.body,
            event.salt,
            event.content_sha256.as_bytes(),
            event.prev.as_bytes(),
            event.hash.as_bytes(),
        ])?;
        let kind = (event.kind.clone(), event.version);
        if !self.known.contains(&kind) {
            let insert = "INSERT OR IGNORE INTO event_kinds (kind, version, first_seq) VALUES (?1, ?2, ?3)";
            self.db.prepare_cached(insert)?.execute(params![kind.0, kind.1, seq])?;
        }
        Ok(())
    }

    /// What is kept in `slot` at the command's time.
    pub fn recall(&self, now_ms: u64, slot: &Slot) -> Result<Recall, StoreFault> {
        idempotency::recall(self.db, now_ms, slot)
    }

    /// Keeps an answer in `slot` for 24 hours from the command's time on. A refused command keeps none: sent
    /// again, it is looked at again.
    pub fn remember(&mut self, now_ms: u64, slot: &Slot, kept: &Kept) -> Result<(), StoreFault> {
        let remembered = idempotency::remember(self.db, now_ms, slot, kept);
        self.done.failed |= remembered.is_err();
        remembered
    }

    /// Writes a blob that an event will name, and books it: on disk before the event is, at its place after it. If the
    /// command is not carried out, it goes again, and if the writer is killed before, at the next start. For short contents, since commands wait meanwhile.
    pub fn keep_blob(&mut self, content: &[u8], media_type: &str) -> Result<Digest, StoreFault> {
        let kept = self.try_keep_blob(content, media_type);
        self.done.failed |= kept.is_err();
        kept
    }

    fn try_keep_blob(&mut self, content: &[u8], media_type: &str) -> Result<Digest, StoreFault> {
        // Told before it is there, so that nothing of it stays whatever happens on the way.
        self.done.written.push(Digest::of(content));
        let sha256 = self.blobs.put_aside(content)?;
        blobs::book(self.db, sha256, content.len() as u64, media_type)?;
        Ok(sha256)
    }

    /// Books a blob that an event names. Its file is there already. One that is booked stays as it is.
    pub fn book_blob(&mut self, sha256: Digest, bytes: u64, media_type: &str) -> Result<(), StoreFault> {
        let booked = blobs::book(self.db, sha256, bytes, media_type);
        self.done.failed |= booked.is_err();
        booked
    }

    /// The same, and one that is booked as `weaker` is of `media_type` from now on.
    pub fn book_blob_over(
        &mut self,
        (sha256, bytes): (Digest, u64),
        weaker: &str,
        media_type: &str,
    ) -> Result<(), StoreFault> {
        let booked = blobs::book(self.db, sha256, bytes, media_type)
            .and_then(|()| blobs::rebook(self.db, sha256, weaker, media_type));
        self.done.failed |= booked.is_err();
        booked
    }

    /// Withholds a blob for good: once this is committed its file goes, and a marker with `reason` stays. Of an answer
    /// that is kept and names the blob in a header, the digest of its request goes, by which a short content could be
    /// guessed; the request cannot be told from another one after that. The event that says so is the domain's.
    pub fn withhold_blob(&mut self, sha256: Digest, reason: &str) -> Result<(), StoreFault> {
        let withheld =
            blobs::mark(self.db, sha256, reason).and_then(|()| idempotency::forget_requests(self.db, sha256));
        self.done.failed |= withheld.is_err();
        self.done.withheld.push((sha256, reason.to_owned()));
        withheld
    }

    /// What is known of a blob.
    pub fn blob(&self, sha256: Digest) -> Result<Option<BlobMeta>, StoreFault> {
        Ok(blobs::meta(self.db, sha256)?)
    }

    /// Asks the database, projections as a rule, as it stands with what was appended here. `ask` must only
    /// read: nothing else is written than what follows from events.
    pub fn read<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreFault> {
        self.db.pragma_update(None, "query_only", true)?;
        let _writable_after = Writable(self.db);
        Ok(ask(self.db)?)
    }
}

/// Whatever comes of a look at the database, it can be written to afterwards.
struct Writable<'a>(&'a Connection);

impl Drop for Writable<'_> {
    fn drop(&mut self) {
        // If it failed, the next statement that writes would say so.
        let _ = self.0.pragma_update(None, "query_only", false);
    }
}

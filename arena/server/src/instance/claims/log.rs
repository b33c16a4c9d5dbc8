//! The log of an instance's claims: a Merkle tree over their events, signed as it grows, so that whoever keeps a receipt
//! can show what was left out or written anew.
//!
//! Every event has one leaf. That of a public commitment of a draw follows from its transcript; any other is the digest
//! of the event with a nonce, so that what is sealed, and who did it, cannot be guessed from a proof. How much there is
//! can be counted: numbers run through all claims, so whoever has two receipts, or sees two checkpoints, knows how many
//! events came between them, sealed ones included, but not which, of whom, or on which claim. Who does nothing sees no
//! more than the checkpoint of before anything was sealed, until a draw is committed that everybody may see. Each
//! command that comes to anything is signed with it, in the same row of the journal, so the log is the same after every
//! start. Events of a journal from before there was a log have a leaf that says nothing of them.

use std::sync::{Arc, LazyLock};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::envelope::PublicKey;
use arena_claims::life::{self, Event, Phase, World};
use arena_claims::log::{Checkpoint, DrawOrigin, Logged, Tree, leaf, opening, origin, sealed, verifier};
use arena_cow::{CowMap, CowSet};
use arena_draw::{Purpose, merkle};
use serde_json::json;

use super::super::{Known, Request, Row};
use super::{Claims, seconds, told, view};
use crate::auth::Viewer;
use crate::problem::Problem;

/// The leaf of an event from before there was a log.
static BEFORE: LazyLock<Digest> = LazyLock::new(|| merkle::leaf_hash(b"an event from before the log"));

/// The log, as it follows from the journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    tree: Tree,
    /// Of what the instance is.
    genesis: Option<Digest>,
    /// Which key signs it; nothing before the first checkpoint.
    key: Option<PublicKey>,
    /// The rows of the journal with events, by the last of them.
    rows: CowMap<u64, u64>,
    /// The rows with checkpoints, by size.
    signed: CowMap<u64, u64>,
    /// Checkpoints of what committed a draw that everybody may see, by size.
    drawn: CowMap<u64, Arc<str>>,
    /// Whether such a draw is not signed yet.
    commits: bool,
    /// Claims on which something may be under way that nobody is told of.
    sealed: CowSet<String>,
    /// What everybody is shown.
    shown: Option<Shown>,
}

#[derive(Debug, Clone)]
struct Shown {
    size: u64,
    root: Digest,
    at: u64,
    note: Arc<str>,
}

/// What a row says of the log.
struct Said<'a> {
    nonce: Option<Digest>,
    key: Option<PublicKey>,
    checkpoint: Option<&'a str>,
}

impl<'a> Said<'a> {
    fn by(body: &'a Value) -> Self {
        let text = |key: &str| body.get("log")?.get(key)?.as_str();
        let digest = |key: &str| text(key).and_then(|text| text.parse().ok());
        Self { nonce: digest("nonce"), key: digest("key"), checkpoint: text("checkpoint") }
    }
}

/// Where an event and its checkpoint are in the journal, and its way to it.
pub(crate) struct Kept {
    /// The row with the event.
    row: u64,
    /// How many events of that row come after it.
    after: usize,
    /// The row with the checkpoint.
    signed: u64,
    instance: Digest,
    genesis: Digest,
    seq: u64,
    leaf: Digest,
    inclusion: Vec<Digest>,
}

/// The nonce of an event of a row.
fn nonce_of(row: Digest, place: usize) -> Digest {
    Digest::of_parts(&[b"arena log nonce", row.as_bytes(), &(place as u64).to_be_bytes()])
}

fn is_open_draw(event: &Event) -> bool {
    matches!(event, Event::DrawCommitted(_)) && !event.is_sealed()
}

/// Whether things may happen on a claim that nobody is told of: challenges and audits, and ballots that are opened.
fn is_secretive(phase: Phase) -> bool {
    matches!(phase, Phase::Committed | Phase::Voting { .. } | Phase::Opening { .. })
}

/// The next leaf of a tree. `place` is that of the event in its row.
fn next(
    tree: &Tree,
    genesis: Digest,
    (world, event): (&World, &Event),
    at: u64,
    (written, nonce, place): (&Value, Digest, usize),
) -> Digest {
    let seq = tree.size() + 1;
    if is_open_draw(event) {
        return leaf(genesis, world, event, &Logged { seq, at, by: None, written });
    }
    let written = sealed(&opening(written, nonce_of(nonce, place)));
    leaf(genesis, world, event, &Logged { seq, at, by: None, written: &written })
}

/// Signs the log with what a command comes to, in the last of its rows.
pub(super) fn sign(
    claims: &Claims,
    request: &Request,
    known: &Known,
    events: &[Event],
    rows: &mut [Row],
) -> Result<(), Problem> {
    let (log, at) = (&claims.log, seconds(request.at));
    let genesis = log.genesis.unwrap_or_else(|| Digest::of(&json::canonical(&known.claims.to_json())));
    let (mut tree, mut world) = (log.tree.clone(), claims.world(known).clone());
    // The leaf of a draw rests on its claim as it was then; no other rests on anything.
    let commits = events.iter().any(is_open_draw);
    let mut events = events.iter();
    for (place, row) in rows.iter_mut().enumerate() {
        let nonce = Digest::of_parts(&[b"arena log nonces", &request.luck, &(place as u64).to_be_bytes()]);
        for (place, written) in row.body["events"].as_array().into_iter().flatten().enumerate() {
            let event = events.next().ok_or_else(Problem::internal)?;
            let leaf = next(&tree, genesis, (&world, event), at, (written, nonce, place));
            tree.push(leaf);
            if commits {
                life::evolve(&mut world, at, event);
            }
        }
        row.body["log"] = json!({ "nonce": nonce });
    }
    let last = rows.last_mut().ok_or_else(Problem::internal)?;
    let origin = origin(world.instance.id());
    last.body["log"]["checkpoint"] =
        Checkpoint::sign(&origin, tree.size(), tree.root(), at, &known.log).into();
    if log.key.is_none() {
        last.body["log"]["key"] = json!(known.log.public());
    }
    Ok(())
}

/// Where whoever gave a command finds the receipt of what came of it, but for the `late` events that came before it.
pub(super) fn receipt_of(
    claims: &Claims,
    (viewer, by): (&Viewer, &str),
    events: &[Event],
    late: usize,
) -> Option<String> {
    let is_shown = |event: &Event| is_shown_to(viewer, by, event) && !is_open_draw(event);
    let place = events.iter().skip(late).position(is_shown)?;
    let seq = claims.log.tree.size() + (late + place) as u64 + 1;
    Some(format!("/api/v1/log/receipts/{seq}"))
}

/// Whether somebody may see the whole of what `by` did: whoever did it, of what is told to them, and whoever runs the
/// instance.
fn is_shown_to(viewer: &Viewer, by: &str, event: &Event) -> bool {
    viewer.is_admin() || super::own(viewer) == Some(by) && told::is_told_to(event, by)
}

impl Log {
    /// The key that signs it; nothing before the first checkpoint.
    pub(crate) fn key(&self) -> Option<PublicKey> {
        self.key
    }

    /// The first row says what the instance is.
    pub(super) fn begin(&mut self, genesis: &Value) {
        self.genesis = Some(Digest::of(&json::canonical(genesis)));
    }

    /// Adds an event of a row, before the world takes it in.
    pub(super) fn push(&mut self, world: &World, event: &Event, row: &Row, place: usize) {
        let nonce = Said::by(&row.body).nonce;
        let leaf = match nonce.zip(self.genesis) {
            Some((nonce, genesis)) => {
                let written = &row.body["events"][place];
                next(&self.tree, genesis, (world, event), seconds(row.at), (written, nonce, place))
            }
            None => *BEFORE,
        };
        self.commits |= is_open_draw(event) && nonce.is_some();
        self.tree.push(leaf);
    }

    /// Notes what an event left of its claim.
    pub(super) fn follow(&mut self, world: &World, event: &Event) {
        let Some(claim) = event.claim() else { return };
        match world.claims.get(claim).is_some_and(|claim| is_secretive(claim.phase)) {
            true => self.sealed.insert(claim.to_owned()),
            false => self.sealed.remove(claim),
        };
    }

    /// Takes the end of a row in: its place, and the checkpoint that it may have.
    pub(super) fn close(&mut self, row: &Row) -> Result<(), String> {
        let size = self.tree.size();
        if row.body["events"].as_array().is_some_and(|events| !events.is_empty()) {
            self.rows.insert(size, row.place);
        }
        let said = Said::by(&row.body);
        self.key = self.key.or(said.key);
        let Some(note) = said.checkpoint else { return Ok(()) };
        let checkpoint = Checkpoint::read(note).map_err(|why| why.to_string())?;
        if (checkpoint.size, checkpoint.root) != (size, self.tree.root()) {
            return Err(format!(
                "the log of claims that follows from the journal is not what was signed at {size}"
            ));
        }
        self.signed.insert(size, row.place);
        let note: Arc<str> = note.into();
        if self.commits {
            self.drawn.insert(size, Arc::clone(&note));
        }
        if self.commits || self.sealed.is_empty() {
            self.shown = Some(Shown { size, root: checkpoint.root, at: seconds(row.at), note });
        }
        self.commits = false;
        Ok(())
    }

    /// The latest checkpoint that everybody is shown, and what it is verified by.
    pub(crate) fn checkpoint(&self, world: &World, known: &Known) -> Value {
        let instance = world.instance.id();
        let key = self.key.unwrap_or_else(|| known.log.public());
        let name = origin(instance);
        let shown = self.shown.as_ref();
        json!({
            "origin": name, "instance_id": instance, "genesis": self.genesis, "public_key": key,
            "verifier_key": verifier(&name, key), "size": shown.map_or(0, |shown| shown.size).to_string(),
            "root": shown.map_or_else(|| merkle::root(&[]), |shown| shown.root),
            "signed_at": shown.and_then(|shown| view::time(shown.at)), "checkpoint": shown.map(|shown| &*shown.note),
        })
    }

    /// That the log at one size begins the log at another. What nobody is shown yet is proven to those who name its root,
    /// and so have a checkpoint of it.
    pub(crate) fn consistency(
        &self,
        from: u64,
        to: Option<u64>,
        root: Option<Digest>,
    ) -> Result<Value, Problem> {
        let shown = self.shown.as_ref().map_or(0, |shown| shown.size);
        let to = to.unwrap_or(shown);
        let is_known = match root {
            Some(root) => self.tree.root_at(to) == Some(root),
            None => to <= shown,
        };
        let proof = self.tree.consistency(from, to).filter(|_| is_known);
        let proof = proof.ok_or_else(|| {
            let what = if root.is_some() { "size and root" } else { "size" };
            Problem::new(
                "not_found",
                format_args!("no log of this {what} is shown here, or it is shorter than `from`"),
            )
        })?;
        Ok(json!({ "from": from.to_string(), "to": to.to_string(), "proof": proof }))
    }

    /// The log of a draw that everybody may see, by the number of its commitment.
    pub(crate) fn of_draw(&self, seq: u64) -> Option<Value> {
        let index = seq.checked_sub(1)?;
        self.tree.leaf(index).filter(|leaf| *leaf != *BEFORE)?;
        let (size, note) = self.drawn.range(seq..).next()?;
        let inclusion = self.tree.path(index, *size)?;
        Some(json!({ "checkpoint": &**note, "inclusion": inclusion }))
    }

    /// A transcript with the checkpoint that covers its commitment; as it is where that was sealed or has none.
    pub(crate) fn carried(&self, transcript: &Value) -> Value {
        let mut carried = transcript.clone();
        let is_again = transcript["purpose"] == Purpose::Audit.name() && transcript["attempt"] != 0;
        let seq = transcript["committed_seq"].as_str().and_then(|seq| seq.parse().ok());
        if let Some(log) = seq.filter(|_| !is_again).and_then(|seq| self.of_draw(seq)) {
            carried["log"] = log;
        }
        carried
    }

    /// Where an event is kept, with its way to the checkpoint of its command.
    pub(crate) fn kept(&self, world: &World, seq: u64) -> Option<Kept> {
        let index = seq.checked_sub(1)?;
        let leaf = self.tree.leaf(index).filter(|leaf| *leaf != *BEFORE)?;
        let (last, row) = self.rows.range(seq..).next()?;
        let (size, signed) = self.signed.range(seq..).next()?;
        Some(Kept {
            row: *row,
            after: usize::try_from(last - seq).ok()?,
            signed: *signed,
            instance: world.instance.id(),
            genesis: self.genesis?,
            seq,
            leaf,
            inclusion: self.tree.path(index, *size)?,
        })
    }
}

impl Kept {
    /// The rows of the journal with the event and with the checkpoint.
    pub(crate) fn rows(&self) -> (u64, u64) {
        (self.row, self.signed)
    }

    /// The receipt for somebody who did it, or for whoever runs the instance: what is not told to them is not there.
    pub(crate) fn receipt(
        self,
        viewer: &Viewer,
        at: u64,
        event: &Value,
        signed: &Value,
    ) -> Result<Value, Problem> {
        let missing = || Problem::new("not_found", "you did nothing that has this number");
        let by = event.get("by").and_then(Value::as_str).ok_or_else(missing)?;
        let events = event.get("events").and_then(Value::as_array).ok_or_else(missing)?;
        let place = events.len().checked_sub(self.after + 1).ok_or_else(missing)?;
        let happened: Event = serde::Deserialize::deserialize(&events[place])
            .map_err(|_: serde_json::Error| Problem::internal())?;
        if !is_shown_to(viewer, by, &happened) {
            return Err(missing());
        }
        if is_open_draw(&happened) {
            let detail = "the commitment of a draw is shown with its checkpoint among the draws of its claim";
            return Err(Problem::new("not_found", detail));
        }
        let nonce = Said::by(event).nonce.ok_or_else(Problem::internal)?;
        let opening = opening(&events[place], nonce_of(nonce, place));
        let receipt = arena_claims::log::Receipt {
            instance: self.instance,
            seq: self.seq,
            event: String::new(),
            draw: None::<DrawOrigin>,
            leaf: self.leaf,
            inclusion: self.inclusion,
            checkpoint: Said::by(signed).checkpoint.unwrap_or_default().to_owned(),
        };
        let logged = Logged { seq: self.seq, at, by: None, written: &sealed(&opening) };
        let mut document = receipt.document(self.genesis, &logged);
        document["opening"] = opening;
        Ok(document)
    }
}

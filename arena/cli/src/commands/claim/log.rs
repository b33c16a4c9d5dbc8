//! The log of an instance's events in its folder: the key in `keys/`, its owner's alone; a signed checkpoint in `checkpoints/` for every
//! draw that is committed and every line with something sealed, which may be one, and receipts that others hold against the folder.
//!
//! A checkpoint is on disk before the line that it covers, under a name of its own, and has its name once the line is
//! there: whatever ends a command, a commitment in the journal has its checkpoint, and no other size was ever signed
//! for good.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::envelope::{PublicKey, SecretKey};
use arena_claims::life::World;
use arena_claims::log::{Checkpoint, DrawOrigin, NOTE_BYTES_MAX, Receipt, check_transcript, in_time, origin};
use arena_draw::{Transcript, merkle};
use arena_engine::campus::Finding;
use serde_json::json;

use super::instance::{INSTANCE, Reading, broken, io_failure};
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::luck;

const KEYS: &str = "keys";
const KEY: &str = "log";
const INSTANCE_BYTES_MAX: u64 = 4 << 20;
const FOLDER: &str = "checkpoints";
/// The checkpoint of a line that may not be in the journal yet.
const NEXT: &str = "next.note";

/// The key of a new instance's log, made in `keys/`; what others verify by.
pub(super) fn make(dir: &Path) -> Result<PublicKey, Failure> {
    files::make_folder(&dir.join(FOLDER))?;
    let keys = dir.join(KEYS);
    files::make_folder(&keys)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o700))
            .map_err(|why| io_failure(&keys, "close folder", &why))?;
    }
    let place = keys.join(KEY);
    if !place.exists() {
        let seed = Digest::from_bytes(luck::secret_bytes()?);
        files::write_private(&place, format!("{seed}\n").as_bytes(), Existing::Keep)?;
    }
    Ok(secret(dir)?.public())
}

/// How `instance.json` says it: the key, and that what is sealed has its checkpoints as well.
pub(super) fn written(key: PublicKey) -> Value {
    json!({ "public_key": key, "sealed": true })
}

/// Whether commitments that are sealed have their checkpoints: in folders from before that they have not.
fn covers_sealed(reading: &Reading) -> bool {
    let bytes = files::read_regular(&reading.path.join(INSTANCE), INSTANCE_BYTES_MAX).ok();
    let value = bytes.and_then(|bytes| json::read(&bytes, bytes.len()).ok());
    value.is_some_and(|value| value["log"]["sealed"] == json!(true))
}

/// The key in an `instance.json`; folders from before there was a log have none.
pub(super) fn read(value: &Value) -> Result<Option<PublicKey>, String> {
    let Some(log) = value.get("log") else { return Ok(None) };
    let key = log.get("public_key").and_then(Value::as_str).and_then(|key| key.parse().ok());
    key.map(Some).ok_or_else(|| "it has no public_key".to_owned())
}

fn secret(dir: &Path) -> Result<SecretKey, Failure> {
    let place = dir.join(KEYS).join(KEY);
    let bytes = files::read_regular(&place, 128).map_err(|unread| unread.reading("the log's key", &place))?;
    let text = std::str::from_utf8(&bytes).ok().map(str::trim);
    let seed = text.and_then(|text| text.parse::<Digest>().ok());
    let seed = seed.ok_or_else(|| broken(&place, "it is no key of 64 hexadecimal digits"))?;
    Ok(SecretKey::from_seed(seed.as_bytes()))
}

/// Signs the log as it is when these leaves are added.
fn signed(reading: &Reading, key: PublicKey, added: &[Digest], at: u64) -> Result<(u64, String), Failure> {
    let own = secret(&reading.path)?;
    if own.public() != key {
        return Err(broken(&reading.path, "keys/log is not the key that instance.json names"));
    }
    let mut tree = merkle::Growing::default();
    reading.leaves.iter().chain(added).for_each(|leaf| tree.push(*leaf));
    let size = (reading.leaves.len() + added.len()) as u64;
    let origin = origin(reading.world.instance.id());
    Ok((size, Checkpoint::sign(&origin, size, tree.root(), at, &own)))
}

/// A checkpoint that has not its name yet.
pub(super) struct Pending(PathBuf, Vec<u8>);

/// Signs a checkpoint of the journal with a line that is about to be written.
pub(super) fn prepare(reading: &Reading, added: &[Digest], at: u64) -> Result<Option<Pending>, Failure> {
    let Some(key) = reading.log else { return Ok(None) };
    let (size, note) = signed(reading, key, added, at)?;
    let folder = reading.path.join(FOLDER);
    files::make_folder(&folder)?;
    files::write(&folder.join(NEXT), note.as_bytes(), Existing::Replace)?;
    Ok(Some(Pending(folder.join(format!("{size}.note")), note.into_bytes())))
}

/// The line is in the journal: the checkpoint gets its name.
pub(super) fn settle(pending: Option<Pending>) -> Result<(), Failure> {
    let Some(Pending(place, note)) = pending else { return Ok(()) };
    files::write(&place, &note, Existing::KeepEqual)?;
    let next = place.with_file_name(NEXT);
    std::fs::remove_file(&next).map_err(|why| io_failure(&next, "remove", &why))
}

/// What a command that was killed left: a checkpoint of a line that is there gets its name, another goes.
pub(super) fn recover(reading: &Reading) -> Result<(), Failure> {
    let next = reading.path.join(FOLDER).join(NEXT);
    if reading.log.is_none() || !next.exists() {
        return Ok(());
    }
    let own = note(&next).ok().filter(|(_, checkpoint)| counts(reading, checkpoint).is_some());
    let named =
        own.map(|(text, checkpoint)| (next.with_file_name(format!("{}.note", checkpoint.size)), text));
    match named.filter(|(place, _)| !place.exists()) {
        Some((place, text)) => settle(Some(Pending(place, text.into_bytes()))),
        None => std::fs::remove_file(&next).map_err(|why| io_failure(&next, "remove", &why)),
    }
}

/// When a checkpoint of what is in the journal was signed; nothing for any other.
fn counts(reading: &Reading, checkpoint: &Checkpoint) -> Option<u64> {
    let at = checkpoint.verify(&origin(reading.world.instance.id()), reading.log?).ok()?;
    let leaves = reading.leaves.get(..usize::try_from(checkpoint.size).ok()?)?;
    (merkle::root(leaves) == checkpoint.root).then_some(at)
}

fn note(path: &Path) -> Result<(String, Checkpoint), String> {
    let bytes =
        files::read_regular(path, NOTE_BYTES_MAX as u64).map_err(|_| "it cannot be read".to_owned())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    let checkpoint = Checkpoint::read(&text).map_err(|why| why.to_string())?;
    Ok((text, checkpoint))
}

/// The checkpoints in a folder, by size; those that are none are passed over.
fn checkpoints(reading: &Reading) -> Vec<(u64, PathBuf)> {
    let entries = std::fs::read_dir(reading.path.join(FOLDER)).into_iter().flatten().flatten();
    let mut found: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let size = entry.file_name().to_str()?.strip_suffix(".note")?.parse().ok()?;
            Some((size, entry.path()))
        })
        .collect();
    found.sort();
    found
}

/// A transcript with the checkpoint that covers its commitment, and the way to it; as it is where there is none.
pub(super) fn carried(reading: &Reading, transcript: &Value) -> Value {
    let mut carried = transcript.clone();
    if let Some(log) = log_of(reading, transcript) {
        carried["log"] = log;
    }
    carried
}

fn log_of(reading: &Reading, transcript: &Value) -> Option<Value> {
    reading.log?;
    let seq: u64 = transcript.get("committed_seq")?.as_str()?.parse().ok()?;
    let (size, path) = checkpoints(reading).into_iter().find(|(size, _)| *size >= seq)?;
    let leaves = reading.leaves.get(..usize::try_from(size).ok()?)?;
    let (text, _) = note(&path).ok()?;
    let inclusion = merkle::path(usize::try_from(seq.checked_sub(1)?).ok()?, leaves);
    let log = json!({ "checkpoint": text, "inclusion": inclusion });
    // What was committed in secret is in the log by the digest that stands for it, and leads nowhere from here.
    let mut whole = transcript.clone();
    whole["log"] = log.clone();
    let read = Transcript::read(&json::canonical(&whole)).ok()?;
    Receipt::of(&read).ok()?.held().ok()?;
    Some(log)
}

/// A receipt for an event of the journal, the last one if none is named, signed now.
pub(super) fn receipt(reading: &Reading, seq: Option<u64>, at: u64) -> Result<Value, Failure> {
    const DOING: &str = "make the receipt";
    let Some(key) = reading.log else {
        return Err(Failure::usage(DOING, "the instance has no log: it was made before there was one"));
    };
    if at < reading.world.now {
        let why = format!("it is {} already; the receipt would say {at}", reading.world.now);
        return Err(Failure::usage(DOING, why));
    }
    let count = reading.leaves.len() as u64;
    let seq = seq.unwrap_or(count);
    let index = seq.checked_sub(1).filter(|_| seq <= count).and_then(|index| usize::try_from(index).ok());
    let index = index.ok_or_else(|| Failure::usage(DOING, format_args!("the journal has {count} events")))?;
    let (_, checkpoint) = signed(reading, key, &[], at)?;
    let receipt = Receipt {
        instance: reading.world.instance.id(),
        seq,
        event: String::new(),
        draw: draw_origin(reading, seq)?,
        leaf: reading.leaves[index],
        inclusion: merkle::path(index, &reading.leaves),
        checkpoint,
    };
    reading.with_event(seq, |genesis, logged| receipt.document(genesis, logged))
}

/// What the leaf of an event rests on beside it, if it commits a draw: the claim may have been listed again since.
fn draw_origin(reading: &Reading, seq: u64) -> Result<Option<DrawOrigin>, Failure> {
    if reading.place_of(seq).0 != "draw_committed" {
        return Ok(None);
    }
    let mut found = None;
    Reading::quietly(&reading.path, &mut |world, line, i| {
        if world.seq + 1 == seq {
            found = DrawOrigin::of(world, &line.events[i]);
        }
    })?;
    Ok(found)
}

/// A commitment of a draw, as the journal has it.
pub(super) struct Commitment {
    pub(super) seq: u64,
    pub(super) at: u64,
    pub(super) round: u64,
    pub(super) is_sealed: bool,
    /// Where it stands, as a JSON pointer.
    pub(super) pointer: String,
}

/// Checks every checkpoint of a folder against its journal, and that every commitment of a draw has one from before its
/// round was due. How many there are, and what was found.
pub(super) fn verify(reading: &Reading, key: PublicKey, commitments: &[Commitment]) -> (u64, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut find = |pointer: String, message: String| findings.push(Finding { pointer, message });
    let name = origin(reading.world.instance.id());
    let (mut tree, mut grown, mut good) = (merkle::Growing::default(), 0_usize, Vec::new());
    for (size, path) in checkpoints(reading) {
        let place = format!("/{FOLDER}/{size}.note");
        let read = note(&path).and_then(|(_, checkpoint)| {
            let at = checkpoint.verify(&name, key).map_err(|why| why.to_string())?;
            Ok((checkpoint, at))
        });
        let (checkpoint, at) = match read {
            Ok(read) => read,
            Err(why) => {
                find(place, why);
                continue;
            }
        };
        let whole = reading.leaves.len();
        if checkpoint.size != size {
            find(place, format!("it covers {} events", checkpoint.size));
        } else if size > whole as u64 {
            let left_out = size - whole as u64;
            find(
                place,
                format!("{size} events were signed, the journal has {whole}: {left_out} are left out"),
            );
        } else {
            while (grown as u64) < size {
                tree.push(reading.leaves[grown]);
                grown += 1;
            }
            match tree.root() == checkpoint.root {
                true => good.push((size, at)),
                false => find(place, format!("the first {size} events are not those that were signed")),
            }
        }
    }
    // What a command that was killed left counts once its line is there.
    if let Ok((_, checkpoint)) = note(&reading.path.join(FOLDER).join(NEXT))
        && let Some(at) = counts(reading, &checkpoint)
    {
        good.push((checkpoint.size, at));
    }
    let covers_sealed = covers_sealed(reading);
    for Commitment { seq, at, round, pointer, .. } in
        commitments.iter().filter(|commitment| covers_sealed || !commitment.is_sealed)
    {
        let due = time_of(&reading.world, *round);
        match good.iter().find(|(size, _)| size >= seq) {
            None => find(pointer.clone(), "no checkpoint covers this commitment of a draw".to_owned()),
            Some((size, signed_at)) => {
                if let Err(fault) = in_time(Some(*signed_at), Some(*at), due) {
                    find(pointer.clone(), format!("its checkpoint of {size} events: {}", fault.why));
                }
            }
        }
    }
    (good.len() as u64, findings)
}

fn time_of(world: &World, round: u64) -> Option<u64> {
    let instance = &world.instance;
    instance.source.beacon(instance.id(), Some(&instance.name)).ok()?.time_of(round)
}

/// Holds a receipt, or a transcript that carries its log, against a folder.
pub(super) fn hold(reading: &Reading, document: &Value) -> Vec<Finding> {
    let finding = |pointer: &str, message: String| Finding { pointer: pointer.to_owned(), message };
    let Some(key) = reading.log else {
        return vec![finding("/log", "the instance has no log, so it can have given no receipt".to_owned())];
    };
    let receipt = match receipt_of(document) {
        Ok(receipt) => receipt,
        Err(findings) => return findings,
    };
    if receipt.instance != reading.world.instance.id() {
        return vec![finding("/instance", format!("the receipt is of the instance {}", receipt.instance))];
    }
    let (checkpoint, signed_at) = match receipt.signed(key) {
        Ok(signed) => signed,
        Err(fault) => return vec![finding(fault.at, fault.why)],
    };
    let mut findings: Vec<Finding> = out_of_time(document, key, signed_at).into_iter().collect();
    let have = reading.leaves.len() as u64;
    if checkpoint.size > have {
        let (size, left_out) = (checkpoint.size, checkpoint.size - have);
        let why =
            format!("{size} events were receipted, the journal has {have}: the last {left_out} are left out");
        findings.push(finding("/journal", why));
    }
    let leaf = usize::try_from(receipt.seq - 1).ok().and_then(|index| reading.leaves.get(index));
    if leaf.is_some_and(|leaf| *leaf != receipt.leaf) {
        let (there, pointer) = reading.place_of(receipt.seq);
        let why =
            format!("event {} is {there}, and not the {} that was receipted", receipt.seq, receipt.event);
        findings.push(Finding { pointer, message: why });
    } else if leaf.is_some() {
        findings.extend(shown_otherwise(reading, &receipt, document));
    }
    let neighbours = merkle::neighbours(checkpoint.size, receipt.seq - 1, &receipt.inclusion);
    for (range, root) in neighbours.into_iter().flatten().filter(|(range, _)| range.end <= have) {
        let under = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let leaves = under.and_then(|(from, to)| reading.leaves.get(from..to)).unwrap_or_default();
        if merkle::root(leaves) != root {
            let events: RangeInclusive<u64> = range.start + 1..=range.end;
            let (_, pointer) = reading.place_of(*events.start());
            let said = format!(
                "among the events {} to {}, not all are what was signed",
                events.start(),
                events.end()
            );
            findings.push(Finding { pointer, message: said });
        }
    }
    findings
}

/// What a receipt shows of its event that is not so in the journal: not all of it is in the leaf.
fn shown_otherwise(reading: &Reading, receipt: &Receipt, document: &Value) -> Option<Finding> {
    const SHOWN: [&str; 4] = ["genesis", "at", "by", "event"];
    if is_transcript(document) {
        return None;
    }
    let there = reading.with_event(receipt.seq, |genesis, logged| receipt.document(genesis, logged)).ok()?;
    let member = SHOWN.into_iter().find(|member| document.get(*member) != there.get(*member))?;
    let (_, pointer) = reading.place_of(receipt.seq);
    let message =
        format!("the receipt shows another `{member}` of event {} than the journal has", receipt.seq);
    Some(Finding { pointer, message })
}

/// What is wrong with the times of a receipt that is signed: what it covers came before its signature, and the round of
/// a draw after it.
pub(crate) fn out_of_time(document: &Value, key: PublicKey, signed_at: u64) -> Option<Finding> {
    let finding = |message: String| Finding { pointer: "/checkpoint".to_owned(), message };
    if is_transcript(document) {
        // Whoever has its receipt knows that it verifies.
        let transcript = Transcript::read(&json::canonical(document)).ok()?;
        let fault = check_transcript(&transcript, Some(key)).err()?;
        return Some(Finding { pointer: fault.at.to_owned(), message: fault.why });
    }
    let at: u64 = document.get("at")?.as_str()?.parse().ok()?;
    (signed_at < at)
        .then(|| finding(format!("signed at {signed_at}, before the event of {at} that it covers")))
}

fn is_transcript(document: &Value) -> bool {
    document.get("v").and_then(Value::as_str) == Some("draw/v1")
}

/// The receipt that a document is, or a transcript with its log.
pub(crate) fn receipt_of(document: &Value) -> Result<Receipt, Vec<Finding>> {
    if !is_transcript(document) {
        let finding =
            |fault: arena_claims::Finding| Finding { pointer: fault.pointer, message: fault.message };
        return Receipt::read(document).map_err(|faults| faults.0.into_iter().map(finding).collect());
    }
    let finding = |pointer: &str, message: String| vec![Finding { pointer: pointer.to_owned(), message }];
    let transcript = arena_draw::verify(&json::canonical(document));
    let transcript = transcript.map_err(|why| finding("", format!("the transcript does not hold: {why}")))?;
    Receipt::of(&transcript).map_err(|fault| finding(fault.at, fault.why))
}

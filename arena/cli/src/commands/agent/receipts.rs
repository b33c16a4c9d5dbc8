//! Receipts of what was done, kept beside what is owed: with one, the server can be held to what it signed. That none
//! came, or one that is worth nothing, is told, and is no reason to do less.
//!
//! What a receipt is worth hangs on the key of the server's log: the folder keeps the one that was named first, and
//! takes no receipt by another.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_engine::Excerpt;
use serde_json::json;

use super::folder::Folder;
use super::http::{Server, Trouble};
use super::work::Worker;
use crate::commands::claim;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

const PLACE: &str = "/api/v1/log/receipts/";
const KEY_FILE: &str = "log.json";

/// What was done, as its receipt has to show it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deed<'a> {
    /// The instance.
    pub(super) instance: Digest,
    /// Who did it.
    pub(super) agent: &'a str,
    /// On which claim, if on one.
    pub(super) claim: Option<&'a str>,
    /// A member of its event, and the digest that was sent for it.
    pub(super) sent: Option<(&'a str, Digest)>,
}

/// The number of the event whose receipt an answer names.
fn number(done: &Value) -> Option<u64> {
    let number = done.get("receipt")?.as_str()?.strip_prefix(PLACE)?;
    number.parse::<u64>().ok().filter(|read| read.to_string() == number)
}

/// Why a receipt is not one of this deed, signed by the log's key, if it is not.
fn worthless(receipt: &Value, seq: u64, deed: Deed<'_>, key: Digest) -> Result<(), String> {
    let read = claim::receipt_of(receipt).map_err(|findings| {
        let first = findings.first();
        first.map_or_else(String::new, |finding| format!("{}: {}", finding.pointer, finding.message))
    })?;
    if read.instance != deed.instance {
        return Err("it is of another instance".to_owned());
    }
    if read.seq != seq {
        return Err(format!("it is of event {}, and {seq} was done", read.seq));
    }
    let (_, at) = read.signed(key).map_err(|fault| fault.to_string())?;
    if let Some(finding) = claim::out_of_time(receipt, key, at) {
        return Err(finding.message);
    }
    // A digest alone is a receipt of anything.
    let event = receipt.pointer("/opening/event").ok_or("it does not open its event")?;
    let told = |member: &str| event.get(member).and_then(Value::as_str);
    let own = [("agent", Some(deed.agent)), ("claim", deed.claim)];
    if let Some((member, _)) =
        own.iter().find(|(member, own)| told(member).is_some_and(|told| Some(told) != *own))
    {
        let there = Excerpt { text: told(member).unwrap_or_default(), max: 64 };
        return Err(format!("its event has the {member} `{there}`"));
    }
    if own.iter().all(|(member, _)| told(member).is_none()) {
        return Err("its event says neither who did it nor on which claim".to_owned());
    }
    match deed.sent {
        Some((member, sent)) if told(member) != Some(sent.to_string().as_str()) => {
            Err(format!("its event has not the {member} {sent} that was sent"))
        }
        _ => Ok(()),
    }
}

/// The key of the server's log: that of the first time.
fn log_key(server: &Server, folder: &Folder, instance: Digest) -> Result<Result<Digest, Trouble>, Failure> {
    let place = folder.path().join(KEY_FILE);
    let digest = |about: &Value, member: &str| about.get(member)?.as_str()?.parse::<Digest>().ok();
    if place.exists() {
        let bytes =
            files::read_regular(&place, 1_024).map_err(|unread| unread.reading("log's key", &place))?;
        let kept = json::read(&bytes, bytes.len()).ok().and_then(|kept| digest(&kept, "public_key"));
        let damaged = || Failure::usage(format_args!("read `{}`", files::shown(&place)), "it names no key");
        return kept.map(Ok).ok_or_else(damaged);
    }
    let key = server.get("/api/v1/log/checkpoint").and_then(|about| {
        let key = digest(&about, "public_key").filter(|_| digest(&about, "instance_id") == Some(instance));
        key.ok_or_else(|| Trouble::Foreign("its log has no key, or is of another instance".to_owned()))
    });
    if let Ok(key) = &key {
        let about = json!({ "v": "arena-log-key/v1", "public_key": key });
        files::write_private(&place, &json::canonical(&about), Existing::Keep)?;
    }
    Ok(key)
}

/// Fetches the receipt that an answer names, and keeps it if it is one of what was done. Otherwise, why it is none.
pub(super) fn keep_receipt(
    (server, folder): (&Server, &Folder),
    done: &Value,
    deed: Deed<'_>,
) -> Result<Option<String>, Failure> {
    let Some(seq) = number(done) else { return Ok(None) };
    let key = match log_key(server, folder, deed.instance)? {
        Ok(key) => key,
        Err(trouble) => return Ok(Some(format!("the receipt of event {seq}: {trouble}"))),
    };
    let receipt = match server.get(&format!("{PLACE}{seq}")) {
        Ok(receipt) => receipt,
        Err(trouble) => return Ok(Some(format!("the receipt of event {seq}: {trouble}"))),
    };
    if let Err(why) = worthless(&receipt, seq, deed, key) {
        return Ok(Some(format!("the receipt of event {seq} is worth nothing: {why}")));
    }
    folder.keep_receipt(seq, &receipt).map(|()| None)
}

impl Worker {
    /// Keeps the receipt of what was done on a claim; tells where it is none.
    pub(super) fn keep_receipt(
        &mut self,
        claim: &str,
        done: &Value,
        sent: Option<(&str, Digest)>,
        io: &mut Io<'_>,
    ) -> Result<(), Failure> {
        let deed = Deed { instance: self.instance.id, agent: &self.me.agent, claim: Some(claim), sent };
        if let Some(fault) = keep_receipt((&self.server, &self.folder), done, deed)? {
            self.teller.receipt(&fault, io);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arena_canon::Preimage;
    use arena_claims::envelope::SecretKey;
    use arena_claims::log::{Checkpoint, opening, origin, sealed};
    use arena_draw::merkle;
    use serde_json::json;

    use super::*;

    const SEQ: u64 = 3;

    fn lab() -> Digest {
        Digest::of(b"lab")
    }

    /// A receipt that holds, whatever its event is.
    fn receipt(
        instance: Digest,
        (seq, at, signed_at): (u64, u64, u64),
        event: &Value,
        key: &SecretKey,
    ) -> Value {
        let opening = opening(event, Digest::of(b"nonce"));
        let written = sealed(&opening);
        let preimage = Preimage::new("ARENA-EVENT-V1").bytes(instance.as_bytes()).number(seq).number(at);
        let leaf =
            merkle::leaf_hash(preimage.bytes(b"").bytes(&json::canonical(&written)).digest().as_bytes());
        let leaves: Vec<Digest> = (1..seq).map(|i| Digest::of(&[i as u8])).chain([leaf]).collect();
        let root = merkle::root(&leaves);
        json!({
            "v": "arena-receipt/v1", "instance": instance, "genesis": instance, "seq": seq.to_string(),
            "at": at.to_string(), "by": null, "event": written, "draw": null, "leaf": leaf,
            "inclusion": merkle::path(leaves.len() - 1, &leaves),
            "checkpoint": Checkpoint::sign(&origin(instance), seq, root, signed_at, key), "opening": opening,
        })
    }

    #[test]
    fn nothing_but_a_number_is_taken_from_an_answer() {
        assert_eq!(number(&json!({ "receipt": "/api/v1/log/receipts/812" })), Some(812));
        for receipt in
            ["/api/v1/log/receipts/", "/api/v1/log/receipts/+1", "/api/v1/log/receipts/1/../2", "812"]
        {
            assert_eq!(number(&json!({ "receipt": receipt })), None, "{receipt}");
        }
        assert_eq!(number(&json!({})), None);
    }

    #[test]
    fn a_receipt_is_of_what_was_done_and_signed_by_the_key_of_the_first_time() {
        let (key, other) = (SecretKey::from_seed(&[1; 32]), SecretKey::from_seed(&[2; 32]));
        let digest = Digest::of(b"sent");
        let sent = Some(("digest", digest));
        let deed = Deed { instance: lab(), agent: "rex", claim: Some("c1"), sent };
        let event =
            json!({ "event": "challenge_committed", "claim": "c1", "agent": "rex", "digest": digest });
        let run = json!({ "event": "run_committed", "claim": "c1", "digest": digest });
        let times = (SEQ, 10, 10);
        let held = |receipt: &Value| worthless(receipt, SEQ, deed, key.public());
        for event in [&event, &run] {
            assert_eq!(held(&receipt(lab(), times, event, &key)), Ok(()));
        }
        let with = |member: &str, value: Value| {
            let mut changed = event.clone();
            changed[member] = value;
            receipt(lab(), times, &changed, &key)
        };
        let good = receipt(lab(), times, &event, &key);
        let mut unopened = good.clone();
        unopened.as_object_mut().expect("an object").remove("opening");
        let mut astray = good.clone();
        astray["inclusion"] = json!([]);
        for (receipt, why) in [
            (receipt(lab(), times, &event, &other), "it has no signature of the key"),
            (receipt(Digest::of(b"shop"), times, &event, &key), "it is of another instance"),
            (receipt(lab(), (4, 10, 10), &event, &key), "it is of event 4, and 3 was done"),
            (receipt(lab(), (SEQ, 10, 9), &event, &key), "signed at 9, before the event of 10"),
            (with("agent", json!("eve")), "its event has the agent `eve`"),
            (with("claim", json!("c2")), "its event has the claim `c2`"),
            (with("digest", json!(Digest::of(b"other"))), "its event has not the digest"),
            (with("digest", Value::Null), "its event has not the digest"),
            (receipt(lab(), times, &json!({ "digest": digest }), &key), "says neither who did it"),
            (unopened, "it does not open its event"),
            (astray, "it does not lead from the event to the root"),
            (json!({}), ""),
            (json!([]), ""),
        ] {
            let found = held(&receipt).expect_err(why);
            assert!(found.contains(why), "{why}: {found}");
        }
    }
}

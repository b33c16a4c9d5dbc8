//! Receipts as they are given: read, and told from the documents that lie near them.
//!
//! What a receipt says is checked elsewhere. Here a document that never was one is named for what it is.

use std::path::Path;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::log::Checkpoint;
use arena_engine::campus::DOCUMENT_BYTES_MAX;

use crate::failure::Failure;
use crate::files;

const SOURCES: &str = "a receipt is what a server gives at /api/v1/log/receipts/SEQ, what `arena runner`, `challenger` \
                       and `party` keep in `receipts/`, or what `arena claim receipt` prints";

/// A receipt with the name of its file.
pub(super) fn read(path: &Path) -> Result<(String, Value), Failure> {
    let bytes =
        files::read(path, DOCUMENT_BYTES_MAX as u64).map_err(|unread| unread.reading("receipt", path))?;
    let shown = files::shown(path);
    let wrong = |(why, hint): (&str, &str)| {
        Failure::usage(format_args!("use `{shown}` as a receipt"), why).hint(hint)
    };
    let value = json::read(&bytes, DOCUMENT_BYTES_MAX).map_err(|why| {
        let note = std::str::from_utf8(&bytes).ok().filter(|note| Checkpoint::read(note).is_ok());
        let unread = || Failure::usage(format_args!("read receipt `{shown}`"), why);
        note.map_or_else(unread, |_| wrong(CHECKPOINT))
    })?;
    match other_than_a_receipt(&value) {
        Some(other) => Err(wrong(other)),
        None => Ok((shown, value)),
    }
}

/// What it is, and what to do instead.
const CHECKPOINT: (&str, &str) =
    ("this is a checkpoint, which is signed for the whole log and shows no event of it", SOURCES);

/// What a document is that does not even say that it is a receipt, or a transcript of a draw.
fn other_than_a_receipt(document: &Value) -> Option<(&'static str, &'static str)> {
    let has = |key: &str| document.get(key).is_some();
    if document.get("schema").and_then(Value::as_str) == Some("tournament.receipt.v1") {
        return Some((
            "this is the receipt of a tournament's run",
            "`arena verify DIR` checks the folder that it lies in",
        ));
    }
    if document.get("transcripts").is_some_and(Value::is_array) {
        return Some((
            "these are the draws of a claim",
            "save one entry of its `transcripts` as a file of its own, and name that one",
        ));
    }
    // One of the two is in every receipt and in every transcript that carries its log, whatever else was changed.
    if has("v") || has("inclusion") {
        return None;
    }
    if document.get("checkpoint").is_some_and(|note| note.is_string() || note.is_null()) {
        return Some(CHECKPOINT);
    }
    Some(("this is no receipt of a server, nor a transcript of a draw", SOURCES))
}

/// The key of a log, as it stands on the command line.
pub(super) fn log_key(text: &str) -> Result<Digest, &'static str> {
    text.parse().map_err(|_| "the public key of a log is 64 lower-case hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use arena_claims::envelope::SecretKey;
    use serde_json::json;

    use super::*;

    /// The signed text itself is no JSON at all.
    #[test]
    fn a_checkpoint_as_it_is_signed_is_named_as_well() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("it");
        let key = SecretKey::from_seed(&[1; 32]);
        let note = Checkpoint::sign("arena/log", 1, Digest::of(b"root"), 10, &key);
        for (bytes, why) in [
            (note.as_bytes(), "this is a checkpoint"),
            (&note.as_bytes()[1..9], "cannot read receipt"),
            (b"\xff", "cannot read receipt"),
        ] {
            std::fs::write(&place, bytes).expect("written");
            let failure = read(&place).expect_err(why);
            assert!(failure.message().contains(why), "{}", failure.message());
        }
    }

    #[test]
    fn what_never_was_a_receipt_is_named_for_what_it_is() {
        let zero = Digest::of(b"");
        for (document, part) in [
            (json!({ "schema": "tournament.receipt.v1", "run_id": "id" }), "a tournament's run"),
            (json!({ "claim": "c1", "beacon": "test", "transcripts": [] }), "the draws of a claim"),
            (json!({ "instance_id": zero, "size": "0", "checkpoint": null }), "this is a checkpoint"),
            (json!({ "instance_id": zero, "size": "1", "checkpoint": "note" }), "this is a checkpoint"),
            (json!({ "schema": "episode.v0" }), "no receipt of a server"),
            (json!({ "schema": ["tournament.receipt.v1"] }), "no receipt of a server"),
            (json!({ "transcripts": 7 }), "no receipt of a server"),
            (json!({}), "no receipt of a server"),
            (json!([]), "no receipt of a server"),
            (json!("text"), "no receipt of a server"),
            (Value::Null, "no receipt of a server"),
        ] {
            let (why, hint) = other_than_a_receipt(&document).unwrap_or_else(|| panic!("{document}"));
            assert!(why.contains(part) && !hint.is_empty(), "{document}: {why}");
        }
    }

    /// A receipt that was changed is refused for what was changed, and nothing else is said of it.
    #[test]
    fn what_may_be_a_receipt_is_left_to_those_who_check_it() {
        for document in [
            json!({ "v": "arena-receipt/v1", "checkpoint": "note", "inclusion": [] }),
            json!({ "checkpoint": "note", "inclusion": [] }),
            json!({ "v": "arena-receipt/v9" }),
            json!({ "v": 7 }),
            json!({ "v": "draw/v1" }),
            json!({ "v": "draw/v1", "log": { "checkpoint": "note", "inclusion": [] } }),
        ] {
            assert_eq!(other_than_a_receipt(&document), None, "{document}");
        }
    }

    #[test]
    fn the_key_of_a_log_is_of_one_form() {
        let key = Digest::of(b"key");
        assert_eq!(log_key(&key.to_string()), Ok(key));
        for text in ["", "zz", &key.to_string().to_uppercase(), &format!("{key}0")] {
            assert!(log_key(text).expect_err(text).starts_with("the public key of a log"), "{text}");
        }
    }
}

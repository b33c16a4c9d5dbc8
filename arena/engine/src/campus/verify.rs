//! Re-derives a log from its own actions: the score of the replay must be the stored score.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::action::{self, RawAction};
use super::fault::{Faults, Finding, Findings};
use super::log::{EpisodeLog, MEMBERS, NonFiniteValue, SCHEMA, SEAL};
use super::pack::Pack;
use super::validate::{describe, nearest};
use crate::ENGINE_VERSION;

mod run;

/// Reads a log, replays it against `pack` and compares every number with what is stored, bit for
/// bit. Returns the document; the faults say where it departs and what the replay gives there.
pub fn verify(bytes: &[u8], pack: &Arc<Pack>) -> Result<Value, Faults> {
    let root = Pointer::default();
    let read = json::read(bytes, super::DOCUMENT_BYTES_MAX);
    let log =
        read.map_err(|error| Faults(vec![Finding { pointer: String::new(), message: error.to_string() }]))?;
    let mut findings = Findings::default();
    check_members(&log, &mut findings);
    check_header(&log, pack, &mut findings);
    let actions = read_turns(&log, pack.turns(), &mut findings);
    let nonfinite = read_nonfinite(&log, &actions, &mut findings);
    let pins = log.get("pins").and_then(|pins| read_whole(pins, &root.key("pins"), &mut findings));
    run::check(&log, pins.as_ref(), (&actions, &nonfinite), &mut findings);
    let replays = findings.is_empty();
    check_seal(&log, bytes, &mut findings);
    if replays {
        compare(&log, &EpisodeLog::replay(pack, &actions, &nonfinite), &mut findings);
    }
    finish(findings)?;
    Ok(log)
}

fn finish(findings: Findings) -> Result<(), Faults> {
    match findings.into_vec() {
        none if none.is_empty() => Ok(()),
        found => Err(Faults(found)),
    }
}

/// An episode may carry members of others: a seal covers them, and one without pins is not ours to
/// judge. Pinned and unsealed, an unknown member may be the seal itself with a letter changed.
fn check_members(log: &Value, findings: &mut Findings) {
    let Value::Object(members) = log else {
        findings.add(&Pointer::default(), format!("expected an object, found {}", describe(log)));
        return;
    };
    if members.contains_key(SEAL) || !members.contains_key("pins") {
        return;
    }
    for key in members.keys().filter(|key| !MEMBERS.contains(&key.as_str()) && !key.starts_with("x_")) {
        findings.add(&Pointer::default().key(key), format!("unknown member{}", nearest(key, &MEMBERS)));
    }
}

fn check_header(log: &Value, pack: &Pack, findings: &mut Findings) {
    let document = pack.document();
    let sha256 = pack.sha256().to_string();
    let expected: [(&[&str], &str, bool); 8] = [
        (&["schema"], SCHEMA, true),
        (&["pack_id"], &document.pack_id, true),
        (&["pack_version"], &document.pack_version, true),
        (&["engine_version"], ENGINE_VERSION, true),
        (&["score_version"], &document.score_version, true),
        (&["pins", "pack_sha256"], &sha256, false),
        (&["pins", "engine_version"], ENGINE_VERSION, false),
        (&["pins", "score_version"], &document.score_version, false),
    ];
    let has_pins = log.get("pins").is_some();
    for (path, wanted, always) in expected {
        if !always && !has_pins {
            continue;
        }
        let at = path.iter().fold(Pointer::default(), |at, key| at.key(key));
        match log.pointer(at.as_str()) {
            Some(Value::String(found)) if found == wanted => {}
            found => findings.add(&at, format!("expected {wanted:?}, found {}", shown(found))),
        }
    }
}

/// A log that bears its own digest must be the very bytes that were written.
fn check_seal(log: &Value, bytes: &[u8], findings: &mut Findings) {
    let at = Pointer::default().key(SEAL);
    let Some(stored) = log.get(SEAL) else { return };
    let mut rest = log.clone();
    rest.as_object_mut().map(|members| members.remove(SEAL));
    let digest = Digest::of(&json::canonical(&rest)).to_string();
    if stored.as_str() != Some(&digest) {
        findings
            .add(&at, format!("the content has the digest {digest}, the log says {}", shown(Some(stored))));
        return;
    }
    let mut written = json::canonical(log);
    written.push(b'\n');
    if written != bytes {
        let same = written.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        let message =
            format!("the file departs from its canonical form at byte {same}: it was reformatted or edited");
        findings.add(&Pointer::default(), message);
    }
}

fn read_turns(log: &Value, turns: u32, findings: &mut Findings) -> Vec<RawAction> {
    let at = Pointer::default().key("turns");
    let Some(Value::Array(items)) = log.get("turns") else {
        findings.add(&at, "expected an array of turns");
        return Vec::new();
    };
    if items.len() != turns as usize {
        findings.add(&at, format!("has {} turns, the pack has {turns}", items.len()));
    }
    let mut actions = Vec::with_capacity(items.len());
    for (t, item) in items.iter().enumerate() {
        let at = at.index(t).key("action");
        match item.get("action") {
            Some(action) => actions.push(action::read(action, &at, findings)),
            None => findings.add(&at, "missing"),
        }
    }
    actions
}

fn read_nonfinite(log: &Value, actions: &[RawAction], findings: &mut Findings) -> Vec<NonFiniteValue> {
    let at = Pointer::default().key("nonfinite");
    let items = match log.get("nonfinite") {
        None => return Vec::new(),
        Some(Value::Array(items)) => items,
        Some(other) => {
            findings.add(&at, format!("expected an array, found {}", describe(other)));
            return Vec::new();
        }
    };
    let mut values: Vec<NonFiniteValue> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let at = at.index(i);
        let Ok(value) = serde_json::from_value::<NonFiniteValue>(item.clone()) else {
            findings.add(&at, "expected {turn, field, value} with value NaN, Infinity or -Infinity");
            continue;
        };
        if !actions.get(value.turn as usize).is_some_and(|action| action.is_null(value.field)) {
            let place = format!("turn {}, {}", value.turn, value.field.name());
            findings.add(&at, format!("{place}: the action does not show null there"));
        }
        if values.last().is_some_and(|last| (last.turn, last.field) >= (value.turn, value.field)) {
            findings.add(&at, "out of order: entries are sorted by turn and field, each once");
        }
        values.push(value);
    }
    values
}

/// Reads a member that no replay derives. Written again it must be what stands there, so nothing
/// unknown rides along.
fn read_whole<T: DeserializeOwned + Serialize>(
    value: &Value,
    at: &Pointer,
    findings: &mut Findings,
) -> Option<T> {
    let read: T = match serde_json::from_value(value.clone()) {
        Ok(read) => read,
        Err(error) => {
            findings.add(at, crate::Excerpt::line(&error.to_string()).to_string());
            return None;
        }
    };
    let again = serde_json::to_value(&read).expect("what was read from JSON is written as JSON");
    if let Some((inner, stored, written)) = json::first_difference(value, &again) {
        let message = format!("expected {}, found {}", shown(written), shown(stored));
        findings.add(&at.join(&inner), message);
    }
    Some(read)
}

/// The first place where a member that a replay derives is another, in the order in which a reader
/// meets them.
fn compare(log: &Value, replayed: &EpisodeLog, findings: &mut Findings) {
    let replayed = serde_json::to_value(replayed).expect("a log has string keys");
    for member in ["turns", "settlement"] {
        let at = Pointer::default().key(member);
        let stored = log.get(member).unwrap_or(&Value::Null);
        if let Some((inner, stored, derived)) = json::first_difference(stored, &replayed[member]) {
            let message = format!("the log says {}, its replay gives {}", shown(stored), shown(derived));
            return findings.add(&at.join(&inner), message);
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(
        || "nothing".to_owned(),
        |value| crate::Excerpt { text: &value.to_string(), max: 100 }.to_string(),
    )
}

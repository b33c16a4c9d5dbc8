//! A journal as text: one canonical JSON object a line. Others can check the chain without the database.

use std::io::{self, BufRead, Read};

use arena_canon::Digest;
use arena_canon::json::{self, Value};

use crate::chain::{Head, follows, follows_in_place};
use crate::event::{BODY_BYTES_MAX, Event, SEALED, Salt};
use crate::verify::{Report, Walk};

/// Bytes of a line: those of a body, and room for the rest.
pub const LINE_BYTES_MAX: usize = BODY_BYTES_MAX + 4_096;

/// Who will see a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Anybody: a sealed event is a stub of kind `sealed`.
    Public,
    /// Those who may see everything.
    All,
}

/// An event as a line, without a line break.
pub fn line(event: &Event, shown: Shown) -> Vec<u8> {
    let Event { seq, at_ms, topic, kind, version, body, salt, content_sha256, prev, hash } = event;
    // Members stand in the order of their names, and no name needs an escape: this is canonical.
    match (salt, shown) {
        (Some(_), Shown::Public) => format!(
            r#"{{"content_sha256":"{content_sha256}","hash":"{hash}","kind":"{SEALED}","prev":"{prev}","seq":{seq}}}"#
        )
        .into_bytes(),
        _ => {
            let mut line = format!(r#"{{"at_ms":{at_ms},"body":"#).into_bytes();
            line.extend_from_slice(body);
            let salt = salt.map(|salt| format!(r#","salt":"{}""#, Digest::from_bytes(salt)));
            let rest = format!(
                r#","content_sha256":"{content_sha256}","hash":"{hash}","kind":"{kind}","prev":"{prev}"{},"seq":{seq},"topic":"{topic}","version":{version}}}"#,
                salt.unwrap_or_default()
            );
            line.extend_from_slice(rest.as_bytes());
            line
        }
    }
}

/// Checks the chain of an export, which may start anywhere; `heads` must be in it. Faults are findings, and
/// an error is one of reading.
pub fn verify_lines(mut lines: impl BufRead, heads: &[Head]) -> io::Result<Report> {
    let mut walk = Walk::new(heads);
    let mut number = 0_u64;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let n = lines.by_ref().take(LINE_BYTES_MAX as u64 + 2).read_until(b'\n', &mut bytes)?;
        if n == 0 {
            return Ok(walk.end());
        }
        number += 1;
        let whole = bytes.pop_if(|byte| *byte == b'\n').is_some();
        if bytes.len() > LINE_BYTES_MAX {
            walk.find(None, format!("line {number} has more than {LINE_BYTES_MAX} bytes"));
            return Ok(walk.end());
        }
        if !whole {
            walk.find(None, format!("line {number} is not whole"));
            return Ok(walk.end());
        }
        match read(&bytes) {
            Ok(Line::Full(event)) => {
                let head = walk.before(event.seq, event.prev);
                let wrong = follows(head, &event).err();
                walk.step(event.seq, event.hash, event.is_sealed(), wrong);
            }
            Ok(Line::Stub { seq, prev, content_sha256, hash }) => {
                let head = walk.before(seq, prev);
                let wrong = follows_in_place(head, seq, prev, content_sha256, hash).err();
                walk.step(seq, hash, true, wrong);
            }
            Err(why) => walk.find(None, format!("line {number}: {why}")),
        }
    }
}

enum Line {
    Full(Box<Event>),
    Stub { seq: u64, prev: Digest, content_sha256: Digest, hash: Digest },
}

fn read(bytes: &[u8]) -> Result<Line, String> {
    let value = json::read(bytes, LINE_BYTES_MAX).map_err(|why| why.to_string())?;
    let text = |name: &str| value[name].as_str().ok_or_else(|| format!("`{name}` is no text"));
    let number = |name: &str| value[name].as_u64().ok_or_else(|| format!("`{name}` is no whole number"));
    let digest = |name: &str| text(name)?.parse::<Digest>().map_err(|why| format!("`{name}`: {why}"));
    let (seq, prev, hash) = (number("seq")?, digest("prev")?, digest("hash")?);
    let content_sha256 = digest("content_sha256")?;
    let line = if text("kind")? == SEALED {
        Line::Stub { seq, prev, content_sha256, hash }
    } else {
        let version = u32::try_from(number("version")?).map_err(|_| "`version` is too large".to_owned())?;
        let salt: Option<Salt> = match value.get("salt") {
            None => None,
            Some(_) => Some(*digest("salt")?.as_bytes()),
        };
        let (topic, kind) = (text("topic")?.to_owned(), text("kind")?.to_owned());
        let body = json::canonical(value.get("body").unwrap_or(&Value::Null));
        let at_ms = number("at_ms")?;
        Line::Full(Box::new(Event {
            seq,
            at_ms,
            topic,
            kind,
            version,
            body,
            salt,
            content_sha256,
            prev,
            hash,
        }))
    };
    // Written anew it must be the very line: nothing is added, and nothing is spelt in another way.
    let again = match &line {
        Line::Full(event) => self::line(event, Shown::All),
        Line::Stub { .. } => json::canonical(&serde_json::json!({
            "content_sha256": content_sha256, "hash": hash, "kind": SEALED, "prev": prev, "seq": seq
        })),
    };
    if again == bytes { Ok(line) } else { Err("it is not as an export writes it".to_owned()) }
}

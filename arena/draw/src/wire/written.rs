//! How both documents are written: one after another in the order of the members' names, so that a writer needs no
//! document in between.

use std::fmt::Display;

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::VERSION;
use super::fields::time_text;
use super::reader::Reader;
use super::request::{Log, Request};
use super::transcript::Transcript;
use crate::beacon::Source;
use crate::{Entry, Pick, hex};

/// A request, or the transcript of what it came to. Absent members are not written.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    attempt: u32,
    beacon: Beacon<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    committed_seq: Option<Text<u64>>,
    entries: Rows<'a>,
    instance: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_round_seen: Option<Text<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogWritten<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<Text<u64>>,
    params_hash: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    picks: Option<Picks<'a>>,
    purpose: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    seats: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<Digest>,
    subject: Digest,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Text<u64>>,
    v: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words_consumed: Option<Text<u64>>,
}

#[derive(Serialize)]
struct Beacon<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    anchors: Option<&'a [Digest]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<Digest>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    randomness: Option<Digest>,
    round: Text<u64>,
    signature: String,
}

#[derive(Serialize)]
struct LogWritten<'a> {
    checkpoint: &'a str,
    inclusion: &'a [Digest],
}

#[derive(Serialize)]
struct PickWritten<'a> {
    agent: &'a str,
    of: Text<u64>,
    r: Text<u64>,
    seat: u32,
}

/// Written as a string.
struct Text<T>(T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

struct Rows<'a>(&'a [Entry]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.iter().map(|entry| (&*entry.agent, &*entry.operator, Text(entry.tickets)));
        serializer.collect_seq(rows)
    }
}

struct Picks<'a>(&'a [Pick]);

impl Serialize for Picks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|pick| PickWritten {
            agent: &pick.agent,
            of: Text(pick.of),
            r: Text(pick.r),
            seat: pick.seat,
        }))
    }
}

impl<'a> Written<'a> {
    pub(super) fn request(request: &'a Request) -> Self {
        Self {
            attempt: request.attempt,
            beacon: beacon(request),
            committed_at: request.committed_at.and_then(time_text),
            committed_seq: request.committed_seq.map(Text),
            entries: Rows(request.entries.entries()),
            instance: request.instance,
            instance_name: request.instance_name.as_deref(),
            last_round_seen: request.last_round_seen.map(Text),
            log: request
                .log
                .as_ref()
                .map(|Log { checkpoint, inclusion }| LogWritten { checkpoint, inclusion }),
            n: None,
            params_hash: request.params_hash,
            picks: None,
            purpose: request.purpose.name(),
            root: None,
            salt: request.salt.as_deref().map(hex::encode),
            seats: request.seats,
            seed: None,
            subject: request.subject,
            total: None,
            v: VERSION,
            words_consumed: None,
        }
    }

    pub(super) fn transcript(transcript: &'a Transcript) -> Self {
        let Transcript { request, chain, randomness, resolution } = transcript;
        let plain = Self::request(request);
        Self {
            beacon: Beacon { chain: Some(*chain), randomness: Some(*randomness), ..plain.beacon },
            n: Some(Text(resolution.n)),
            picks: Some(Picks(&resolution.picks)),
            root: Some(resolution.root),
            seed: Some(resolution.seed),
            total: Some(Text(resolution.total)),
            words_consumed: Some(Text(resolution.words_consumed)),
            ..plain
        }
    }

    /// As a document.
    pub(super) fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("members have names, and there are no floats")
    }
}

fn beacon(request: &Request) -> Beacon<'_> {
    let (public_key, anchors) = match &request.source {
        Source::DrandQuicknet | Source::Test => (None, None),
        Source::EcvrfOperator(operator) => (Some(hex::encode(operator.public_key())), None),
        Source::HashChain(chain) => (None, Some(chain.anchors())),
    };
    Beacon {
        anchors,
        chain: None,
        kind: request.source.kind().name(),
        public_key,
        randomness: None,
        round: Text(request.round),
        signature: hex::encode(&request.proof),
    }
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::transcript(self).serialize(serializer)
    }
}

/// Without drawing again: whether it holds is for [`Transcript::verify`] to say.
impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Value::deserialize(deserializer)?;
        let mut reader = Reader::default();
        let read =
            reader.object(&document, Pointer::default()).and_then(|object| reader.whole_transcript(&object));
        reader.faults.judge(read).map_err(serde::de::Error::custom)
    }
}

//! A client that says what it likes, to play workers that do not what they should.

use std::time::Duration;

use arena_canon::{Digest, json};
use arena_tournament::{Job, MatchId, Played, Roster, RunKey, play};
use async_nats::HeaderMap;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{self, Context, Message};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::server::Server;
use crate::natives::Natives;

pub(super) struct Raw {
    runtime: Runtime,
    jetstream: Context,
    run: RunKey,
}

/// A record that a worker tells of.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) bytes: Vec<u8>,
    pub(super) guest: Option<Vec<u8>>,
}

impl Record {
    pub(super) fn digest(&self) -> String {
        let record: Value = serde_json::from_slice(&self.bytes).expect("a record");
        record["digest"].as_str().expect("a digest").to_owned()
    }
}

/// What `roster` makes of `job`.
pub(super) fn record(job: &Job, roster: &mut dyn Roster) -> Record {
    match play(job, roster).expect("it is played") {
        Played::Match { record, guest } => Record { bytes: record.to_bytes(), guest },
        Played::Violation(violation) => panic!("{violation}"),
    }
}

/// What is played.
pub(super) fn truth(job: &Job) -> Record {
    record(job, &mut Natives::default())
}

/// The record of a match that the first seat's strategy did not play: nothing in it contradicts itself.
pub(super) fn lie(job: &Job) -> Record {
    let [first, _] = truth_and_lie(job);
    let mut other = job.clone();
    other.strategies[0] = first;
    let said = record(&other, &mut Natives::default());
    let text = String::from_utf8(said.bytes).expect("text");
    let forged = text.replacen(&format!("[\"{first}\""), &format!("[\"{}\"", job.strategies[0]), 1);
    Record { bytes: sealed(&forged), guest: said.guest }
}

fn truth_and_lie(job: &Job) -> [Digest; 2] {
    let other =
        if job.strategies[0] == crate::natives::sha256("defector") { "cooperator" } else { "defector" };
    [crate::natives::sha256(other), job.strategies[0]]
}

/// The record with the digest that its changed content has.
pub(super) fn sealed(text: &str) -> Vec<u8> {
    let mut value: Value = serde_json::from_str(text).expect("a record");
    value.as_object_mut().expect("an object").remove("digest");
    let content = json::canonical(&value);
    let digest = Digest::of(&content);
    let text = String::from_utf8(content).expect("text");
    format!("{{\"digest\":\"{digest}\",{}", &text[1..]).into_bytes()
}

impl Raw {
    pub(super) fn connect(server: &Server, run: &RunKey) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let jetstream = runtime.block_on(async {
            jetstream::new(async_nats::connect(server.url("")).await.expect("connected"))
        });
        Self { runtime, jetstream, run: run.clone() }
    }

    /// A job that nobody else gets now.
    pub(super) fn take_job(&self) -> Message {
        use futures_util::{StreamExt, TryStreamExt};
        self.runtime.block_on(async {
            let stream = self.jetstream.get_stream(format!("ARENA_W_{}", self.run)).await.expect("a stream");
            let names: Vec<String> = stream.consumer_names().try_collect().await.expect("names");
            let consumer: PullConsumer = stream.get_consumer(&names[0]).await.expect("a consumer");
            let batch = consumer.batch().max_messages(1).expires(Duration::from_secs(10));
            let mut batch = batch.messages().await.expect("a request");
            batch.next().await.expect("a job").expect("a message")
        })
    }

    /// Acknowledges a job, as if it were told of.
    pub(super) fn acknowledge(&self, job: &Message) {
        self.runtime.block_on(job.double_ack()).expect("acknowledged");
    }

    /// Tells of `job` what `told` says.
    pub(super) fn tell(&self, job: &Job, worker: &str, told: &Value, record: &[u8], guest: &[u8]) {
        let head = json!({
            "frozen_sha256": job.frozen_sha256, "id": job.matchup.id, "worker": worker, "told": told,
        });
        self.send(job.matchup.id, &message(&head, record, guest));
    }

    pub(super) fn tell_record(&self, job: &Job, worker: &str, record: &Record) {
        let guest = record.guest.clone().unwrap_or_default();
        self.tell(job, worker, &told(record), &record.bytes, &guest);
    }

    pub(super) fn send(&self, id: MatchId, message: &[u8]) {
        let subject = format!("arena.r.{}.{id}", self.run);
        let sent = async {
            self.jetstream
                .publish(subject, message.to_vec().into())
                .await
                .expect("sent")
                .await
                .expect("kept");
        };
        self.runtime.block_on(sent);
    }

    /// Puts an object into the store, or another in its place; what is said of it need not be so.
    pub(super) fn put(&self, name: &str, bytes: &[u8], said: &[u8]) {
        let bucket = format!("arena-{}", self.run);
        let digest = format!("SHA-256={}", URL_SAFE.encode(Digest::of(said).as_bytes()));
        let about = json!({
            "name": name, "bucket": bucket, "nuid": "other", "size": said.len(), "chunks": 1, "digest": digest,
        });
        let subject = format!("$O.{bucket}.M.{}", URL_SAFE.encode(name));
        self.runtime.block_on(async {
            let stream = self.jetstream.get_stream(format!("OBJ_{bucket}")).await.expect("a stream");
            let chunks = format!("$O.{bucket}.C.other");
            stream.purge().filter(&chunks).await.expect("purged");
            let sent = self.jetstream.publish(chunks, bytes.to_vec().into()).await.expect("sent");
            sent.await.expect("kept");
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Rollup", "sub");
            let about = about.to_string().into();
            let sent = self.jetstream.publish_with_headers(subject, headers, about).await.expect("sent");
            sent.await.expect("kept");
        });
    }

    /// Messages that a stream holds; nothing if there is no such stream.
    pub(super) fn count(&self, stream: &str) -> Option<u64> {
        self.runtime.block_on(async {
            let stream = self.jetstream.get_stream(stream).await.ok()?;
            Some(stream.cached_info().state.messages)
        })
    }

    pub(super) fn results(&self) -> Option<u64> {
        self.count(&format!("ARENA_R_{}", self.run))
    }

    /// Waits for acknowledgements, which nobody answers, to take effect.
    pub(super) fn all_acknowledged(&self) {
        for _ in 0..100 {
            if self.results() == Some(0) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{:?} results are still there", self.results());
    }

    pub(super) fn work(&self) -> Option<u64> {
        self.count(&format!("ARENA_W_{}", self.run))
    }

    /// Messages of the store: some for each object.
    pub(super) fn stored(&self) -> Option<u64> {
        self.count(&format!("OBJ_arena-{}", self.run))
    }
}

/// Bytes as a message says where they are.
pub(super) fn carried(bytes: &[u8], stored: bool) -> Value {
    json!({ "bytes": bytes.len(), "sha256": Digest::of(bytes), "stored": stored })
}

pub(super) fn told(record: &Record) -> Value {
    json!({
        "is": "match",
        "digest": record.digest(),
        "record": carried(&record.bytes, false),
        "guest": record.guest.as_deref().map(|guest| carried(guest, false)),
    })
}

/// A message: the length of the head, the head, the record, the guest file.
pub(super) fn message(head: &Value, record: &[u8], guest: &[u8]) -> Vec<u8> {
    let head = json::canonical(head);
    [&(head.len() as u32).to_be_bytes()[..], &head, record, guest].concat()
}

//! The streams, the store and the consumers of one coordinator, from its start to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arena_canon::json;
use async_nats::client::RequestErrorKind;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::DeleteStreamErrorKind;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, ErrorCode};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::super::fault::NatsFault;
use super::super::link::{Link, PAUSE, Pull, Task, persist, text};
use super::super::names::{RUN_OBJECT, RunKey, coordinator_consumer, workers_consumer};
use super::super::objects::{OBJECT_BYTES_MAX, Objects};
use crate::fault::RunFault;
use crate::frozen::Frozen;
use crate::roster::Shelf;

/// Results that wait here before the server keeps them.
const ARRIVALS: usize = 64;
/// How long the server holds a request for results.
const PULL_EXPIRES: Duration = Duration::from_secs(1);

/// What a run is frozen for, as workers are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::nats) struct RunObject {
    pub(in crate::nats) frozen_sha256: arena_canon::Digest,
    pub(in crate::nats) engine_version: String,
    pub(in crate::nats) limits_version: u32,
    pub(in crate::nats) wasmtime: String,
}

/// A result, and how to acknowledge it.
pub(super) struct Arrival {
    pub(super) subject: String,
    pub(super) payload: Vec<u8>,
    pub(super) sequence: u64,
    pub(super) acker: Arc<Acker>,
}

/// What one coordinator has on a server.
pub(super) struct Session {
    pub(super) key: RunKey,
    pub(super) nonce: String,
    pub(super) objects: Objects,
    arrivals: mpsc::Receiver<Result<Arrival, NatsFault>>,
    tasks: Vec<Task>,
}

impl Session {
    /// Removes what an earlier session left, and sets up this one. Workers see the stream of jobs last,
    /// when everything else is there.
    pub(super) fn start(
        link: &Arc<Link>,
        key: RunKey,
        frozen: &Frozen,
        shelf: &mut dyn Shelf,
        ack_wait: Duration,
    ) -> Result<Self, RunFault> {
        let nonce = link.nonce();
        let presence = show_presence(link, &key)?;
        let objects = Objects::new(link.jetstream(), key.bucket());
        link.persist("removing an earlier session", async || {
            remove_all(link.jetstream(), &key, &objects).await
        })?;
        create(link, "setting up the object store", objects.config())?;
        fill(link, &objects, frozen, shelf)?;
        let results = queue(key.results_stream(), key.result_subjects());
        create(link, "setting up the stream of results", results)?;
        let work = queue(key.work_stream(), key.work_subjects());
        create(link, "setting up the stream of jobs", work)?;
        let coordinator = consumer(coordinator_consumer(&nonce), ack_wait);
        let pull = consume(link, "setting up for results", &key.results_stream(), coordinator)?;
        let workers = consumer(workers_consumer(&nonce), ack_wait);
        consume(link, "setting up for workers", &key.work_stream(), workers)?;
        let (tell, arrivals) = mpsc::channel(ARRIVALS);
        let listening = link.spawn(listen(pull, tell, link.patience()));
        Ok(Self { key, nonce, objects, arrivals, tasks: vec![presence, listening] })
    }

    /// A result, if one comes within that time.
    pub(super) fn receive(&mut self, link: &Link, within: Duration) -> Result<Option<Arrival>, RunFault> {
        let next = self.arrivals.recv();
        match link.wait(async { tokio::time::timeout(within, next).await }) {
            Err(_) => Ok(None),
            Ok(Some(arrival)) => Ok(Some(arrival?)),
            Ok(None) => Err(RunFault::Executor("nobody listens for results any more".to_owned())),
        }
    }

    /// Removes what this session has.
    pub(super) fn end(&mut self, link: &Link, within: Duration) -> Result<(), String> {
        self.tasks.clear();
        let removal =
            persist("leaving", within, async || remove_all(link.jetstream(), &self.key, &self.objects).await);
        link.wait(removal).map_err(text)
    }
}

/// Refuses where another coordinator answers; answers from now on.
fn show_presence(link: &Arc<Link>, key: &RunKey) -> Result<Task, NatsFault> {
    let client = link.client();
    let subject = key.presence_subject();
    let alone = link.persist("asking for other coordinators", async || {
        match client.request(subject.clone(), Vec::new().into()).await {
            Ok(_) => Ok(false),
            Err(why) if why.kind() == RequestErrorKind::NoResponders => Ok(true),
            Err(why) => Err(text(why)),
        }
    })?;
    if !alone {
        return Err(NatsFault::Coordinated { run: key.to_string() });
    }
    let mut asked = link.persist("answering other coordinators", async || {
        client.subscribe(subject.clone()).await.map_err(text)
    })?;
    Ok(link.spawn(async move {
        while let Some(question) = asked.next().await {
            if let Some(reply) = question.reply {
                client.publish(reply, "here".into()).await.ok();
            }
        }
    }))
}

/// Removes streams and store, if they are there.
async fn remove_all(jetstream: &Context, key: &RunKey, objects: &Objects) -> Result<(), String> {
    for stream in [key.work_stream(), key.results_stream(), objects.stream_name()] {
        match jetstream.delete_stream(&stream).await {
            Ok(_) => {}
            Err(why) => match why.kind() {
                DeleteStreamErrorKind::JetStream(why) if why.error_code() == ErrorCode::STREAM_NOT_FOUND => {}
                _ => return Err(text(why)),
            },
        }
    }
    Ok(())
}

/// A stream whose messages go when they are acknowledged.
fn queue(name: String, subjects: String) -> Config {
    Config {
        name,
        subjects: vec![subjects],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        num_replicas: 1,
        ..Config::default()
    }
}

fn consumer(name: String, ack_wait: Duration) -> pull::Config {
    pull::Config {
        durable_name: Some(name),
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        ..pull::Config::default()
    }
}

fn create(link: &Link, doing: &'static str, config: Config) -> Result<(), NatsFault> {
    link.persist(doing, async || {
        link.jetstream().get_or_create_stream(config.clone()).await.map(drop).map_err(text)
    })
}

fn consume(link: &Link, doing: &'static str, stream: &str, config: pull::Config) -> Result<Pull, NatsFault> {
    link.persist(doing, async || {
        link.jetstream().create_consumer_on_stream(config.clone(), stream).await.map_err(text)
    })
}

/// Puts components, packs and what the run is frozen for into the store.
fn fill(link: &Link, objects: &Objects, frozen: &Frozen, shelf: &mut dyn Shelf) -> Result<(), NatsFault> {
    let source = |why: arena_engine::HostFault| NatsFault::Source { why: why.to_string() };
    let components: std::collections::BTreeSet<_> =
        frozen.strategies.iter().map(|strategy| strategy.sha256).collect();
    for sha256 in components {
        put(link, objects, &sha256.to_string(), &shelf.component(sha256).map_err(source)?)?;
    }
    for sha256 in frozen.packs() {
        put(link, objects, &sha256.to_string(), &shelf.pack(sha256).map_err(source)?)?;
    }
    let protocol = &frozen.protocol;
    let run = RunObject {
        frozen_sha256: frozen.digest(),
        engine_version: protocol.engine_version.clone(),
        limits_version: protocol.limits_version,
        wasmtime: protocol.wasmtime.clone(),
    };
    put(link, objects, RUN_OBJECT, &json::canonical_of(&run))
}

fn put(link: &Link, objects: &Objects, name: &str, bytes: &[u8]) -> Result<(), NatsFault> {
    if bytes.len() > OBJECT_BYTES_MAX {
        let why = format!("object {name} has {} bytes; the limit is {OBJECT_BYTES_MAX}", bytes.len());
        return Err(NatsFault::Source { why });
    }
    link.persist("storing an object", async || objects.put(name, &link.nonce(), bytes).await)
}

/// Asks for results for as long as somebody wants them. A server that is away is asked again.
async fn listen(pull: Pull, tell: mpsc::Sender<Result<Arrival, NatsFault>>, patience: Duration) {
    let mut well = Instant::now();
    loop {
        let failed = match fetch(&pull, &tell).await {
            Ok(()) => {
                well = Instant::now();
                continue;
            }
            Err(why) => why,
        };
        if tell.is_closed() {
            return;
        }
        if well.elapsed() > patience {
            let fault = NatsFault::Patience { doing: "asking for results", patience, why: failed };
            tell.send(Err(fault)).await.ok();
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One request for results.
async fn fetch(pull: &Pull, tell: &mpsc::Sender<Result<Arrival, NatsFault>>) -> Result<(), String> {
    let request = pull.batch().max_messages(ARRIVALS).expires(PULL_EXPIRES).messages();
    let mut batch = request.await.map_err(text)?;
    loop {
        let answered = tokio::time::timeout(PULL_EXPIRES + Duration::from_secs(1), batch.next()).await;
        let message = match answered {
            Err(_) => return Err("the server does not answer".to_owned()),
            Ok(None) => return Ok(()),
            Ok(Some(message)) => message.map_err(text)?,
        };
        let arrival = arrival(message)?;
        if tell.send(Ok(arrival)).await.is_err() {
            return Err("nobody wants results any more".to_owned());
        }
    }
}

fn arrival(message: jetstream::Message) -> Result<Arrival, String> {
    let sequence = message.info().map_err(text)?.stream_sequence;
    let (message, acker) = message.split();
    Ok(Arrival {
        subject: message.subject.to_string(),
        payload: message.payload.into(),
        sequence,
        acker: Arc::new(acker),
    })
}

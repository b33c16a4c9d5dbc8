//! Which runs there are on a server, and which of them this host can play.

use std::collections::BTreeMap;
use std::time::Duration;

use arena_canon::{Digest, json};
use async_nats::jetstream::consumer::pull;
use futures_util::TryStreamExt;

use super::super::coordinator::RunObject;
use super::super::link::{Link, Pull, text};
use super::super::names::{RUN_OBJECT, RunKey, is_workers_consumer};
use super::super::objects::Objects;
use super::Shared;
use crate::freeze::Pins;

/// Most runs that a worker takes part in at once.
const RUNS_MAX: usize = 64;
/// Largest object that says what a run is frozen for.
const RUN_BYTES_MAX: usize = 4 << 10;

/// A run that this worker takes part in.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) key: RunKey,
    pub(super) frozen_sha256: Digest,
    pub(super) objects: Objects,
    pub(super) pull: Pull,
    /// After so long without a sign of life, its jobs are given to others.
    pub(super) ack_wait: Duration,
}

/// Finds runs, and remembers what it said of them.
#[derive(Default)]
pub(super) struct Finder {
    taken: BTreeMap<RunKey, Taken>,
    refused: BTreeMap<RunKey, String>,
}

impl Finder {
    /// The runs there are now.
    pub(super) fn look(
        &mut self,
        shared: &Shared<'_>,
        talk: &mut dyn FnMut(&str),
    ) -> Result<Vec<Taken>, String> {
        let link = &shared.link;
        let names: Vec<String> = link.wait(link.jetstream().stream_names().try_collect()).map_err(text)?;
        let wanted = |key: &RunKey| shared.options.run.as_ref().is_none_or(|only| only == key);
        let keys = names.iter().filter_map(|name| RunKey::of_work_stream(name)).filter(wanted);
        let keys: Vec<RunKey> = keys.take(RUNS_MAX).collect();
        self.taken.retain(|key, _| keys.contains(key));
        self.refused.retain(|key, _| keys.contains(key));
        for key in keys {
            self.visit(link, &shared.options.pins, key, talk);
        }
        Ok(self.taken.values().cloned().collect())
    }

    /// One run. What cannot be asked now is asked again the next time.
    fn visit(&mut self, link: &Link, pins: &Pins, key: RunKey, talk: &mut dyn FnMut(&str)) {
        let Ok(Some(consumer)) = link.wait(consumer_of(link, &key)) else { return };
        let known = self.taken.get(&key).is_some_and(|taken| taken.pull.cached_info().name == consumer);
        if known {
            return;
        }
        match link.wait(take(link, pins, &key, &consumer)) {
            Ok(Ok(taken)) => {
                if self.taken.insert(key.clone(), taken).is_none() {
                    talk(&format!("takes part in run {key}"));
                }
            }
            Ok(Err(why)) => {
                self.taken.remove(&key);
                if self.refused.insert(key.clone(), why.clone()).as_ref() != Some(&why) {
                    talk(&format!("run {key} is not taken: {why}"));
                }
            }
            Err(_) => {}
        }
    }
}

/// The consumer of a run's jobs: each session of its coordinator has another.
async fn consumer_of(link: &Link, key: &RunKey) -> Result<Option<String>, String> {
    let stream = link.jetstream().get_stream_no_info(key.work_stream()).await.map_err(text)?;
    let names: Vec<String> = stream.consumer_names().try_collect().await.map_err(text)?;
    Ok(names.into_iter().find(|name| is_workers_consumer(name)))
}

/// The run, or why this host must not play it.
async fn take(
    link: &Link,
    pins: &Pins,
    key: &RunKey,
    consumer: &str,
) -> Result<Result<Taken, String>, String> {
    let objects = Objects::new(link.jetstream(), key.bucket());
    let Some(run) = objects.get(RUN_OBJECT, RUN_BYTES_MAX).await.map_err(text)? else {
        return Err("its store is not filled yet".to_owned());
    };
    let run: RunObject = match json::read(&run, RUN_BYTES_MAX).map(serde_json::from_value) {
        Ok(Ok(run)) => run,
        Ok(Err(why)) => return Ok(Err(why.to_string())),
        Err(why) => return Ok(Err(why.to_string())),
    };
    if let Some(why) = fault_of(&run, pins, key) {
        return Ok(Err(why));
    }
    let stream = link.jetstream().get_stream_no_info(key.work_stream()).await.map_err(text)?;
    let pull = stream.get_consumer::<pull::Config>(consumer).await.map_err(text)?;
    let ack_wait = pull.cached_info().config.ack_wait;
    Ok(Ok(Taken { key: key.clone(), frozen_sha256: run.frozen_sha256, objects, pull, ack_wait }))
}

/// Why a run is not for this host: another build gives other fuel, and so other records.
fn fault_of(run: &RunObject, pins: &Pins, key: &RunKey) -> Option<String> {
    if RunKey::of(run.frozen_sha256) != *key {
        return Some("it is frozen under another digest than its name says".to_owned());
    }
    let limits = (run.limits_version.to_string(), pins.limits_version.to_string());
    let pairs = [
        ("engine", run.engine_version.as_str(), arena_engine::ENGINE_VERSION),
        ("wasmtime", run.wasmtime.as_str(), pins.wasmtime.as_str()),
        ("limits", &limits.0, &limits.1),
    ];
    let (what, frozen, here) = pairs.into_iter().find(|(_, frozen, here)| frozen != here)?;
    let frozen = arena_engine::Excerpt { text: frozen, max: 64 };
    Some(format!("it is frozen for {what} {frozen}; this host has {what} {here}"))
}

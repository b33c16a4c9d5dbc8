//! Runs what a manifest pins and gives the results a record is made of.

use arena_canon::json::{self, Value};
use arena_canon::{Digest, Preimage};
use arena_claims::compare::{Kind, Measured};
use arena_claims::manifest::Manifest;
use arena_sandbox::experiment::{ExperimentEnding, Metric, Ran, RunError, Task};
use arena_sandbox::{Host, HostOptions, LoadError, Seats};
use serde_json::json;

use super::material::{Material, Runnable, check_engine};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::strategies;

/// How results are come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Configuration {
    /// As everybody runs: on demand, optimised, with the cache.
    Ordinary,
    /// A pool, if the claim's memory fits into one; optimised.
    Pooled,
    /// On demand, not optimised.
    Plain,
}

const DOING: &str = "run the claim";

/// Runs `manifest` for `job`. What the program does wrong is in the results; where the inputs are not those
/// that are pinned, nothing runs.
pub(super) fn rerun(
    manifest: &Manifest,
    material: &Material,
    job: Digest,
    configuration: Configuration,
    io: &mut Io<'_>,
) -> Result<Value, Failure> {
    let inputs = material
        .pinned(manifest)
        .map_err(|why| Failure::new(Exit::Rejected, DOING, format_args!("input_mismatch: {why}")))?;
    check_engine(manifest).map_err(|why| Failure::new(Exit::Blocked, DOING, why))?;
    let seed = match manifest.arguments.get("seed") {
        Some(text) => arena_sandbox::seed(text).unwrap_or_else(|_| Digest::of(text.as_bytes())),
        None => job,
    };
    let runnable = match material.admit(manifest) {
        Ok(runnable) => runnable,
        Err(whys) => return Ok(spec_issue(&whys.join("; "), 0, Digest::of(b""), &[])),
    };
    match runnable {
        Runnable::Experiment { admitted, limits } => {
            let host = host(configuration, limits.memory_bytes, io)?;
            let experiment = match host.load_experiment(&admitted) {
                Ok(experiment) => experiment,
                Err(LoadError::Rejected(why)) => {
                    return Ok(spec_issue(&why.to_string(), 0, Digest::of(b""), &[]));
                }
                Err(LoadError::Host(fault)) => return Err(fault.into()),
            };
            let task = Task { arguments: manifest.arguments.clone(), inputs, limits, seed };
            let ran = experiment.run(&task).map_err(|error| match error {
                RunError::Host(fault) => Failure::from(fault),
                other => Failure::internal(DOING, other),
            })?;
            tell(&ran, io);
            Ok(of_experiment(manifest, &ran))
        }
        Runnable::Episode { admitted, pack } => {
            let host = host(configuration, 0, io)?;
            let strategy = match host.load(&admitted) {
                Ok(strategy) => strategy,
                Err(LoadError::Rejected(why)) => {
                    return Ok(spec_issue(&why.to_string(), 0, Digest::of(b""), &[]));
                }
                Err(LoadError::Host(fault)) => return Err(fault.into()),
            };
            Ok(of_episode(&arena_sandbox::play(&strategy, &pack, seed)?))
        }
        Runnable::Tournament => {
            let why = "a tournament is run with `arena tournament run`";
            Err(Failure::usage(DOING, why).hint("give what it came to with --results"))
        }
    }
}

fn host(configuration: Configuration, memory_bytes: u64, io: &mut Io<'_>) -> Result<Host, Failure> {
    let pooled = memory_bytes <= arena_engine::limits::V1.memory_bytes_max;
    match configuration {
        Configuration::Ordinary => strategies::host(Seats::OnDemand, io),
        Configuration::Pooled if pooled => Ok(Host::new(&HostOptions::new(Seats::Pooled(1)))?),
        Configuration::Pooled => Ok(Host::new(&HostOptions::new(Seats::OnDemand))?),
        Configuration::Plain => {
            Ok(Host::new(&HostOptions { optimised: false, ..HostOptions::new(Seats::OnDemand) })?)
        }
    }
}

/// What it said, for whoever runs it: the record holds a digest alone.
fn tell(ran: &Ran, io: &mut Io<'_>) {
    for line in &ran.log {
        let (level, text) = (json!(line.level), arena_engine::Excerpt { text: &line.text, max: 400 });
        io.talk(format_args!("{}: {text}", level.as_str().unwrap_or_default()));
    }
    io.talk(format_args!("{}, {} fuel, {} bytes of memory", ran.ending, ran.fuel, ran.memory_bytes));
}

fn of_experiment(manifest: &Manifest, ran: &Ran) -> Value {
    let outputs = ran
        .outputs
        .iter()
        .map(|output| json!({ "name": output.name, "sha256": output.sha256, "bytes": output.bytes.len() }));
    let outputs: Vec<Value> = outputs.collect();
    let ExperimentEnding::Measured(metrics) = &ran.ending else {
        return spec_issue(&ran.ending.to_string(), ran.fuel, ran.log_sha256, &outputs);
    };
    if let Some(why) = metrics.iter().find_map(|metric| other_kind(manifest, metric)) {
        return spec_issue(&why, ran.fuel, ran.log_sha256, &outputs);
    }
    let metrics = metrics.iter().map(
        |metric| json!({ "name": metric.name, "kind": metric.value.kind(), "value": metric.value.text() }),
    );
    json!({
        "metrics": metrics.collect::<Vec<_>>(), "outputs": outputs, "fuel": ran.fuel.to_string(),
        "log_sha256": ran.log_sha256,
    })
}

/// A metric of another kind than the manifest's: no record of it could be published.
fn other_kind(manifest: &Manifest, metric: &Metric) -> Option<String> {
    let stated = manifest.rules.metrics.iter().find(|stated| stated.name == metric.name)?;
    let kind = metric.value.kind();
    if stated.kind.name() != kind {
        return Some(format!(
            "metric {} is reported as {kind}; the manifest says {}",
            metric.name,
            stated.kind.name()
        ));
    }
    let value = Value::from(metric.value.text());
    let scale = match stated.kind {
        Kind::Decimal { scale } => format!(" with {scale} digits behind the point"),
        _ => String::new(),
    };
    Measured::read(stated.kind, &value).err().map(|_| format!("metric {} is no {kind}{scale}", metric.name))
}

/// Results of a run that could not be carried out as the manifest is written.
fn spec_issue(why: &str, fuel: u64, log: Digest, outputs: &[Value]) -> Value {
    const REASON_BYTES_MAX: usize = 240;
    let line: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    json!({
        "outcome": "spec_issue", "reason": line[..line.floor_char_boundary(REASON_BYTES_MAX)],
        "metrics": [], "outputs": outputs, "fuel": fuel.to_string(), "log_sha256": log,
    })
}

/// `stars`, each metric of the pack by its bits, and the digest of the episode's log.
fn of_episode(played: &arena_sandbox::Played) -> Value {
    let bytes = played.log.to_bytes();
    let log = json!(played.log);
    let run = &log["run"];
    let said = Preimage::new("ARENA-EPISODE-LOG-V1").bytes(&json::canonical(&run["log"])).digest();
    let turns = run["fuel"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let fuel = turns.fold(run["brief_fuel"].as_u64().unwrap_or_default(), u64::saturating_add);
    let outputs = [json!({ "name": "episode.json", "sha256": Digest::of(&bytes), "bytes": bytes.len() })];
    if let Some(forfeit) = played.forfeit.as_ref().filter(|forfeit| forfeit.build_dependent) {
        return spec_issue(&format!("depends on the build: {}", forfeit.forfeit), fuel, said, &outputs);
    }
    let settlement = &log["settlement"];
    let stars = settlement["stars"].as_u64().unwrap_or_default();
    let mut metrics = vec![json!({ "name": "stars", "kind": "int", "value": stars.to_string() })];
    for metric in settlement["metrics"].as_array().into_iter().flatten() {
        let bits = format!("{:016x}", metric["value"].as_f64().unwrap_or(f64::NAN).to_bits());
        metrics.push(json!({ "name": metric["id"], "kind": "f64", "value": bits }));
    }
    metrics.push(json!({ "name": "log", "kind": "hash", "value": Digest::of(&bytes) }));
    json!({ "metrics": metrics, "outputs": outputs, "fuel": fuel.to_string(), "log_sha256": said })
}

//! Runs what a manifest pins and gives the results a record is made of.

use std::path::Path;
use std::time::Duration;

use arena_canon::json::{self, Value};
use arena_canon::{Digest, Preimage};
use arena_claims::compare::{Kind, Measured};
use arena_claims::manifest::{Manifest, RunLimits};
use arena_claims::record::{Place, Role, assemble};
use arena_engine::HostFault;
use arena_sandbox::experiment::{ExperimentEnding, Metric, Ran, RunError, Task};
use arena_sandbox::{Host, HostOptions, LoadError, OutOfTime, Seats};
use serde_json::json;

use super::material::{Material, Runnable, Sources, check_engine};
use super::tournament::{self, Stop};
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

/// The same of what is kept in a folder under its digest.
pub(crate) fn rerun_here(
    folder: &Path,
    manifest: &Manifest,
    job: Digest,
    io: &mut Io<'_>,
) -> Result<Value, Failure> {
    let material = Material::gather(folder, manifest, &Sources::default())?;
    rerun(manifest, &material, job, Configuration::Ordinary, io)
}

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
    let wall = manifest.limits.wall_seconds;
    let failed = |fault| host_failed(fault, wall);
    match runnable {
        Runnable::Experiment { admitted, limits } => {
            let host = host(configuration, 1, limits.memory_bytes, wall, io)?;
            let experiment = match host.load_experiment(&admitted) {
                Ok(experiment) => experiment,
                Err(LoadError::Rejected(why)) => {
                    return Ok(spec_issue(&why.to_string(), 0, Digest::of(b""), &[]));
                }
                Err(LoadError::Host(fault)) => return Err(failed(fault)),
            };
            let task = Task { arguments: manifest.arguments.clone(), inputs, limits, seed };
            let ran = experiment.run(&task).map_err(|error| match error {
                RunError::Host(fault) => failed(fault),
                other => Failure::internal(DOING, other),
            })?;
            tell(&ran, io);
            Ok(publishable(manifest, of_experiment(manifest, &ran)))
        }
        Runnable::Episode { admitted, pack } => {
            let host = host(configuration, 1, 0, wall, io)?;
            let strategy = match host.load(&admitted) {
                Ok(strategy) => strategy,
                Err(LoadError::Rejected(why)) => {
                    return Ok(spec_issue(&why.to_string(), 0, Digest::of(b""), &[]));
                }
                Err(LoadError::Host(fault)) => return Err(failed(fault)),
            };
            let played = arena_sandbox::play(&strategy, &pack, seed).map_err(failed)?;
            Ok(of_episode(manifest, &played))
        }
        Runnable::Tournament(tournament) => {
            let host = host(configuration, tournament::SEATS, 0, wall, io)?;
            tournament.play(&manifest.limits, host, &mut |line| io.talk(line)).map_err(|stop| match stop {
                Stop::Host(fault) => failed(fault),
                Stop::Failed(failure) => failure,
            })
        }
    }
}

/// Whatever the host could not do is nobody's fault: there is no result, and it is run again.
fn host_failed(fault: HostFault, wall_seconds: u64) -> Failure {
    if !fault.source.is::<OutOfTime>() {
        return fault.into();
    }
    let why = format_args!("the manifest's {wall_seconds} s on the clock are over; nothing of it counts")
        .to_string();
    Failure::new(Exit::Stalled, DOING, why).hint("run it again, where there is more time or less to do")
}

/// A host with room for `seats` at once, for as long as anybody waits.
fn host(
    configuration: Configuration,
    seats: u32,
    memory_bytes: u64,
    wall_seconds: u64,
    io: &mut Io<'_>,
) -> Result<Host, Failure> {
    let fits = memory_bytes <= arena_engine::limits::V1.memory_bytes_max;
    let pooled = match configuration {
        // A pool is worth its address space where many are seated one after another.
        Configuration::Ordinary => seats > 1,
        Configuration::Pooled => fits,
        Configuration::Plain => false,
    };
    let place = if pooled { Seats::Pooled(seats) } else { Seats::OnDemand };
    let mut options = HostOptions::new(place);
    options.wall_max = Some(Duration::from_secs(wall_seconds));
    match configuration {
        Configuration::Ordinary => strategies::host_of(options, io),
        Configuration::Pooled => Ok(Host::new(&options)?),
        Configuration::Plain => Ok(Host::new(&HostOptions { optimised: false, ..options })?),
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

/// Bytes of a record of it. A reveal of one has to fit into what a server takes, and two of them into what the
/// reference publishes.
const RECORD_BYTES_MAX: usize = 112 << 10;

/// What is too long for a record that can be revealed is no result. It is measured in a record of nobody's, so that
/// everybody comes to the same.
fn publishable(manifest: &Manifest, results: Value) -> Value {
    let role = Role::Runner;
    let place = Place { claim: "c", job: Digest::of(b""), role, agent: "a", operator: "o", manifest };
    let Ok(record) = assemble(&place, &results) else { return results };
    let bytes = json::canonical(record.value()).len();
    if bytes <= RECORD_BYTES_MAX {
        return results;
    }
    let why = format!("report_too_long: a record of it has {bytes} bytes; the limit is {RECORD_BYTES_MAX}");
    let text = |key: &str| results.get(key).and_then(Value::as_str);
    let fuel = text("fuel").and_then(|fuel| fuel.parse().ok()).unwrap_or_default();
    let log = text("log_sha256").and_then(|log| log.parse().ok()).unwrap_or_else(|| Digest::of(b""));
    spec_issue(&why, fuel, log, &[])
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

/// What a game writes is the host's and has limits of its own; its fuel counts as that of any run.
pub(super) fn beyond(limits: &RunLimits, fuel: u64) -> Option<String> {
    (fuel > limits.fuel).then(|| format!("fuel_spent: the limit is {}", limits.fuel))
}

/// Results of a run that could not be carried out as the manifest is written.
pub(super) fn spec_issue(why: &str, fuel: u64, log: Digest, outputs: &[Value]) -> Value {
    const REASON_BYTES_MAX: usize = 240;
    let line: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    json!({
        "outcome": "spec_issue", "reason": line[..line.floor_char_boundary(REASON_BYTES_MAX)],
        "metrics": [], "outputs": outputs, "fuel": fuel.to_string(), "log_sha256": log,
    })
}

/// `stars`, each metric of the pack by its bits, and the digest of the episode's log.
fn of_episode(manifest: &Manifest, played: &arena_sandbox::Played) -> Value {
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
    if let Some(why) = beyond(&manifest.limits, fuel) {
        return spec_issue(&why, fuel, said, &outputs);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(metrics: usize) -> Manifest {
        let zero = "0".repeat(64);
        let metric = |i: usize| {
            json!({ "name": format!("m{i}"), "kind": "text", "claim": "x", "rerun_tol": { "mode": "exact" },
                "claim_tol": { "abs": "0", "rel": "0", "dir": "two_sided" } })
        };
        let metrics: Vec<Value> = (0..metrics).map(metric).collect();
        let document = json!({
            "v": "arena-manifest/v1", "title": "texts", "submitter": "sue",
            "program": { "kind": "experiment", "component": zero }, "inputs": [], "arguments": {},
            "metrics": metrics, "determinism": "exact", "protocol_params_sha256": zero, "capabilities": [],
            "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 1 },
            "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
        });
        Manifest::read(document).unwrap_or_else(|faults| panic!("{faults}"))
    }

    /// Whatever is reported, there is a record of it that can be revealed.
    #[test]
    fn a_report_that_could_not_be_revealed_is_no_result() {
        for (count, bytes) in [(1, 1), (1, 4_096), (10, 4_096), (40, 4_096), (256, 4_096), (256, 10)] {
            let manifest = manifest(count);
            let metric =
                |i: usize| json!({ "name": format!("m{i}"), "kind": "text", "value": "y".repeat(bytes) });
            let metrics: Vec<Value> = (0..count).map(metric).collect();
            let results =
                json!({ "metrics": metrics, "outputs": [], "fuel": "7", "log_sha256": Digest::of(b"log") });
            let told = publishable(&manifest, results.clone());
            let (agent, operator) = ("a".repeat(128), "o".repeat(128));
            let (role, job) = (Role::Challenger, Digest::of(b"job"));
            let place = Place {
                claim: "c123456",
                job,
                role,
                agent: &agent,
                operator: &operator,
                manifest: &manifest,
            };
            let record = assemble(&place, &told).unwrap_or_else(|faults| panic!("{faults}"));
            let length = json::canonical(record.value()).len();
            assert!(length <= 120 << 10, "{count} of {bytes}: {length}");
            let is_short = count * bytes < 30_000;
            assert!(!is_short || told == results, "{count} of {bytes}");
            assert!(count * bytes < 120 << 10 || told["outcome"] == "spec_issue", "{told}");
            assert!(told == results || told["fuel"] == "7", "{told}");
        }
    }
}

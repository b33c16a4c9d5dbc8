//! Writing a manifest: what is run, on what, and what is claimed of it.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::manifest::{INPUT_BYTES_MAX, Input};
use arena_engine::Excerpt;
use serde_json::json;

use super::instance::Reading;
use super::verbs::New;
use super::{read_json, tournament};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

pub(super) fn run(args: &New, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let params = Reading::open(&args.here.dir, io)?.world.instance.params.digest();
    let like = match &args.like {
        Some(path) => Some(read_json("document", path, io)?),
        None => None,
    };
    let (program, claimed) = match (&args.tournament, &args.component) {
        (Some(run), _) => tournament::claimed(run)?,
        (None, Some(component)) => {
            let program = Digest::of(&input_bytes(component, "component")?);
            let metrics = claimed(&args.metrics)?;
            (json!({ "kind": "experiment", "component": program }), json!({ "metrics": metrics }))
        }
        // The command line asks for one of them.
        (None, None) => return Err(Failure::usage("write a manifest", "there is nothing that is run")),
    };
    let own = json!({
        "submitter": args.by.agent, "program": program, "inputs": pinned(&args.inputs)?,
        "engine": { "wasmtime": arena_sandbox::WASMTIME_VERSION, "config_sha256": arena_sandbox::engine_digest() },
        "protocol_params_sha256": params,
    });
    let title = args.title.as_ref().map(|title| json!({ "title": title }));
    let mut manifest = usual();
    if let Some(members) = manifest.as_object_mut() {
        for more in [Some(like.unwrap_or(claimed)), Some(own), title].into_iter().flatten() {
            members.extend(more.as_object().cloned().unwrap_or_default());
        }
    }
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    files::write(&args.file, text.as_bytes(), Existing::Keep)?;
    let file = files::shown(&args.file);
    io.talk(format_args!("wrote {file}; next: arena claim check {file}"));
    Ok(Exit::Success)
}

/// What nobody says otherwise.
fn usual() -> Value {
    json!({
        "v": "arena-manifest/v1", "title": "a claim", "arguments": {},
        "limits": { "fuel": 10_000_000_000u64, "memory_bytes": 67_108_864, "output_bytes": 1_048_576, "wall_seconds": 600 },
        "capabilities": [], "extra": "fail", "nonfinite": "forbid", "wide_tolerance": false,
        "determinism": "exact",
    })
}

fn pinned(inputs: &[PathBuf]) -> Result<Vec<Value>, Failure> {
    let pin = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let input = input_at(path, &name)?;
        Ok(json!({ "name": input.name, "sha256": input.sha256, "bytes": input.bytes }))
    };
    inputs.iter().map(pin).collect()
}

/// The input in a file.
pub(super) fn input_at(path: &Path, name: &str) -> Result<Input, Failure> {
    let bytes = input_bytes(path, "input")?;
    Ok(Input { name: name.to_owned(), sha256: Digest::of(&bytes), bytes: bytes.len() as u64 })
}

/// Its bytes.
pub(super) fn input_bytes(path: &Path, what: &str) -> Result<Vec<u8>, Failure> {
    files::read_named(path, INPUT_BYTES_MAX).map_err(|unread| unread.reading(what, path))
}

/// Metrics as they are given on a command line.
fn claimed(metrics: &[String]) -> Result<Vec<Value>, Failure> {
    let read = |metric: &String| {
        let (name, value) = metric.split_once('=').ok_or_else(|| {
            let text = Excerpt { text: metric, max: 80 };
            Failure::usage(format_args!("read metric `{text}`"), "a metric is like elo=1532.25")
        })?;
        let scale = value.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Ok(json!({
            "name": name, "kind": "decimal", "scale": scale, "claim": value,
            "claim_tol": { "abs": "0", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" },
        }))
    };
    metrics.iter().map(read).collect()
}

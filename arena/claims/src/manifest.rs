//! Manifests: what is claimed, and everything a stranger needs to run it again.

use std::collections::{BTreeMap, BTreeSet};

use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};

use crate::compare::Rules;
use crate::document::{Object, is_line};
use crate::fault::{Faults, Findings};

/// The format of a manifest.
pub const MANIFEST_VERSION: &str = "arena-manifest/v1";
/// Most bytes of a manifest.
pub const MANIFEST_BYTES_MAX: usize = 1 << 20;
/// Most bytes of an id: an agent's, an operator's, a claim's, a file's name.
pub const ID_BYTES_MAX: usize = 128;
/// Most output files of a run.
pub const OUTPUTS_MAX: usize = 64;

/// Most inputs of a run.
pub const INPUTS_MAX: usize = 64;
/// Most bytes of one input.
pub const INPUT_BYTES_MAX: u64 = 64 << 20;
/// Most arguments of a run.
pub const ARGUMENTS_MAX: usize = 64;
/// Most bytes of an argument's text.
pub const ARGUMENT_BYTES_MAX: usize = 4_096;
/// Most fuel of a run.
pub const FUEL_MAX: u64 = 1_000_000_000_000;
/// Most linear memory of a run, in bytes.
pub const MEMORY_BYTES_MAX: u64 = 256 << 20;
/// Most bytes of all outputs of a run together.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Most seconds on the clock that anybody waits for a run.
pub const WALL_SECONDS_MAX: u64 = 86_400;

const CAPABILITIES_MAX: usize = 16;

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A computation in the experiment world.
    Experiment {
        /// SHA-256 of the component.
        component: Digest,
    },
    /// An episode of a game.
    Episode {
        /// SHA-256 of the component.
        component: Digest,
        /// SHA-256 of the pack.
        pack: Digest,
    },
    /// A frozen tournament.
    Tournament {
        /// SHA-256 of the frozen matrix.
        frozen: Digest,
    },
}

/// A pinned input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its file name.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// How many there are.
    pub bytes: u64,
}

impl Input {
    pub(crate) fn read_all(object: &Object<'_>, findings: &mut Findings) -> Vec<Self> {
        let mut inputs: Vec<Self> = Vec::new();
        for (at, value) in object.list("inputs", INPUTS_MAX, findings) {
            let Some(input) = Object::of(value, at.clone(), findings) else { continue };
            input.only(&["name", "sha256", "bytes"], findings);
            let what = "a file name: 1 to 128 bytes of a-z, A-Z, 0-9, `.`, `_`, `-`, not starting with `.`";
            let name =
                input.read("name", what, findings, |value| value.as_str().filter(|name| is_file_name(name)));
            let sha256 = input.digest("sha256", findings);
            let bytes = input.number("bytes", INPUT_BYTES_MAX, findings);
            let (Some(name), Some(sha256), Some(bytes)) = (name, sha256, bytes) else { continue };
            if inputs.iter().any(|input| input.name == name) {
                findings.add(&at.key("name"), "another input has this name");
            }
            inputs.push(Self { name: name.to_owned(), sha256, bytes });
        }
        inputs
    }
}

fn is_file_name(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    is_line(name, ID_BYTES_MAX) && !name.starts_with('.') && name.bytes().all(fine)
}

/// The engine that fuel is counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Version of the runtime.
    pub wasmtime: String,
    /// SHA-256 of its configuration.
    pub config_sha256: Digest,
}

impl Engine {
    pub(crate) fn read(object: &Object<'_>, findings: &mut Findings) -> Option<Self> {
        let engine = Object::of(object.need("engine", findings)?, object.place("engine"), findings)?;
        engine.only(&["wasmtime", "config_sha256"], findings);
        let wasmtime = engine.text("wasmtime", 32, findings);
        let config_sha256 = engine.digest("config_sha256", findings);
        Some(Self { wasmtime: wasmtime?.to_owned(), config_sha256: config_sha256? })
    }
}

/// What a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Fuel.
    pub fuel: u64,
    /// Linear memory.
    pub memory_bytes: u64,
    /// All outputs together.
    pub output_bytes: u64,
    /// Wall time; it only ever ends a run as a host fault, and sets how long a runner may take.
    pub wall_seconds: u64,
}

/// A manifest without faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What it is about.
    pub title: String,
    /// Who lists it.
    pub submitter: String,
    /// What is run.
    pub program: Program,
    /// On what.
    pub inputs: Vec<Input>,
    /// With which arguments.
    pub arguments: BTreeMap<String, String>,
    /// What is claimed, and how it is compared.
    pub rules: Rules,
    /// Within which limits.
    pub limits: RunLimits,
    /// By which engine.
    pub engine: Engine,
    /// What a runner must be able to do.
    pub capabilities: BTreeSet<String>,
    /// SHA-256 of the parameters the claim is settled by.
    pub params: Digest,
    /// SHA-256 of its canonical bytes.
    pub digest: Digest,
    value: Value,
}

impl Manifest {
    /// Reads a manifest from bytes. All faults are reported at once.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        Ok(Self::read(json::read(bytes, MANIFEST_BYTES_MAX)?)?)
    }

    /// Reads a manifest that is JSON already.
    pub fn read(value: Value) -> Result<Self, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(&value, Pointer::default(), &mut findings);
        let manifest = object.and_then(|object| Self::of(&object, &value, &mut findings));
        Ok(Self { value, ..findings.or_none(manifest)? })
    }

    /// Reads only what comparing needs, of a manifest that need not be whole. The caps on tolerances are
    /// conditions of listing and not asked for here.
    pub fn rules_of(value: &Value) -> Result<Rules, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(value, Pointer::default(), &mut findings);
        let rules = object.and_then(|object| Rules::read(&object, false, &mut findings));
        findings.or_none(rules)
    }

    /// All but the document itself, which its reader still holds.
    fn of(object: &Object<'_>, value: &Value, findings: &mut Findings) -> Option<Self> {
        let mut known = vec!["v", "title", "submitter", "program", "inputs", "arguments", "limits", "engine"];
        known.extend(["capabilities", "protocol_params_sha256"]);
        known.extend(Rules::MEMBERS);
        object.only(&known, findings);
        object.constant("v", MANIFEST_VERSION, findings);
        let title = object.text("title", 200, findings);
        let submitter = object.text("submitter", ID_BYTES_MAX, findings);
        let program = read_program(object, findings);
        let inputs = Input::read_all(object, findings);
        let arguments = read_arguments(object, findings);
        let rules = Rules::read(object, true, findings);
        bound_claims(object, value, findings);
        let limits = read_limits(object, findings);
        let engine = Engine::read(object, findings);
        let capabilities = read_capabilities(object, findings);
        let params = object.digest("protocol_params_sha256", findings);
        Some(Self {
            title: title?.to_owned(),
            submitter: submitter?.to_owned(),
            program: program?,
            inputs,
            arguments,
            rules: rules?,
            limits: limits?,
            engine: engine?,
            capabilities,
            params: params?,
            digest: Digest::of(&json::canonical_of(value)),
            value: Value::Null,
        })
    }

    /// The document.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// Bytes of all claimed values. Every record repeats them, and has to fit into what is revealed.
const CLAIMED_BYTES_MAX: usize = 32 << 10;

fn bound_claims(object: &Object<'_>, value: &Value, findings: &mut Findings) {
    let metrics = value.get("metrics").and_then(Value::as_array).into_iter().flatten();
    let claims = metrics.filter_map(|metric| metric.get("claim")?.as_str());
    let bytes: usize = claims.map(str::len).sum();
    if bytes > CLAIMED_BYTES_MAX {
        let message =
            format!("the claimed values have {bytes} bytes together; the limit is {CLAIMED_BYTES_MAX}");
        findings.add(&object.place("metrics"), message);
    }
}

fn read_program(object: &Object<'_>, findings: &mut Findings) -> Option<Program> {
    let program = Object::of(object.need("program", findings)?, object.place("program"), findings)?;
    let what = "experiment, episode or tournament";
    let kind = program.read("kind", what, findings, |value| match value.as_str()? {
        kind @ ("experiment" | "episode" | "tournament") => Some(kind),
        _ => None,
    })?;
    match kind {
        "experiment" => {
            program.only(&["kind", "component"], findings);
            Some(Program::Experiment { component: program.digest("component", findings)? })
        }
        "episode" => {
            program.only(&["kind", "component", "pack"], findings);
            let (component, pack) = (program.digest("component", findings), program.digest("pack", findings));
            Some(Program::Episode { component: component?, pack: pack? })
        }
        _ => {
            program.only(&["kind", "frozen"], findings);
            Some(Program::Tournament { frozen: program.digest("frozen", findings)? })
        }
    }
}

fn read_arguments(object: &Object<'_>, findings: &mut Findings) -> BTreeMap<String, String> {
    let mut arguments = BTreeMap::new();
    let Some(value) = object.need("arguments", findings) else { return arguments };
    let Some(given) = Object::of(value, object.place("arguments"), findings) else { return arguments };
    let count = given.keys().count();
    if count > ARGUMENTS_MAX {
        findings.add(&given.at, format!("has {count} members; the limit is {ARGUMENTS_MAX}"));
        return arguments;
    }
    for key in given.keys() {
        if !is_line(key, 64) {
            findings.add(&given.place(key), "a name has 1 to 64 bytes without control characters");
        }
        let what = format!("a text of at most {ARGUMENT_BYTES_MAX} bytes");
        let text = given.read(key, &what, findings, |value| {
            value.as_str().filter(|text| text.len() <= ARGUMENT_BYTES_MAX)
        });
        arguments.extend(text.map(|text| (key.clone(), text.to_owned())));
    }
    arguments
}

fn read_limits(object: &Object<'_>, findings: &mut Findings) -> Option<RunLimits> {
    let limits = Object::of(object.need("limits", findings)?, object.place("limits"), findings)?;
    limits.only(&["fuel", "memory_bytes", "output_bytes", "wall_seconds"], findings);
    let fuel = limits.number("fuel", FUEL_MAX, findings);
    let memory_bytes = limits.number("memory_bytes", MEMORY_BYTES_MAX, findings);
    let output_bytes = limits.number("output_bytes", OUTPUT_BYTES_MAX, findings);
    let wall_seconds = limits.number("wall_seconds", WALL_SECONDS_MAX, findings);
    for (key, value) in [("fuel", fuel), ("wall_seconds", wall_seconds)] {
        if value == Some(0) {
            findings.add(&limits.place(key), "must be above 0");
        }
    }
    Some(RunLimits {
        fuel: fuel?,
        memory_bytes: memory_bytes?,
        output_bytes: output_bytes?,
        wall_seconds: wall_seconds?,
    })
}

fn read_capabilities(object: &Object<'_>, findings: &mut Findings) -> BTreeSet<String> {
    let mut capabilities = BTreeSet::new();
    for (at, value) in object.list("capabilities", CAPABILITIES_MAX, findings) {
        match value.as_str().filter(|text| is_line(text, 64)) {
            Some(text) if capabilities.insert(text.to_owned()) => {}
            Some(_) => findings.add(&at, "stands twice"),
            None => findings.add(&at, "must be a text of 1 to 64 bytes without control characters"),
        }
    }
    capabilities
}

/// Why bytes are no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Not a JSON document within bounds.
    #[error(transparent)]
    Read(#[from] json::ReadError),
    /// A document that is no manifest.
    #[error("{0}")]
    Faults(#[from] Faults),
}

#[cfg(test)]
pub(crate) mod tests;

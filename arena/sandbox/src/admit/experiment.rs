//! Admission of experiments: the same steps as a strategy's, with the experiment's own interfaces and
//! its own most memory.

use arena_canon::Digest;
use arena_engine::limits::{Limits, V1};
use wasmparser::types::TypesRef;

use super::shape::{Export, Shape};
use super::{
    ALLOWED_WASI, Refusal, Rejection, Stamp, check_adapters, check_counts, check_layer, check_size,
    import_wasi, interface, is_allowed_wasi, quoted, shape,
};
use crate::experiment::MEMORY_BYTES_MAX;
use crate::game::{Game, VERSION};

/// The world of experiments, with its version.
pub const EXPERIMENT_WORLD: &str = "arena:experiment/experiment@0.1.0";

const PACKAGE: &str = "arena:experiment/";
const RUNNER: &str = "arena:experiment/runner@";

/// An experiment that may be compiled. Only [`admit_experiment`] makes one.
#[derive(Debug, Clone)]
pub struct AdmittedExperiment {
    bytes: Vec<u8>,
    digest: Digest,
    imports: Vec<String>,
}

/// Admits an experiment, or says everything that is wrong with it. Nothing is compiled.
pub fn admit_experiment(bytes: &[u8]) -> Result<AdmittedExperiment, Rejection> {
    let limits = Limits { memory_bytes_max: MEMORY_BYTES_MAX, ..V1 };
    admit_under(bytes, &limits).map_err(|refusals| Rejection { refusals })
}

fn admit_under(bytes: &[u8], limits: &Limits) -> Result<AdmittedExperiment, Vec<Refusal>> {
    check_size(bytes, limits).map_err(|refusal| vec![refusal])?;
    check_layer(bytes).map_err(|refusal| vec![refusal])?;
    let (shape, types) = shape::read(bytes).map_err(|refusal| vec![refusal])?;
    let mut refusals = Vec::new();
    check_counts(&shape, limits, &mut refusals);
    check_export(&shape, types.as_ref(), &mut refusals);
    check_imports(&shape, types.as_ref(), &mut refusals);
    check_adapters(&shape, &mut refusals);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let imports = shape.imports.into_iter().map(|import| import.name).collect();
    Ok(AdmittedExperiment { bytes: bytes.to_vec(), digest: Digest::of(bytes), imports })
}

impl AdmittedExperiment {
    /// Digest of the component's bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Names of everything it imports, in its own order.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Size of the component in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The linker it is run with: `lean`, or `wasi` if it imports WASI.
    pub fn linker(&self) -> &'static str {
        self.stamp().linker()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { plays: None, wasi: import_wasi(&self.imports) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Whether it is an experiment: it exports `runner` and plays no game.
pub(super) fn is_experiment(shape: &Shape) -> bool {
    let plays = |name: &str| Game::ALL.into_iter().any(|game| name.starts_with(game.player()));
    runner(shape).is_some() && !shape.exports.iter().any(|export| plays(&export.name))
}

/// The exported runner; a component may have been built for several versions, and ours is what counts.
fn runner(shape: &Shape) -> Option<&Export> {
    let runners = || shape.exports.iter().filter(|export| export.name.starts_with(RUNNER));
    runners().find(|export| other_version(&export.name).is_none()).or(runners().next())
}

fn check_export(shape: &Shape, types: TypesRef<'_>, refusals: &mut Vec<Refusal>) {
    let Some(runner) = runner(shape).filter(|_| is_experiment(shape)) else {
        let names: Vec<String> = shape.exports.iter().map(|export| quoted(&export.name)).take(8).collect();
        let found = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let message = format!("it exports {found}; an experiment exports {RUNNER}{VERSION}");
        refusals.push(Refusal::new("admit.wrong_world", message, "implement the world with arena-sdk"));
        return;
    };
    if let Some(refusal) = other_version(&runner.name) {
        refusals.push(refusal);
    } else if let Err(difference) = interface::check_runner(types, runner.instance) {
        refusals.push(Refusal::new("admit.wrong_type", difference, "build against the WIT of this host"));
    }
}

fn check_imports(shape: &Shape, types: TypesRef<'_>, refusals: &mut Vec<Refusal>) {
    for import in &shape.imports {
        let name = import.name.as_str();
        let (Some(instance), true) = (import.instance, name.starts_with(PACKAGE)) else {
            if import.instance.is_none() || !is_allowed_wasi(name) {
                refusals.push(not_allowed(name));
            }
            continue;
        };
        if let Some(refusal) = other_version(name) {
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
            continue;
        }
        let checked = match name[PACKAGE.len()..].split('@').next().unwrap_or_default() {
            "host" => interface::check_experiment_host(types, instance),
            "types" => interface::check_types(types, instance),
            _ => {
                refusals.push(not_allowed(name));
                continue;
            }
        };
        if let Err(difference) = checked {
            refusals.push(Refusal::new("admit.wrong_type", difference, "build against the WIT of this host"));
        }
    }
}

fn other_version(name: &str) -> Option<Refusal> {
    let built_for = match name.strip_prefix(PACKAGE)?.split_once('@') {
        Some((_, VERSION)) => return None,
        Some((_, version)) => {
            format!("arena:experiment@{}", arena_engine::Excerpt { text: version, max: 40 })
        }
        None => "arena:experiment without a version".to_owned(),
    };
    let message = format!("built for {built_for}; this host runs {VERSION}");
    Some(Refusal::new("admit.other_version", message, "rebuild with the SDK of this host"))
}

fn not_allowed(name: &str) -> Refusal {
    let message = format!(
        "imports {}; an experiment may import arena:experiment/host and {ALLOWED_WASI}",
        quoted(name)
    );
    let hint = "build with `arena build`, or disable it in your language's component tool";
    Refusal::new("admit.import_not_allowed", message, hint)
}

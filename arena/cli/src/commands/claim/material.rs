//! What a manifest pins, at hand: its program and its inputs, from files or from the instance's blobs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arena_canon::Digest;
use arena_claims::manifest::{self, INPUT_BYTES_MAX, Input, Manifest, Program};
use arena_engine::Excerpt;
use arena_engine::campus::{DOCUMENT_BYTES_MAX, Pack};
use arena_engine::limits::V1;
use arena_sandbox::experiment::{self, ExperimentLimits, Inputs};
use arena_sandbox::{Admitted, AdmittedExperiment, Game, Rejection, admit, admit_experiment};
use arena_tournament::FROZEN_BYTES_MAX;

use super::draft;
use super::tournament::{self, Parts, Tournament};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::strategies;

/// Where what a manifest pins is; by default among the instance's blobs.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Sources {
    /// The component that the manifest pins, if it is not in the instance's folder yet
    #[arg(long, value_name = "FILE")]
    pub(super) component: Option<PathBuf>,

    /// The pack of an episode, likewise
    #[arg(long, value_name = "FILE")]
    pub(super) pack: Option<PathBuf>,

    /// The frozen matrix of a tournament, likewise
    #[arg(long, value_name = "FILE")]
    pub(super) frozen: Option<PathBuf>,

    /// The folder with the components and packs of a tournament [default: those of the run, or of the
    /// plan, that the frozen matrix is of]
    #[arg(long, value_name = "DIR")]
    pub(super) files: Option<PathBuf>,

    /// The folder with the pinned inputs, likewise
    #[arg(long, value_name = "DIR")]
    pub(super) inputs: Option<PathBuf>,
}

/// The bytes of everything that a manifest pins. The program's are the pinned ones; the inputs are as they
/// were found.
pub(super) struct Material {
    program: Vec<Vec<u8>>,
    /// What the frozen matrix of a tournament pins in turn.
    parts: Parts,
    inputs: Vec<(String, Vec<u8>)>,
}

/// What can be run, admitted and with its limits checked.
pub(super) enum Runnable {
    Experiment { admitted: AdmittedExperiment, limits: ExperimentLimits },
    Episode { admitted: Admitted, pack: Arc<Pack> },
    Tournament(Box<Tournament>),
}

// A manifest within the limits of manifests can be run: neither crate knows the other.
const _: () = assert!(manifest::FUEL_MAX == experiment::FUEL_MAX);
const _: () = assert!(manifest::MEMORY_BYTES_MAX == experiment::MEMORY_BYTES_MAX);
const _: () = assert!(manifest::OUTPUT_BYTES_MAX == experiment::OUTPUT_BYTES_MAX);
const _: () = assert!(manifest::OUTPUTS_MAX == experiment::OUTPUTS_MAX);
const _: () = assert!(manifest::INPUTS_MAX == experiment::INPUTS_MAX);
const _: () = assert!(manifest::INPUT_BYTES_MAX == experiment::INPUT_BYTES_MAX);
const _: () = assert!(arena_claims::compare::METRICS_MAX == experiment::METRICS_MAX);

impl Material {
    /// Reads everything that `manifest` pins. The program must be what is pinned.
    pub(super) fn gather(dir: &Path, manifest: &Manifest, sources: &Sources) -> Result<Self, Failure> {
        let (component, pack, frozen) = (&sources.component, &sources.pack, &sources.frozen);
        let mut parts = Parts::default();
        let component = |digest| part(dir, "component", component, digest, V1.component_bytes_max);
        let program = match &manifest.program {
            Program::Experiment { component: digest } => vec![component(*digest)?],
            Program::Episode { component: digest, pack: pinned } => {
                vec![component(*digest)?, part(dir, "pack", pack, *pinned, DOCUMENT_BYTES_MAX as u64)?]
            }
            Program::Tournament { frozen: digest } => {
                let bytes = part(dir, "frozen matrix", frozen, *digest, FROZEN_BYTES_MAX as u64)?;
                parts = tournament::parts(dir, &bytes, sources)?;
                vec![bytes]
            }
        };
        let inputs = manifest.inputs.iter().map(|input| {
            let bytes = match &sources.inputs {
                Some(folder) => draft::input_bytes(&folder.join(&input.name), "input")?,
                None => kept(dir, "input", input.sha256, INPUT_BYTES_MAX, "inputs")?,
            };
            Ok((input.name.clone(), bytes))
        });
        Ok(Self { program, parts, inputs: inputs.collect::<Result<_, Failure>>()? })
    }

    /// The inputs as they were found.
    pub(super) fn found(&self) -> Vec<Input> {
        let found = |(name, bytes): &(String, Vec<u8>)| Input {
            name: name.clone(),
            sha256: Digest::of(bytes),
            bytes: bytes.len() as u64,
        };
        self.inputs.iter().map(found).collect()
    }

    /// The inputs, if they are those that are pinned.
    pub(super) fn pinned(&self, manifest: &Manifest) -> Result<Inputs, String> {
        let pinned = manifest.inputs.iter().zip(&self.inputs);
        let pinned = pinned.map(|(input, (_, bytes))| (input.name.clone(), input.sha256, bytes.clone()));
        let inputs = Inputs::pin(pinned).map_err(|why| why.to_string())?;
        match self.found().iter().zip(&manifest.inputs).find(|(found, input)| found.bytes != input.bytes) {
            Some((found, input)) => {
                Err(format!("input `{}` has {} bytes; {} are pinned", input.name, found.bytes, input.bytes))
            }
            None => Ok(inputs),
        }
    }

    /// What would be run, if it can be: nothing runs and nothing is compiled here.
    pub(super) fn admit(&self, manifest: &Manifest) -> Result<Runnable, Vec<String>> {
        let refused = |rejection: Rejection| -> Vec<String> {
            rejection.refusals.iter().flat_map(strategies::refusal).collect()
        };
        let one = |why: String| vec![why];
        match &manifest.program {
            Program::Experiment { .. } => {
                let limits = ExperimentLimits {
                    fuel: manifest.limits.fuel,
                    memory_bytes: manifest.limits.memory_bytes,
                    output_bytes: manifest.limits.output_bytes,
                };
                limits.check().map_err(|why| one(why.to_string()))?;
                let admitted = admit_experiment(&self.program[0]).map_err(refused)?;
                Ok(Runnable::Experiment { admitted, limits })
            }
            Program::Episode { .. } => {
                let admitted = admit(&self.program[0]).map_err(refused)?;
                if admitted.game() != Game::Campus {
                    return Err(one(format!(
                        "the component is of {}; packs are of the campus game",
                        admitted.world()
                    )));
                }
                let pack =
                    Pack::parse(&self.program[1]).map_err(|faults| one(format!("the pack: {faults}")))?;
                Ok(Runnable::Episode { admitted, pack })
            }
            Program::Tournament { .. } => {
                let tournament = Tournament::new(&self.program[0], &self.parts, manifest)?;
                Ok(Runnable::Tournament(Box::new(tournament)))
            }
        }
    }

    /// Keeps everything in the instance's folder, under its digest.
    pub(super) fn keep(&self, dir: &Path) -> Result<(), Failure> {
        let inputs = self.inputs.iter().map(|(_, bytes)| bytes);
        self.program
            .iter()
            .chain(self.parts.bytes())
            .chain(inputs)
            .try_for_each(|bytes| files::write(&blob(dir, Digest::of(bytes)), bytes, Existing::KeepEqual))
    }
}

/// Fuel is counted by the engine, so another one is another claim.
pub(crate) fn check_engine(manifest: &Manifest) -> Result<(), String> {
    let engine = &manifest.engine;
    let here = (arena_sandbox::WASMTIME_VERSION, arena_sandbox::engine_digest());
    if (engine.wasmtime.as_str(), engine.config_sha256) == here {
        return Ok(());
    }
    let (version, config) = (Excerpt::line(&engine.wasmtime), engine.config_sha256);
    Err(format!(
        "the manifest pins wasmtime {version} with configuration {config}; this arena has {} with {}",
        here.0, here.1
    ))
}

/// Refuses a manifest that could not be run: it would only cost its runners.
pub(super) fn dry_run(dir: &Path, manifest: &Manifest, sources: &Sources) -> Result<Material, Failure> {
    const DOING: &str = "list the claim";
    let refused = |why: String, details: Vec<String>| {
        Failure::new(
            Exit::Rejected,
            DOING,
            format_args!("not_runnable: {}", Excerpt { text: &why, max: 400 }),
        )
        .details(details)
    };
    check_engine(manifest).map_err(|why| refused(why, Vec::new()))?;
    let material = Material::gather(dir, manifest, sources)?;
    material.pinned(manifest).map_err(|why| refused(why, Vec::new()))?;
    if let Err(mut whys) = material.admit(manifest) {
        let first = whys.remove(0);
        return Err(refused(first, whys));
    }
    Ok(material)
}

/// Where the bytes with this digest are kept.
pub(crate) fn blob(dir: &Path, digest: Digest) -> PathBuf {
    dir.join("blobs").join(digest.to_string())
}

/// A blob. One that is not what it is called is no mismatch of anything: the folder is damaged.
fn kept(dir: &Path, what: &str, sha256: Digest, limit: u64, option: &str) -> Result<Vec<u8>, Failure> {
    let path = blob(dir, sha256);
    let bytes = files::read_regular(&path, limit).map_err(|unread| {
        unread.reading(what, &path).hint(format_args!("say where the {what} is with --{option}"))
    })?;
    let found = Digest::of(&bytes);
    if found != sha256 {
        let doing = format_args!("use {what} `{}`", files::shown(&path)).to_string();
        return Err(Failure::new(
            Exit::Rejected,
            doing,
            format_args!("it has SHA-256 {found}: it was changed"),
        ));
    }
    Ok(bytes)
}

fn part(
    dir: &Path,
    what: &str,
    given: &Option<PathBuf>,
    pinned: Digest,
    limit: u64,
) -> Result<Vec<u8>, Failure> {
    let option = what.split(' ').next().unwrap_or_default();
    let Some(path) = given else { return kept(dir, what, pinned, limit, option) };
    let bytes = files::read(path, limit).map_err(|unread| unread.reading(what, path))?;
    let found = Digest::of(&bytes);
    if found != pinned {
        let why = format!("it has SHA-256 {found}; the manifest pins {pinned}");
        return Err(Failure::new(Exit::Rejected, format_args!("use {what} `{}`", files::shown(path)), why));
    }
    Ok(bytes)
}

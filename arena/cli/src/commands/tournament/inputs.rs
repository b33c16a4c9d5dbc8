//! From a plan or a frozen file to everything a run is set up with.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_engine::campus::DOCUMENT_BYTES_MAX;
use arena_engine::limits::V1;
use arena_sandbox::Seats;
use arena_tournament::{
    Component, FROZEN_BYTES_MAX, Frozen, FrozenFile, Game, Inputs, PLAN_BYTES_MAX, PackPin, Plan,
    PlannedScenarios, Scenario, Secret, freeze,
};
use serde::{Deserialize, Serialize};

use super::pins;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;
use crate::luck;
use crate::packs;
use crate::strategies;

/// Most turns of a pack that a tournament plays: a record holds both episodes, and must fit its limit.
const PACK_TURNS_MAX: u32 = 25_000;

/// Everything a run is set up with.
pub(super) struct Setup {
    pub(super) frozen: FrozenFile,
    pub(super) secret: Secret,
    pub(super) inputs: Inputs,
    pub(super) sources: Sources,
}

/// Where the bytes were that a frozen file pins. A convenience of one machine: nothing of it counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sources {
    /// The frozen file this is about.
    pub(super) frozen_sha256: Option<Digest>,
    /// The components' files, by the index of the strategy.
    pub(super) components: Vec<PathBuf>,
    /// The packs: built-in names and files.
    pub(super) packs: Vec<PathBuf>,
}

/// The name of the file with the sources, beside the frozen file.
pub(super) const SOURCES: &str = "sources.json";

/// Whether `path` is a frozen file, by its name.
pub(super) fn is_frozen(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json"))
}

/// Reads a plan, everything it names, and freezes it.
pub(super) fn from_plan(path: &Path, secret: Option<&Path>, io: &mut Io<'_>) -> Result<Setup, Failure> {
    let shown = files::shown(path);
    let doing = format!("freeze plan `{shown}`");
    let bytes = files::read(path, PLAN_BYTES_MAX as u64).map_err(|unread| unread.reading("plan", path))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage(&doing, "it is not UTF-8"))?;
    let plan = Plan::parse(&text).map_err(|faults| Failure::faults(Exit::Usage, &doing, &shown, faults))?;
    if plan.beacon.is_some() && secret.is_none() {
        let why = "a seating by a beacon needs a secret that was committed to before the round";
        let hint = "make one with `arena tournament secret`, and give it with --secret";
        return Err(Failure::usage(&doing, why).hint(hint));
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut read = PlanFiles::default();
    let components = read.components(&plan, &folder, io)?;
    let pack_pins = read.packs(&plan, &folder, io);
    if !read.wrong.is_empty() {
        return Err(Failure::usage(&doing, counted(read.wrong.len())).details(read.wrong));
    }
    let secret = match secret {
        Some(path) => read_secret(path)?,
        None => new_secret()?,
    };
    let (frozen, _) = freeze(&plan, &components, &pack_pins, &secret, &pins())
        .map_err(|why| Failure::usage(&doing, why))?;
    let frozen = FrozenFile::from(frozen);
    read.sources.frozen_sha256 = Some(frozen.sha256());
    Ok(Setup { frozen, secret, inputs: read.inputs, sources: read.sources })
}

/// Reads a frozen file and what it pins. What is missing or not what was frozen is kept for the run to
/// end with: a run that cannot begin has a receipt, too.
pub(super) fn from_frozen(
    path: &Path,
    secret: Option<&Path>,
    elsewhere: Option<&Path>,
) -> Result<Setup, Failure> {
    let shown = files::shown(path);
    let doing = format!("run `{shown}`");
    let bytes = files::read(path, FROZEN_BYTES_MAX as u64)
        .map_err(|unread| unread.reading("frozen tournament", path))?;
    let frozen =
        Frozen::parse(&bytes).map_err(|faults| Failure::faults(Exit::Blocked, &doing, &shown, faults))?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let secret = read_secret(secret.unwrap_or(&beside.join("secret")))?;
    let sources = match elsewhere {
        Some(folder) => sources_in(folder)?,
        None => read_sources(&beside.join(SOURCES))?,
    };
    let mut inputs = find(&frozen, &sources, elsewhere.is_some());
    let frozen = FrozenFile::from(frozen);
    let frozen_sha256 = frozen.sha256();
    if sources.frozen_sha256.is_some_and(|digest| digest != frozen_sha256) {
        let why = format!("the frozen file's digest is {frozen_sha256}, not the one that was frozen");
        inputs.violations.insert(0, why);
    }
    Ok(Setup { frozen, secret, inputs, sources })
}

/// What reading a plan's files gives.
#[derive(Default)]
struct PlanFiles {
    inputs: Inputs,
    sources: Sources,
    wrong: Vec<String>,
}

impl PlanFiles {
    fn components(&mut self, plan: &Plan, folder: &Path, io: &mut Io<'_>) -> Result<Vec<Component>, Failure> {
        let host = strategies::host(Seats::OnDemand, io)?;
        let mut components = Vec::new();
        for (i, planned) in plan.strategies.iter().enumerate() {
            let path = folder.join(&planned.component);
            let (component, bytes) = match strategies::component(&host, &path) {
                Ok(found) => found,
                Err(failure) => {
                    self.wrong.push(format!("/strategies/{i}/component: {}", failure.message()));
                    continue;
                }
            };
            let plays = component.world.contains(&format!(":{}/", plan.game.name()));
            if !plays {
                let world = &component.world;
                self.wrong.push(format!(
                    "/strategies/{i}/component: built for {world}; this tournament plays {}",
                    plan.game.name()
                ));
            }
            self.sources.components.push(absolute(&path));
            self.inputs.components.insert(component.sha256, bytes);
            components.push(component);
        }
        Ok(components)
    }

    fn packs(&mut self, plan: &Plan, folder: &Path, io: &mut Io<'_>) -> Vec<PackPin> {
        let PlannedScenarios::Packs(names) = &plan.scenarios else { return Vec::new() };
        let mut pinned = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let beside = folder.join(name);
            let path = if beside.is_file() { absolute(&beside) } else { PathBuf::from(name) };
            match pack(&path) {
                Ok((pin, bytes)) => {
                    if let Ok(named) = packs::find(path.as_os_str()) {
                        named.warn(io);
                    }
                    self.inputs.packs.insert(pin.sha256, bytes);
                    pinned.push(pin);
                }
                Err(failure) => {
                    self.wrong.push(format!("/matrix/packs/{i}: {}", failure.message()));
                }
            }
            self.sources.packs.push(path);
        }
        pinned
    }
}

/// A pack with its document, canonical, so that it does not matter how its file is laid out.
fn pack(path: &Path) -> Result<(PackPin, Vec<u8>), Failure> {
    let named = packs::find(path.as_os_str())?;
    let document = named.pack.document();
    let source = packs::source(path.as_os_str())?;
    if named.pack.turns() > PACK_TURNS_MAX {
        let why = format!("it has {} turns; a tournament plays at most {PACK_TURNS_MAX}", named.pack.turns());
        return Err(Failure::usage(format_args!("use pack `{}`", named.shown), why));
    }
    let pin = PackPin {
        pack_id: document.pack_id.clone(),
        pack_version: document.pack_version.clone(),
        sha256: named.pack.sha256(),
    };
    Ok((pin, source))
}

/// What `frozen`, a file in `beside`, pins: found by digest in the folder `elsewhere`, or where it was when the
/// plan was frozen.
pub(crate) fn parts(frozen: &Frozen, beside: &Path, elsewhere: Option<&Path>) -> Result<Inputs, Failure> {
    let sources = match elsewhere {
        Some(folder) => sources_in(folder)?,
        None => read_sources(&beside.join(SOURCES))?,
    };
    Ok(find(frozen, &sources, elsewhere.is_some()))
}

/// What the frozen file pins, from where it was.
fn find(frozen: &Frozen, sources: &Sources, by_digest: bool) -> Inputs {
    let mut inputs = Inputs::default();
    let read = |path: &Path, limit: u64| files::read(path, limit).ok();
    let mut found: BTreeMap<Digest, Vec<u8>> = BTreeMap::new();
    if by_digest {
        for path in &sources.components {
            if let Some(bytes) = read(path, V1.component_bytes_max) {
                found.insert(Digest::of(&bytes), bytes);
            }
        }
    }
    for pin in &frozen.strategies {
        let path = sources.components.get(pin.index as usize).filter(|_| !by_digest);
        let bytes = match path {
            Some(path) => read(path, V1.component_bytes_max),
            None => found.get(&pin.sha256).cloned(),
        };
        let name = arena_engine::Excerpt { text: &pin.name, max: 64 };
        let place = path.map_or_else(String::new, |path| format!(" ({})", files::shown(path)));
        let of = format!("strategy {} `{name}`{place}", pin.index);
        match bytes {
            None => inputs.violations.push(format!("the component of {of} is missing")),
            Some(bytes) if Digest::of(&bytes) != pin.sha256 => {
                let now = Digest::of(&bytes);
                inputs.violations.push(format!(
                    "the component of {of} has changed since it was frozen: sha256 {now}, frozen {}",
                    pin.sha256
                ));
            }
            Some(bytes) => drop(inputs.components.insert(pin.sha256, bytes)),
        }
    }
    find_packs(frozen, sources, &mut inputs);
    inputs
}

fn find_packs(frozen: &Frozen, sources: &Sources, inputs: &mut Inputs) {
    if frozen.game != Game::Campus {
        return;
    }
    let found: BTreeMap<Digest, Vec<u8>> = sources
        .packs
        .iter()
        .filter_map(|path| pack(path).ok())
        .map(|(pin, bytes)| (pin.sha256, bytes))
        .collect();
    let pins = frozen.matchups.iter().filter_map(|matchup| match &matchup.scenario {
        Scenario::Campus(pin) => Some((pin.sha256, pin)),
        Scenario::Matrix(_) => None,
    });
    for (sha256, pin) in pins.collect::<BTreeMap<_, _>>() {
        match found.get(&sha256) {
            Some(bytes) => drop(inputs.packs.insert(sha256, bytes.clone())),
            None => {
                let id = arena_engine::Excerpt { text: &pin.pack_id, max: 64 };
                inputs.violations.push(format!(
                    "pack `{id}` has changed since it was frozen, or is missing: frozen as sha256 {sha256}"
                ));
            }
        }
    }
}

fn read_sources(path: &Path) -> Result<Sources, Failure> {
    let cannot = |why: String| {
        Failure::usage(format_args!("read `{}`", files::shown(path)), why)
            .hint("give the folder with the components and packs with --files")
    };
    let bytes = files::read(path, 16 << 20).map_err(|unread| cannot(unread.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|why| cannot(why.to_string()))
}

/// Every component and pack in a folder; what is what, their digests say.
fn sources_in(folder: &Path) -> Result<Sources, Failure> {
    let components = strategies::in_folder(folder, "wasm")?;
    let packs = strategies::in_folder(folder, "json").unwrap_or_default();
    let small =
        |path: &PathBuf| std::fs::metadata(path).is_ok_and(|about| about.len() <= DOCUMENT_BYTES_MAX as u64);
    let built_in = packs::BUILT_IN.iter().map(|built_in| PathBuf::from(built_in.name));
    let packs = packs.into_iter().filter(small).chain(built_in).collect();
    Ok(Sources { frozen_sha256: None, components, packs })
}

/// The secret in a file: its 32 bytes, or 64 hexadecimal digits.
pub(super) fn read_secret(path: &Path) -> Result<Secret, Failure> {
    let doing = format!("read secret `{}`", files::shown(path));
    let bytes = files::read(path, 128).map_err(|unread| {
        Failure::usage(&doing, unread).hint("`arena tournament freeze` writes it; name it with --secret")
    })?;
    if let Ok(bytes) = <[u8; 32]>::try_from(bytes.as_slice()) {
        return Ok(Secret::from_bytes(bytes));
    }
    let text = std::str::from_utf8(&bytes).ok().map(|text| text.trim().to_ascii_lowercase());
    let digest = text.and_then(|text| text.parse::<Digest>().ok());
    let wrong = || Failure::usage(&doing, "a secret is 32 bytes, or 64 hexadecimal digits");
    digest.map(|digest| Secret::from_bytes(*digest.as_bytes())).ok_or_else(wrong)
}

/// A secret that nobody knows.
pub(super) fn new_secret() -> Result<Secret, Failure> {
    luck::secret_bytes().map(Secret::from_bytes)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn counted(count: usize) -> String {
    if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") }
}

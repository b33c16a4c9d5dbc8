//! The gate before anything is compiled: cheapest check first, everything that can be told told at
//! once. The same function answers an author's `arena check` and a server's submission.

mod experiment;
mod interface;
mod shape;
mod stamp;

use std::fmt;

use arena_canon::Digest;
use arena_engine::Excerpt;
use arena_engine::limits::{Limits, V1};
use wasmparser::types::TypesRef;

use crate::config::PARTS;
use crate::game::{Game, VERSION};
use shape::Shape;

pub(crate) use stamp::Stamp;

pub use experiment::{AdmittedExperiment, EXPERIMENT_WORLD, admit_experiment};

/// A component that may be compiled. Only [`admit`] makes one.
#[derive(Debug, Clone)]
pub struct Admitted {
    bytes: Vec<u8>,
    digest: Digest,
    game: Game,
    imports: Vec<String>,
}

/// Every reason a component is refused; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// In the order of the checks.
    pub refusals: Vec<Refusal>,
}

/// One reason a component is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its stable name, as `admit.too_large`.
    pub code: &'static str,
    /// What is wrong, with the value and the limit.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, refusal) in self.refusals.iter().enumerate() {
            let line_break = if i == 0 { "" } else { "\n" };
            write!(f, "{line_break}{}: {}", refusal.code, refusal.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}

/// What a strategy may import beside its game's host, for messages.
const ALLOWED_WASI: &str = "WASI 0.2 cli, io, clocks, random, filesystem, sockets (denied)";
const WASI: [&str; 6] =
    ["wasi:cli/", "wasi:io/", "wasi:clocks/", "wasi:random/", "wasi:filesystem/", "wasi:sockets/"];

/// Admits a component, or says everything that is wrong with it. Nothing is compiled.
pub fn admit(bytes: &[u8]) -> Result<Admitted, Rejection> {
    admit_under(bytes, &V1).map_err(|refusals| Rejection { refusals })
}

fn admit_under(bytes: &[u8], limits: &Limits) -> Result<Admitted, Vec<Refusal>> {
    check_size(bytes, limits).map_err(|refusal| vec![refusal])?;
    check_layer(bytes).map_err(|refusal| vec![refusal])?;
    let (shape, types) = shape::read(bytes).map_err(|refusal| vec![refusal])?;
    let mut refusals = Vec::new();
    check_counts(&shape, limits, &mut refusals);
    let game = check_exports(&shape, types.as_ref(), &mut refusals);
    check_imports(&shape, game, types.as_ref(), &mut refusals);
    check_adapters(&shape, &mut refusals);
    let (Some(game), true) = (game, refusals.is_empty()) else { return Err(refusals) };
    let imports = shape.imports.into_iter().map(|import| import.name).collect();
    Ok(Admitted { bytes: bytes.to_vec(), digest: Digest::of(bytes), game, imports })
}

impl Admitted {
    /// Digest of the component's bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The game it plays.
    pub fn game(&self) -> Game {
        self.game
    }

    /// The world it plays in.
    pub fn world(&self) -> &'static str {
        self.game.world()
    }

    /// Names of everything it imports, in its own order.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Size of the component in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The linker it is seated with: `lean`, or `wasi` if it imports WASI.
    pub fn linker(&self) -> &'static str {
        self.stamp().linker()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { plays: Some(self.game), wasi: import_wasi(&self.imports) }
    }

    /// The component's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn import_wasi(imports: &[String]) -> bool {
    imports.iter().any(|name| name.starts_with("wasi:"))
}

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>, hint: impl Into<Option<&'static str>>) -> Self {
        Self { code, message: message.into(), hint: hint.into().map(str::to_owned) }
    }
}

fn check_size(bytes: &[u8], limits: &Limits) -> Result<(), Refusal> {
    let (size, most) = (bytes.len() as u64, limits.component_bytes_max);
    if size > most {
        let message =
            format!("the component is {size} bytes; the limit is {most} (limits {})", limits.version);
        let hint = "build with `opt-level = \"s\"` and `strip = \"debuginfo\"`";
        return Err(Refusal::new("admit.too_large", message, hint));
    }
    Ok(())
}

fn check_layer(bytes: &[u8]) -> Result<(), Refusal> {
    let refused = |code, message: &str, hint| Err(Refusal::new(code, message, hint));
    match bytes {
        [] => refused("admit.not_wasm", "the file is empty", "build the strategy with `arena build`"),
        [b'\0', b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => Ok(()),
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => refused(
            "admit.core_module",
            "this is a core module, not a component",
            "turn it into a component with `arena build FILE.wasm`, or build the project with `arena build`",
        ),
        [b'\0', b'a', b's', b'm', ..] => refused(
            "admit.not_wasm",
            "this is WebAssembly of a version or layer that is not known here",
            "build the strategy with `arena build`",
        ),
        [b'(', ..] => refused(
            "admit.not_wasm",
            "this is the text format",
            "turn it into binary first, for example with `wasm-tools parse`",
        ),
        _ => refused(
            "admit.not_wasm",
            "this is not WebAssembly: it does not start with \\0asm",
            "build the strategy with `arena build`",
        ),
    }
}

fn check_counts(shape: &Shape, limits: &Limits, refusals: &mut Vec<Refusal>) {
    let mut at_most = |code, what: &str, found: u64, most: u64, hint: Option<&'static str>| {
        if found > most {
            let message = format!("{what}: {found}; the limit is {most} (limits {})", limits.version);
            refusals.push(Refusal::new(code, message, hint));
        }
    };
    let parts = [
        ("core instances", shape.core_instances, PARTS.core_instances),
        ("memories", shape.memories, PARTS.memories),
        ("tables", shape.tables, PARTS.tables),
        ("component instances", shape.component_instances, PARTS.component_instances),
        ("lifted and lowered functions", shape.canonical_functions, PARTS.canonical_functions),
        ("resource types", shape.resource_types, PARTS.resource_types),
        ("functions, globals, imports and segments", shape.definitions_max, PARTS.definitions),
        ("parameters or results of one type", shape.values_max, PARTS.values_per_type),
    ];
    for (what, found, most) in parts {
        at_most("admit.too_many_parts", what, found, most.into(), None);
    }
    let less = Some("ask for less at the start and grow when needed");
    let memory = limits.memory_bytes_max;
    at_most("admit.memory_too_large", "bytes of memory at the start", shape.memory_bytes_min, memory, less);
    let elements = limits.table_elements_max.into();
    at_most("admit.table_too_large", "table elements at the start", shape.table_elements_min, elements, less);
}

/// The game whose player is exported. There must be one, and its types must be this host's.
fn check_exports(shape: &Shape, types: TypesRef<'_>, refusals: &mut Vec<Refusal>) -> Option<Game> {
    let players = |game: Game| shape.exports.iter().filter(move |it| it.name.starts_with(game.player()));
    // A component may have been built for several versions; ours is the one that counts.
    let best =
        |game| players(game).find(|it| other_version(game, &it.name).is_none()).or(players(game).next());
    let [campus, matrix] = Game::ALL.map(best);
    let (game, export) = match (campus, matrix) {
        (Some(export), None) => (Game::Campus, export),
        (None, Some(export)) => (Game::Matrix, export),
        (Some(campus), Some(matrix)) => {
            refusals.push(two_games(&campus.name, &matrix.name));
            return None;
        }
        (None, None) => {
            refusals.push(no_game(shape));
            return None;
        }
    };
    if let Some(refusal) = other_version(game, &export.name) {
        refusals.push(refusal);
    } else if let Err(difference) = interface::check_player(game, types, export.instance) {
        refusals.push(Refusal::new("admit.wrong_type", difference, "build against the WIT of this host"));
    }
    Some(game)
}

fn no_game(shape: &Shape) -> Refusal {
    if experiment::is_experiment(shape) {
        let message = format!("it is an experiment ({EXPERIMENT_WORLD}), which plays no game");
        return Refusal::new(
            "admit.wrong_world",
            message,
            "claims run experiments, see `arena claim --help`",
        );
    }
    let names: Vec<String> = shape.exports.iter().map(|export| quoted(&export.name)).take(8).collect();
    let found = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let players = Game::ALL.map(|game| format!("{}{VERSION}", game.player())).join(" or ");
    let message = format!("it exports {found}; a strategy exports {players}");
    Refusal::new("admit.wrong_world", message, "implement the world with arena-sdk")
}

fn two_games(one: &str, other: &str) -> Refusal {
    let message = format!("it exports {} and {}; a strategy plays one game", quoted(one), quoted(other));
    Refusal::new("admit.wrong_world", message, "build one component for each game")
}

fn check_imports(shape: &Shape, game: Option<Game>, types: TypesRef<'_>, refusals: &mut Vec<Refusal>) {
    for import in &shape.imports {
        let name = import.name.as_str();
        let Some(instance) = import.instance else {
            refusals.push(not_allowed(game, &format!("{} (not an interface)", quoted(name))));
            continue;
        };
        // Where the exports do not tell the game, the import is looked at by itself.
        let own = Game::ALL.into_iter().find(|it| name.starts_with(it.package()));
        match own {
            Some(own) if game.is_none_or(|game| game == own) => {
                check_own_import(own, name, instance, types, refusals);
            }
            None if is_allowed_wasi(name) => {}
            _ => refusals.push(not_allowed(game, &quoted(name))),
        }
    }
}

/// A released WASI 0.2 of the packages that are offered or denied here; drafts had other types.
fn is_allowed_wasi(name: &str) -> bool {
    let Some((interface, version)) = name.split_once('@') else { return false };
    let patch = version.strip_prefix("0.2.").unwrap_or_default();
    let released = !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
    released && WASI.iter().any(|package| interface.starts_with(package))
}

fn check_own_import(
    game: Game,
    name: &str,
    instance: wasmparser::component_types::ComponentInstanceTypeId,
    types: TypesRef<'_>,
    refusals: &mut Vec<Refusal>,
) {
    let interface = name[game.package().len()..].split('@').next().unwrap_or_default();
    if let Some(refusal) = other_version(game, name) {
        // The export has said it already; one sentence about versions is enough.
        if !refusals.contains(&refusal) {
            refusals.push(refusal);
        }
        return;
    }
    let checked = match interface {
        "host" => interface::check_host(game, types, instance),
        "types" => interface::check_types(types, instance),
        _ => return refusals.push(not_allowed(Some(game), &quoted(name))),
    };
    if let Err(difference) = checked {
        refusals.push(Refusal::new("admit.wrong_type", difference, "build against the WIT of this host"));
    }
}

fn other_version(game: Game, name: &str) -> Option<Refusal> {
    let package = game.package().trim_end_matches('/');
    let built_for = match name.split_once('@') {
        Some((_, VERSION)) => return None,
        Some((_, version)) => format!("{package}@{}", Excerpt { text: version, max: 40 }),
        None => format!("{package} without a version"),
    };
    let message = format!("built for {built_for}; this host plays {VERSION}");
    Some(Refusal::new("admit.other_version", message, "rebuild with the SDK of this host"))
}

fn not_allowed(game: Option<Game>, shown: &str) -> Refusal {
    let hosts: Vec<String> = Game::ALL
        .into_iter()
        .filter(|it| game.is_none_or(|game| game == *it))
        .map(|game| format!("{}host", game.package()))
        .collect();
    let hosts = hosts.join(" or ");
    let message = format!("imports {shown}; a strategy may import {hosts} and {ALLOWED_WASI}");
    let hint = "build with `arena build`, or disable it in your language's component tool";
    Refusal::new("admit.import_not_allowed", message, hint)
}

fn check_adapters(shape: &Shape, refusals: &mut Vec<Refusal>) {
    if let Some(adapter) = shape.adapter {
        let message = format!("{adapter}: what passes between inner components would cost no fuel");
        let hint = "link the parts into one core module and componentize that";
        refusals.push(Refusal::new("admit.inner_adapter", message, hint));
    }
}

fn quoted(name: &str) -> String {
    Excerpt { text: name, max: 120 }.to_string()
}

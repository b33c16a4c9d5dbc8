use std::fs;
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_engine::Excerpt;
use arena_engine::limits::V1;
use arena_sandbox::{EXPERIMENT_WORLD, Game, Rejection, admit, admit_experiment};
use serde::Serialize;
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing, shown};
use crate::ink::Tone;
use crate::io::Io;
use crate::strategies;
use crate::toolchain::{self, Crate, Places, Settings, Workspace};
use crate::view::numbers::count;

/// Build strategies into components, and check them
///
/// SOURCE is a Rust package, a workspace of them, or a core module (*.wasm) that another language's
/// compiler made. A package is compiled with cargo for wasm32-unknown-unknown. The component is
/// written only if the sandbox admits it, as `arena check` would say.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Folders with a Cargo.toml, or modules
    #[arg(value_name = "SOURCE", default_value = ".")]
    sources: Vec<PathBuf>,

    /// Where to write: a folder, or a file (*.wasm) for a single component [default: PACKAGE.wasm in
    /// the package's target folder, MODULE.component.wasm beside a module]
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,

    /// Keep debug information, so that a trap tells file and line
    #[arg(long)]
    debug: bool,

    /// Bytes for the stack in a strategy's memory; less of it is a faster fresh start
    #[arg(long, value_name = "BYTES", default_value_t = STACK_BYTES, value_parser = stack_bytes())]
    stack: u32,

    #[command(flatten)]
    output: Output,
}

/// Room for some hundred calls deep. The compiler's own default is 1 MiB.
const STACK_BYTES: u32 = 64 << 10;

fn stack_bytes() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(4_096..=16 << 20)
}

const AFTER_HELP: &str = "\
Examples:
  arena build my-strategy                        one package
  arena build guest-examples --out target/guests a workspace: one component for each package
  arena build module.wasm --out strategy.wasm    what another compiler made

The same sources give the same bytes in every folder, with the same compiler. Flags for the compiler
belong into .cargo/config.toml, [target.wasm32-unknown-unknown]; RUSTFLAGS is not used.

Exit code 20: a source does not compile, is no strategy, or is not admitted. 11: there is no cargo, no
compiler for the target, or a dependency cannot be fetched. 2: there is nothing to build.";

/// What one argument stands for.
enum Source {
    Module(PathBuf),
    Crates(Workspace, Vec<Crate>),
}

/// A component that was written.
#[derive(Debug, Serialize)]
struct Built {
    name: String,
    path: String,
    size_bytes: usize,
    sha256: Digest,
    world: &'static str,
    /// Nothing, if it is an experiment.
    #[serde(skip)]
    game: Option<Game>,
    imports: Vec<String>,
    /// The source was a component already.
    unchanged: bool,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let sources = sort(&args.sources)?;
    let mut paths = destinations(&sources, args.out.as_deref())?.into_iter();
    if std::env::var_os("RUSTFLAGS").is_some_and(|flags| !flags.is_empty()) {
        io.warn("RUSTFLAGS is not used for strategies; .cargo/config.toml is the place for their flags");
    }
    let mut outcomes = Vec::new();
    for source in &sources {
        let paths: Vec<_> = paths.by_ref().take(source.names().len()).collect();
        match source {
            Source::Module(module) => outcomes.push(finish(&source.names()[0], module, &paths[0])),
            Source::Crates(workspace, crates) => {
                outcomes.extend(compile(workspace, crates, &paths, args, io));
            }
        }
    }
    Ok(report(outcomes, args.output, io))
}

/// Compiles packages of one workspace and finishes each.
fn compile(
    workspace: &Workspace,
    crates: &[Crate],
    paths: &[PathBuf],
    args: &Args,
    io: &mut Io<'_>,
) -> Vec<Result<Built, Failure>> {
    io.flush();
    let program = io.env().program.clone();
    let settings = Settings { debug: args.debug, stack_bytes: args.stack, program: program.as_deref() };
    let compiled = match workspace.compile(crates, settings) {
        Ok(compiled) => compiled,
        Err(failure) => return vec![Err(failure)],
    };
    let mut outcomes = Vec::new();
    for ((it, module), path) in crates.iter().zip(&compiled.modules).zip(paths) {
        let built = finish(&it.name, module, path);
        if built.is_ok() {
            warn_of_places(&it.name, path, &compiled.places, io);
        }
        outcomes.push(built);
    }
    outcomes
}

/// Makes a component of a module, has it admitted, and writes it.
fn finish(name: &str, module: &Path, path: &Path) -> Result<Built, Failure> {
    let name = Excerpt::line(name).to_string();
    let module =
        files::read(module, V1.component_bytes_max).map_err(|unread| unread.reading("module", module))?;
    let encoded = toolchain::encode(&name, &module)?;
    let built = admitted(name, path, &encoded.bytes, encoded.unchanged)?;
    files::write(path, &encoded.bytes, Existing::Replace)?;
    Ok(built)
}

/// What the component is, if the sandbox takes it as a strategy or as an experiment.
fn admitted(name: String, path: &Path, bytes: &[u8], unchanged: bool) -> Result<Built, Failure> {
    let built = |world, game, sha256, imports: &[String]| Built {
        name: name.clone(),
        path: shown(path),
        size_bytes: bytes.len(),
        sha256,
        world,
        game,
        imports: imports.to_vec(),
        unchanged,
    };
    if let Ok(experiment) = admit_experiment(bytes) {
        return Ok(built(EXPERIMENT_WORLD, None, experiment.digest(), experiment.imports()));
    }
    let strategy = admit(bytes).map_err(|rejection| refused(&name, &rejection))?;
    Ok(built(strategy.world(), Some(strategy.game()), strategy.digest(), strategy.imports()))
}

fn refused(name: &str, rejection: &Rejection) -> Failure {
    let details = rejection.refusals.iter().flat_map(strategies::refusal);
    Failure::new(Exit::Rejected, format_args!("use the component of `{name}`"), "it is refused")
        .details(details)
}

/// What `file!()` and panics say is renamed; what a source spells out itself is not.
fn warn_of_places(name: &str, path: &Path, places: &Places, io: &mut Io<'_>) {
    let bytes = fs::read(path).unwrap_or_default();
    for place in places.found_in(&bytes) {
        let (name, place) = (Excerpt::line(name), Excerpt::line(place));
        io.warn(format_args!("`{name}` names `{place}`, so it has other bytes when it is built elsewhere"));
    }
}

fn report(outcomes: Vec<Result<Built, Failure>>, output: Output, io: &mut Io<'_>) -> Exit {
    let (mut built, mut failed, mut exit) = (Vec::new(), Vec::new(), Exit::Success);
    for outcome in outcomes {
        match outcome {
            Ok(component) => built.push(component),
            Err(failure) => {
                io.fail(&failure);
                exit = exit.or_worse(failure.exit());
                failed.push(json!({ "exit": failure.exit(), "message": failure.message() }));
            }
        }
    }
    if output.json {
        io.print_json(&json!({ "components": built, "failures": failed }));
        return exit;
    }
    let ink = io.ink();
    for component in &built {
        let Built { path, size_bytes, sha256, .. } = component;
        let size = count(*size_bytes as u64);
        let about = ink.paint(Tone::Quiet, format_args!("{size} bytes  sha256:{sha256}"));
        io.print(format_args!("{path}  {about}"));
        if component.unchanged {
            io.talk(format_args!("`{}` is a component already, and was copied", component.name));
        }
    }
    if let ([component], Exit::Success) = (built.as_slice(), exit) {
        let path = quoted(&component.path);
        io.talk(match component.game {
            Some(Game::Campus) => format!("next: arena play two-spikes {path} --watch"),
            Some(Game::Matrix) | None => format!("next: arena check {path}"),
        });
    }
    exit
}

/// A path as it can be typed into a shell.
pub(super) fn quoted(path: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Sorts the arguments: packages of one workspace are compiled together.
fn sort(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let Some(folder) = package_folder(path)? else {
            sources.push(Source::Module(path.clone()));
            continue;
        };
        let known = sources.iter_mut().find_map(|source| match source {
            Source::Crates(workspace, crates) if workspace.has(&folder) => Some((workspace, crates)),
            _ => None,
        });
        if let Some((workspace, crates)) = known {
            let more = workspace.strategies(&folder)?;
            crates.extend(more.into_iter().filter(|it| !crates.contains(it)).collect::<Vec<_>>());
        } else {
            let workspace = Workspace::around(&folder)?;
            let crates = workspace.strategies(&folder)?;
            sources.push(Source::Crates(workspace, crates));
        }
    }
    Ok(sources)
}

/// The folder of the Cargo.toml that `path` stands for; none for a module.
fn package_folder(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let about = fs::metadata(path).map_err(|why| files::Unread::Io(why).reading("source", path))?;
    if !about.is_dir() {
        let is_manifest = path.file_name().is_some_and(|name| name == MANIFEST);
        // `Cargo.toml` alone has an empty parent.
        return Ok(is_manifest.then(|| path.parent().unwrap_or(path).join(".")));
    }
    if path.join(MANIFEST).is_file() {
        return Ok(Some(path.to_owned()));
    }
    let failure =
        Failure::usage(format_args!("build `{}`", shown(path)), format_args!("it has no {MANIFEST}"));
    let real = path.canonicalize().unwrap_or_default();
    Err(match real.ancestors().skip(1).find(|folder| folder.join(MANIFEST).is_file()) {
        Some(above) => failure.hint(format_args!("`{}` has one", shown(above))),
        None => failure.hint("`arena new NAME` makes a strategy that builds"),
    })
}

const MANIFEST: &str = "Cargo.toml";

impl Source {
    /// One for each component.
    fn names(&self) -> Vec<String> {
        match self {
            Self::Module(path) => vec![path.file_stem().unwrap_or_default().to_string_lossy().into_owned()],
            Self::Crates(_, crates) => crates.iter().map(|it| it.name.clone()).collect(),
        }
    }

    fn default_paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Module(path) => vec![path.with_extension("component.wasm")],
            Self::Crates(workspace, _) => {
                let target = relative(workspace.target_directory());
                self.names().iter().map(|name| target.join(file_name(name))).collect()
            }
        }
    }
}

fn file_name(name: &str) -> String {
    format!("{name}.wasm")
}

/// As short as it can be typed here.
fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}

/// Where each component goes, in the order of the sources; checked before anything is compiled.
fn destinations(sources: &[Source], out: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let names: Vec<_> = sources.iter().flat_map(Source::names).collect();
    let paths: Vec<PathBuf> = match out {
        None => {
            let paths: Vec<_> = sources.iter().flat_map(Source::default_paths).collect();
            // Cargo has not made its own folder yet.
            paths.iter().filter_map(|path| path.parent()).try_for_each(make_folder)?;
            paths
        }
        Some(out) if is_file(out) && names.len() == 1 => vec![out.to_owned()],
        Some(out) if is_file(out) => {
            let why = format!("that is one file, and there are {} components", names.len());
            return Err(Failure::usage(format_args!("write to `{}`", shown(out)), why).hint("name a folder"));
        }
        Some(out) => {
            make_folder(out)?;
            names.iter().map(|name| out.join(file_name(name))).collect()
        }
    };
    for (at, path) in paths.iter().enumerate() {
        files::may_write(path, Existing::Replace)?;
        if paths[..at].contains(path) {
            let doing = format!("write `{}`", shown(path));
            return Err(
                Failure::usage(doing, "two of the sources have this name").hint("build them one by one")
            );
        }
        let is_input =
            |source: &Source| matches!(source, Source::Module(module) if is_same_file(module, path));
        if sources.iter().any(is_input) {
            return Err(Failure::usage(format_args!("write `{}`", shown(path)), "it is one of the sources"));
        }
    }
    Ok(paths)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// `--out` names a file by its ending, unless a folder of that name is there.
fn is_file(out: &Path) -> bool {
    out.extension().is_some_and(|ending| ending == "wasm") && !out.is_dir()
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|why| {
        Failure::usage(format_args!("make the folder `{}`", shown(folder)), files::plain(&why))
    })
}

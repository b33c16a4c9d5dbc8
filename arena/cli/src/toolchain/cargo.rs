//! What cargo is asked: which packages there are, and to compile them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use arena_engine::Excerpt;
use serde::Deserialize;

use super::compiler::Compiler;
use super::places::Places;
use super::{TARGET, wrapper};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;

/// What `cargo metadata` prints, as far as it matters.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    pub(super) workspace_members: Vec<String>,
    #[serde(default)]
    pub(super) workspace_default_members: Vec<String>,
    pub(super) workspace_root: PathBuf,
    pub(super) target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) id: String,
    pub(super) source: Option<String>,
    pub(super) manifest_path: PathBuf,
    pub(super) targets: Vec<Target>,
    #[serde(default)]
    pub(super) dependencies: Vec<Dependency>,
}

/// What a package asks of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Dependency {
    name: String,
    #[serde(default)]
    features: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    crate_types: Vec<String>,
}

impl Package {
    pub(super) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    pub(super) fn is_from_registry(&self) -> bool {
        self.source.as_ref().is_some_and(|source| !source.starts_with("git+"))
    }

    fn is_strategy(&self) -> bool {
        self.targets.iter().any(|target| target.crate_types.iter().any(|it| it == CDYLIB))
    }
}

/// The crate type that gives a WebAssembly module.
const CDYLIB: &str = "cdylib";
const MAKE_IT_ONE: &str = "add to its Cargo.toml:  [lib]  crate-type = [\"cdylib\", \"rlib\"]";

/// Packages that are built together.
#[derive(Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
}

/// A package that gives a strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crate {
    pub(crate) name: String,
    id: String,
    /// Dependencies with the features that are asked of them.
    asks: Vec<Dependency>,
}

/// How to compile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    /// Keep what names the file and line of every instruction.
    pub(crate) debug: bool,
    /// Room for the stack in the module's memory.
    pub(crate) stack_bytes: u32,
    /// The program of [`super::stand_in_for_rustc`], if this process is one.
    pub(crate) program: Option<&'a Path>,
}

/// A module that cargo made, and where the sources were.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// One module per crate, in the order of the crates.
    pub(crate) modules: Vec<PathBuf>,
    pub(crate) places: Places,
}

impl Workspace {
    /// The workspace that `folder`, which has a Cargo.toml, belongs to.
    pub(crate) fn around(folder: &Path) -> Result<Self, Failure> {
        let metadata = metadata(folder, &["--no-deps"])?.ok_or_else(|| {
            let doing = format!("read the package in `{}`", files::shown(folder));
            Failure::usage(doing, "cargo does not accept its Cargo.toml, see above")
        })?;
        Ok(Self { metadata })
    }

    /// Whether `folder` is the workspace's own or one of its packages'.
    pub(crate) fn has(&self, folder: &Path) -> bool {
        is_same(&self.metadata.workspace_root, folder) || self.package_in(folder).is_some()
    }

    /// Where cargo puts what it makes.
    pub(crate) fn target_directory(&self) -> &Path {
        &self.metadata.target_directory
    }

    /// The strategies that `folder` stands for: its own package, or all that its workspace has.
    pub(crate) fn strategies(&self, folder: &Path) -> Result<Vec<Crate>, Failure> {
        let cannot = |why: String| Failure::usage(format_args!("build `{}`", files::shown(folder)), why);
        if let Some(package) = self.package_in(folder) {
            if !package.is_strategy() {
                let why = format!("package `{}` is not a {CDYLIB}, so it gives no module", package.name);
                return Err(cannot(why).hint(MAKE_IT_ONE));
            }
            return Ok(vec![package.strategy()]);
        }
        if !is_same(&self.metadata.workspace_root, folder) {
            return Err(cannot("its Cargo.toml has no package and is no workspace".to_owned()));
        }
        let strategies: Vec<_> =
            self.metadata.packages.iter().filter(|it| self.is_member(it) && it.is_strategy()).collect();
        if strategies.is_empty() {
            return Err(cannot(format!("no package of this workspace is a {CDYLIB}")).hint(MAKE_IT_ONE));
        }
        Ok(strategies.into_iter().map(Package::strategy).collect())
    }

    fn is_member(&self, package: &Package) -> bool {
        let Metadata { workspace_default_members: default, workspace_members: all, .. } = &self.metadata;
        let members = if default.is_empty() { all } else { default };
        members.contains(&package.id)
    }

    fn package_in(&self, folder: &Path) -> Option<&Package> {
        self.metadata.packages.iter().find(|package| is_same(package.folder(), folder))
    }

    /// Compiles `crates` of this workspace, while cargo talks on stderr.
    pub(crate) fn compile(&self, crates: &[Crate], settings: Settings<'_>) -> Result<Compiled, Failure> {
        let root = &self.metadata.workspace_root;
        let compiler = Compiler::find(root)?;
        let about = metadata(root, &["--filter-platform", TARGET])?.ok_or_else(|| {
            Failure::new(Exit::Blocked, doing(crates), "cargo cannot find what it depends on, see above")
        })?;
        let places = Places::of(&about, &compiler)?;
        let mut messages = Vec::new();
        for crates in alike(crates) {
            let (status, told) = run(command(root, &crates, settings, &compiler, &places), &crates)?;
            if !status.success() {
                return Err(not_compiled(&crates, status, &told));
            }
            messages.extend(told);
        }
        let modules: Result<_, _> = crates.iter().map(|it| it.module_among(&messages)).collect();
        Ok(Compiled { modules: modules?, places })
    }
}

impl Package {
    fn strategy(&self) -> Crate {
        let mut asks = self.dependencies.clone();
        asks.retain(|dependency| !dependency.features.is_empty());
        asks.sort();
        Crate { name: self.name.clone(), id: self.id.clone(), asks }
    }
}

/// Crates that ask the same of their dependencies, together. Cargo gives a dependency the features that any
/// of the packages it builds at once asks for, and a component may not depend on what is built beside it.
fn alike(crates: &[Crate]) -> Vec<Vec<Crate>> {
    let mut groups: BTreeMap<&[Dependency], Vec<Crate>> = BTreeMap::new();
    for it in crates {
        groups.entry(&it.asks).or_default().push(it.clone());
    }
    groups.into_values().collect()
}

/// A line that cargo prints for programs.
#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    target: Option<Target>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

impl Crate {
    fn module_among(&self, messages: &[Message]) -> Result<PathBuf, Failure> {
        let is_ours = |message: &&Message| {
            let is_module = |target: &Target| target.crate_types.iter().any(|it| it == CDYLIB);
            message.package_id == self.id && message.target.as_ref().is_some_and(is_module)
        };
        let files = messages.iter().filter(is_ours).flat_map(|message| &message.filenames);
        let module = files.clone().find(|file| file.extension().is_some_and(|it| it == "wasm"));
        module.cloned().ok_or_else(|| {
            Failure::internal(format_args!("build `{}`", self.name), "cargo did not say where the module is")
        })
    }
}

/// Both may be spelt through links.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

/// Cargo itself when arena runs below it, so that both mean the same toolchain.
fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}

/// `None` where cargo has said on stderr why not.
fn metadata(folder: &Path, more: &[&str]) -> Result<Option<Metadata>, Failure> {
    let args = ["metadata", "--format-version=1"];
    let output = cargo(folder).args(args).args(more).output().map_err(|why| not_started(&why))?;
    if !output.status.success() {
        return Ok(None);
    }
    let read = serde_json::from_slice(&output.stdout);
    read.map(Some).map_err(|why| Failure::internal("read what `cargo metadata` says", why))
}

fn command(
    root: &Path,
    crates: &[Crate],
    settings: Settings<'_>,
    compiler: &Compiler,
    places: &Places,
) -> Command {
    let mut command = cargo(root);
    command.args(["build", "--release", "--lib", "--target", TARGET]);
    command.args(["--message-format", "json-render-diagnostics"]);
    // Added to the flags of a `.cargo/config.toml` for this target. Those in the shell's environment
    // are meant for programs of this machine and would replace all others.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let mut flags = places.flags();
    flags.push(format!("-Clink-arg=-zstack-size={}", settings.stack_bytes));
    if settings.debug {
        // As flags and not in the profile, which would compile every macro for this machine again.
        flags.extend(["-Cdebuginfo=line-tables-only", "-Cstrip=none"].map(str::to_owned));
    }
    let flags = serde_json::Value::from(flags);
    command.arg("--config").arg(format!("target.{TARGET}.rustflags={flags}"));
    for it in crates {
        command.args(["--package", &it.id]);
    }
    if let Some(program) = settings.program {
        command.env("RUSTC_WRAPPER", program).env(wrapper::ROLE, "1");
    }
    let env: &[(&str, OsString)] = &compiler.env;
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command
}

/// Runs cargo to its end and collects what it prints for programs.
fn run(mut command: Command, crates: &[Crate]) -> Result<(ExitStatus, Vec<Message>), Failure> {
    let failed = |why: std::io::Error| Failure::internal(doing(crates), why);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|why| not_started(&why))?;
    let mut messages = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|stream| BufReader::new(stream).lines()) {
        // Lines of another form are what a build script printed.
        messages.extend(serde_json::from_str::<Message>(&line.map_err(failed)?).ok());
    }
    let status = child.wait().map_err(failed)?;
    Ok((status, messages))
}

/// Source that does not compile is its author's; a compilation that never began is not.
fn not_compiled(crates: &[Crate], status: ExitStatus, messages: &[Message]) -> Failure {
    if messages.iter().any(|message| message.reason == "build-finished") {
        Failure::new(Exit::Rejected, doing(crates), "it does not compile, see above")
    } else {
        Failure::new(Exit::Blocked, doing(crates), format_args!("cargo gave up ({status}), see above"))
    }
}

fn not_started(why: &std::io::Error) -> Failure {
    let failure = |why: &str| Failure::new(Exit::Blocked, "build a strategy", why);
    match why.kind() {
        ErrorKind::NotFound => failure("cargo is not installed, or not on the PATH")
            .hint("install Rust with rustup: https://rustup.rs"),
        _ => failure(&format!("cargo cannot be started: {why}")),
    }
}

fn doing(crates: &[Crate]) -> String {
    let names: Vec<_> = crates.iter().map(|it| format!("`{}`", Excerpt::line(&it.name))).collect();
    format!("build {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Crate, Dependency, alike};

    #[test]
    fn what_asks_for_other_features_is_built_by_itself() {
        let asking = |name: &str, features: &[&str]| {
            let features = features.iter().map(|feature| (*feature).to_owned()).collect();
            let asks = vec![Dependency { name: "arena-sdk".to_owned(), features }];
            Crate { name: name.to_owned(), id: name.to_owned(), asks }
        };
        let plain = |name: &str| Crate { asks: Vec::new(), ..asking(name, &[]) };
        let crates = [plain("a"), asking("b", &["experiment"]), plain("c"), asking("d", &["experiment"])];
        let groups = alike(&crates);
        let names: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(|it| it.name.as_str()).collect()).collect();
        assert_eq!(names, [["a", "c"], ["b", "d"]]);
    }
}

//! Compilers: who they are, which one this repository pins, and how guests are built with them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::fault::{Fault, Outcome};
use crate::repo::Repo;
use crate::run::Run;

/// The target every Rust guest is built for.
pub(crate) const GUEST_TARGET: &str = "wasm32-unknown-unknown";

/// A Rust compiler as it describes itself with `rustc -vV`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    pub(crate) release: String,
    pub(crate) commit: String,
    pub(crate) host: String,
    /// Says that it was built by somebody else from the same sources, so that its output may differ.
    pub(crate) rebuilt: bool,
}

/// How guests get their standard library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// The compiler came with the target, or rustup added it.
    Installed { by_rustup: bool },
    /// It is compiled with the guest, from the source that Debian ships beside its compiler.
    FromSource { rustc: PathBuf, linker: PathBuf },
}

/// What guests are built with on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuestToolchain {
    pub(crate) compiler: Compiler,
    pub(crate) library: Library,
}

impl Compiler {
    pub(crate) fn ask(rustc: &Path, dir: &Path) -> Outcome<Self> {
        let text = Run::new(rustc, dir).args(["-vV"]).text()?;
        Self::parse(&text)
            .ok_or_else(|| Fault::new(format!("cannot read what `{} -vV` says:\n{text}", rustc.display())))
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        Some(Self {
            release: field("release: ")?,
            commit: field("commit-hash: ")?,
            host: field("host: ")?,
            rebuilt: text.lines().next()?.contains("built from"),
        })
    }

    /// The first digits of the commit, as rustc itself prints them.
    pub(crate) fn short_commit(&self) -> &str {
        self.commit.get(..9).unwrap_or(&self.commit)
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rustc {} ({})", self.release, self.short_commit())
    }
}

impl GuestToolchain {
    /// What a child process needs in its environment to build guests this way. Nothing in the usual case.
    pub(crate) fn env(&self) -> Vec<(&'static str, OsString)> {
        match &self.library {
            Library::Installed { .. } => Vec::new(),
            Library::FromSource { rustc, linker } => vec![
                ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker.into()),
                ("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort".into()),
                ("RUSTC", rustc.into()),
                ("RUSTC_BOOTSTRAP", "1".into()),
            ],
        }
    }

    /// The compiler's program.
    pub(crate) fn rustc(&self) -> PathBuf {
        match &self.library {
            Library::Installed { .. } => usual_rustc(),
            Library::FromSource { rustc, .. } => rustc.clone(),
        }
    }

    /// Digests are recorded for compilers as their makers published them.
    pub(crate) fn is_published(&self) -> bool {
        matches!(self.library, Library::Installed { .. }) && !self.compiler.rebuilt
    }

    /// The toolchain that this repository pins, as published.
    pub(crate) fn is_pinned(&self, pinned: &str) -> bool {
        self.is_published() && self.compiler.release == pinned
    }

    /// Leaves the choice where `arena build` and the tests can read it.
    pub(crate) fn save(&self, root: &Path) -> Outcome {
        let folder = root.join("target");
        let path = folder.join("guest-toolchain.json");
        let mut text = format!("{:#}", self.record());
        text.push('\n');
        std::fs::create_dir_all(&folder).map_err(Fault::at("make", &folder))?;
        std::fs::write(&path, text).map_err(Fault::at("write", &path))
    }

    fn record(&self) -> serde_json::Value {
        let env: serde_json::Map<String, serde_json::Value> = (self.env().into_iter())
            .map(|(name, value)| (name.to_owned(), json!(value.to_string_lossy())))
            .collect();
        json!({
            "format": 1,
            "target": GUEST_TARGET,
            "via": self.via(),
            "rustc": { "release": self.compiler.release, "commit": self.compiler.commit, "host": self.compiler.host },
            "env": env,
        })
    }

    fn via(&self) -> String {
        let release = &self.compiler.release;
        match &self.library {
            Library::Installed { by_rustup: true } => format!("rustup {release}"),
            Library::Installed { by_rustup: false } => format!("rustc {release}"),
            Library::FromSource { .. } => format!("Debian's rustc-web {release}, std built from source"),
        }
    }
}

impl fmt::Display for GuestToolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{GUEST_TARGET} via {}", self.via())
    }
}

/// The compiler that cargo uses by itself.
pub(crate) fn usual_rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// The release named in `rust-toolchain.toml`.
pub(crate) fn pinned_release(repo: &Repo) -> Outcome<String> {
    let path = repo.root.join("rust-toolchain.toml");
    let text = std::fs::read_to_string(&path).map_err(Fault::at("read", &path))?;
    let table: toml::Table = text.parse().map_err(Fault::at("read", &path))?;
    let channel = table.get("toolchain").and_then(|it| it.get("channel")).and_then(toml::Value::as_str);
    channel.map(str::to_owned).ok_or_else(|| Fault::new("rust-toolchain.toml names no `toolchain.channel`"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const PUBLISHED: &str = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\n\
        commit-hash: 59807616e1fa2540724bfbac14d7976d7e4a3860\ncommit-date: 2026-04-14\n\
        host: x86_64-unknown-linux-gnu\nrelease: 1.95.0\nLLVM version: 22.1.2\n";
    const REBUILT: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
        commit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96\ncommit-date: 2026-05-25\n\
        host: x86_64-unknown-linux-gnu\nrelease: 1.96.0\nLLVM version: 22.1.8\n";

    /// The compiler that the examples in other modules' tests are about.
    pub(crate) fn published() -> GuestToolchain {
        GuestToolchain {
            compiler: Compiler::parse(PUBLISHED).expect("the sample is complete"),
            library: Library::Installed { by_rustup: true },
        }
    }

    #[test]
    fn a_published_compiler_is_recognised() {
        let toolchain = published();
        assert_eq!(toolchain.compiler.to_string(), "rustc 1.95.0 (59807616e)");
        assert!(toolchain.is_pinned("1.95.0"));
        assert!(!toolchain.is_pinned("1.96.0"));
        assert_eq!(toolchain.to_string(), "wasm32-unknown-unknown via rustup 1.95.0");
        assert_eq!(toolchain.env(), []);
    }

    /// A distribution's compiler has its maker's commit hash but another LLVM: the hash alone would mislead.
    #[test]
    fn a_rebuilt_compiler_is_not_taken_for_the_published_one() {
        let compiler = Compiler::parse(REBUILT).expect("the sample is complete");
        let toolchain = GuestToolchain { compiler, library: Library::Installed { by_rustup: false } };
        assert!(!toolchain.is_published());
        assert!(!toolchain.is_pinned("1.96.0"));
    }

    #[test]
    fn building_the_library_from_source_is_asked_for_in_the_environment() {
        let library = Library::FromSource { rustc: "/usr/bin/rustc".into(), linker: "/lld".into() };
        let toolchain = GuestToolchain { library, ..published() };
        let names: Vec<_> = toolchain.env().into_iter().map(|(name, _)| name).collect();
        assert!(
            names.contains(&"CARGO_UNSTABLE_BUILD_STD") && names.contains(&"RUSTC_BOOTSTRAP"),
            "{names:?}"
        );
        assert_eq!(toolchain.record()["env"]["RUSTC"], "/usr/bin/rustc");
        assert!(!toolchain.is_published());
    }

    #[test]
    fn half_an_answer_is_no_compiler() {
        assert_eq!(Compiler::parse("rustc 1.95.0\nrelease: 1.95.0\n"), None);
    }
}

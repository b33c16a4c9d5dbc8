//! Where things are: the checkout, cargo, the folders that the other modules fill.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::fault::{Fault, Outcome};
use crate::run::Run;

/// The checkout this runs in.
pub(crate) struct Repo {
    pub(crate) root: PathBuf,
    /// Nobody is watching: what would be skipped must fail instead.
    pub(crate) ci: bool,
    cargo: OsString,
}

/// Which build of the `arena` binary does the work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Repo {
    pub(crate) fn find() -> Outcome<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = manifest.as_deref().and_then(Path::parent).ok_or_else(|| {
            Fault::new("cannot tell where the repository is").hint("run it as `cargo xtask …`")
        })?;
        let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Ok(Self { root: root.to_path_buf(), ci, cargo })
    }

    pub(crate) fn with_nobody_watching(self) -> Self {
        Self { ci: true, ..self }
    }

    /// Cargo at the root of the repository.
    pub(crate) fn cargo<A: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        let run = Run::new(&self.cargo, &self.root).args(args);
        if self.ci { run.env("CI", "true") } else { run }
    }

    /// Cargo itself, for other places than the root.
    pub(crate) fn cargo_program(&self) -> &std::ffi::OsStr {
        &self.cargo
    }

    /// Components built from `guest-examples/`; the tests look for them here.
    pub(crate) fn guests_built(&self) -> PathBuf {
        self.root.join("target/guests")
    }

    pub(crate) fn guest_examples(&self) -> PathBuf {
        self.root.join("guest-examples")
    }

    /// Builds the product's binary and says where it is, whatever `CARGO_TARGET_DIR` says.
    pub(crate) fn build_arena(&self, profile: Profile) -> Outcome<PathBuf> {
        let release: &[&str] = if profile == Profile::Release { &["--release"] } else { &[] };
        self.cargo(["build", "--package", "arena-cli", "--bin", "arena"]).args(release).pass()?;
        self.arena(profile)
    }

    /// Where cargo puts the product's binary.
    pub(crate) fn arena(&self, profile: Profile) -> Outcome<PathBuf> {
        let folder = if profile == Profile::Release { "release" } else { "debug" };
        let name = format!("arena{}", std::env::consts::EXE_SUFFIX);
        Ok(self.cargo_target()?.join(folder).join(name))
    }

    pub(crate) fn cargo_target(&self) -> Outcome<PathBuf> {
        let text = self.cargo(["metadata", "--format-version=1", "--no-deps"]).text()?;
        let metadata: serde_json::Value = serde_json::from_str(&text)
            .map_err(|why| Fault::new(format!("cannot read the output of `cargo metadata`: {why}")))?;
        metadata["target_directory"]
            .as_str()
            .map(PathBuf::from)
            .ok_or_else(|| Fault::new("`cargo metadata` names no target directory"))
    }
}

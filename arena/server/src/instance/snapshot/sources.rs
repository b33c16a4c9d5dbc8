//! The digest of everything that decides what the bytes of a snapshot mean, as the build script takes it.
//!
//! A state is made by the rules of this crate and of all crates below it, and of types that any of them may change. Which
//! of their files those are is nothing that a list keeps right, so all sources of all of them are covered, with the lock
//! file, that pins everybody else's. What is left out decides no state: tests, examples, and what pages load.
//!
//! Absent: a clock, and where the folder lies. The same sources give the same digest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Entries of a crate's folder that decide no state.
const LEFT_OUT: [&str; 6] = ["assets", "benches", "clippy.toml", "examples", "proptest-regressions", "tests"];
/// Files of the workspace: what everybody else's crates are, and how they are built.
const OF_THE_WORKSPACE: [&str; 2] = ["Cargo.lock", "Cargo.toml"];

/// What is covered of a workspace, from its crate `name` down.
pub(crate) struct Sources {
    workspace: PathBuf,
    /// Files, and folders with all that is in them, by their names below the workspace.
    pub(crate) covered: BTreeSet<String>,
}

impl Sources {
    /// Those of the crate in the folder `arena/<name>` and of every crate of the workspace that it is built with.
    pub(crate) fn below(workspace: &Path, name: &str) -> io::Result<Self> {
        let mut covered: BTreeSet<String> = OF_THE_WORKSPACE.map(str::to_owned).into();
        let (mut waiting, mut seen) = (vec![name.to_owned()], BTreeSet::new());
        while let Some(name) = waiting.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let folder = workspace.join("arena").join(&name);
            waiting.extend(built_with(&fs::read_to_string(folder.join("Cargo.toml"))?));
            let entries = names(&folder)?.into_iter().filter(|entry| !LEFT_OUT.contains(&entry.as_str()));
            covered.extend(entries.map(|entry| format!("arena/{name}/{entry}")));
        }
        Ok(Self { workspace: workspace.to_owned(), covered })
    }

    /// Where they are, to be watched.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.covered.iter().map(|name| self.workspace.join(name))
    }

    /// The digest of all of them and of `besides`, in hexadecimal digits: each name and each content with its length
    /// before it, in the order of the names.
    pub(crate) fn sha256(&self, besides: &[&str]) -> io::Result<String> {
        let mut files = BTreeMap::new();
        for name in &self.covered {
            read(&self.workspace, name, &mut files)?;
        }
        let mut hasher = Sha256::new();
        let mut put = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        besides.iter().for_each(|text| put(text.as_bytes()));
        for (name, content) in &files {
            put(name.as_bytes());
            put(content);
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// A file with its name, or all files of a folder.
fn read(workspace: &Path, name: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let path = workspace.join(name);
    if !path.is_dir() {
        files.insert(name.to_owned(), fs::read(path)?);
        return Ok(());
    }
    names(&path)?.iter().try_for_each(|entry| read(workspace, &format!("{name}/{entry}"), files))
}

/// What is in a folder, but for what is hidden: editors keep things there.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names: io::Result<Vec<String>> = entries.collect();
    Ok(names?.into_iter().filter(|name| !name.starts_with('.')).collect())
}

/// The crates of the workspace that one is built with, by the names of their folders: lines that begin with `arena-`
/// in the tables of what it depends on, but for what only its tests do.
fn built_with(manifest: &str) -> Vec<String> {
    let mut is_among = false;
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            is_among = table.contains("dependencies") && !table.contains("dev-dependencies");
        }
        let name = line.strip_prefix("arena-").filter(|_| is_among);
        names.extend(name.and_then(|name| name.split([' ', '=', '.']).next()).map(str::to_owned));
    }
    names
}

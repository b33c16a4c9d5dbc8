//! Builds the guests in two other folders, and the verifier in one, and compares every byte. Where the sources lie must not matter.

use std::path::{Path, PathBuf};

use crate::digests::{Built, differences};
use crate::fault::{Fault, Outcome};
use crate::guests::{self, Place};
use crate::repo::Repo;
use crate::talk;
use crate::toolchain::{self, GuestToolchain};
use crate::verifier;

/// What came of it; it is a claim about the pinned toolchain only.
pub(crate) enum Verdict {
    Same,
    DoesNotApply(String),
}

/// What a build of the guests reads: nothing else of the repository is copied.
const SOURCES: [&str; 6] = [".cargo", "Cargo.toml", "rust-toolchain.toml", "guest-examples", "sdk", "wit"];

pub(crate) fn check(repo: &Repo, toolchain: &GuestToolchain, arena: &Path) -> Outcome<Verdict> {
    let pinned = toolchain::pinned_release(repo)?;
    if !toolchain.is_pinned(&pinned) {
        let why = format!(
            "guests are reproducible with rustc {pinned} as published; this is {}",
            toolchain.compiler
        );
        talk::note("reproducible", &format!("{why}: not compared"));
        return Ok(Verdict::DoesNotApply(why));
    }
    let guests = guests::names(&repo.guest_examples())?;
    let here = crate::digests::measure(&repo.guests_built(), &guests)?;
    let folders = scratch(repo);
    forget(&folders);
    let outcome = build_twice(repo, toolchain, arena, &folders);
    forget(&folders);
    let [first, second] = outcome?;
    compare("the two copies", &first, &second)?;
    compare("target/guests and a copy in another folder", &here, &first)?;
    talk::note("reproducible", &format!("{} guests, the same bytes from three folders", here.len()));
    verifier::reproduce(repo, toolchain)?;
    Ok(Verdict::Same)
}

/// Two roots that share no prefix and differ in length.
fn scratch(repo: &Repo) -> [PathBuf; 2] {
    [
        std::env::temp_dir().join(format!("arena-{}", std::process::id())),
        repo.root.join("target/reproduce/a-much-longer-name-for-the-same-sources"),
    ]
}

fn forget(folders: &[PathBuf]) {
    for folder in folders {
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn build_twice(
    repo: &Repo,
    toolchain: &GuestToolchain,
    arena: &Path,
    folders: &[PathBuf; 2],
) -> Outcome<[Built; 2]> {
    let build = |folder: &Path, name: &str| {
        for source in SOURCES {
            copy(&repo.root.join(source), &folder.join(source))?;
        }
        let components = repo.root.join("target/reproduce").join(name);
        let cargo_target = folder.join("build");
        let place = Place { sources: folder, components: &components, cargo_target: Some(&cargo_target) };
        guests::build_in(&place, toolchain, arena)
    };
    Ok([build(&folders[0], "first")?, build(&folders[1], "second")?])
}

fn compare(what: &str, one: &Built, other: &Built) -> Outcome {
    let differences = differences(one, other);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Fault::new(format!("{what} do not have the same bytes\n  {}", differences.join("\n  "))).hint(
        "a path or the order of something reached the component; compare target/guests, \
         target/reproduce/first and target/reproduce/second",
    ))
}

/// A file or a folder, without what builds leave behind.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    if !from.is_dir() {
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(Fault::at("make", folder))?;
        }
        return std::fs::copy(from, to).map(|_| ()).map_err(Fault::at("copy", from));
    }
    std::fs::create_dir_all(to).map_err(Fault::at("make", to))?;
    for entry in std::fs::read_dir(from).map_err(Fault::at("list", from))?.flatten() {
        if entry.file_name() != "target" {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(digest: &str) -> Built {
        Built::from([("idle".to_owned(), digest.to_owned())])
    }

    #[test]
    fn the_same_bytes_ok() {
        assert!(compare("the two copies", &one("sha256:1"), &one("sha256:1")).is_ok());
    }

    #[test]
    fn other_bytes_fails_with_the_guest() {
        let text =
            compare("the two copies", &one("sha256:1"), &one("sha256:2")).expect_err("differ").to_string();
        assert!(text.contains("idle: expected sha256:1, got sha256:2"), "{text}");
    }
}

//! Builds the verifier of the server's pages. It is compiled into the server from a place of its own; like the guests,
//! what is built is not committed.
//!
//! Its digest is told and not recorded: it changes with every line of the engine. That the same sources give the same
//! bytes is checked instead.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::digests::sha256;
use crate::fault::{Fault, Outcome};
use crate::repo::Repo;
use crate::reproduce::copy;
use crate::run::Run;
use crate::setup;
use crate::talk;
use crate::toolchain::{GUEST_TARGET, GuestToolchain};

/// Where the server's build looks for it; git does not.
const PLACE: &str = "arena/server/assets/verifier.wasm";
/// The profile at the root of the repository that makes it small.
const PROFILE: &str = "page";
/// What a build of it reads: cargo wants to see all of the workspace.
const SOURCES: [&str; 11] = [
    ".cargo",
    "Cargo.lock",
    "Cargo.toml",
    "arena",
    "benches",
    "browser-tests",
    "rust-toolchain.toml",
    "sdk",
    "tests",
    "wit",
    "xtask",
];

/// Builds it and puts it where the server's build finds it. What did not change stays as it is, so that nothing is
/// compiled again for it.
pub(crate) fn build(repo: &Repo, toolchain: &GuestToolchain) -> Outcome {
    let started = Instant::now();
    let module = build_in(repo, &repo.root, &repo.cargo_target()?, toolchain)?;
    let place = repo.root.join(PLACE);
    if !std::fs::read(&place).is_ok_and(|there| there == module) {
        // Whole or not at all: a server may be compiled at this moment.
        let fresh = place.with_extension("wasm.new");
        std::fs::write(&fresh, &module).map_err(Fault::at("write", &fresh))?;
        std::fs::rename(&fresh, &place).map_err(Fault::at("write", &place))?;
    }
    let (size, spent) = (module.len().div_ceil(1024), talk::seconds(started.elapsed()));
    talk::note("verifier", &format!("{size} KiB in {spent}, {}", sha256(&module)));
    Ok(())
}

/// Builds it in another folder and compares every byte.
pub(crate) fn reproduce(repo: &Repo, toolchain: &GuestToolchain) -> Outcome {
    let folder = std::env::temp_dir().join(format!("arena-verifier-{}", std::process::id()));
    let outcome = build_elsewhere(repo, &folder, toolchain);
    let _ = std::fs::remove_dir_all(&folder);
    let there = sha256(&outcome?);
    let place = repo.root.join(PLACE);
    let here = sha256(&std::fs::read(&place).map_err(Fault::at("read", &place))?);
    if here != there {
        return Err(Fault::new(format!("{PLACE} is {here}, and built in another folder {there}")).hint(
            "cargo xtask guests, if its sources were changed since it was built; else a path reached it",
        ));
    }
    talk::note("reproducible", "the verifier, the same bytes from two folders");
    Ok(())
}

fn build_elsewhere(repo: &Repo, folder: &Path, toolchain: &GuestToolchain) -> Outcome<Vec<u8>> {
    for source in SOURCES {
        copy(&repo.root.join(source), &folder.join(source))?;
    }
    build_in(repo, folder, &folder.join("build"), toolchain)
}

fn build_in(repo: &Repo, sources: &Path, target: &Path, toolchain: &GuestToolchain) -> Outcome<Vec<u8>> {
    let library = setup::sysroot(&toolchain.rustc(), repo)?.join("lib/rustlib/src/rust");
    let commit = format!("/rustc/{}", toolchain.compiler.commit);
    let places = [(sources, ""), (target, "target"), (&registry(), "registry"), (&library, &commit)];
    let flags = serde_json::Value::from(places.map(renamed).to_vec());
    Run::new(repo.cargo_program(), sources)
        .args(["rustc", "--quiet", "--package", "arena-verifier", "--lib", "--crate-type", "cdylib"])
        .args(["--profile", PROFILE, "--target", GUEST_TARGET])
        .args(["--config", &format!("target.{GUEST_TARGET}.rustflags={flags}")])
        .env("CARGO_TARGET_DIR", target)
        .without_env("RUSTFLAGS")
        .envs(&toolchain.env())
        .pass()?;
    let module = target.join(GUEST_TARGET).join(PROFILE).join("arena_verifier.wasm");
    std::fs::read(&module).map_err(Fault::at("read", &module))
}

/// Panics name files. These get names that are the same on every machine; the compiler lets the last flag that
/// matches decide.
fn renamed((here, name): (&Path, &str)) -> String {
    format!("--remap-path-prefix={}={name}", here.display())
}

/// Where cargo unpacks what it downloads.
fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is named is there, and what it makes is not git's.
    #[test]
    fn the_repository_has_what_a_build_reads() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository");
        for source in SOURCES {
            assert!(root.join(source).exists(), "{source}");
        }
        let ignored = std::fs::read_to_string(root.join(".gitignore")).expect("it is there");
        assert!(ignored.lines().any(|line| line == format!("/{PLACE}")), "{ignored}");
    }
}

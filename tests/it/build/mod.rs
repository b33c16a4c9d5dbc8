//! From nothing to a component that plays: `arena new`, `arena build`, and what they refuse.
//!
//! Cargo runs below these tests. They share one folder for what it makes, so that the second run
//! compiles little more than the strategies themselves.

mod projects;
mod refusals;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use arena_cli::{Env, Exit, Io};
use arena_tests::repository;
use serde_json::Value;

/// How one command line ended.
struct Ended {
    exit: Exit,
    out: String,
    err: String,
}

impl Ended {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why} in:\n{}{}", self.out, self.err))
    }

    /// The digest of the only component that was built.
    #[track_caller]
    fn sha256(&self) -> String {
        assert_eq!(self.exit, Exit::Success, "{}", self.err);
        let result = self.json();
        let [component] = result["components"].as_array().expect("a list").as_slice() else {
            panic!("not one component: {result}")
        };
        component["sha256"].as_str().expect("a digest").to_owned()
    }
}

fn arena<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Ended {
    arena_in(Env::default(), args)
}

fn arena_in<A: Into<OsString>>(env: Env, args: impl IntoIterator<Item = A>) -> Ended {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("arena".into()).chain(args.into_iter().map(Into::into));
    let exit = arena_cli::run(args, &mut Io::new(std::io::empty(), &mut out, &mut err, env));
    let text = |bytes| String::from_utf8(bytes).expect("the command line prints UTF-8");
    Ended { exit, out: text(out), err: text(err) }
}

/// A folder for projects, whose builds share what cargo makes.
fn workshop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    share_target(folder.path());
    folder
}

fn share_target(folder: &Path) {
    let target = repository().join("target/tests/strategies");
    let config = format!("[build]\ntarget-dir = {}\n", Value::from(target.to_string_lossy()));
    write(&folder.join(".cargo/config.toml"), &config);
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
    std::fs::write(path, text).expect("a file can be written");
}

/// Builds, or says that this machine cannot.
fn build<A: Into<OsString>>(test: &str, args: impl IntoIterator<Item = A>) -> Option<Ended> {
    let args = [OsString::from("build"), "--json".into()].into_iter().chain(args.into_iter().map(Into::into));
    able(test, arena(args))
}

/// Without a toolchain for strategies a test is skipped, by name; in continuous integration it fails.
fn able(test: &str, ended: Ended) -> Option<Ended> {
    let unable =
        ended.exit == Exit::Blocked && ended.err.contains("has no library for wasm32-unknown-unknown");
    if !unable {
        return Some(ended);
    }
    skip(test, "the toolchain for strategies is missing; `cargo xtask setup` gets it");
    None
}

#[allow(clippy::print_stderr, reason = "the harness has no other way to tell of a test that did not run")]
fn skip(test: &str, why: &str) {
    let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    assert!(!ci, "{test} cannot run: {why}");
    eprintln!("skipped: build::{test}: {why}");
}

/// A new project in a workshop.
fn new_project(workshop: &Path, name: &str) -> PathBuf {
    let folder = workshop.join(name);
    let ended = arena([OsString::from("new"), name.into(), "--path".into(), folder.clone().into()]);
    assert_eq!(ended.exit, Exit::Success, "{}", ended.err);
    folder
}

/// A package without dependencies, which compiles at once.
fn small_package(folder: &Path, name: &str, crate_type: &str, source: &str) {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"{crate_type}\"]\n[workspace]\n"
    );
    write(&folder.join("Cargo.toml"), &manifest);
    write(&folder.join("src/lib.rs"), source);
}

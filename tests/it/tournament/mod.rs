//! Tournaments as an operator runs them: the command, its worker processes, and what becomes of both
//! when somebody pulls the plug.

mod commands;
mod kills;
mod nats;
mod vectors;
mod workers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// A secret of the tests, so that runs can be compared.
const SECRET: &str = "0707070707070707070707070707070707070707070707070707070707070707";

/// Compiled strategies, shared by the tests: a worker starts in milliseconds.
fn cache() -> &'static Path {
    static CACHE: OnceLock<tempfile::TempDir> = OnceLock::new();
    CACHE.get_or_init(|| tempfile::tempdir().expect("a folder")).path()
}

/// A folder with a plan of `strategies`, each a name and an example strategy.
struct Plan {
    folder: tempfile::TempDir,
}

impl Plan {
    fn new(game: &str, strategies: &[(&str, &str)], matrix: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = format!("slug = \"test\"\ntitle = \"A test\"\ngame = \"{game}\"\n");
        for (i, (name, guest)) in strategies.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{i}.wasm")), arena_tests::guest(guest))
                .expect("written");
            text += &format!("[[strategies]]\nname = \"{name}\"\ncomponent = \"{i}.wasm\"\n");
        }
        text += &format!("[matrix]\n{matrix}\n");
        std::fs::write(folder.path().join("plan.toml"), text).expect("written");
        std::fs::write(folder.path().join("given-secret"), SECRET).expect("written");
        Self { folder }
    }

    /// Three strategies, one of them with luck: 90 games of 30 rounds.
    fn small() -> Self {
        let strategies = [("Tit For Tat", "tit-for-tat"), ("Random", "random"), ("Bully", "bully")];
        Self::new("matrix", &strategies, "self_play = true\nrepetitions = 15\nrounds = 30")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `arena tournament run` of this plan into the folder `out`.
    fn run(&self, out: &str, more: &[&str]) -> Output {
        let mut args = vec!["tournament", "run", "plan.toml", "--secret", "given-secret", "--out", out];
        args.extend(more);
        self.arena(&args)
    }

    fn arena(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary starts")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).current_dir(self.folder.path()).env("ARENA_CACHE", cache()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// The binary, which stands beside the folder of the tests' own.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test has a path");
    let folder = tests.parent().and_then(Path::parent).expect("cargo has its folders");
    let binary = folder.join(format!("arena{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "the binary is not built; build it with `cargo build --package arena-cli`");
    binary
}

/// Its exit code, with what it said where it is another than `code`.
#[track_caller]
fn ended(output: &Output, code: i32) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(code), "{}\n{}", text(&output.stdout), text(&output.stderr));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

fn json(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Every file of a run, the receipt's times aside.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).expect("within").to_string_lossy().into_owned();
                files.insert(name, std::fs::read(&path).expect("readable"));
            }
        }
    }
    if let Some(receipt) = files.get_mut("receipt.json") {
        let mut value: Value = serde_json::from_slice(receipt).expect("a receipt");
        for member in ["run_id", "started_at", "finished_at"] {
            value[member] = Value::Null;
        }
        value["budget"]["wall_seconds"] = Value::Null;
        *receipt = value.to_string().into_bytes();
    }
    files
}

/// Names of files that differ.
fn differences(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

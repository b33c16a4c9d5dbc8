//! Projects as `arena new` makes them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use arena_cli::{Env, Exit};
use arena_tests::packs;
use serde_json::Value;

use super::{able, arena, arena_in, build, new_project, skip, workshop, write};

/// What a stranger's first strategy has to earn.
#[test]
fn a_new_project_plays_every_pack_for_a_star() {
    let test = "a_new_project_plays_every_pack_for_a_star";
    let workshop = workshop();
    let folder = new_project(workshop.path(), "first-strategy");
    let component = workshop.path().join("first.wasm");
    let Some(built) = build(test, [folder.as_path(), Path::new("--out"), &component]) else { return };
    let result = built.json();
    assert_eq!(result["components"][0]["world"], "arena:campus/campus-strategy@0.1.0", "{result}");
    assert_eq!(result["components"][0]["path"], component.to_string_lossy().as_ref());
    let imports = result["components"][0]["imports"].as_array().expect("a list");
    assert!(
        imports.iter().all(|name| name.as_str().is_some_and(|it| it.starts_with("arena:campus/"))),
        "{result}"
    );

    for (pack, _) in packs() {
        let log = workshop.path().join(format!("{pack}.json"));
        let args = [OsString::from("play"), pack.clone().into(), component.clone().into(), "--json".into()];
        let played = arena(args.into_iter().chain(["--log".into(), log.into()]));
        assert_eq!(played.exit, Exit::Success, "{pack}: {}", played.err);
        assert!(played.json()["settlement"]["stars"].as_u64() >= Some(1), "{pack}: {}", played.out);
    }
}

#[test]
fn a_new_matrix_project_plays_without_a_forfeit() {
    let test = "a_new_matrix_project_plays_without_a_forfeit";
    let workshop = workshop();
    let folder = new_matrix_project(workshop.path(), "first-matrix-strategy");
    let component = workshop.path().join("first.wasm");
    let Some(built) = build(test, [folder.as_path(), Path::new("--out"), &component]) else { return };
    assert_eq!(built.json()["components"][0]["world"], "arena:matrix/matrix-strategy@0.1.0");
    let checked = arena([OsString::from("check"), component.into(), "--json".into()]);
    assert_eq!(checked.exit, Exit::Success, "{}{}", checked.out, checked.err);
}

#[test]
fn its_own_tests_pass_and_it_is_formatted_and_locked() {
    let workshop = workshop();
    its_own_tests_pass(&new_project(workshop.path(), "tested-strategy"));
    its_own_tests_pass(&new_matrix_project(workshop.path(), "tested-matrix-strategy"));
}

fn new_matrix_project(workshop: &Path, name: &str) -> PathBuf {
    let folder = workshop.join(name);
    let path = folder.clone().into();
    let ended = arena([OsString::from("new"), name.into(), "--game=matrix".into(), "--path".into(), path]);
    assert_eq!(ended.exit, Exit::Success, "{}", ended.err);
    folder
}

fn its_own_tests_pass(folder: &Path) {
    // The style of whoever has none: a configuration in a folder above would count otherwise.
    write(&folder.join("rustfmt.toml"), "");
    // In release, so that macros are compiled once for this and for components.
    for args in [
        &["metadata", "--locked", "--format-version=1", "--no-deps"][..],
        &["metadata", "--locked", "--format-version=1"],
        &["fmt", "--check"],
        &["test", "--locked", "--release", "--lib"],
    ] {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo).args(args).current_dir(folder).stdin(Stdio::null()).output();
        let output = output.expect("cargo runs this test, so it can be started");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "cargo {}:\n{out}{err}", args.join(" "));
    }
}

/// One name everywhere, folders that share no prefix and differ in length, spaces and more in them.
#[test]
fn a_project_has_the_same_bytes_in_every_folder() {
    let test = "a_project_has_the_same_bytes_in_every_folder";
    let (one, other) = (workshop(), workshop());
    let deep = other.path().join("a much longer path = with more in it/🦀 é");
    let mut built = Vec::new();
    for around in [one.path(), &deep] {
        let folder = new_project(around, "same-strategy");
        for debug in [&[][..], &["--debug"]] {
            let component = around.join("same.wasm");
            let args = [OsString::from(&folder), "--out".into(), component.clone().into()];
            let Some(ended) = build(test, args.into_iter().chain(debug.iter().map(Into::into))) else {
                return;
            };
            built.push((ended.sha256(), ended.err));
            assert_names_no_place(&component, &[one.path(), other.path()]);
        }
    }
    let digests: Vec<_> = built.iter().map(|(digest, _)| digest).collect();
    assert_eq!(digests[..2], digests[2..], "release and debug builds, in two folders");
    assert_ne!(digests[0], digests[1], "debug information was asked for");
    assert!(built.iter().all(|(_, err)| !err.contains("warning:")), "{built:?}");
}

fn assert_names_no_place(component: &Path, places: &[&Path]) {
    let bytes = std::fs::read(component).expect("it was just written");
    for place in places {
        let place = place.as_os_str().as_encoded_bytes();
        assert!(!bytes.windows(place.len()).any(|window| window == place), "it names its author's folder");
    }
}

/// An SDK that lies outside the workspace, as for the example strategies: cargo's own hashes would
/// tell where. They are replaced by the binary `arena` in front of the compiler.
#[test]
fn dependencies_elsewhere_do_not_change_the_bytes() {
    let test = "dependencies_elsewhere_do_not_change_the_bytes";
    let Some(program) = binary() else {
        return skip(test, "the binary is not built; `cargo build --package arena-cli` does it");
    };
    let (one, other) = (workshop(), workshop());
    let mut digests = Vec::new();
    for around in [one.path().to_owned(), other.path().join("deeper/and/longer")] {
        let folder = new_project(&around, "split-strategy");
        std::fs::rename(folder.join("vendor"), around.join("vendor")).expect("a folder can be moved");
        let manifest = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).expect("it is there");
        write(&manifest, &text.replace("\"vendor/sdk\"", "\"../vendor/sdk\""));
        let env = Env { program: Some(program.clone()), ..Env::default() };
        let args = ["build".into(), folder.into_os_string(), "--json".into(), "--out".into()];
        let ended = arena_in(env, args.into_iter().chain([around.join("split.wasm").into()]));
        let Some(ended) = able(test, ended) else { return };
        digests.push(ended.sha256());
    }
    assert_eq!(digests[0], digests[1]);
}

/// Cargo puts it beside the folder of the tests' own binary.
fn binary() -> Option<PathBuf> {
    let tests = std::env::current_exe().ok()?;
    let binary = tests.parent()?.parent()?.join(format!("arena{}", std::env::consts::EXE_SUFFIX));
    binary.is_file().then_some(binary)
}

#[test]
fn without_cargo_the_way_to_get_it_is_told() {
    let Some(program) = binary() else {
        return skip("without_cargo_the_way_to_get_it_is_told", "the binary is not built");
    };
    let workshop = workshop();
    let folder = new_project(workshop.path(), "no-cargo");
    let output =
        Command::new(program).arg("build").arg(folder).env_clear().env("PATH", workshop.path()).output();
    let output = output.expect("the binary can be started");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(Exit::Blocked.code().into()), "{err}");
    assert!(err.contains("cargo is not installed") && err.contains("https://rustup.rs"), "{err}");
}

#[test]
fn a_source_that_spells_out_its_folder_is_told() {
    let test = "a_source_that_spells_out_its_folder_is_told";
    let workshop = workshop();
    let folder = new_project(workshop.path(), "telltale-strategy");
    edit(&folder, "let relief = ", "arena_sdk::info!(env!(\"CARGO_MANIFEST_DIR\"));\n        let relief = ");
    let component = workshop.path().join("telltale.wasm");
    let Some(ended) = build(test, [folder.as_path(), Path::new("--out"), &component]) else { return };
    assert_eq!(ended.exit, Exit::Success, "{}", ended.err);
    let told = "`telltale-strategy` names `";
    assert!(ended.err.contains(told) && ended.err.contains("other bytes"), "{}", ended.err);
}

#[test]
fn a_debug_build_tells_file_and_line_of_a_trap() {
    let test = "a_debug_build_tells_file_and_line_of_a_trap";
    let workshop = workshop();
    let folder = new_project(workshop.path(), "broken-strategy");
    let panics = "if seen.turn == 7 { panic!() }\n        let battery_mw = battery_mw(seen);";
    edit(&folder, "let battery_mw = battery_mw(seen);", panics);
    let component = workshop.path().join("broken.wasm");
    let args = [folder.as_path(), Path::new("--debug"), Path::new("--out"), &component];
    let Some(ended) = build(test, args) else { return };
    assert_eq!(ended.exit, Exit::Success, "{}", ended.err);
    let log = workshop.path().join("log.json");
    let args = [OsString::from("play"), "two-spikes".into(), component.into(), "--log".into(), log.into()];
    let played = arena(args);
    assert_eq!(played.exit, Exit::Forfeited, "{}{}", played.out, played.err);
    let told = format!("{}{}", played.out, played.err);
    let line = 1 + std::fs::read_to_string(folder.join("src/lib.rs"))
        .expect("it is there")
        .lines()
        .position(|line| line.contains("panic!()"))
        .expect("it was put in");
    // The name of the function and the place on one line: the panic's own words have the place, too.
    let is_frame = |told: &str| told.contains("MyStrategy") && told.ends_with(&format!(" src/lib.rs:{line}"));
    assert!(told.lines().any(is_frame), "line {line} is missing in:\n{told}");
}

fn edit(folder: &Path, from: &str, to: &str) {
    let source = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).expect("it is there");
    assert_eq!(text.matches(from).count(), 1, "the template has `{from}` once");
    write(&source, &text.replace(from, to));
}

#[test]
fn what_is_made_is_told_as_json() {
    let workshop = workshop();
    let folder = workshop.path().join("told");
    let ended =
        arena([OsString::from("new"), "told".into(), "--json".into(), "--path".into(), folder.into()]);
    let result: Value = ended.json();
    assert_eq!(result["name"], "told");
    assert!(result["files"].as_array().is_some_and(|files| files.contains(&"src/lib.rs".into())), "{result}");
}

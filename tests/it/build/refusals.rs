//! What cannot be built, and how it is told.

use std::ffi::OsString;
use std::path::Path;

use arena_cli::Exit;

use super::{arena, build, new_project, small_package, workshop, write};

/// Builds `args` and expects it to end with `exit` and to say every one of `parts`.
#[track_caller]
fn check<A: Into<OsString>>(args: impl IntoIterator<Item = A>, exit: Exit, parts: &[&str]) {
    let ended = arena(std::iter::once("build".into()).chain(args.into_iter().map(Into::into)));
    assert_eq!(ended.exit, exit, "{}", ended.err);
    assert_eq!(ended.out, "", "nothing was built");
    for part in parts {
        assert!(ended.err.contains(part), "`{part}` is missing in:\n{}", ended.err);
    }
}

#[test]
fn folders_without_a_strategy() {
    let workshop = workshop();
    let folder = |name: &str| workshop.path().join(name);
    check([folder("missing")], Exit::Usage, &["cannot read source `", "no such file"]);

    std::fs::create_dir_all(folder("empty")).expect("a folder");
    check([folder("empty")], Exit::Usage, &["it has no Cargo.toml", "arena new NAME"]);

    small_package(&folder("rlib"), "rlib", "rlib", "");
    check([folder("rlib")], Exit::Usage, &["package `rlib` is not a cdylib", "crate-type"]);
    check([folder("rlib/src")], Exit::Usage, &["it has no Cargo.toml", "rlib` has one"]);

    write(&folder("torn/Cargo.toml"), "[package\n");
    check([folder("torn")], Exit::Usage, &["cannot read the package in `", "does not accept its Cargo.toml"]);

    write(&folder("none/Cargo.toml"), "[workspace]\nresolver = \"3\"\n");
    check([folder("none")], Exit::Usage, &["no package of this workspace is a cdylib"]);

    small_package(&folder("lost"), "lost", "cdylib", "");
    let manifest = std::fs::read_to_string(folder("lost/Cargo.toml")).expect("it is there");
    write(&folder("lost/Cargo.toml"), &format!("{manifest}[dependencies]\nwit-bindgen = \"=0.0.1-never\"\n"));
    write(&folder("lost/.cargo/config.toml"), "[net]\noffline = true\n");
    check([folder("lost")], Exit::Blocked, &["cargo cannot find what it depends on"]);
}

#[test]
fn sources_that_give_no_strategy() {
    let test = "sources_that_give_no_strategy";
    let workshop = workshop();
    let (broken, plain) = (workshop.path().join("broken 🦀"), workshop.path().join("plain"));
    small_package(&broken, "does-not-compile", "cdylib", "pub fn act() -> u32 { \"five\" }");
    small_package(&plain, "no-world", "cdylib", "#[unsafe(no_mangle)] pub extern \"C\" fn act() {}");
    let Some(ended) = build(test, [&broken, &plain]) else { return };
    assert_eq!(ended.exit, Exit::Rejected, "{}", ended.err);
    for part in [
        "cannot build `does-not-compile`: it does not compile, see above",
        "cannot make a component of `no-world`: the module does not say which world it is for",
        "export_campus!",
    ] {
        assert!(ended.err.contains(part), "`{part}` is missing in:\n{}", ended.err);
    }
    let result = ended.json();
    assert_eq!(result["components"], serde_json::json!([]));
    assert_eq!(result["failures"][0]["exit"], "rejected", "{result}");
    assert_eq!(result["failures"].as_array().map(Vec::len), Some(2), "{result}");
}

/// What compilers of other languages make.
#[test]
fn modules_that_give_no_strategy() {
    let workshop = workshop();
    let module = |name: &str, bytes: &[u8]| {
        let path = workshop.path().join(name);
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    };
    let cases: [(&str, Vec<u8>, &str); 4] = [
        ("text.wasm", b"(module)".to_vec(), "it is not a WebAssembly module"),
        ("empty.wasm", Vec::new(), "it is not a WebAssembly module"),
        ("core.wasm", wat::parse_str("(module)").expect("a module"), "does not say which world it is for"),
        ("component.wasm", wat::parse_str("(component)").expect("a component"), "it is refused"),
    ];
    for (name, bytes, why) in cases {
        check([module(name, &bytes)], Exit::Rejected, &[why]);
        let written = workshop.path().join(name).with_extension("component.wasm");
        assert!(!written.exists(), "{name}: what is refused is not written");
    }
    check([Path::new("/dev/zero")], Exit::Usage, &["the limit"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let workshop = workshop();
    let folder = |name: &str| workshop.path().join(name);
    for name in ["one", "other"] {
        small_package(&folder(name), name, "cdylib", "");
    }
    small_package(&folder("again"), "one", "cdylib", "");
    write(&folder("file"), "mine");
    let file = folder("file");
    let out = |out: &Path| [folder("one").into_os_string(), "--out".into(), out.into()];
    check(out(&file), Exit::Usage, &["cannot make the folder `"]);
    check(out(&file.join("x.wasm")), Exit::Usage, &["cannot write `"]);
    let two = |out: &str| [folder("one"), folder("other"), "--out".into(), folder(out)];
    check(two("both.wasm"), Exit::Usage, &["that is one file, and there are 2 components", "name a folder"]);
    let same = [folder("one"), folder("again"), "--out".into(), folder("out")];
    check(same, Exit::Usage, &["two of the sources have this name"]);
    std::fs::write(folder("m.wasm"), wat::parse_str("(module)").expect("a module")).expect("written");
    check([folder("m.wasm"), "--out".into(), folder("m.wasm")], Exit::Usage, &["it is one of the sources"]);
    assert_eq!(std::fs::read(file).expect("it is there"), b"mine");
}

/// A component passes as it is, whoever made it; and a package, its workspace and its Cargo.toml are
/// the same source.
#[test]
fn a_component_passes_unchanged_and_a_package_is_built_once() {
    let test = "a_component_passes_unchanged_and_a_package_is_built_once";
    let workshop = workshop();
    let folder = new_project(workshop.path(), "once-strategy");
    let out = workshop.path().join("out");
    let manifest = folder.join("Cargo.toml");
    let Some(built) = build(test, [&folder, &manifest, &folder.join("."), Path::new("--out"), &out]) else {
        return;
    };
    let digest = built.sha256();
    let (component, copy) = (out.join("once-strategy.wasm"), workshop.path().join("copy.wasm"));
    let again = build(test, [component.as_path(), Path::new("--out"), &copy]).expect("it needs no toolchain");
    assert_eq!(again.sha256(), digest);
    assert_eq!(again.json()["components"][0]["unchanged"], true);
    assert_eq!(std::fs::read(component).expect("written"), std::fs::read(copy).expect("written"));
}

#[test]
fn names_that_no_project_can_have() {
    let workshop = workshop();
    for name in ["", "My Strategy", "../evil", "2fast", "crab🦀", "fn", "con", "arena-sdk", "a\nb"] {
        let folder = workshop.path().join("project");
        let ended =
            arena([OsString::from("new"), "--path".into(), folder.clone().into(), "--".into(), name.into()]);
        assert_eq!(ended.exit, Exit::Usage, "{name}: {}", ended.err);
        assert!(ended.err.contains("cannot name a project `"), "{name}: {}", ended.err);
        assert!(!folder.exists(), "{name}");
    }
}

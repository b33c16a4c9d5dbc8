//! Names and places that are not what one hopes for.

use std::os::unix::fs::PermissionsExt;

use arena_cli::Exit;

use super::{Folder, arena, guests};

/// Every one of them is a file's name somewhere.
const NAMES: [&str; 7] = [
    "a b.wasm",
    "🦀é.wasm",
    "line\nbreak.wasm",
    "\u{1b}[2Jclear.wasm",
    "\u{202e}gpj.wasm",
    "-rf.wasm",
    "100%#'\"$HOME.wasm",
];

#[test]
fn any_name_plays_and_none_reaches_the_terminal_raw() {
    let folder = Folder::new();
    let component = guests::component(guests::BROKEN);
    for name in NAMES {
        let wasm = folder.file(name, &component);
        let log = folder.at(&name.replace(".wasm", ".json"));
        let args =
            ["play".into(), "two-spikes".into(), wasm.into_os_string(), "--log".into(), log.into_os_string()];
        let ran = arena(args);
        assert_eq!(ran.exit, Exit::Forfeited, "{name:?}: {}", ran.err);
        let shown = format!("{}{}", ran.out, ran.err);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(shown.lines().all(|line| !line.starts_with("break")), "{shown}");
    }
}

#[test]
fn a_name_of_ten_kilobytes_is_cut() {
    let long = "x".repeat(10_000);
    for args in [
        vec!["play", "two-spikes", &long],
        vec!["play", &long, "x.wasm"],
        vec!["check", &long],
        vec!["verify", &long],
        vec!["pack", "check", &long],
        vec!["replay", "--pack", "two-spikes", "--actions", &long],
    ] {
        let ran = arena(&args);
        assert_eq!(ran.exit, Exit::Usage, "{}", args[0]);
        assert!(ran.err.len() < 1_000 && ran.err.contains("more characters"), "{}", ran.err);
    }
}

#[test]
fn a_pack_cannot_name_a_file_outside_its_folder() {
    let folder = Folder::new();
    folder.file("trader.wasm", guests::component(guests::TRADER));
    let pack = std::fs::read_to_string(&super::scenarios()[0]).expect("a pack");
    let evil = pack.replacen(r#""pack_id": ""#, r#""pack_id": "../../"#, 1);
    folder.file("evil.json", evil);
    let ran = folder.arena("play {}/evil.json {}/trader.wasm --log {}/logs/ --json");
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let path = ran.json()["log"]["path"].as_str().expect("a path").to_owned();
    assert!(path.starts_with("{}/logs/-..-"), "{path}");
}

#[test]
fn devices_and_folders_are_no_logs() {
    let folder = Folder::new();
    folder.file("trader.wasm", guests::component(guests::TRADER));
    for (out, why) in [
        ("/dev/null", "not a regular file"),
        ("{}/missing/log.json", "there is no folder"),
        ("{}/trader.wasm/log.json", "there is no folder"),
    ] {
        let ran = folder.arena(&format!("play two-spikes {{}}/trader.wasm --force --log {out}"));
        assert_eq!(ran.exit, Exit::Usage, "{out}");
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    assert_eq!(folder.names(), ["trader.wasm"]);
}

#[test]
fn an_endless_device_is_read_to_the_limit_only() {
    let ran = arena(["check", "/dev/zero", "--json"]);
    assert_eq!(ran.exit, Exit::Rejected);
    assert_eq!(ran.json()[0]["refusals"][0]["code"], "admit.too_large");
}

#[test]
fn a_folder_that_cannot_be_written_to_stays_as_it_is() {
    let folder = Folder::new();
    let wasm = folder.file("trader.wasm", guests::component(guests::TRADER));
    std::fs::create_dir(folder.at("closed")).expect("a folder");
    std::fs::set_permissions(folder.at("closed"), std::fs::Permissions::from_mode(0o500)).expect("changed");
    // Whoever may write anywhere finds out elsewhere.
    let open = std::fs::File::create(folder.at("closed/probe")).is_ok();
    let log = if open { "/proc/log.json".into() } else { folder.at("closed/log.json") };
    let args =
        ["play".into(), "two-spikes".into(), wasm.into_os_string(), "--log".into(), log.into_os_string()];
    let ran = arena(args);
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""));
    assert!(ran.err.contains("cannot write `") && ran.err.contains("hint: "), "{}", ran.err);
    std::fs::set_permissions(folder.at("closed"), std::fs::Permissions::from_mode(0o700)).expect("changed");
}

//! `arena demo`

use arena_cli::Exit;
use arena_tests::repository;

use super::{Folder, guests};

#[test]
fn every_strategy_plays_every_pack_and_every_log_replays() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("strategies")).expect("a folder");
    folder.file("strategies/trader.wasm", guests::component(guests::TRADER));
    folder.file("strategies/broken.wasm", guests::component(guests::BROKEN));
    let scenarios = repository().join("scenarios");
    let scenarios = scenarios.to_str().expect("a plain name");
    let line = format!("demo --strategies {{}}/strategies --logs {{}}/logs --packs {scenarios}");
    let ran = folder.arena(&line);
    assert_eq!(ran.exit, Exit::Forfeited);
    insta::assert_snapshot!(ran.told());
    assert_eq!(std::fs::read_dir(folder.at("logs")).expect("made").count(), 12);
    let rows = folder.arena(&format!("{line} --json")).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(2));
}

#[test]
fn an_empty_folder_is_told() {
    let folder = Folder::new();
    let ran = folder.arena("demo --strategies {} --packs {} --logs {}/logs");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.contains("it has no .json file"), "{}", ran.err);
}

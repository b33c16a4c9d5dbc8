//! The command line with matrix strategies: checked, refused where a pack is played, passed over by the
//! demo.

use arena_cli::Exit;
use arena_tests::repository;

use super::guest::component;
use crate::cli::{Folder, guests};

#[test]
fn a_check_tells_the_world_and_plays_its_own_probe() {
    let folder = Folder::new();
    folder.file("tit-for-tat.wasm", component(r#"(module (func (export "act") (type $act) (local.get 3)))"#));
    let ran = folder.arena("check {}/tit-for-tat.wasm --json");
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let report = &ran.json()[0];
    assert_eq!(report["world"], "arena:matrix/matrix-strategy@0.1.0");
    assert_eq!(report["probe"]["deterministic"], true);
    let calls = report["probe"]["calls"].as_array().expect("a list");
    assert_eq!(calls.len(), 51, "the brief and fifty rounds");
    let told = folder.arena("check {}/tit-for-tat.wasm").out;
    assert!(told.contains("turns 0 to 49: 2"), "equal turns are told together: {told}");
}

#[test]
fn the_probe_shows_both_moves_in_every_order_of_three() {
    // Gives up when it has seen the eight triples that the opponent's last moves can be.
    let counts = r#"(module
        (global $last (mut i32) (i32.const 0))
        (global $seen (mut i32) (i32.const 0))
        (func (export "act") (type $act)
          (global.set $last (i32.and (i32.const 7) (i32.or (i32.shl (global.get $last) (i32.const 1)) (local.get 3))))
          (if (i32.gt_u (local.get 0) (i32.const 2)) (then
            (global.set $seen (i32.or (global.get $seen) (i32.shl (i32.const 1) (global.get $last))))))
          (if (i32.eq (global.get $seen) (i32.const 255)) (then unreachable))
          (i32.const 0)))"#;
    let folder = Folder::new();
    folder.file("counts.wasm", component(counts));
    let ran = folder.arena("check {}/counts.wasm --json");
    assert_eq!(ran.exit, Exit::Forfeited, "{}", ran.out);
    assert_eq!(ran.json()[0]["probe"]["forfeit"]["during"], "turn");
}

#[test]
fn where_a_pack_is_played_a_matrix_strategy_is_refused_with_the_reason() {
    let folder = Folder::new();
    folder.file("matrix.wasm", component("(module)"));
    let ran = folder.arena("play two-spikes {}/matrix.wasm");
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""));
    assert!(ran.err.contains("it plays the matrix game, which has no scenario packs"), "{}", ran.err);
    assert!(ran.err.contains("arena check"), "{}", ran.err);
}

#[test]
fn the_demo_passes_over_strategies_of_other_games() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("strategies")).expect("a folder");
    std::fs::create_dir(folder.at("packs")).expect("a folder");
    let pack = repository().join("scenarios/two-spikes.json");
    std::fs::copy(pack, folder.at("packs/two-spikes.json")).expect("a shipped pack");
    folder.file("strategies/matrix.wasm", component("(module)"));
    let line = "demo --strategies {}/strategies --packs {}/packs --logs {}/logs --json";
    let alone = folder.arena(line);
    assert_eq!(alone.exit, Exit::Usage);
    assert!(alone.err.contains("no strategy in it plays the campus game"), "{}", alone.err);
    folder.file("strategies/trader.wasm", guests::component(guests::TRADER));
    let ran = folder.arena(line);
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    assert_eq!(ran.json().as_array().map(Vec::len), Some(1));
    assert!(ran.err.contains("1 component of other games passed over"), "{}", ran.err);
}

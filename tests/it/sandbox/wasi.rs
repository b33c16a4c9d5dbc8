//! What a guest learns from its WASI: the turn and the seed, and nothing of the machine.

use arena_canon::Digest;
use arena_engine::campus::{LogLine, RawAction};
use arena_sandbox::{Played, play};
use serde_json::Value;

use super::guest::{component, host, load, pack, play_wat, seed};
use super::hostile::ending;

/// The three numbers of an action, as the guest gave them.
fn asked(played: &Played) -> Vec<[f64; 3]> {
    let number = |action: &Value, name: &str| action[name].as_f64().expect("a number");
    let of = |action: RawAction| {
        let action = serde_json::to_value(action).expect("an action");
        ["curtail_mw", "battery_mw", "diesel_mw"].map(|name| number(&action, name))
    };
    played.log.turns.iter().map(|turn| of(turn.action)).collect()
}

#[track_caller]
fn played_out(wat: &str) -> Played {
    let played = play_wat(wat);
    assert_eq!(ending(played.forfeit.as_ref()), "acted");
    played
}

/// A guest that answers with three 64-bit numbers, after `code`.
fn telling(imports: &str, state: &str, code: &str) -> String {
    format!(
        r#"(module {imports} {state}
            (func $tell (param $a i64) (param $b i64) (param $c i64)
              (f64.store (i32.const 1024) (f64.convert_i64_u (local.get $a)))
              (f64.store (i32.const 1032) (f64.convert_i64_u (local.get $b)))
              (f64.store (i32.const 1040) (f64.convert_i64_u (local.get $c))))
            (func (export "act") (type $act) {code} (i32.const 1024)))"#
    )
}

#[test]
fn clocks_start_with_the_episode_and_move_by_turns_alone() {
    let imports = r#"(import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
        (import "wasi:clocks/wall-clock@0.2.6" "now" (func $wall (param i32)))"#;
    let state = "(global $started (mut i64) (i64.const 0))
        (func (export \"init\") (call $wall (i32.const 64)) (global.set $started (i64.load (i32.const 64))))";
    let code = "(call $wall (i32.const 64))
        (if (i32.load (i32.const 72)) (then unreachable))
        (call $tell (call $now) (i64.load (i32.const 64)) (global.get $started))";
    let told = asked(&played_out(&telling(imports, state, code)));
    // 2024-01-15T10:00:00-06:00, in hours.
    let start = 1_705_334_400.0;
    for (turn, [now, wall, started]) in told.into_iter().enumerate() {
        let elapsed = turn as f64 * 3_600.0;
        assert_eq!((now, wall, started), (elapsed * 1e9, start + elapsed, start), "turn {turn}");
    }
}

const LUCK: &str = r#"(import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))
    (import "wasi:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32)))
    (import "wasi:random/insecure@0.2.6" "get-insecure-random-u64" (func $insecure (result i64)))
    (import "wasi:random/insecure-seed@0.2.6" "insecure-seed" (func $seed (param i32)))"#;

fn luck_under(code: &str, seed: Digest) -> Vec<[f64; 3]> {
    let strategy = load(host(), &component(&telling(LUCK, "", code)));
    let played = play(&strategy, &pack(), seed).expect("no host fault");
    assert_eq!(ending(played.forfeit.as_ref()), "acted");
    asked(&played)
}

#[test]
fn luck_is_of_the_seed_and_of_nothing_else() {
    let code = "(call $seed (i32.const 64))
        (call $tell (call $random) (call $insecure) (i64.load (i32.const 64)))";
    let (first, again) = (luck_under(code, seed()), luck_under(code, seed()));
    assert_eq!(first, again);
    assert_ne!(first, luck_under(code, Digest::of(b"another")));
    let mut drawn: Vec<u64> = first.iter().flatten().map(|number| number.to_bits()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), 3 * 12, "no draw repeats, and the streams differ");
}

/// The streams as the rules define them, worked out beforehand for the seed of thirty-two 0x2a.
#[test]
fn luck_is_the_chacha_stream_of_the_rules() {
    let seed: Digest = "2a".repeat(32).parse().expect("a digest");
    let code = "(call $bytes (i64.const 4) (i32.const 64))
        (call $tell (i64.load32_u (i32.load (i32.const 64))) (i64.shr_u (call $random) (i64.const 32)) (i64.shr_u (call $insecure) (i64.const 32)))";
    assert_eq!(luck_under(code, seed)[0], LUCK_OF_2A);
}

const LUCK_OF_2A: [f64; 3] = [1_881_391_142.0, 1_365_948_975.0, 548_909_486.0];

/// Sixty-four KiB are given in one call and no more; a byte costs one.
#[test]
fn luck_is_charged_by_the_byte() {
    let fuel = |bytes: u32| {
        let code = format!("(call $bytes (i64.const {bytes}) (i32.const 64))");
        let wat = telling(
            LUCK,
            "(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) (i32.const 65536)) (memory (export \"memory\") 4)",
            &code,
        );
        played_out(&wat).log.run.expect("a run").fuel[11]
    };
    assert_eq!(fuel(65_536) - fuel(0), 65_536);
}

/// A guest's own log is told as it was written, with its turn.
#[test]
fn lines_bear_their_turn_and_level() {
    let played = played_out(
        r#"(module
            (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
            (memory (export "memory") 1)
            (data (i32.const 64) "line")
            (func (export "init") (call $log (i32.const 0) (i32.const 64) (i32.const 4)))
            (func (export "brief") (type $brief) (call $log (i32.const 1) (i32.const 64) (i32.const 4)))
            (func (export "notice") (type $notice) (call $log (i32.const 2) (i32.const 64) (i32.const 4)))
            (func (export "act") (type $act)
              (if (i32.eq (local.get 0) (i32.const 11)) (then (call $log (i32.const 3) (i32.const 64) (i32.const 4))))
              (i32.const 0)))"#,
    );
    let shown = |line: &LogLine| format!("{} {:?}", line.turn, line.level);
    let lines: Vec<String> = played.log.run.expect("a run").log.iter().map(shown).collect();
    let expected =
        ["0 Debug", "0 Info", "0 Warn", "1 Warn", "1 Warn", "2 Warn", "3 Warn", "5 Warn", "11 Error"];
    assert_eq!(lines, expected);
}

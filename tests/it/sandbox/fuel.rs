//! What things cost: a table of code and its price, and budgets used to the last unit.

use arena_engine::limits::V1;
use arena_engine::{During, Forfeit, FuelScope};
use arena_sandbox::{Played, play};

use super::guest::{component, host, load, pack, pack_of, play_wat, seed};
use super::hostile::ending;

/// Fuel of the last turn of a guest that does `code` so many times on every turn.
#[track_caller]
fn fuel(setting: &str, code: &str, times: usize) -> u64 {
    let (imports, rest) = setting.split_once("---").unwrap_or(("", setting));
    let memory = if rest.contains("(memory") { "" } else { r#"(memory (export "memory") 1)"# };
    let code = code.repeat(times);
    let wat = format!(
        r#"(module {imports} {memory} {rest} (table $t 10 100 funcref) (global $g (mut i32) (i32.const 0))
            (type $v (func)) (func $f (type $v)) (elem (i32.const 0) $f) (elem $e func $f $f $f $f) (data $d "abcd")
            (func (export "act") (type $act) (local $x i32) (local $v v128) {code} (i32.const 1024)))"#
    );
    let played = play_wat(&wat);
    assert_eq!(ending(played.forfeit.as_ref()), "acted", "{code}");
    played.log.run.expect("a run").fuel[11]
}

/// The price of doing it once more.
#[track_caller]
fn check(setting: &str, code: &str, price: u64) {
    let once = fuel(setting, code, 1);
    let [more, most] = [2, 3].map(|times| fuel(setting, code, times));
    assert_eq!((more - once, most - more), (price, price), "{code}");
}

/// Constants, locals and arithmetic are 1, what generates no code is nothing.
#[test]
fn operators_cost_what_the_table_says() {
    let table = [
        ("(nop)", 0),
        ("(drop (i32.const 1))", 1),
        ("(local.set $x (i32.add (local.get $x) (i32.const 1)))", 4),
        ("(global.set $g (global.get $g))", 2),
        ("(drop (select (i32.const 1) (i32.const 2) (i32.const 3)))", 4),
        ("(drop (i32.load (i32.const 0)))", 1 + 4),
        ("(drop (i64.load32_s (i32.const 0)))", 1 + 4),
        ("(drop (f64.load (i32.const 0)))", 1 + 4),
        ("(local.set $v (v128.load (i32.const 0)))", 1 + 4 + 1),
        ("(i32.store (i32.const 0) (i32.const 0))", 2 + 2),
        ("(i64.store8 (i32.const 0) (i64.const 0))", 2 + 2),
        ("(v128.store (i32.const 0) (local.get $v))", 2 + 2),
        ("(drop (i32.div_u (i32.const 1) (i32.const 1)))", 2 + 8),
        ("(drop (i64.rem_s (i64.const 1) (i64.const 1)))", 2 + 8),
        ("(drop (f64.div (f64.const 1) (f64.const 1)))", 2 + 8),
        ("(drop (f64.sqrt (f64.const 1)))", 1 + 8),
        ("(call $f)", 2 + 1),
        ("(call_indirect (type $v) (i32.const 0))", 1 + 2 + 1),
        ("(drop (memory.size))", 1),
        ("(drop (memory.grow (i32.const 0)))", 1 + 255),
        ("(drop (memory.grow (i32.const -1)))", 1 + 255),
        ("(drop (table.grow $t (ref.null func) (i32.const 0)))", 2 + 255),
        ("(drop (table.grow $t (ref.null func) (i32.const -1)))", 2 + 255),
        ("(memory.fill (i32.const 0) (i32.const 0) (i32.const 100))", 3 + 1 + 100),
        ("(memory.copy (i32.const 0) (i32.const 8) (i32.const 100))", 3 + 1 + 100),
        ("(memory.init $d (i32.const 0) (i32.const 0) (i32.const 4))", 3 + 1 + 4),
        ("(table.fill $t (i32.const 0) (ref.null func) (i32.const 7))", 3 + 1 + 7),
        ("(table.copy (i32.const 0) (i32.const 1) (i32.const 7))", 3 + 1 + 7),
        ("(table.init $e (i32.const 0) (i32.const 0) (i32.const 4))", 3 + 1 + 4),
    ];
    for (code, price) in table {
        check("", code, price);
    }
}

/// A page more or less costs the same: 255 and the two constants.
#[test]
fn growth_costs_the_same_whatever_its_size() {
    let grow = |pages: u32| format!("(drop (memory.grow (i32.const {pages})))");
    let fuels = [1, 10, 80].map(|pages| fuel("", &grow(pages), 1));
    assert_eq!(fuels[0], fuels[1]);
    assert_eq!(fuels[0], fuels[2]);
}

/// A call out costs 2 as any call, then 200 and a unit a byte. Functions that touch memory are called
/// through a table by wit-component: that many parameters, and 4.
#[test]
fn host_calls_cost_two_hundred_and_a_unit_a_byte() {
    let log = r#"(import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))---"#;
    let clock = r#"(import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))---"#;
    let exits = r#"(import "wasi:cli/stdout@0.2.6" "get-stdout" (func $get (result i32)))
        (import "wasi:io/streams@0.2.6" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
        (import "wasi:io/streams@0.2.6" "[resource-drop]output-stream" (func $drop (param i32)))---"#;
    let stub =
        r#"(import "wasi:sockets/made-up@0.2.6" "take-text" (func $take (param i32 i32) (result i32)))---"#;
    let random = r#"(import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))---"#;
    let through_table = |parameters: u64| parameters + 4;
    let logged = 3 + 2 + through_table(3) + 200;
    check(log, "(call $log (i32.const 0) (i32.const 0) (i32.const 0))", logged);
    check(log, "(call $log (i32.const 0) (i32.const 0) (i32.const 50))", logged + 50);
    check(clock, "(drop (call $now))", 2 + 200);
    check(random, "(drop (call $random))", 2 + 200 + 8);
    check(exits, "(call $drop (call $get))", 2 * (2 + 200));
    let write = |bytes| {
        let write = format!("(call $write (local.get $x) (i32.const 0) (i32.const {bytes}) (i32.const 64))");
        format!("(local.set $x (call $get)) {write} (call $drop (local.get $x))")
    };
    let written = 1 + 1 + 2 * (2 + 200) + 4 + 2 + through_table(4) + 200;
    check(exits, &write(0), written);
    check(exits, &write(500), written + 500);
    check(stub, "(drop (call $take (i32.const 0) (i32.const 300)))", 2 + 2 + through_table(2) + 200 + 300);
}

/// Uses `fuel` or a little less on every turn.
fn spender(fuel: u64) -> Played {
    let rounds = (fuel - 40) / 5;
    let wat = format!(
        r#"(module (func (export "act") (type $act) (local $left i32)
            (local.set $left (i32.const {rounds}))
            (loop (br_if 0 (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
            (i32.const 0)))"#
    );
    let strategy = load(host(), &component(&wat));
    play(&strategy, &pack_of(30), seed()).expect("no host fault")
}

#[test]
fn an_episodes_budget_ends_what_every_turns_would_allow() {
    let played = spender(19_900_000);
    let record = played.forfeit.expect("25 turns are paid for, and no more");
    let budget = V1.episode_fuel_max;
    assert_eq!(record.forfeit, Forfeit::FuelSpent { scope: FuelScope::Episode, budget });
    assert_eq!((record.turn, record.during, record.build_dependent), (25, During::Turn, false));
    let fuel = played.log.run.expect("a run").fuel;
    assert!(fuel[..25].iter().all(|&used| (19_800_000..=19_900_000).contains(&used)), "{fuel:?}");
    assert_eq!(fuel.iter().sum::<u64>(), budget, "the forfeited turn takes what was left");
    assert_eq!(fuel[26..], [0; 4]);
}

#[test]
fn what_a_turn_does_not_use_is_not_carried_over() {
    let played = spender(10_000_000);
    assert_eq!(ending(played.forfeit.as_ref()), "acted");
    let code = "(if (i32.eq (local.get 0) (i32.const 5)) (then (memory.fill (i32.const 0) (i32.const 0) (i32.const 20000000))))";
    let wat = format!(
        r#"(module (memory (export "memory") 400)
            (func (export "act") (type $act) {code} (i32.const 0)))"#
    );
    assert_eq!(ending(play_wat(&wat).forfeit.as_ref()), "fuel_spent turn on turn 5: 20000000");
}

/// Instantiation and the brief have a budget each: what one uses is not the other's.
#[test]
fn the_brief_has_its_budget_whatever_the_start_used() {
    let most = |name: &str| {
        format!(
            r#"(func {name} (local $left i32) (local.set $left (i32.const 39800000))
                (loop (br_if 0 (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))"#
        )
    };
    let (start, brief) = (most("$start"), most(r#"(export "brief") (type $brief)"#));
    let wat = format!("(module {start} {brief} (start $start))");
    let played = play(&load(host(), &component(&wat)), &pack(), seed()).expect("no host fault");
    assert_eq!(ending(played.forfeit.as_ref()), "acted");
    let run = played.log.run.expect("a run");
    assert!((195_000_000..200_000_000).contains(&run.brief_fuel), "{}", run.brief_fuel);
}

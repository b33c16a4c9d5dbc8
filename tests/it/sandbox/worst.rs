//! How slow fuel can be. Nothing is asserted here: `cargo test --release -p arena-tests --test it
//! sandbox::worst -- --ignored --nocapture` prints the CPU time of a turn's whole budget.

use rustix::time::{ClockId, clock_gettime};

use super::guest::{hostile, play_component};

#[test]
#[ignore = "prints absolute times, which are for people to read"]
fn how_long_a_turns_budget_can_take() {
    for (name, code) in CANDIDATES {
        let wat = guest(code);
        let component = super::guest::component(&wat);
        report(name, &component);
    }
    let chaser = hostile().into_iter().find(|(name, _)| name == "chases-pointers").expect("it is there").1;
    report("loads that miss every cache", &super::guest::component(&chaser));
}

#[expect(clippy::print_stdout, reason = "a figure for whoever asks for it by name")]
fn report(name: &str, component: &[u8]) {
    let strategy = super::guest::load(super::guest::host(), component);
    drop(strategy);
    let before = cpu_ns();
    let played = play_component(super::guest::host(), component);
    let after = cpu_ns();
    let run = played.log.run.expect("a run");
    let fuel = run.brief_fuel + run.fuel.iter().sum::<u64>();
    println!(
        "{:6} ms for {fuel:9} fuel ({:5.1} ns each): {name}, {:?}",
        (after - before) / 1_000_000,
        (after - before) as f64 / fuel as f64,
        run.forfeit.map(|f| f.forfeit.to_string())
    );
}

fn cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

const VALUES: usize = 100;

/// Does it over and over until the turn's fuel is gone.
fn guest(code: &str) -> String {
    let many = |what: &str, n: usize| what.repeat(n);
    let code = code.replace("DROPS", &many("(drop)", VALUES));
    let (kind, three, one) = if code.contains("V128") {
        ("v128 ", "(v128.const i64x2 1 2)", "(v128.const i64x2 1 2)")
    } else {
        ("i64 ", "(i64.const 3)", "(i64.const 1)")
    };
    let i64s = many(kind, VALUES);
    let rotate = format!(
        "(type $wide (func (param {i64s}) (result {i64s})))
         (func $rotate {} (loop (type $wide) {one} (br 0)) unreachable)
         (func $wide_id (type $wide) {})
         (func $forward (param i32) (result {i64s}) (if (type $many) (local.get 0) (then (call $forward (i32.sub (local.get 0) (i32.const 1)))) (else {})))
         (type $many (func (result {i64s})))",
        many(three, VALUES),
        (0..VALUES).map(|i| format!("(local.get {i})")).collect::<String>(),
        many(three, VALUES),
    );
    let imports = r#"(import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
        (import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))
        (import "wasi:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32)))
        (import "wasi:io/poll@0.2.6" "poll" (func $poll (param i32 i32 i32)))
        (import "wasi:sockets/instance-network@0.2.6" "instance-network" (func $network (result i32)))
        (import "wasi:sockets/network@0.2.6" "[resource-drop]network" (func $drop (param i32)))
        (import "wasi:sockets/made-up@0.2.6" "take-text" (func $take (param i32 i32) (result i32)))
        (import "wasi:sockets/made-up@0.2.6" "take-lists" (func $lists (param i32 i32) (result i32)))
        (import "wasi:cli/environment@0.2.6" "get-arguments" (func $arguments (param i32)))
        (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))"#;
    format!(
        r#"(module {imports} (memory (export "memory") 1024) (table $t 9000 10000 funcref) (elem declare func $f)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 33554432))
            (func (export "brief") (type $brief) (memory.fill (i32.const 0) (i32.const 0) (i32.const 67108864)))
            (func $f) {}
            (func (export "act") (type $act) (local $x i32) (local $d f64) (loop {} (br 0)) (i32.const 0)))"#,
        if code.contains("$rotate") || code.contains("$forward") || code.contains("$wide") {
            rotate
        } else {
            String::new()
        },
        if code.contains("$rotate") || code.contains("$forward") { code.clone() } else { code.repeat(16) }
    )
}

const CANDIDATES: &[(&str, &str)] = &[
    ("additions", "(local.set $x (i32.add (local.get $x) (i32.const 1)))"),
    ("calls", "(call $f)"),
    ("indirect calls", "(call_indirect (i32.const 8999))"),
    ("divisions", "(local.set $x (i32.div_u (i32.const 7) (i32.add (local.get $x) (i32.const 9))))"),
    ("square roots", "(local.set $d (f64.sqrt (f64.add (local.get $d) (f64.const 2))))"),
    ("growing by nothing", "(drop (memory.grow (i32.const 0)))"),
    ("growing by too much", "(drop (memory.grow (i32.const -1)))"),
    ("growing a table by nothing", "(drop (table.grow $t (ref.null func) (i32.const 0)))"),
    ("filling nothing", "(memory.fill (i32.const 0) (i32.const 0) (i32.const 0))"),
    ("filling 64 bytes", "(memory.fill (i32.const 0) (i32.const 0) (i32.const 64))"),
    ("copying nothing in a table", "(table.copy (i32.const 0) (i32.const 0) (i32.const 0))"),
    ("copying a table", "(table.copy (i32.const 1) (i32.const 0) (i32.const 8000))"),
    ("filling a table", "(table.fill (i32.const 1) (ref.func $f) (i32.const 8000))"),
    ("reading a table", "(drop (table.get (i32.const 1)))"),
    ("writing a table", "(table.set (i32.const 1) (ref.func $f))"),
    ("rotating a hundred values", "(call $rotate)"),
    ("rotating a hundred vectors", "(; V128 ;) (call $rotate)"),
    ("forwarding a hundred values", "(call $forward (i32.const 20)) DROPS"),
    ("asking the time", "(drop (call $now))"),
    ("drawing luck", "(drop (call $random))"),
    ("drawing 64 KiB of luck", "(call $bytes (i64.const 65536) (i32.const 64))"),
    ("opening and dropping", "(call $drop (call $network))"),
    ("polling nothing", "(call $poll (i32.const 0) (i32.const 0) (i32.const 64))"),
    ("polling 4 000", "(call $poll (i32.const 0) (i32.const 4000) (i32.const 64))"),
    ("denied text", "(drop (call $take (i32.const 0) (i32.const 1048576)))"),
    ("denied lists", "(drop (call $lists (i32.const 1048576) (i32.const 100000)))"),
    ("denied nothing", "(drop (call $take (i32.const 0) (i32.const 0)))"),
    ("arguments", "(call $arguments (i32.const 64))"),
    ("logging nothing", "(call $log (i32.const 0) (i32.const 0) (i32.const 0))"),
    ("logging a MiB", "(call $log (i32.const 0) (i32.const 0) (i32.const 1048576))"),
];

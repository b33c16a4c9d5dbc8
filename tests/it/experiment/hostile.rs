//! Experiments that mean ill, or are wrong: each ends as data, the same on every host, and costs the host no
//! more than its limits.

use std::fmt::Write as _;

use arena_sandbox::experiment::{ExperimentEnding, ExperimentLimits, Measured, RunError};
use arena_sandbox::{admit, admit_experiment};

use super::guest::{LIMITS, component, hosts, run, task};

/// The metrics at 64 as the result: 24 bytes each, name, kind, value.
fn reporting(count: u32, data: &str) -> String {
    format!(
        r#"(module (memory (export "memory") 1)
            (data (i32.const 8) "\00\00\00\00\40\00\00\00")
            {data}
            (func (export "run") (param i32 i32) (result i32)
                (i32.store (i32.const 16) (i32.const {count})) i32.const 8))"#
    )
}

/// A metric `m` at 64 of this kind, whose text is at 512.
fn one(kind: u8, text: &str) -> String {
    let (low, high) = (text.len() & 0xff, text.len() >> 8);
    let data = format!(
        r#"(data (i32.const 64) "\00\01\00\00\01\00\00\00\{kind:02x}\00\00\00\00\00\00\00\00\02\00\00\{low:02x}\{high:02x}\00\00")
           (data (i32.const 256) "m") (data (i32.const 512) "{text}")"#
    );
    reporting(1, &data)
}

const OUTPUT: &str = r#"(import $host "output" (func $output (param i32 i32 i32 i32)))"#;
const READ: &str = r#"(import $host "read-input" (func $read (param i32 i32 i64 i32 i32)))"#;

/// A name, a guest, and the code of its ending.
type Case = (&'static str, String, &'static str);

fn cases() -> Vec<Case> {
    [endings(), calls(), reports(), values()].concat()
}

/// A guest whose `run` is `body`, and reports nothing.
fn body(imports: &str, body: &str) -> String {
    format!(
        r#"(module {imports} (memory (export "memory") 2) (data (i32.const 100) "../xname")
                (func (export "run") (param i32 i32) (result i32) {body} i32.const 8))"#
    )
}

fn endings() -> Vec<Case> {
    vec![
        ("nothing to say", body("", ""), "measured"),
        ("an endless loop", body("", "(loop br 0)"), "fuel_spent"),
        ("a trap", body("", "unreachable"), "trapped"),
        (
            "memory until there is none",
            body(
                "",
                "(loop (br_if 0 (i32.ne (memory.grow
                (i32.const 16)) (i32.const -1)))) unreachable",
            ),
            "memory_capped",
        ),
        ("refused memory, lived with", body("", "(drop (memory.grow (i32.const 60000)))"), "measured"),
    ]
}

fn calls() -> Vec<Case> {
    vec![
        (
            "a flood of output",
            body(
                OUTPUT,
                "(loop (call $output (i32.const 104) (i32.const 4)
                (i32.const 0) (i32.const 65536)) br 0)",
            ),
            "over_limit",
        ),
        (
            "empty output for ever",
            body(
                OUTPUT,
                "(loop (call $output (i32.const 104) (i32.const 4)
                (i32.const 0) (i32.const 0)) br 0)",
            ),
            "fuel_spent",
        ),
        (
            "output outside its place",
            body(
                OUTPUT,
                "(call $output (i32.const 100) (i32.const 4)
                (i32.const 0) (i32.const 1))",
            ),
            "unreadable",
        ),
        (
            "output beyond memory",
            body(
                OUTPUT,
                "(call $output (i32.const 104) (i32.const 4)
                (i32.const 131071) (i32.const 2))",
            ),
            "unreadable",
        ),
        (
            "log for ever",
            body(
                r#"(import $host "log" (func $log (param i32 i32 i32)))"#,
                "(loop
                (call $log (i32.const 0) (i32.const 0) (i32.const 65536)) br 0)",
            ),
            "fuel_spent",
        ),
        (
            "a level that is none",
            body(
                r#"(import $host "log" (func $log
                (param i32 i32 i32)))"#,
                "(call $log (i32.const 9) (i32.const 0)
                (i32.const 0))",
            ),
            "unreadable",
        ),
        (
            "an input for ever",
            body(
                &format!(
                    r#"{READ} (func (export "cabi_realloc")
                (param i32 i32 i32 i32) (result i32) (i32.const 1024))"#
                ),
                "(loop (call $read
                (i32.const 104) (i32.const 1) (i64.const 0) (i32.const 1)
                (i32.const 16)) br 0)",
            ),
            "fuel_spent",
        ),
    ]
}

fn reports() -> Vec<Case> {
    vec![
        ("256 metrics without a name", reporting(256, ""), "bad_metric"),
        ("257 metrics", reporting(257, ""), "over_limit"),
        ("more metrics than memory", reporting(1 << 20, ""), "unreadable"),
        (
            "an error",
            r#"(module (memory (export "memory") 1) (data
                (i32.const 8) "\01\00\00\00\40\00\00\00\03\00\00\00") (data (i32.const 64) "why")
                (func (export "run") (param i32 i32) (result i32) i32.const 8))"#
                .to_owned(),
            "declined",
        ),
        (
            "neither report nor error",
            r#"(module (memory (export "memory") 1) (data
                (i32.const 8) "\07") (func (export "run") (param i32 i32)
                (result i32) i32.const 8))"#
                .to_owned(),
            "unreadable",
        ),
        (
            "a result outside memory",
            r#"(module (func (export "run") (param i32 i32)
                (result i32) i32.const -8))"#
                .to_owned(),
            "unreadable",
        ),
        (
            "a trap before it starts",
            r#"(module (func $s unreachable)
                (start $s))"#
                .to_owned(),
            "start_failed",
        ),
        (
            "endless before it starts",
            r#"(module (func $s (loop br 0))
                (start $s))"#
                .to_owned(),
            "fuel_spent",
        ),
    ]
}

fn values() -> Vec<Case> {
    vec![
        ("a plain decimal", one(2, "-12.50"), "measured"),
        ("a decimal with an exponent", one(2, "1e5"), "bad_metric"),
        ("a decimal in words", one(2, "twelve"), "bad_metric"),
        ("an empty decimal", one(2, ""), "bad_metric"),
        ("an endless decimal", one(2, &"9".repeat(200)), "bad_metric"),
        ("a text too long", one(4, &"x".repeat(4_097)), "bad_metric"),
        ("a text that is none", one(4, r"\ff\fe"), "unreadable"),
        ("the hash of nothing", one(0, "gone"), "bad_metric"),
        ("a kind that is none", one(9, "x"), "unreadable"),
        (
            "twice the same name",
            reporting(
                2,
                r#"(data
                (i32.const 64) "\00\01\00\00\01\00\00\00\01") (data
                (i32.const 88) "\00\01\00\00\01\00\00\00\01") (data (i32.const 256) "m")"#,
            ),
            "bad_metric",
        ),
        (
            "a name that is none",
            reporting(
                1,
                r#"(data
                (i32.const 64) "\00\01\00\00\02\00\00\00\01") (data
                (i32.const 256) "\1b[")"#,
            ),
            "bad_metric",
        ),
    ]
}

#[test]
fn every_ending_is_data_and_the_same_on_every_host() {
    let mut wrong = String::new();
    for (name, wat, code) in cases() {
        let ran = run(&component(&wat), &task(&[], &[("n", b"x")]));
        if ran.ending.code() != code {
            writeln!(wrong, "{name}: {} instead of {code}", ran.ending).expect("writing to a string");
        }
        assert!(ran.fuel <= LIMITS.fuel && ran.memory_bytes <= LIMITS.memory_bytes, "{name}");
        assert!(ran.outputs.iter().map(|output| output.bytes.len()).sum::<usize>() <= 1 << 20, "{name}");
        let told = ran.ending.to_string();
        assert!(told.len() < 2_000 && !told.contains(char::is_control), "{name}: {told}");
        let starting = name.ends_with("before it starts");
        let depends = matches!(ran.ending, ExperimentEnding::Forfeited { build_dependent: true, .. });
        assert_eq!(depends, starting, "{name}");
    }
    assert_eq!(wrong, "");
}

/// Lifting a report must not cost the host what the guest's memory could hold of it.
#[test]
fn a_report_as_large_as_memory_is_not_read() {
    let wat = r#"(module (memory (export "memory") 4000)
        (data (i32.const 8) "\00\00\00\00\40\00\00\00\80\84\9e\00")
        (func (export "run") (param i32 i32) (result i32) i32.const 8))"#;
    let mut task = task(&[], &[]);
    task.limits.memory_bytes = 256 << 20;
    let admitted = admit_experiment(&component(wat)).expect("its memory is within that of experiments");
    let [pooled, on_demand] = hosts();
    let experiment = on_demand.load_experiment(&admitted).expect("it compiles");
    assert_eq!(experiment.run(&task).expect("the host is sound").ending.code(), "unreadable");
    let small = task.limits;
    task.limits = ExperimentLimits { memory_bytes: (256 << 20) + 1, ..small };
    assert!(matches!(experiment.run(&task), Err(RunError::Limits(_))));
    task.limits = small;
    let wat = "(module)";
    let admitted = admit_experiment(&component(wat)).expect("it is of the world");
    let experiment = pooled.load_experiment(&admitted).expect("it compiles");
    assert!(matches!(experiment.run(&task), Err(RunError::NeedsOnDemand { .. })));
}

#[test]
fn memory_beyond_the_claim_s_is_refused_at_the_start() {
    let wat = r#"(module (memory (export "memory") 128))"#;
    let ran = run(&component(wat), &task(&[], &[]));
    let ExperimentEnding::Forfeited { build_dependent, .. } = ran.ending else { panic!("{}", ran.ending) };
    assert!(build_dependent && ran.fuel == 0);
}

/// Reads `from`, `len` bytes from `offset`; reports how many came, or -1 for none at all.
fn reader(name: &str, offset: i64, len: i32) -> String {
    format!(
        r#"(module {READ} (memory (export "memory") 64)
            (data (i32.const 8) "\00\00\00\00\40\00\00\00\01")
            (data (i32.const 64) "\00\01\00\00\01\00\00\00\01") (data (i32.const 256) "m{name}")
            (global $next (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (global.get $next) (global.set $next (i32.add (global.get $next) (local.get 3))))
            (func (export "run") (param i32 i32) (result i32)
                (call $read (i32.const 257) (i32.const {}) (i64.const {offset}) (i32.const {len})
                (i32.const 512))
                (i64.store (i32.const 80) (select
                    (i64.load32_u (i32.const 520)) (i64.const -1) (i32.load8_u (i32.const 512))))
                i32.const 8))"#,
        name.len()
    )
}

#[test]
fn reading_out_of_range_gives_what_there_is() {
    let large = vec![7; 3 << 20];
    let mut task = task(&[], &[("large", &large), ("small", b"12345"), ("empty", b"")]);
    task.limits.memory_bytes = 8 << 20;
    for (name, offset, len, came) in [
        ("small", 0, 5, 5),
        ("small", 0, 6, 5),
        ("small", 4, 100, 1),
        ("small", 5, 100, 0),
        ("small", -1, -1, 0),
        ("small", 0, 0, 0),
        ("empty", 0, 1, 0),
        ("large", 0, -1, 1 << 20),
        ("large", (3 << 20) - 1, -1, 1),
        ("missing", 0, 1, -1),
        ("", 0, 1, -1),
        ("../small", 0, 1, -1),
    ] {
        let ran = run(&component(&reader(name, offset, len)), &task);
        let ExperimentEnding::Measured(metrics) = ran.ending else { panic!("{name}: {}", ran.ending) };
        assert_eq!(metrics[0].value, Measured::Int(came), "{name} {offset} {len}");
    }
}

#[test]
fn luck_is_the_claim_s_and_the_clock_stands_in_2000() {
    let wat = r#"(module
        (import "wasi:random/random@0.2.6" "get-random-u64" (func $luck (result i64)))
        (memory (export "memory") 1)
        (data (i32.const 8) "\00\00\00\00\40\00\00\00\01")
        (data (i32.const 64) "\00\01\00\00\01\00\00\00\01") (data (i32.const 256) "m")
        (func (export "run") (param i32 i32) (result i32)
            (i64.store (i32.const 80) (call $luck)) i32.const 8))"#;
    let bytes = component(wat);
    let mut task = task(&[], &[]);
    let first = run(&bytes, &task);
    task.seed = arena_canon::Digest::of(b"another job");
    assert_ne!(run(&bytes, &task).ending, first.ending);

    let wat = r#"(module
        (import "wasi:clocks/wall-clock@0.2.6" "now" (func $now (param i32)))
        (memory (export "memory") 1)
        (data (i32.const 8) "\00\00\00\00\40\00\00\00\01")
        (data (i32.const 64) "\00\01\00\00\01\00\00\00\01") (data (i32.const 256) "m")
        (func (export "run") (param i32 i32) (result i32) (call $now (i32.const 80)) i32.const 8))"#;
    let ExperimentEnding::Measured(metrics) = run(&component(wat), &task).ending else {
        panic!("it tells the time")
    };
    // 2000-01-01T00:00:00Z
    assert_eq!(metrics[0].value, Measured::Int(946_684_800));
}

#[test]
fn experiments_and_strategies_are_told_apart() {
    let experiment = component("(module)");
    let refused = admit(&experiment).expect_err("it plays no game");
    assert_eq!(refused.refusals[0].code, "admit.wrong_world");
    assert!(refused.refusals[0].message.contains("arena:experiment/experiment@0.1.0"), "{refused}");
    for name in ["idle", "tit-for-tat"] {
        let refused = admit_experiment(&arena_tests::guest(name)).expect_err("it is a strategy");
        assert_eq!(refused.refusals[0].code, "admit.wrong_world", "{name}: {refused}");
    }
}

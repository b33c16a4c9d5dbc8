//! The pinned inputs as files: read-only at `/inputs`, and nothing beside them.

use arena_sandbox::experiment::{ExperimentEnding, Measured};

use super::guest::{component, run, task};

/// Opens `path` below the first folder there is and counts what a stream from `offset` gives, three bytes at
/// a time. -1 less the error code if it does not open, -101 less it if it cannot be read.
fn reader(path: &str, open_flags: u8, access: u8, offset: i64) -> String {
    let length = path.len();
    format!(
        r#"(module
        (import "wasi:filesystem/preopens@0.2.6" "get-directories" (func $folders (param i32)))
        (import "wasi:filesystem/types@0.2.6" "[method]descriptor.open-at"
            (func $open (param i32 i32 i32 i32 i32 i32 i32)))
        (import "wasi:filesystem/types@0.2.6" "[method]descriptor.read-via-stream"
            (func $stream (param i32 i64 i32)))
        (import "wasi:io/streams@0.2.6" "[method]input-stream.blocking-read" (func $read (param i32 i64 i32)))
        (memory (export "memory") 1)
        (data (i32.const 8) "\00\00\00\00\40\00\00\00\01")
        (data (i32.const 64) "\00\01\00\00\01\00\00\00\01") (data (i32.const 256) "m")
        (data (i32.const 512) "{path}")
        (func $count (result i64) (local $sum i64) (local $s i32)
            (call $folders (i32.const 1024))
            (call $open (i32.load (i32.load (i32.const 1024))) (i32.const 0) (i32.const 512)
                (i32.const {length}) (i32.const {open_flags}) (i32.const {access}) (i32.const 1040))
            (if (i32.load8_u (i32.const 1040))
                (then (return (i64.sub (i64.const -1) (i64.load8_u (i32.const 1044))))))
            (call $stream (i32.load (i32.const 1044)) (i64.const {offset}) (i32.const 1056))
            (if (i32.load8_u (i32.const 1056))
                (then (return (i64.sub (i64.const -101) (i64.load8_u (i32.const 1060))))))
            (local.set $s (i32.load (i32.const 1060)))
            (loop $more
                (call $read (local.get $s) (i64.const 3) (i32.const 1072))
                (if (i32.eqz (i32.load8_u (i32.const 1072))) (then
                    (local.set $sum (i64.add (local.get $sum) (i64.load32_u (i32.const 1080))))
                    (br $more))))
            (local.get $sum))
        (func (export "run") (param i32 i32) (result i32)
            (i64.store (i32.const 80) (call $count)) i32.const 8))"#
    )
}

const NO_ENTRY: i64 = -1 - 20;
const NOT_DIRECTORY: i64 = -1 - 24;
const NOT_PERMITTED: i64 = -1 - 31;
const READ_ONLY: i64 = -1 - 33;
const IS_DIRECTORY: i64 = -101 - 14;
const READ: u8 = 1;
const WRITE: u8 = 2;
const CREATE: u8 = 1;
const DIRECTORY: u8 = 2;

#[test]
fn the_inputs_are_files_and_nothing_else_is() {
    for (path, open_flags, access, offset, found) in [
        ("a.txt", 0, READ, 0, 7),
        ("a.txt", 0, READ, 5, 2),
        ("a.txt", 0, READ, 7, 0),
        ("a.txt", 0, READ, -1, 0),
        ("./a.txt", 0, READ, 0, 7),
        ("b.txt", 0, 0, 0, 4),
        ("missing", 0, READ, 0, NO_ENTRY),
        ("a.txt/b.txt", 0, READ, 0, NO_ENTRY),
        ("inputs/a.txt", 0, READ, 0, NO_ENTRY),
        ("../inputs/a.txt", 0, READ, 0, NOT_PERMITTED),
        ("a.txt/..", 0, READ, 0, NOT_PERMITTED),
        ("/a.txt", 0, READ, 0, NOT_PERMITTED),
        ("/etc/passwd", 0, READ, 0, NOT_PERMITTED),
        ("a.txt", 0, READ | WRITE, 0, READ_ONLY),
        ("a.txt", CREATE, READ, 0, READ_ONLY),
        ("new", CREATE, WRITE, 0, READ_ONLY),
        ("a.txt", DIRECTORY, READ, 0, NOT_DIRECTORY),
        ("", DIRECTORY, READ, 0, IS_DIRECTORY),
        (".", DIRECTORY, READ, 0, IS_DIRECTORY),
    ] {
        let ran = run(
            &component(&reader(path, open_flags, access, offset)),
            &task(&[], &[("b.txt", b"bbbb"), ("a.txt", b"aaaaaaa")]),
        );
        let ExperimentEnding::Measured(metrics) = &ran.ending else { panic!("{path}: {}", ran.ending) };
        assert_eq!(metrics[0].value, Measured::Int(found), "{path} {open_flags} {access} {offset}");
    }
}

/// Opened again and again, streams cost fuel and handles, and end with them.
#[test]
fn streams_run_out() {
    let wat = r#"(module
        (import "wasi:filesystem/preopens@0.2.6" "get-directories" (func $folders (param i32)))
        (import "wasi:filesystem/types@0.2.6" "[method]descriptor.read-directory"
            (func $list (param i32 i32)))
        (memory (export "memory") 1)
        (func (export "run") (param i32 i32) (result i32)
            (call $folders (i32.const 1024))
            (loop (call $list (i32.load (i32.load (i32.const 1024))) (i32.const 1040)) br 0) i32.const 8))"#;
    let ran = run(&component(wat), &task(&[], &[]));
    assert!(matches!(ran.ending, ExperimentEnding::Forfeited { .. }), "{}", ran.ending);
    assert!(ran.fuel < 1_000_000, "{}", ran.fuel);
}

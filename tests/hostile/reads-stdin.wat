;; Reads its input, which is at its end.
;; -> acted
(module
  (import "wasi:cli/stdin@0.2.6" "get-stdin" (func $stdin (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]input-stream.blocking-read" (func $read (param i32 i64 i32)))
  (import "wasi:io/streams@0.2.6" "[resource-drop]input-stream" (func $drop (param i32)))
  (func (export "act") (type $act) (local $in i32)
    (local.set $in (call $stdin))
    (call $read (local.get $in) (i64.const -1) (i32.const 64))
    ;; An error, and it says `closed`.
    (if (i32.ne (i32.load8_u (i32.const 64)) (i32.const 1)) (then unreachable))
    (if (i32.ne (i32.load8_u (i32.const 68)) (i32.const 1)) (then unreachable))
    (call $drop (local.get $in)) (i32.const 0)))

;; Sleeps for a year: a pollable is ready at once, and the clock does not move.
;; -> acted
(module
  (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
  (import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))
  (import "wasi:io/poll@0.2.6" "[resource-drop]pollable" (func $drop (param i32)))
  (func (export "act") (type $act) (local $p i32) (local $before i64)
    (local.set $before (call $now))
    (local.set $p (call $subscribe (i64.const 31536000000000000)))
    (call $block (local.get $p))
    (call $drop (local.get $p))
    (if (i64.ne (call $now) (local.get $before)) (then unreachable)) (i32.const 0)))

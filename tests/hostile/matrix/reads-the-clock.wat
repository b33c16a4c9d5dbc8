;; Gives up unless the clocks started in 2000 and every round took a second.
;; -> acted
(module
  (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
  (import "wasi:clocks/wall-clock@0.2.6" "now" (func $wall (param i32)))
  (func (export "act") (type $act) (local $round i64)
    (local.set $round (i64.extend_i32_u (local.get 0)))
    (call $wall (i32.const 64))
    (if (i64.ne (call $now) (i64.mul (local.get $round) (i64.const 1000000000))) (then unreachable))
    (if (i64.ne (i64.load (i32.const 64)) (i64.add (local.get $round) (i64.const 946684800)))
      (then unreachable))
    (i32.const 0)))

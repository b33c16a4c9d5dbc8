;; Asks for 1 MiB of random bytes in one call.
;; -> unreadable on turn 0
(module
  (import "wasi:random/random@0.2.6" "get-random-bytes" (func $random (param i64 i32)))
  (func (export "act") (type $act) (call $random (i64.const 1048576) (i32.const 64)) (i32.const 0)))

;; Leaves through WASI on round 2.
;; -> trapped exited on turn 2
(module
  (import "wasi:cli/exit@0.2.6" "exit" (func $exit (param i32)))
  (func (export "act") (type $act)
    (if (i32.eq (local.get 0) (i32.const 2)) (then (call $exit (i32.const 0))))
    (i32.const 1)))

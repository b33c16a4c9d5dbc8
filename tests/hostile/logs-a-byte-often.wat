;; Logs lines of one byte until its fuel is gone.
;; -> fuel_spent turn on turn 0
(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "x")
  (func (export "act") (type $act) (loop (call $log (i32.const 3) (i32.const 64) (i32.const 1)) (br 0)) (i32.const 0)))

;; Logs bytes that are no UTF-8.
;; -> unreadable on turn 0
(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "ab\ff\fe")
  (func (export "act") (type $act) (call $log (i32.const 1) (i32.const 64) (i32.const 4)) (i32.const 0)))

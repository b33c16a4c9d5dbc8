;; Logs an escape sequence and a bell; the log keeps them as they are.
;; -> acted
(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\1b[2J\07\00é")
  (func (export "act") (type $act) (call $log (i32.const 2) (i32.const 64) (i32.const 9)) (i32.const 0)))

;; Logs a text that is not in its memory.
;; -> unreadable on turn 0
(module
  (import "arena:matrix/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (func (export "act") (type $act) (call $log (i32.const 0) (i32.const 65530) (i32.const 10)) (i32.const 0)))

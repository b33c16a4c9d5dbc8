;; Logs at a level that the enum does not have.
;; -> unreadable on turn 0
(module
  (import "arena:matrix/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (func (export "act") (type $act) (call $log (i32.const 4) (i32.const 0) (i32.const 1)) (i32.const 0)))

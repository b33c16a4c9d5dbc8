;; Logs 9 KiB of which only the end, which is cut, is no UTF-8.
;; -> unreadable on turn 0
(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 9216) "\ff")
  (func (export "act") (type $act) (call $log (i32.const 1) (i32.const 0) (i32.const 9217)) (i32.const 0)))

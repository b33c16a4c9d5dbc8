;; Its constructor logs, which is no fault.
;; -> acted
(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "early")
  (func (export "init") (call $log (i32.const 1) (i32.const 64) (i32.const 5))))

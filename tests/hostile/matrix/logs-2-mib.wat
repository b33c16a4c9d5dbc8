;; Logs a line of 2 MiB every round: cut, and the rest counted.
;; -> acted
(module
  (import "arena:matrix/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 64)
  (func (export "brief") (type $brief)
    (memory.fill (i32.const 32) (i32.const 0x78) (i32.const 4000000)))
  (func (export "act") (type $act) (call $log (i32.const 1) (i32.const 0) (i32.const 2097152)) (i32.const 0)))

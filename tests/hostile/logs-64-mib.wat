;; Logs all of its memory at once.
;; -> fuel_spent turn on turn 0
(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1024)
  (func (export "brief") (type $brief)
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 67108864)))
  (func (export "act") (type $act) (call $log (i32.const 1) (i32.const 0) (i32.const 67108864)) (i32.const 0)))

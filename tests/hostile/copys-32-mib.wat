;; `memory.copy` of 32 MiB: a byte costs 1.
;; -> fuel_spent turn on turn 0
(module
  (memory (export "memory") 1024)
  (func (export "act") (type $act) (memory.copy (i32.const 33554432) (i32.const 0) (i32.const 33554432)) (i32.const 0)))

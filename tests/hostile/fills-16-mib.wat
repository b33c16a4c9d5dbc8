;; `memory.fill` of 16 MiB on one turn, which the budget allows.
;; -> acted
(module
  (memory (export "memory") 1024)
  (func (export "act") (type $act)
    (if (i32.eqz (local.get 0)) (then (memory.fill (i32.const 0) (i32.const 7) (i32.const 16777216))))
    (i32.const 0)))

;; Breaks a limit it set for itself, which is its own affair.
;; -> acted
(module
  (memory (export "memory") 1 2)
  (func (export "act") (type $act) (drop (memory.grow (i32.const 2))) (i32.const 0)))

;; Asks for 4 GiB on every turn and lives with the refusal.
;; -> acted
(module
  (memory (export "memory") 1)
  (func (export "act") (type $act) (drop (memory.grow (i32.const -1))) (i32.const 0)))

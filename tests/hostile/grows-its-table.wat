;; Grows a table to its limit and lives with a refusal.
;; -> acted
(module
  (table $t 0 funcref)
  (func (export "act") (type $act)
    (if (i32.ne (table.grow $t (ref.null func) (i32.const 1)) (local.get 0)) (then unreachable))
    (if (i32.ne (table.grow $t (ref.null func) (i32.const 10000)) (i32.const -1)) (then unreachable))
    (if (i32.ne (table.grow $t (ref.null func) (i32.const -1)) (i32.const -1)) (then unreachable))
    (i32.const 0)))

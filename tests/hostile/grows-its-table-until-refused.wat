;; Grows a table until it is refused, and dies of it.
;; -> memory_capped 10000 then unreachable on turn 0
(module
  (table $t 0 funcref)
  (func (export "act") (type $act)
    (loop (br_if 0 (i32.ne (table.grow $t (ref.null func) (i32.const 99)) (i32.const -1)))) unreachable))

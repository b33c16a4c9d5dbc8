;; Divides by zero.
;; -> trapped integer_division_by_zero on turn 0
(module
  (func (export "act") (type $act) (drop (i32.div_s (i32.const 1) (i32.const 0))) (i32.const 0)))

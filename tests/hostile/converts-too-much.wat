;; Makes an integer of a number too large for it.
;; -> trapped integer_overflow on turn 0
(module
  (func (export "act") (type $act) (drop (i32.trunc_f64_s (f64.const 1e300))) (i32.const 0)))

;; Makes an integer of NaN.
;; -> trapped bad_conversion_to_integer on turn 0
(module
  (func (export "act") (type $act) (drop (i32.trunc_f64_s (f64.const nan))) (i32.const 0)))

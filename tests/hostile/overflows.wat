;; Divides the smallest integer by -1.
;; -> trapped integer_overflow on turn 0
(module
  (func (export "act") (type $act) (drop (i32.div_s (i32.const 0x80000000) (i32.const -1))) (i32.const 0)))

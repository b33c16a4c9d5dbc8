;; Fills one byte too many.
;; -> trapped memory_out_of_bounds on turn 0
(module
  (func (export "act") (type $act) (memory.fill (i32.const 65535) (i32.const 0) (i32.const 2)) (i32.const 0)))

;; Loads from the first byte beyond its memory.
;; -> trapped memory_out_of_bounds on turn 0
(module
  (func (export "act") (type $act) (drop (i32.load8_u (i32.const 65536))) (i32.const 0)))

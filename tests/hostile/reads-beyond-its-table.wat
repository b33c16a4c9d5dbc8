;; Reads an element that is not there.
;; -> trapped table_out_of_bounds on turn 0
(module
  (table 1 funcref)
  (func (export "act") (type $act) (drop (table.get (i32.const 1))) (i32.const 0)))

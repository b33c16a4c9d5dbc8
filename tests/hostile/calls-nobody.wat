;; Calls an empty element of its table.
;; -> trapped indirect_call_to_null on turn 0
(module
  (table 1 funcref)
  (func (export "act") (type $act) (call_indirect (i32.const 0)) (i32.const 0)))

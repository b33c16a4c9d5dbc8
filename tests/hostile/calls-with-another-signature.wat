;; Calls a function as what it is not.
;; -> trapped bad_signature on turn 0
(module
  (table funcref (elem $f))
  (func $f (param i32))
  (func (export "act") (type $act) (call_indirect (i32.const 0)) (i32.const 0)))

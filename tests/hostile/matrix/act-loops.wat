;; Never comes back.
;; -> fuel_spent turn on turn 0: 20000000
(module
  (func (export "act") (type $act) (loop (br 0)) (i32.const 0)))

;; Never answers, but not at once.
;; -> fuel_spent turn on turn 7
(module
  (func (export "act") (type $act)
    (if (i32.eq (local.get 0) (i32.const 7)) (then (loop (br 0))))
    (i32.const 0)))

;; Never answers.
;; -> fuel_spent turn on turn 0
(module
  (func (export "act") (type $act) (loop (br 0)) unreachable))

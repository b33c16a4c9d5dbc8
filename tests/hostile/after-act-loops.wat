;; Never ends once the host has read its action.
;; -> fuel_spent turn on turn 0
(module
  (func (export "after_act") (param i32) (loop (br 0))))

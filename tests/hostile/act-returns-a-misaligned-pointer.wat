;; Hands over an action at an odd address.
;; -> unreadable on turn 0
(module
  (func (export "act") (type $act) (i32.const 4)))

;; Hands over an action at address -8.
;; -> unreadable on turn 0
(module
  (func (export "act") (type $act) (i32.const -8)))

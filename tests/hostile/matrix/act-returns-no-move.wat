;; Hands over a move that the enum does not have.
;; -> unreadable on turn 0
(module
  (func (export "act") (type $act) (i32.const 2)))

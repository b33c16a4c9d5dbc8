;; Hands over an action that lies beyond its memory.
;; -> unreadable on turn 0
(module
  (func (export "act") (type $act) (i32.const 65528)))

;; Hands over a move below zero on round 3.
;; -> unreadable on turn 3
(module
  (func (export "act") (type $act)
    (select (i32.const -1) (i32.const 1) (i32.eq (local.get 0) (i32.const 3)))))

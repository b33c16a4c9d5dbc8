;; Gives up when the host has read its action.
;; -> trapped unreachable on turn 0
(module
  (func (export "after_act") (param i32) unreachable))

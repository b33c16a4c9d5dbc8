;; Sheds a megawatt a turn and gives up on turn 7; later calls would be seen.
;; -> trapped unreachable on turn 7
(module
  (func (export "act") (type $act)
    (if (i32.eq (local.get 0) (i32.const 7)) (then (call $give_up)))
    (f64.store (i32.const 0) (f64.const 1))
    (i32.const 0))
  (func $give_up unreachable))

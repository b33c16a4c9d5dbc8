;; Calls itself until the native stack ends.
;; -> trapped native_stack on turn 0
(module
  (func (export "act") (type $act) (drop (call $deeper (i32.const 0))) (i32.const 0))
  (func $deeper (param i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get 0) (i32.const 1))) (local.get 0))))

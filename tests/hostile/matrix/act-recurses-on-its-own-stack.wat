;; Recurses until its own stack in linear memory is at an end.
;; -> trapped stack on turn 0
(module
  (memory (export "memory") 1)
  (global $sp (mut i32) (i32.const 4096))
  (func (export "act") (type $act) (call $deeper) (i32.const 0))
  (func $deeper
    (global.set $sp (i32.sub (global.get $sp) (i32.const 64)))
    (i32.store (global.get $sp) (i32.const 1))
    (call $deeper)))

;; Uses a handle it never got.
;; -> unreadable on turn 0
(module
  (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))
  (func (export "act") (type $act) (call $block (i32.const 77)) (i32.const 0)))

;; Reads a file it never opened.
;; -> unreadable on turn 0
(module
  (import "wasi:filesystem/types@0.2.6" "[method]descriptor.read" (func $read (param i32 i64 i64 i32)))
  (func (export "act") (type $act) (call $read (i32.const 0) (i64.const 8) (i64.const 0) (i32.const 64)) (i32.const 0)))

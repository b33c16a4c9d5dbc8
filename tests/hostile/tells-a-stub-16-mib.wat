;; Hands 16 MiB of text to a function that only says no, over and over.
;; -> unreadable on turn 0
(module
  (import "wasi:sockets/made-up@0.2.6" "take-text" (func $take (param i32 i32) (result i32)))
  (memory (export "memory") 1024)
  (func (export "act") (type $act) (loop (drop (call $take (i32.const 16777216) (i32.const 16777216))) (br 0)) (i32.const 0)))

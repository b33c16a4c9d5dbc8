;; Calls a stub that has no way to say no.
;; -> unreadable on turn 0
(module
  (import "wasi:sockets/made-up@0.2.6" "ask-number" (func $ask (result i32)))
  (func (export "act") (type $act) (drop (call $ask)) (i32.const 0)))

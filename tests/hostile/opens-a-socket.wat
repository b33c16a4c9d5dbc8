;; Asks for a socket every turn: access denied, and it plays on.
;; -> acted
(module
  (import "wasi:sockets/tcp-create-socket@0.2.6" "create-tcp-socket" (func $socket (param i32 i32)))
  (func (export "act") (type $act) (call $socket (i32.const 0) (i32.const 64))
    ;; An error, and it says `access-denied`.
    (if (i32.ne (i32.load8_u (i32.const 64)) (i32.const 1)) (then unreachable))
    (if (i32.ne (i32.load8_u (i32.const 68)) (i32.const 1)) (then unreachable)) (i32.const 0)))

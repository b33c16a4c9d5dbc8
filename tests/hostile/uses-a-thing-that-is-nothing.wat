;; Gets a handle from a stub, lends it, gives it away, and is refused nothing but answers.
;; -> acted
(module
  (import "wasi:sockets/made-up@0.2.6" "make-thing" (func $make (result i32)))
  (import "wasi:sockets/made-up@0.2.6" "use-thing" (func $use (param i32) (result i32)))
  (import "wasi:sockets/made-up@0.2.6" "keep-thing" (func $keep (param i32) (result i32)))
  (func (export "act") (type $act) (local $thing i32)
    (local.set $thing (call $make))
    (if (i32.ne (call $use (local.get $thing)) (i32.const 1)) (then unreachable))
    (if (i32.ne (call $keep (local.get $thing)) (i32.const 1)) (then unreachable)) (i32.const 0)))

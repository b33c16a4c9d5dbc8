;; Hands over 65 536 lists that are all the same 64 KiB: 4 GiB when copied.
;; -> unreadable on turn 0
(module
  (import "wasi:sockets/made-up@0.2.6" "take-lists" (func $take (param i32 i32) (result i32)))
  (memory (export "memory") 16)
  (func (export "act") (type $act) (local $at i32)
    (loop
      (i32.store offset=4 (local.get $at) (i32.const 65536))
      (br_if 0 (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 524288))))
    (drop (call $take (i32.const 0) (i32.const 65536))) (i32.const 0)))

;; Follows a chain through 64 MiB that no cache can hold: the slowest loads there are.
;; -> fuel_spent turn on turn 0
(module
  (memory (export "memory") 1024)
  (func (export "brief") (type $brief) (local $line i32) (local $next i32)
    ;; A permutation of all 2^20 lines of 64 bytes, in one cycle.
    (loop
      (local.set $next (i32.and (i32.add (i32.mul (local.get $line) (i32.const 0x2c9277b5)) (i32.const 0x3619)) (i32.const 0xfffff)))
      (i32.store (i32.shl (local.get $line) (i32.const 6)) (i32.shl (local.get $next) (i32.const 6)))
      (local.set $line (local.get $next))
      (br_if 0 (local.get $line))))
  (func (export "act") (type $act) (local $at i32)
    (loop
      (local.set $at
        (i32.load (i32.load (i32.load (i32.load (i32.load (i32.load (i32.load (i32.load
        (i32.load (i32.load (i32.load (i32.load (i32.load (i32.load (i32.load (i32.load
        (local.get $at))))))))))))))))))
      (br 0)) (unreachable)))

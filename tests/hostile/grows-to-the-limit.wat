;; Grows to 64 MiB exactly, and touches the last byte.
;; -> acted
(module
  (memory (export "memory") 1)
  (func (export "brief") (type $brief)
    (if (i32.eq (memory.grow (i32.const 1023)) (i32.const -1)) (then unreachable))
    (i32.store8 (i32.const 67108863) (i32.const 1))))

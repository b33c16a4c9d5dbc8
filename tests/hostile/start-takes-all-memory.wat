;; Asks for its 64 MiB at the start, and touches the last byte.
;; -> acted
(module
  (memory (export "memory") 1024)
  (func $start (i32.store8 (i32.const 67108863) (i32.const 1)))
  (start $start))

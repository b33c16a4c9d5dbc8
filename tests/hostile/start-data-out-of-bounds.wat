;; A data segment lies beyond its memory.
;; -> start_failed on start: memory access out of bounds
(module
  (memory (export "memory") 1)
  (data (i32.const 65530) "1234567"))

;; Asks for NaN, infinity and minus infinity: clamped, and the log replays.
;; -> acted
(module
  (memory (export "memory") 1)
  (data (i32.const 0) "\00\00\00\00\00\00\f8\ff" "\00\00\00\00\00\00\f0\7f" "\00\00\00\00\00\00\f0\ff"))

;; Accepts the offer with 255, which counts as yes.
;; -> acted
(module
  (memory (export "memory") 1)
  (data (i32.const 24) "\ff"))

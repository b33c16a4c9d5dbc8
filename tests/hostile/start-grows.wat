;; Its start function asks for more memory than there is, and takes no for a reason to die.
;; -> memory_capped 67108864 then unreachable on start
(module
  (memory (export "memory") 1)
  (func $start
    (if (i32.eq (memory.grow (i32.const 1024)) (i32.const -1)) (then (unreachable))))
  (start $start))

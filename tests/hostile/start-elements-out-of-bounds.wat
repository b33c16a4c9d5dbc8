;; An element segment lies beyond its table.
;; -> start_failed on start: table access out of bounds
(module
  (table 1 funcref)
  (func $f)
  (elem (i32.const 1) $f))

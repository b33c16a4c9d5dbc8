;; Its start function never ends.
;; -> fuel_spent brief on start
(module
  (func $start (loop (br 0)))
  (start $start))

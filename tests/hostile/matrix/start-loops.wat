;; Its start function never comes back.
;; -> fuel_spent brief on start
(module
  (func $start (loop (br 0)))
  (start $start))

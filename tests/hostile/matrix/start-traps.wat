;; Its start function gives up.
;; -> start_failed on start: unreachable
(module
  (func $start (unreachable))
  (start $start))

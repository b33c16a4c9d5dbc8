;; Its start function calls itself.
;; -> trapped native_stack on start
(module
  (func $start (call $start) (call $start))
  (start $start))

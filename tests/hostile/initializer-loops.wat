;; The constructor that runs after instantiation never ends.
;; -> fuel_spent brief on start
(module
  (func (export "init") (loop (br 0))))

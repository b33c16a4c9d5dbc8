;; Thinks about the rules for ever.
;; -> fuel_spent brief on brief: 200000000
(module
  (func (export "brief") (type $brief) (loop (br 0))))

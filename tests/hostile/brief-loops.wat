;; Never ends being briefed.
;; -> fuel_spent brief on brief
(module
  (func (export "brief") (type $brief) (loop (br 0))))

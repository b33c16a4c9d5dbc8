;; Never ends being told of the first event.
;; -> fuel_spent turn on turn 0
(module
  (func (export "notice") (type $notice) (loop (br 0))))

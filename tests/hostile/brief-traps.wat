;; Gives up while it is briefed.
;; -> trapped unreachable on brief
(module
  (func (export "brief") (type $brief) unreachable))

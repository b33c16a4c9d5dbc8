;; Does not like the rules.
;; -> trapped unreachable on brief
(module
  (func (export "brief") (type $brief) unreachable))

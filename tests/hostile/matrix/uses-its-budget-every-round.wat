;; Uses nearly the whole budget of every round; the twelve rounds fit the episode.
;; -> acted
(module
  (func (export "act") (type $act) (local $left i32)
    (local.set $left (i32.const 3990000))
    (loop (br_if 0 (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (i32.const 0)))

;; Lives with a refusal on turn 0 and traps on turn 1, which is no longer for want of memory.
;; -> trapped unreachable on turn 1
(module
  (memory (export "memory") 1)
  (func (export "act") (type $act)
    (if (local.get 0) (then unreachable))
    (drop (memory.grow (i32.const 1024))) (i32.const 0)))

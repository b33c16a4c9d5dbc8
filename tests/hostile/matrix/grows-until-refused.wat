;; Grows its memory until it is refused, and dies of it.
;; -> memory_capped 67108864 then unreachable on turn 0
(module
  (memory (export "memory") 1)
  (func (export "act") (type $act)
    (loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)))

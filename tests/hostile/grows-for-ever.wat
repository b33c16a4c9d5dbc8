;; Grows its memory for ever and does not mind a refusal, until its fuel is gone.
;; -> memory_capped 67108864 then fuel_spent on turn 0
(module
  (memory (export "memory") 1)
  (func (export "act") (type $act)
    (loop (drop (memory.grow (i32.const 1))) (br 0)) (unreachable)))

;; Loads with an offset that leads beyond 4 GiB.
;; -> trapped memory_out_of_bounds on turn 0
(module
  (func (export "act") (type $act) (drop (i64.load offset=0xffffffff (i32.const -1))) (i32.const 0)))

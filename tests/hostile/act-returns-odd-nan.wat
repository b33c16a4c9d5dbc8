;; Asks for NaN with another payload and sign every turn.
;; -> acted
(module
  (func (export "act") (type $act)
    (i64.store (i32.const 0)
      (i64.or (i64.const 0x7ff4000000000000) (i64.rotr (i64.extend_i32_u (local.get 0)) (i64.const 1))))
    (i32.const 0)))

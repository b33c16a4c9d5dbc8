;; Never ends making room for the briefing.
;; -> fuel_spent brief on brief
(module
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop (br 0)) unreachable))

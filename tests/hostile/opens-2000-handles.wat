;; Opens 2000 handles and keeps them.
;; -> unreadable on turn 0
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (func (export "act") (type $act) (local $left i32)
    (local.set $left (i32.const 2000))
    (loop
      (drop (call $stdout))
      (br_if 0 (local.tee $left (i32.sub (local.get $left) (i32.const 1))))) (i32.const 0)))

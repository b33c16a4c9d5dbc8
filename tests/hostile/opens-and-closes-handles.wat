;; Opens and closes handles until its fuel is gone.
;; -> fuel_spent turn on turn 0
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[resource-drop]output-stream" (func $drop (param i32)))
  (func (export "act") (type $act) (loop (call $drop (call $stdout)) (br 0)) (i32.const 0)))

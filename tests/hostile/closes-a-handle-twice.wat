;; Closes a handle twice.
;; -> unreadable on turn 0
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[resource-drop]output-stream" (func $drop (param i32)))
  (func (export "act") (type $act) (local $out i32)
    (local.set $out (call $stdout))
    (call $drop (local.get $out))
    (call $drop (local.get $out)) (i32.const 0)))

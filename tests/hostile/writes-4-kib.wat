;; Writes 4 KiB to its output every turn: counted and dropped.
;; -> acted
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
  (import "wasi:io/streams@0.2.6" "[resource-drop]output-stream" (func $drop (param i32)))
  (func (export "act") (type $act) (local $out i32)
    (local.set $out (call $stdout))
    (call $write (local.get $out) (i32.const 0) (i32.const 4096) (i32.const 8192))
    (if (i32.load8_u (i32.const 8192)) (then unreachable))
    (call $drop (local.get $out)) (i32.const 0)))

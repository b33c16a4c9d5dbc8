;; Writes a list of 2 MiB to its output.
;; -> unreadable on turn 0
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
  (memory (export "memory") 64)
  (func (export "act") (type $act) (call $write (call $stdout) (i32.const 0) (i32.const 2097152) (i32.const 64)) (i32.const 0)))

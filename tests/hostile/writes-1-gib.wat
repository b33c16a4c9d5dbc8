;; Writes 1 GiB to its output in one call.
;; -> fuel_spent turn on turn 0
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-zeroes-and-flush" (func $write (param i32 i64 i32)))
  (func (export "act") (type $act) (call $write (call $stdout) (i64.const 1073741824) (i32.const 64)) (i32.const 0)))

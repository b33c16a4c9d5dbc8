;; Writes 2^64 - 1 bytes to its error output in one call.
;; -> fuel_spent turn on turn 0
(module
  (import "wasi:cli/stderr@0.2.6" "get-stderr" (func $stderr (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.write-zeroes" (func $write (param i32 i64 i32)))
  (func (export "act") (type $act) (call $write (call $stderr) (i64.const -1) (i32.const 64)) (i32.const 0)))

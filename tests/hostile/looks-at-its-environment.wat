;; Looks for arguments, variables, a folder and a terminal: there are none.
;; -> acted
(module
  (import "wasi:cli/environment@0.2.6" "get-environment" (func $environment (param i32)))
  (import "wasi:cli/environment@0.2.6" "get-arguments" (func $arguments (param i32)))
  (import "wasi:cli/environment@0.2.6" "initial-cwd" (func $cwd (param i32)))
  (import "wasi:cli/terminal-stdin@0.2.6" "get-terminal-stdin" (func $terminal (param i32)))
  (func (export "act") (type $act) (call $environment (i32.const 64)) (call $arguments (i32.const 72)) (call $cwd (i32.const 80)) (call $terminal (i32.const 96))
    (if (i32.load (i32.const 68)) (then unreachable))
    (if (i32.load (i32.const 76)) (then unreachable))
    (if (i32.load8_u (i32.const 80)) (then unreachable))
    (if (i32.load8_u (i32.const 96)) (then unreachable)) (i32.const 0)))

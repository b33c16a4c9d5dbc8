;; Bears a name that reads like the message of a stack overflow, and traps otherwise.
;; -> trapped memory_out_of_bounds on turn 0
(module
  (func (export "act") (type $act) (call $"memory fault at wasm address 0xffffff00") (i32.const 0))
  (func $"memory fault at wasm address 0xffffff00" (drop (i32.load (i32.const 65536)))))

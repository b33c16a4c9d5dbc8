;; Calls itself with a kilobyte of stack in memory each time, as compiled languages do.
;; -> trapped stack on turn 0
(module
  (memory (export "memory") 1)
  (global $stack_pointer (mut i32) (i32.const 65536))
  (func (export "act") (type $act) (call $deeper) (i32.const 0))
  (func $deeper
    (global.set $stack_pointer (i32.sub (global.get $stack_pointer) (i32.const 1024)))
    (i32.store (global.get $stack_pointer) (i32.const 7))
    (call $deeper)
    (global.set $stack_pointer (i32.add (global.get $stack_pointer) (i32.const 1024)))))

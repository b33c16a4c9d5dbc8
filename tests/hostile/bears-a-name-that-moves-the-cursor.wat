;; Has a function whose name clears a terminal.
;; -> trapped unreachable on turn 0
(module
  (func (export "act") (type $act) (call $"\1b[2J\nforged: all is well") (i32.const 0))
  (func $"\1b[2J\nforged: all is well" unreachable))

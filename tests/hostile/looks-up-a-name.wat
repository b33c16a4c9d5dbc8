;; Looks up a name on the network every turn: access denied, and it plays on.
;; -> acted
(module
  (import "wasi:sockets/instance-network@0.2.6" "instance-network" (func $network (result i32)))
  (import "wasi:sockets/ip-name-lookup@0.2.6" "resolve-addresses" (func $resolve (param i32 i32 i32 i32)))
  (import "wasi:sockets/network@0.2.6" "[resource-drop]network" (func $drop (param i32)))
  (func (export "act") (type $act) (local $network i32)
    (local.set $network (call $network))
    (call $resolve (local.get $network) (i32.const 32) (i32.const 8) (i32.const 64))
    (if (i32.ne (i32.load8_u (i32.const 64)) (i32.const 1)) (then unreachable))
    (if (i32.ne (i32.load8_u (i32.const 68)) (i32.const 1)) (then unreachable))
    (call $drop (local.get $network)) (i32.const 0)))

//! Small strategies in the text format, made into components here.

use arena_tests::repository;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Spends, sells and asks for too much, so that every kind of clamp is met.
pub(crate) const TRADER: &str = r#"
    (if (f64.gt (local.get $price) (f64.const 1000))
      (then
        (f64.store (i32.const 16) (f64.const 10))
        (f64.store (i32.const 24) (f64.const 45))
        (f64.store (i32.const 32) (f64.const 30)))
      (else
        (f64.store (i32.const 16) (f64.const -1))
        (f64.store (i32.const 24) (f64.const -30))
        (f64.store (i32.const 32) (f64.const 0))))
    (i32.store8 (i32.const 40) (f64.gt (local.get $price) (f64.const 1200)))
    (call $log (i32.const 1) (i32.const 1024) (i32.const 27))"#;

/// Asks for what is not a number.
pub(crate) const LOST: &str = r#"
    (f64.store (i32.const 16) (f64.const nan))
    (f64.store (i32.const 24) (f64.const inf))"#;

/// Traps on turn 7 after it said why.
pub(crate) const BROKEN: &str = r#"
    (f64.store (i32.const 24) (f64.const 5))
    (if (i32.eq (local.get $turn) (i32.const 7)) (then
      (call $log (i32.const 3) (i32.const 1024) (i32.const 27))
      (call $forecast::peak)))"#;

/// Never comes back.
pub(crate) const LOOP: &str = "(loop $again (br $again))";

/// A strategy whose `act` is `body`: it stores its action at 16 (curtail, battery, gas as f64, the
/// offer as a byte) and finds its observation in named locals.
pub(crate) fn component(body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
  (import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 2)
  (global $free (mut i32) (i32.const 4096))
  (data (i32.const 1024) "I expected 24 prices, got 3")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (global.set $free (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
    (global.get $free)
    (global.set $free (i32.add (global.get $free) (local.get 3))))
  (func $forecast::peak unreachable)
  (func (export "arena:campus/player@0.1.0#brief") (param i32))
  (func (export "arena:campus/player@0.1.0#notice") (param i32 i32 i64 i64 i32 f64 i32 i32)
    (global.set $free (i32.const 4096)))
  (func $strategy::act (export "arena:campus/player@0.1.0#act")
    (param $turn i32) (param $price f64) (param f64 f64 f64 i32 i32 i32 i32)
    (param $demand f64) (param $soc f64) (param f64 f64 f64 f64 f64) (result i32)
    {body}
    (i32.const 16)))"#
    );
    encode(wat::parse_str(text).expect("the guest's text is WebAssembly"))
}

fn encode(mut module: Vec<u8>) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(repository().join("wit/campus")).expect("the WIT parses");
    let world = resolve.select_world(&[package], Some("campus-strategy")).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    let mut encoder = ComponentEncoder::default().module(&module).expect("a module of the world");
    encoder.encode().expect("a component")
}

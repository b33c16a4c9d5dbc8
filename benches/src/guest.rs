//! Guests that do next to nothing, made from text so that no compiler takes part.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const CAMPUS: &str = include_str!("../../wit/campus/campus.wit");
const MATRIX: &str = include_str!("../../wit/matrix/matrix.wit");

/// Exports of the world; `act` returns a constant action from memory.
const MODULE: &str = r#"
(module
  IMPORTS
  (memory (export "memory") 2)
  (global $next (mut i32) (i32.const 1024))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "arena:campus/player@0.1.0#brief") (param i32))
  (func (export "arena:campus/player@0.1.0#notice")
    (param i32 i32 i64 i64 i32 f64 i32 i32)
    NOTICE)
  (func (export "arena:campus/player@0.1.0#act")
    (param i32 f64 f64 f64 f64 i32 i32 i32 i32 f64 f64 f64 f64 f64 f64 f64)
    (result i32)
    (i32.const 16))
)"#;

/// A component whose functions return at once and that imports nothing.
pub fn empty_component() -> Vec<u8> {
    campus(&MODULE.replace("IMPORTS", "").replace("NOTICE", ""))
}

/// The same with the `log` import, as every Rust strategy has it.
pub fn logging_component() -> Vec<u8> {
    let import = r#"(import "arena:campus/host@0.1.0" "log" (func $log (param i32 i32 i32)))"#;
    let call = "(call $log (i32.const 0) (i32.const 0) (i32.const 0))";
    campus(&MODULE.replace("IMPORTS", import).replace("NOTICE", call))
}

/// Repeats the other seat's last move in the matrix game, and imports nothing.
const TIT_FOR_TAT: &str = r#"
(module
  (func (export "arena:matrix/player@0.1.0#brief") (param i32 i32 i32 i32 i32))
  (func (export "arena:matrix/player@0.1.0#act") (param i32 i32 i32 i32 i64 i64) (result i32)
    (local.get 3))
)"#;

/// A matrix strategy that costs next to nothing.
pub fn tit_for_tat_component() -> Vec<u8> {
    component(TIT_FOR_TAT, MATRIX, "matrix-strategy")
}

fn campus(text: &str) -> Vec<u8> {
    component(text, CAMPUS, "campus-strategy")
}

fn component(text: &str, wit: &str, world: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).expect("the guest's text is valid");
    let mut resolve = Resolve::default();
    let package = resolve.push_str("world.wit", wit).expect("the WIT parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    let mut encoder = ComponentEncoder::default().validate(true).module(&module).expect("a module");
    encoder.encode().expect("the guest is of the world")
}

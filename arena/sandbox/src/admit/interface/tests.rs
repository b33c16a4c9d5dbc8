//! The spelled-out interfaces are generated from `wit/`, so that they cannot drift from it.

use std::path::Path;

use wasmparser::component_types::ComponentEntityType;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

use super::Lines;

/// A component of the campus world whose functions do nothing.
fn dummy() -> Vec<u8> {
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/campus");
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).expect("the WIT parses");
    let world = resolve.select_world(&[package], Some("campus-strategy")).expect("the world is there");
    let mut module = wit_component::dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

fn spell(import: bool, interface: &str) -> String {
    let bytes = dummy();
    let (shape, types) = crate::admit::shape::read(&bytes).expect("a valid component");
    let types = types.as_ref();
    let instance = if import {
        shape.imports.iter().find(|i| i.name.starts_with(interface)).and_then(|i| i.instance)
    } else {
        shape.exports.iter().find(|e| e.name.starts_with(interface)).map(|e| e.instance)
    };
    let instance = instance.expect("the interface is there");
    let mut lines = Lines { most: usize::MAX, lines: Vec::new() };
    for (name, item) in &types[instance].exports {
        if let ComponentEntityType::Func(id) = item.ty {
            lines.function(types, name, id);
        }
    }
    lines.lines.into_iter().map(|line| line + "\n").collect()
}

#[expect(clippy::disallowed_methods, reason = "rewriting generated files is asked for by the environment")]
fn check(file: &str, spelled: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/admit").join(file);
    if std::env::var_os("ARENA_BLESS").is_some() {
        std::fs::write(&path, spelled).expect("a writable checkout");
    }
    let kept = std::fs::read_to_string(&path).expect("the file is in the repository");
    assert_eq!(kept, spelled, "{file} departs from wit/; run `cargo xtask bless`");
}

#[test]
fn the_spelled_out_interfaces_are_those_of_the_wit() {
    check("campus-player.txt", &spell(false, "arena:campus/player@"));
    check("campus-host.txt", &spell(true, "arena:campus/host@"));
}

/// A call carries 16 scalars without touching memory; one more would double its cost.
#[test]
fn an_observation_is_exactly_sixteen_scalars() {
    let player = spell(false, "arena:campus/player@");
    let fields: Vec<&str> = player.lines().filter(|line| line.starts_with("act(observation).")).collect();
    assert_eq!(fields.len(), 16, "{fields:?}");
    assert!(fields.iter().all(|field| [": u32", ": f64", ": enum"].iter().any(|ty| field.contains(ty))));
}

#[test]
fn the_dummy_is_admitted() {
    let admitted = crate::admit(&dummy()).expect("it is of the world");
    assert_eq!(admitted.linker(), "lean");
}

//! The spelled-out interfaces are generated from `wit/`, so that they cannot drift from it.

use std::path::Path;

use wasmparser::component_types::ComponentEntityType;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

use super::Lines;
use crate::game::Game;

/// A component of the game's world whose functions do nothing.
fn dummy(game: Game) -> Vec<u8> {
    dummy_of(game.name(), &format!("{}-strategy", game.name()))
}

fn dummy_of(folder: &str, world: &str) -> Vec<u8> {
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit").join(folder);
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).expect("the WIT parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    let mut module = wit_component::dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

fn player(game: Game) -> String {
    spell(game, game.player())
}

fn spell(game: Game, interface: &str) -> String {
    spell_in(&dummy(game), interface)
}

fn spell_in(bytes: &[u8], interface: &str) -> String {
    let (shape, types) = crate::admit::shape::read(bytes).expect("a valid component");
    let types = types.as_ref();
    let imported = shape.imports.iter().find(|i| i.name.starts_with(interface)).and_then(|i| i.instance);
    let exported = shape.exports.iter().find(|e| e.name.starts_with(interface)).map(|e| e.instance);
    let instance = imported.or(exported);
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
    for game in Game::ALL {
        check(&format!("{}-player.txt", game.name()), &player(game));
        check(&format!("{}-host.txt", game.name()), &spell(game, game.host()));
    }
    let experiment = dummy_of("experiment", "experiment");
    check("experiment-host.txt", &spell_in(&experiment, "arena:experiment/host@"));
    check("experiment-runner.txt", &spell_in(&experiment, "arena:experiment/runner@"));
}

/// What every `act` is given, one line a field.
fn fields(game: Game) -> Vec<String> {
    let player = player(game);
    let fields: Vec<_> = player.lines().filter(|line| line.starts_with("act(observation).")).collect();
    let scalar =
        |field: &&str| [": u32", ": s64", ": f64", ": bool", ": enum"].iter().any(|ty| field.contains(ty));
    assert!(fields.iter().all(scalar), "{fields:?}");
    fields.into_iter().map(str::to_owned).collect()
}

/// A call carries 16 scalars without touching memory; one more would double its cost.
#[test]
fn an_observation_is_at_most_sixteen_scalars() {
    assert_eq!(fields(Game::Campus).len(), 16);
    assert_eq!(fields(Game::Matrix).len(), 6);
}

#[test]
fn the_dummy_is_admitted() {
    for game in Game::ALL {
        let admitted = crate::admit(&dummy(game)).expect("it is of the world");
        assert_eq!((admitted.linker(), admitted.game()), ("lean", game));
    }
    let experiment = dummy_of("experiment", "experiment");
    assert_eq!(crate::admit_experiment(&experiment).expect("it is of the world").linker(), "lean");
    assert_eq!(crate::admit(&experiment).expect_err("no strategy").refusals[0].code, "admit.wrong_world");
    for game in Game::ALL {
        let refused = crate::admit_experiment(&dummy(game)).expect_err("no experiment");
        assert_eq!(refused.refusals[0].code, "admit.wrong_world");
    }
}

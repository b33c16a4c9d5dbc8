//! Experiments written as WAT: a core module that says only what matters, made into a component. Whatever of
//! `memory`, `cabi_realloc` and `run` it does not export is added; the `run` reports nothing.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use arena_canon::Digest;
use arena_sandbox::experiment::{ExperimentLimits, Inputs, Ran, Task};
use arena_sandbox::{Host, HostOptions, Seats, admit_experiment};
use arena_tests::repository;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// What is added if the guest has none of its own, by the name of the export. A result at 8 is `ok` of an
/// empty list as long as nobody writes there.
const DEFAULTS: [(&str, &str); 3] = [
    ("memory", r#"(memory (export "memory") 1)"#),
    (
        "cabi_realloc",
        r#"(global $next (mut i32) (i32.const 32768))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.set $next (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
            (global.get $next)
            (global.set $next (i32.add (global.get $next) (local.get 3))))"#,
    ),
    ("run", r#"(func (export "run") (param i32 i32) (result i32) i32.const 8)"#),
];

const RUN: &str = "arena:experiment/runner@0.1.0#run";

/// The component of a guest written as WAT. `$host` in it stands for the module of the host's functions.
#[track_caller]
pub(crate) fn component(wat: &str) -> Vec<u8> {
    let open = wat.trim_end().strip_suffix(')').expect("a guest is one (module …)");
    let mut text = open.to_owned();
    for (name, default) in DEFAULTS {
        if !wat.contains(&format!("(export \"{name}\")")) {
            text += default;
        }
    }
    text.push(')');
    let text = text.replace("(export \"run\")", &format!("(export \"{RUN}\")"));
    let text = text.replace("$host", "\"arena:experiment/host@0.1.0\"");
    let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut resolve = Resolve::default();
    let (mut package, _) = resolve.push_path(repository().join("wit/experiment")).expect("the WIT parses");
    let mut name = "experiment";
    if wat.contains("wasi:filesystem") {
        package = resolve.push_str("files.wit", include_str!("files.wit")).expect("the WIT parses");
        name = "files";
    } else if wat.contains("wasi:") {
        let world = std::fs::read_to_string(repository().join("tests/hostile/wit/hostile.wit"));
        let world = world.expect("a readable file");
        let own = world.replace("arena:campus/campus-strategy@", "arena:experiment/experiment@");
        assert_ne!(own, world, "the world of the hostile guests has another game in it");
        package = resolve.push_str("hostile.wit", &own).expect("the WIT parses");
        name = "with-wasi";
    }
    let world = resolve.select_world(&[package], Some(name)).expect("the world is there");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    let mut encoder = ComponentEncoder::default().module(&module).expect("a module of the world");
    encoder.encode().expect("a component")
}

/// A pool with optimised code, and places on demand with code as it comes.
pub(super) fn hosts() -> [&'static Host; 2] {
    static POOLED: OnceLock<Host> = OnceLock::new();
    static PLAIN: OnceLock<Host> = OnceLock::new();
    let made = |options| Host::new(&options).expect("a host");
    [
        POOLED.get_or_init(|| made(HostOptions::new(Seats::Pooled(4)))),
        PLAIN.get_or_init(|| made(HostOptions { optimised: false, ..HostOptions::new(Seats::OnDemand) })),
    ]
}

pub(super) const LIMITS: ExperimentLimits =
    ExperimentLimits { fuel: 100_000_000, memory_bytes: 4 << 20, output_bytes: 1 << 20 };

pub(super) fn task(arguments: &[(&str, &str)], inputs: &[(&str, &[u8])]) -> Task {
    let arguments = arguments.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let inputs = inputs.iter().map(|(name, bytes)| ((*name).to_owned(), Digest::of(bytes), bytes.to_vec()));
    Task {
        arguments: arguments.collect::<BTreeMap<_, _>>(),
        inputs: Inputs::pin(inputs).expect("they are those that are pinned"),
        limits: LIMITS,
        seed: Digest::of(b"a job"),
    }
}

/// What a component does; twice on both hosts it must be the same.
#[track_caller]
pub(super) fn run(bytes: &[u8], task: &Task) -> Ran {
    let admitted = admit_experiment(bytes).unwrap_or_else(|why| panic!("{why}"));
    let mut runs = hosts().into_iter().flat_map(|host| {
        let experiment = host.load_experiment(&admitted).unwrap_or_else(|why| panic!("{why}"));
        [0; 2].map(|_| experiment.run(task).unwrap_or_else(|why| panic!("{why}")))
    });
    let first = runs.next().expect("there are four");
    runs.for_each(|run| assert_eq!(run, first));
    first
}

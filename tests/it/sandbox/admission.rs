//! The gate before anything is compiled: a table of inputs, what each is refused for, and what is
//! said. The messages stand in `tests/golden/admission.txt`.

use std::fmt::Write as _;

use arena_sandbox::admit;
use arena_tests::repository;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

use super::guest::component;
use super::hostile::check_golden;

/// One input: its name, its bytes, and the codes it is refused with; none if it is admitted.
type Case = (&'static str, Vec<u8>, &'static [&'static str]);

#[test]
fn every_input_is_refused_for_what_is_wrong_with_it() {
    let cases = [files(), worlds(), imports(), parts(), adapters(), features(), names()].concat();
    let mut found = String::new();
    for (name, bytes, codes) in cases {
        writeln!(found, "{name}: {}", check(name, &bytes, codes)).expect("writing to a string");
    }
    check_golden("admission.txt", &found);
}

/// Admits, and compares the codes. What is admitted must load; what is refused must say so in
/// bounded, printable words.
#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &[&str]) -> String {
    let refusals = match admit(bytes) {
        Ok(admitted) => {
            assert!(expected.is_empty(), "{name}: admitted, not refused with {expected:?}");
            super::guest::host()
                .load(&admitted)
                .unwrap_or_else(|error| panic!("{name}: not loaded: {error}"));
            super::guest::host_on_demand().load(&admitted).unwrap_or_else(|error| panic!("{name}: {error}"));
            return format!("admitted, {}", admitted.linker());
        }
        Err(rejection) => rejection.refusals,
    };
    let codes: Vec<&str> = refusals.iter().map(|refusal| refusal.code).collect();
    assert_eq!(codes, expected, "{name}: {refusals:#?}");
    let mut text = String::new();
    for refusal in &refusals {
        assert!(refusal.message.chars().count() < 1_200, "{name}: {} is long", refusal.code);
        assert!(!refusal.message.chars().any(char::is_control), "{name}: {:?}", refusal.message);
        write!(text, "\n  {}: {}", refusal.code, refusal.message).expect("writing to a string");
        if let Some(hint) = &refusal.hint {
            write!(text, "\n    {hint}").expect("writing to a string");
        }
    }
    text
}

const INVALID: &[&str] = &["admit.invalid"];
const FEATURE: &[&str] = &["admit.feature_not_allowed"];
const NOT_WASM: &[&str] = &["admit.not_wasm"];
const TOO_LARGE: &[&str] = &["admit.too_large"];
const TOO_MANY_PARTS: &[&str] = &["admit.too_many_parts"];
const WRONG_TYPE: &[&str] = &["admit.wrong_type"];
const WRONG_WORLD: &[&str] = &["admit.wrong_world"];
const OTHER_VERSION: &[&str] = &["admit.other_version"];
const NOT_ALLOWED: &[&str] = &["admit.import_not_allowed"];
const INNER: &[&str] = &["admit.inner_adapter"];
const DECLARED: &[&str] = &["admit.memory_too_large"];

fn idle() -> Vec<u8> {
    component("(module)")
}

fn files() -> Vec<Case> {
    let idle = idle();
    let mut cases: Vec<Case> = vec![
        ("a fine strategy", idle.clone(), &[]),
        ("nothing", Vec::new(), NOT_WASM),
        ("text", b"(component)".to_vec(), NOT_WASM),
        ("a picture", b"\x89PNG\r\n\x1a\n".to_vec(), NOT_WASM),
        ("half of the magic", b"\0as".to_vec(), NOT_WASM),
        ("the magic alone", b"\0asm".to_vec(), NOT_WASM),
        ("a core module", super::guest::core_module("(module)"), &["admit.core_module"]),
        ("a module of another version", b"\0asm\x02\0\0\0".to_vec(), NOT_WASM),
        ("a component of another version", b"\0asm\x0e\0\x01\0".to_vec(), NOT_WASM),
        ("an empty component", b"\0asm\x0d\0\x01\0".to_vec(), WRONG_WORLD),
        ("33 MiB of zeros", vec![0; 33 << 20], TOO_LARGE),
        ("a fine strategy padded to 33 MiB", padded(&idle, 33 << 20), TOO_LARGE),
        ("a fine strategy padded to 32 MiB and a byte", padded(&idle, (32 << 20) + 1), TOO_LARGE),
        ("a fine strategy padded to 32 MiB", padded(&idle, 32 << 20), &[]),
        ("a fine strategy with a byte more", [idle.as_slice(), b"\0"].concat(), INVALID),
        ("a fine strategy twice", [idle.as_slice(), &idle].concat(), INVALID),
    ];
    cases.extend((1..16).map(|part| ("a part of a strategy", truncated(&idle, part), INVALID)));
    cases
}

/// The first sixteenths of a component.
fn truncated(component: &[u8], sixteenths: usize) -> Vec<u8> {
    component[..component.len() * sixteenths / 16].to_vec()
}

/// A component with a custom section that makes it `size` bytes long.
fn padded(component: &[u8], size: usize) -> Vec<u8> {
    // The section's id, its length as five bytes, and a name of one byte.
    let payload = size - component.len() - 6;
    let mut section = vec![0];
    for i in 0..5 {
        let more = if i < 4 { 0x80 } else { 0 };
        section.push((payload >> (7 * i)) as u8 & 0x7f | more);
    }
    section.extend([1, b'p']);
    section.resize(6 + payload, 0);
    [component, &section].concat()
}

/// A strategy built against a WIT that departs from ours by one edit each.
fn worlds() -> Vec<Case> {
    let edited = |edits: &[(&str, &str)]| of_wit(&edit(edits), "campus-strategy");
    let version = ("arena:campus@0.1.0", "arena:campus@0.2.0");
    vec![
        ("built for another version", edited(&[version]), OTHER_VERSION),
        ("a later patch of this version", edited(&[("campus@0.1.0", "campus@0.1.1")]), OTHER_VERSION),
        ("a world without a player", edited(&[("export player;", "")]), WRONG_WORLD),
        ("a world with another export", edited(&[("export player;", "export types;")]), WRONG_WORLD),
        ("a player without `act`", edited(&[("act: func", "play: func")]), WRONG_TYPE),
        (
            "types with a function",
            edited(&[("interface types {", "interface types { shout: func();")]),
            WRONG_TYPE,
        ),
        ("a player with more functions", edited(&[("act: func", "more: func();\n act: func")]), &[]),
        ("a field of another type", edited(&[("it-demand-mw: f64", "it-demand-mw: f32")]), WRONG_TYPE),
        ("a field of another name", edited(&[("cost-usd: f64", "cost-eur: f64")]), WRONG_TYPE),
        ("a field too many", edited(&[("accept-offer: bool", "accept-offer: bool, more: bool")]), WRONG_TYPE),
        ("a field too few", edited(&[("    sla-usd-per-mwh: f64,", "")]), WRONG_TYPE),
        ("a case too many", edited(&[("visible(event),", "visible(event), hidden,")]), WRONG_TYPE),
        ("a name missing from an enum", edited(&[("    no-export,", "")]), WRONG_TYPE),
        ("a parameter of another name", edited(&[("act: func(observation", "act: func(seen")]), WRONG_TYPE),
        ("a result too few", edited(&[(") -> action;", ");")]), WRONG_TYPE),
        ("a list where a record was", edited(&[("(notice: change)", "(notice: list<change>)")]), WRONG_TYPE),
        (
            "everything at once",
            edited(&[
                ("it-demand-mw: f64", "it-demand-mw: f32"),
                ("text: string", "text: list<u8>"),
                ("import host;", "import host; import shop: interface { buy: func(); }"),
            ]),
            &["admit.wrong_type", "admit.wrong_type", "admit.import_not_allowed"],
        ),
    ]
}

fn edit(edits: &[(&str, &str)]) -> String {
    let path = repository().join("wit/campus/campus.wit");
    let mut wit = std::fs::read_to_string(path).expect("the WIT is in the repository");
    for (from, to) in edits {
        assert!(wit.contains(from), "the WIT has no `{from}`");
        wit = wit.replace(from, to);
    }
    wit
}

/// A component of that world whose functions do nothing.
fn of_wit(wit: &str, world: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("edited.wit", wit).expect("the edited WIT parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    let mut module = wit_component::dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata fits");
    ComponentEncoder::default().module(&module).expect("a module").encode().expect("a component")
}

fn imports() -> Vec<Case> {
    let importing = |import: &str| with(&format!("(import {import})"));
    vec![
        ("an import of http", importing(r#""wasi:http/types@0.2.6" (instance)"#), NOT_ALLOWED),
        ("an import of key-value", importing(r#""wasi:keyvalue/store@0.2.0" (instance)"#), NOT_ALLOWED),
        ("an import of WASI 0.3", importing(r#""wasi:cli/exit@0.3.0" (instance)"#), NOT_ALLOWED),
        (
            "an import of a draft of WASI 0.2",
            importing(r#""wasi:cli/exit@0.2.0-rc-2023-11-10" (instance)"#),
            NOT_ALLOWED,
        ),
        ("an import of WASI without a version", importing(r#""wasi:cli/exit" (instance)"#), NOT_ALLOWED),
        ("an import of a later WASI 0.2", importing(r#""wasi:cli/exit@0.2.99" (instance)"#), &[]),
        (
            "an import of an unknown function",
            importing(r#""arena:campus/host@0.1.0" (instance (export "shout" (func)))"#),
            WRONG_TYPE,
        ),
        (
            "an import of another version of the host",
            importing(r#""arena:campus/host@0.2.0" (instance)"#),
            OTHER_VERSION,
        ),
        (
            "an import of a host without a version",
            importing(r#""arena:campus/host" (instance)"#),
            OTHER_VERSION,
        ),
        (
            "an import of another game's host",
            importing(r#""arena:matrix/host@0.1.0" (instance)"#),
            NOT_ALLOWED,
        ),
        (
            "an import of another interface of the game",
            importing(r#""arena:campus/referee@0.1.0" (instance)"#),
            NOT_ALLOWED,
        ),
        ("an import of a function", importing(r#""give-me" (func)"#), NOT_ALLOWED),
        ("an import of a component", importing(r#""give-me" (component)"#), NOT_ALLOWED),
        ("an import of a core module", importing(r#""give-me" (core module)"#), NOT_ALLOWED),
        ("an import of a type", importing(r#""give-me" (type (sub resource))"#), NOT_ALLOWED),
        ("an import by address", importing(r#""url=<https://example.com/x>" (instance)"#), NOT_ALLOWED),
        (
            "eight imports that are not allowed",
            with(&(0..8).map(|i| format!("(import \"x{i}\" (func))")).collect::<String>()),
            &["admit.import_not_allowed"; 8],
        ),
    ]
}

/// A fine strategy with more in its outermost component.
#[track_caller]
fn with(more: &str) -> Vec<u8> {
    let text = wasmprinter::print_bytes(idle()).expect("a component prints");
    let open = text.trim_end().strip_suffix(')').expect("it ends with a parenthesis");
    let text = format!("{open}\n{more})");
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{more}"))
}

fn parts() -> Vec<Case> {
    let module = |fields: &str| format!("(core module $more {fields})");
    let instances = |module: &str, many: usize| {
        with(&format!("{module}{}", "(core instance (instantiate $more))".repeat(many)))
    };
    let module_alone = |fields: &str| instances(&module(fields), 0);
    let memory = |pages: u32| module(&format!("(memory {pages})"));
    vec![
        ("three small memories more", instances(&memory(1), 3), &[]),
        ("four memories more", instances(&memory(1), 4), TOO_MANY_PARTS),
        ("seven tables more", instances(&module("(table 1 funcref)"), 7), &[]),
        ("nine tables more", instances(&module("(table 1 funcref)"), 9), TOO_MANY_PARTS),
        ("forty core instances more", instances(&module(""), 40), TOO_MANY_PARTS),
        ("a memory of 64 MiB less what it has", instances(&memory(1_023), 1), &[]),
        ("a memory of a page too much", instances(&memory(1_024), 1), DECLARED),
        ("a memory of 4 GiB", instances(&memory(65_536), 1), DECLARED),
        ("a large memory that is not made", instances(&memory(65_536), 0), DECLARED),
        (
            "a large table that is not made",
            instances(&module("(table 10001 funcref)"), 0),
            &["admit.table_too_large"],
        ),
        (
            "nine tables that are not made",
            instances(&module(&"(table 1 funcref)".repeat(9)), 0),
            TOO_MANY_PARTS,
        ),
        ("a table of 10 000 elements", instances(&module("(table 10000 funcref)"), 1), &[]),
        (
            "a table of 10 001 elements",
            instances(&module("(table 10001 funcref)"), 1),
            &["admit.table_too_large"],
        ),
        (
            "seventy component instances",
            with(&format!("(component $c){}", "(instance (instantiate $c))".repeat(70))),
            TOO_MANY_PARTS,
        ),
        ("2^40 component instances", with(&doubling(40)), INNER),
        (
            "70 000 globals",
            instances(&module(&"(global i32 (i32.const 0))".repeat(70_000)), 1),
            TOO_MANY_PARTS,
        ),
        ("5 000 functions, imported and exported again", with(&passing_on(2_500)), &[]),
        ("80 000 functions, imported and exported again", with(&passing_on(40_000)), TOO_MANY_PARTS),
        (
            "a function of a hundred parameters",
            module_alone(&format!("(func (param {}))", "i64 ".repeat(100))),
            &[],
        ),
        (
            "a type of 101 parameters",
            module_alone(&format!("(type (func (param {})))", "i64 ".repeat(101))),
            TOO_MANY_PARTS,
        ),
        (
            "a type of 101 results",
            module_alone(&format!("(type (func (result {})))", "i64 ".repeat(101))),
            TOO_MANY_PARTS,
        ),
        (
            "100 000 data segments",
            instances(&module(&format!("(memory 1){}", "(data \"x\")".repeat(100_000))), 0),
            TOO_MANY_PARTS,
        ),
        ("2 000 resource types", with(&"(type (resource (rep i32)))".repeat(2_000)), TOO_MANY_PARTS),
        ("2 000 imported resource types", with(&imported_resources(2_000)), TOO_MANY_PARTS),
        ("1 000 lowered functions", with(&lowered(1_000)), &[]),
        ("100 000 lowered functions", with(&lowered(100_000)), TOO_MANY_PARTS),
    ]
}

/// Each component makes two instances of the one before.
fn doubling(depth: usize) -> String {
    let mut text = String::from("(component $c0)");
    for i in 1..=depth {
        let inner = format!("(alias outer 1 $c{} (component $c))", i - 1);
        text += &format!("(component $c{i} {inner}(instance (instantiate $c)) (instance (instantiate $c)))");
    }
    text + &format!("(instance (instantiate $c{depth}))")
}

/// A module of functions, and one that exports them again.
fn passing_on(many: usize) -> String {
    let range = || (0..many).map(|i| i.to_string());
    let own: String = range().map(|i| format!("(func (export \"{i}\"))")).collect();
    let others: String = range().map(|i| format!("(func (export \"{i}\") (import \"m\" \"{i}\"))")).collect();
    format!(
        "(core module $own {own}) (core module $others {others}) (core instance $i (instantiate $own))
         (core instance (instantiate $others (with \"m\" (instance $i))))"
    )
}

fn imported_resources(many: usize) -> String {
    let resources: String = (0..many).map(|i| format!("(export \"r{i}\" (type (sub resource)))")).collect();
    format!("(import \"wasi:cli/made-up@0.2.6\" (instance {resources}))")
}

fn lowered(many: usize) -> String {
    let import = r#"(import "wasi:cli/made-up@0.2.6" (instance $i (export "f" (func))))"#;
    format!("{import}(alias export $i \"f\" (func $f)){}", "(core func (canon lower (func $f)))".repeat(many))
}

fn adapters() -> Vec<Case> {
    let host = r#"(import "wasi:cli/made-up@0.2.6" (instance $i (export "f" (func)))) (alias export $i "f" (func $f))"#;
    let lift = r#"(core module $m (func (export "g"))) (core instance $n (instantiate $m))
                  (func $g (canon lift (core func $n "g")))"#;
    vec![
        ("a host function that is lowered", with(&format!("{host}(core func (canon lower (func $f)))")), &[]),
        ("an own function that is lowered", with(&format!("{lift}(core func (canon lower (func $g)))")), INNER),
        ("a function of an inner component that is lowered", with(&format!(
            r#"{host}(component $c (import "f" (func $f)) (export "h" (func $f)))
               (instance $d (instantiate $c (with "f" (func $f))))
               (alias export $d "h" (func $h)) (core func (canon lower (func $h)))"#)), INNER),
        ("an inner component that lowers", with(r#"(component (import "f" (func $f)) (core func (canon lower (func $f))))"#), INNER),
        ("an inner component that lifts", with(r#"(component (core module $m (func (export "g"))) (core instance $n (instantiate $m)) (func (canon lift (core func $n "g"))))"#), INNER),
        ("an inner component with a core module", with("(component (core module))"), INNER),
        ("an inner component that is given a core module", with(
            r#"(core module $m (memory 1)) (component $c (import "m" (core module $m)) (core instance (instantiate $m)))
               (instance (instantiate $c (with "m" (core module $m))))"#), INNER),
        ("an inner component that takes a core module from outside", with(
            "(core module $m (memory 1)) (component $c (alias outer 1 $m (core module $m)) (core instance (instantiate $m)))
             (instance (instantiate $c))"), INNER),
        ("an inner component that passes a host function on", with(&format!(
            r#"{host}(component $c (import "f" (func $f)) (export "h" (func $f)))
               (instance $d (instantiate $c (with "f" (func $f))))"#)), &[]),
        ("a resource type of its own", with("(type (resource (rep i32)))"), &[]),
    ]
}

/// What is off because it is not deterministic or not needed.
fn features() -> Vec<Case> {
    let core = |fields: &str| with(&format!("(core module {fields})"));
    vec![
        ("shared memory", core("(memory 1 1 shared)"), FEATURE),
        ("an atomic operation", core("(memory 1) (func (drop (i32.atomic.load (i32.const 0))))"), FEATURE),
        ("a memory of 64 bits", core("(memory i64 1)"), FEATURE),
        ("two memories", core("(memory 1) (memory 1)"), FEATURE),
        ("a page of one byte", core("(memory 1 (pagesize 1))"), FEATURE),
        ("a tail call", core("(func $f (return_call $f))"), FEATURE),
        ("an exception", core("(tag)"), FEATURE),
        ("a garbage-collected type", core("(type (struct))"), FEATURE),
        ("a typed function reference", core("(type $f (func)) (func (param (ref null $f)))"), FEATURE),
        ("an external reference", core("(func (param externref))"), FEATURE),
        (
            "relaxed SIMD",
            core("(func (param v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))"),
            FEATURE,
        ),
        (
            "wide arithmetic",
            core(
                "(func (param i64 i64 i64 i64) (result i64 i64) (i64.add128 (local.get 0) (local.get 1) (local.get 2) (local.get 3)))",
            ),
            FEATURE,
        ),
        ("an extended constant", core("(global i32 (i32.add (i32.const 1) (i32.const 1)))"), FEATURE),
        ("SIMD", core("(func (param v128) (result v128) (i8x16.swizzle (local.get 0) (local.get 0)))"), &[]),
        (
            "an asynchronous function",
            with(r#"(import "wasi:cli/made-up@0.2.6" (instance (export "f" (func async))))"#),
            FEATURE,
        ),
        ("a stream", with("(type (stream u8))"), FEATURE),
    ]
}

/// Names are shown cut and escaped; absurd ones are no more than names.
fn names() -> Vec<Case> {
    let long = "x".repeat(10_000);
    let import = |name: &str| with(&format!("(import \"{name}\" (func))"));
    let escapes = {
        let mut bytes = import("clear-the-screen");
        let at = bytes.windows(16).position(|name| name == b"clear-the-screen").expect("the name is there");
        bytes[at..at + 16].copy_from_slice(b"\x1b[2J\n\x07forged: ok");
        bytes
    };
    let hidden = {
        let mut bytes = import("turn-the-writing");
        let at = bytes.windows(16).position(|name| name == b"turn-the-writing").expect("the name is there");
        bytes[at..at + 16].copy_from_slice("a\u{202e}b\u{200b}c\u{feff}d\u{2066}".as_bytes());
        bytes
    };
    let field = edit(&[("cost-usd: f64", &format!("{long}: f64"))]);
    let records = (1..90).fold(String::from("(type $t0 (record (field \"f\" u8)))"), |text, i| {
        let last = i - 1;
        text + &format!("(type $t{i} (record (field \"a\" $t{last}) (field \"b\" $t{last})))")
    });
    vec![
        ("an import with a long name", import(&long), NOT_ALLOWED),
        ("an import with a name of 100 kB", import(&"y".repeat(100_000)), NOT_ALLOWED),
        ("an import with terminal escapes", escapes, INVALID),
        ("an import with invisible characters", hidden, INVALID),
        (
            "an export with a long name",
            wat::parse_str(format!(
                "(component (component $c) (instance $i (instantiate $c)) (export \"{long}\" (instance $i)))"
            ))
            .expect("a component"),
            WRONG_WORLD,
        ),
        ("a field with a long name", of_wit(&field, "campus-strategy"), WRONG_TYPE),
        ("a type that is 2^90 fields when spelled", with(&records), INVALID),
        ("a type inside an inner component", with("(component (type (component)))"), &[]),
    ]
}

/// A fine strategy with as many memories as one may have.
pub(crate) fn component_of_many_parts() -> Vec<u8> {
    with(&format!("(core module $more (memory 1)){}", "(core instance (instantiate $more))".repeat(3)))
}

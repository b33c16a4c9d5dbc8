//! `arena check`

use arena_cli::Exit;

use super::{Folder, guests};

#[test]
fn what_is_admitted_is_measured() {
    let folder = Folder::new();
    folder.file("trader.wasm", guests::component(guests::TRADER));
    let ran = folder.arena("check {}/trader.wasm");
    assert_eq!(ran.exit, Exit::Success);
    // The size is that of the WIT's own text, too.
    let told = ran.told();
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("  size ")).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_is_refused_is_told_with_its_code_and_a_hint() {
    let folder = Folder::new();
    let evil = r#"(component (import "wasi:http/outgoing-handler@0.2.3" (instance)))"#;
    folder.file("evil.wasm", wat::parse_str(evil).expect("a component"));
    folder.file("core.wasm", wat::parse_str("(module)").expect("a module"));
    folder.file("empty.wasm", "");
    let ran = folder.arena("check {}/evil.wasm {}/core.wasm {}/empty.wasm");
    assert_eq!(ran.exit, Exit::Rejected);
    insta::assert_snapshot!(ran.told());
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let folder = Folder::new();
    let huge = std::fs::File::create(folder.at("huge.wasm")).expect("a file");
    huge.set_len(33 << 20).expect("a sparse file");
    let ran = folder.arena("check {}/huge.wasm --json");
    assert_eq!(ran.exit, Exit::Rejected);
    let refusal = &ran.json()[0]["refusals"][0];
    assert_eq!(refusal["code"], "admit.too_large");
    let message = refusal["message"].as_str().expect("a message");
    assert!(message.contains("34603008 bytes") && message.contains("33554432"), "{message}");
}

#[test]
fn a_strategy_that_forfeits_its_probe_is_told_so() {
    let folder = Folder::new();
    folder.file("loop.wasm", guests::component(guests::LOOP));
    let ran = folder.arena("check {}/loop.wasm");
    assert_eq!(ran.exit, Exit::Forfeited);
    assert!(ran.out.contains("fuel spent"), "{}", ran.out);
}

#[test]
fn one_missing_file_does_not_hide_the_others() {
    let folder = Folder::new();
    folder.file("empty.wasm", "");
    let ran = folder.arena("check {}/none.wasm {}/empty.wasm");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.contains("cannot read strategy `{}/none.wasm`: no such file"), "{}", ran.err);
    assert!(ran.out.contains("admit.not_wasm"), "{}", ran.out);
}

//! `wall_seconds` of a manifest: a run that takes longer is none, and nobody is blamed for it.

use std::time::{Duration, Instant};

use arena_cli::Exit;

use super::Lab;
use crate::experiment::guest::component;

/// A lab whose claim is an experiment that never ends before its fuel, which is much.
fn lab() -> Lab {
    let lab = Lab::open();
    let endless = r#"(module (memory (export "memory") 1)
        (func (export "run") (param i32 i32) (result i32) (loop br 0) i32.const 8))"#;
    lab.folder.file("run.wasm", component(endless));
    std::fs::remove_file(lab.folder.at("manifest.json")).expect("the lab has one");
    lab.plain("claim new {}/new.json --as sue --component {}/run.wasm --metric elo=1 --dir {}/lab");
    let new = std::fs::read_to_string(lab.folder.at("new.json")).expect("a manifest");
    let much = new.replace("\"fuel\": 10000000000", "\"fuel\": 1000000000000");
    let short = much.replace("\"wall_seconds\": 600", "\"wall_seconds\": 1");
    assert!(new != much && much != short, "{new}");
    lab.folder.file("manifest.json", short);
    lab
}

#[test]
fn a_run_that_takes_too_long_is_the_hosts_fault() {
    let mut lab = lab();
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    lab.claim("fund c1 3500 --as fay");
    lab.claim("assign c1");
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    lab.claim(&format!("accept c1 --as {runner}"));
    lab.now += 1;
    let begun = Instant::now();
    let line = format!("claim run c1 --as {runner} --dir {{}}/lab --at {}", lab.now);
    let ran = lab.folder.arena(&line);
    assert_eq!(ran.exit, Exit::Stalled, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("the manifest's 1 s on the clock are over"), "{}", ran.err);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // There is no record to commit, and nothing was lost: it can be run again.
    let commit =
        format!("claim commit c1 --as {runner} --key {{}}/{runner}.key --dir {{}}/lab --at {}", lab.now);
    assert_eq!(lab.folder.arena(&commit).exit, Exit::Usage);
    let shown = lab.show();
    assert_eq!(
        (&shown["claims"][0]["phase"], &shown["agents"][&runner]["standing"]),
        (&"running".into(), &50.into())
    );
    assert_eq!(lab.folder.arena(&line).exit, Exit::Stalled);
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

/// So may a reference: it publishes nothing then.
#[test]
fn nobody_waits_for_a_challenge_either() {
    let mut lab = lab();
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    let before = std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    for line in ["claim challenge c1 --as a --key {}/a.key --dir {}/lab", "claim reference c1 --dir {}/lab"] {
        let ran = lab.folder.arena(line);
        assert_eq!(ran.exit, Exit::Stalled, "{line}: {}{}", ran.out, ran.err);
    }
    assert_eq!(std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal"), before);
}

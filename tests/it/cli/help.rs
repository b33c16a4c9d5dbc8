//! Laws about the command line itself.

use arena_cli::{Exit, command};

use super::{Folder, arena, guests};

/// Every command with its full name, as `["pack", "show"]`.
fn commands() -> Vec<Vec<String>> {
    fn walk(command: &clap::Command, path: &[String], found: &mut Vec<Vec<String>>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = [path, &[sub.get_name().to_owned()]].concat();
            walk(sub, &path, found);
            found.push(path);
        }
    }
    let mut found = Vec::new();
    walk(&command(), &[], &mut found);
    found
}

#[test]
fn every_command_has_examples_that_can_be_read() {
    for path in commands() {
        let ran = arena(path.iter().chain([&"--help".to_owned()]));
        assert_eq!(ran.exit, Exit::Success, "{path:?}");
        let name = path.join(" ");
        let examples = ran.out.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{name} has no example"));
        assert!(examples.contains(&format!("arena {name}")) || name == "pack", "{name}: {examples}");
        let too_wide = ran.out.lines().find(|line| line.chars().count() > 100);
        assert_eq!(too_wide, None, "{name}");
    }
}

#[test]
fn every_example_of_the_help_is_a_command_line() {
    for path in commands() {
        let help = arena(path.iter().chain([&"--help".to_owned()])).out;
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        for example in examples.lines().filter_map(|line| line.trim().strip_prefix("arena ")) {
            let words = example.split(['>', ';', '|']).next().unwrap_or_default().split_whitespace();
            let words: Vec<&str> = words.take_while(|word| !word.starts_with('#')).collect();
            let parsed = command().try_get_matches_from([&["arena"], words.as_slice()].concat());
            assert!(
                parsed.is_ok(),
                "arena {example}: {}",
                parsed.map_or_else(|why| why.to_string(), |_| String::new())
            );
        }
    }
}

#[test]
fn every_result_can_be_had_as_json() {
    let folder = Folder::new();
    folder.file("trader.wasm", guests::component(guests::TRADER));
    assert_eq!(folder.arena("play two-spikes {}/trader.wasm --log {}/log.json").exit, Exit::Success);
    let lines = [
        "check {}/trader.wasm",
        "play two-spikes {}/trader.wasm",
        "verify {}/log.json",
        "pack list",
        "pack show dunkelflaute",
        "pack check {}/log.json",
        "limits",
        "exit-codes",
    ];
    for line in lines {
        let ran = folder.arena(&format!("{line} --json"));
        assert!(!ran.json().is_null(), "{line}");
        assert_eq!(ran.out.lines().count(), 1, "{line}");
    }
}

#[test]
fn the_exit_codes_are_documented_and_do_not_change() {
    insta::assert_snapshot!(arena(["exit-codes"]).told());
    assert!(arena(["help", "exit-codes"]).out.contains(&arena(["exit-codes"]).out));
}

#[test]
fn help_is_a_result_and_a_wrong_line_is_talk() {
    let help = arena(["--help"]);
    assert_eq!((help.exit, help.err.as_str()), (Exit::Success, ""));
    insta::assert_snapshot!(help.out);
    for wrong in [&[][..], &["pley"], &["play"], &["play", "two-spikes", "x.wasm", "--seed", "1.5"]] {
        let ran = arena(wrong);
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{wrong:?}");
        assert!(!ran.err.is_empty(), "{wrong:?}");
    }
}

#[test]
fn the_limits_are_shown() {
    insta::assert_snapshot!(arena(["limits"]).told());
}

#[test]
fn the_schemas_are_those_of_the_engine() {
    for (name, schema) in
        [("pack", arena_engine::campus::pack_schema()), ("episode", arena_engine::campus::episode_schema())]
    {
        assert_eq!(arena(["schema", name]).json(), schema);
    }
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = arena(["completions", shell]);
        assert_eq!(ran.exit, Exit::Success);
        assert!(ran.out.contains("guest-log"), "{shell}");
    }
}

//! What the README tells a stranger to type is what there is.

use arena_tests::repository;

/// Every line of a fenced `sh` block.
fn commands(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join(file)).expect("the file is in the repository");
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(fence) => inside = !inside && fence == "sh",
            None if inside => lines.push(line.to_owned()),
            None => {}
        }
    }
    lines
}

#[test]
fn every_arena_command_of_the_readme_is_one() {
    let commands = commands("README.md");
    let arena: Vec<&String> = commands.iter().filter(|line| line.starts_with("arena ")).collect();
    assert!(arena.len() >= 8, "{commands:?}");
    for line in arena {
        let parsed = arena_cli::command().try_get_matches_from(line.split_whitespace());
        assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|e| e.to_string()).unwrap_or_default());
    }
}

#[test]
fn the_readme_names_the_two_commands() {
    let commands = commands("README.md");
    for wanted in ["cargo xtask demo", "cargo xtask test"] {
        assert!(commands.iter().any(|line| line == wanted), "{wanted}");
    }
}

/// The table of the README is the enum of the command.
#[test]
fn the_exit_codes_of_the_readme_are_those_of_the_command() {
    let text = std::fs::read_to_string(repository().join("README.md")).expect("README.md is there");
    let table =
        text.split("## Exit codes").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a table");
    let told: Vec<u8> =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()?.parse().ok()).collect();
    let known: Vec<u8> = arena_cli::Exit::ALL.iter().map(|exit| exit.code()).collect();
    assert_eq!(told, known);
}

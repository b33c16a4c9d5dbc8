//! The table of attacks in ARCHITECTURE.md is whole, and every test that it names is there.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const HEAD: &str = "| # | attack | test |";
/// Attacks on claims that the design answers.
const ATTACKS: usize = 35;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(ARCHITECTURE) else { return Vec::new() };
    let finding = |text: String| Finding::new("threats", ARCHITECTURE, text);
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| *line != HEAD).skip(2).peekable();
    if lines.peek().is_none() {
        return vec![finding(format!("there is no table `{HEAD}`: one row for each attack on claims"))];
    }
    let tests = tests(tree);
    let mut findings = Vec::new();
    let mut rows = 0;
    for (at, line) in lines.take_while(|(_, line)| line.starts_with('|')) {
        rows += 1;
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, number, _, named, _] = cells[..] else {
            findings.push(finding("a row has three cells: number, attack, tests".to_owned()).line(at + 1));
            continue;
        };
        if number != rows.to_string() {
            findings.push(finding(format!("row {rows} is numbered {number}")).line(at + 1));
        }
        let names: Vec<&str> = named.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            findings.push(finding(format!("attack {number} has no test: name one as `name`")).line(at + 1));
        }
        for name in names.iter().filter(|name| !tests.contains(*name)) {
            findings.push(finding(format!("`{name}` is no test: correct its name")).line(at + 1));
        }
    }
    if rows != ATTACKS {
        findings.push(finding(format!("the table of attacks has {rows} rows; there are {ATTACKS} attacks")));
    }
    findings
}

/// Names of the functions under `#[test]` or `#[tokio::test]`.
fn tests(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for text in tree.files.iter().filter(|file| file.path.ends_with(".rs")).filter_map(|file| file.text()) {
        let mut attributed = false;
        for line in text.lines().map(str::trim_start) {
            let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
            match function.and_then(|rest| rest.split_once('(')) {
                Some((name, _)) if attributed => {
                    names.insert(name);
                    attributed = false;
                }
                _ if ["#[test]", "#[tokio::test]"].contains(&line) => attributed = true,
                // Other attributes and comments may stand between.
                _ if line.starts_with('#') || line.starts_with("//") => {}
                _ => attributed = false,
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    const TEST: &str = "/// Words.\n#[test]\n#[cfg(unix)]\nfn it_fails() {}\nfn helper() {}\n\
                        #[tokio::test]\nasync fn it_waits() {}\n";

    fn check_with(rows: &str) -> Vec<String> {
        let architecture = format!("# Words\n\n{HEAD}\n|---|---|---|\n{rows}\nMore words.\n");
        texts(&check(&Tree::of(&[(ARCHITECTURE, &architecture), ("tests/it/threats.rs", TEST)])))
    }

    fn whole() -> Vec<String> {
        let row = |i| format!("| {i} | an attack | `it_fails`, `it_waits`, and what is left of it |");
        (1..=ATTACKS).map(row).collect()
    }

    #[test]
    fn a_whole_table_ok() {
        assert_eq!(check_with(&whole().join("\n")), Vec::<String>::new());
    }

    #[test]
    fn a_missing_table_or_row_fails() {
        let found = texts(&check(&Tree::of(&[(ARCHITECTURE, "# Words\n")]))).concat();
        assert!(found.contains("there is no table"), "{found}");
        let found = check_with(&whole()[1..].join("\n")).concat();
        assert!(found.contains("row 1 is numbered 2") && found.contains("has 34 rows"), "{found}");
    }

    #[test]
    fn a_row_without_a_test_or_with_one_that_is_not_there_fails() {
        for (row, why) in [
            ("| 7 | an attack | nothing yet |", "attack 7 has no test"),
            ("| 7 | an attack | `gone` |", "`gone` is no test"),
            ("| 7 | an attack | `helper` |", "`helper` is no test"),
            ("| 7 | an attack |", "a row has three cells"),
        ] {
            let mut rows = whole();
            rows[6] = row.to_owned();
            let found = check_with(&rows.join("\n"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("ARCHITECTURE.md:11: ") && found[0].contains(why), "{found:?}");
        }
    }
}

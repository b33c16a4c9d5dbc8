//! What source code may not contain, and how long a file may get. How long a function may get is clippy's to
//! say.

use super::Finding;
use super::tree::{File, Tree};

const LINES_MAX: usize = 700;
const CODE: &[&str] = &["js", "py", "rs", "sh", "toml", "wit", "yml"];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "misc", "types", "util", "utils"];
/// Put together here, so that this file does not break its own rules.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("db", "g!("),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
];
const RUNTIME: &str = "wasmtime";
const RUNTIME_HOME: &str = "arena/sandbox/";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let code = tree.files.iter().filter(|file| file.has_extension(CODE));
    code.flat_map(|file| {
        let text = file.text().unwrap_or_default();
        let mut findings = unfinished(file, text);
        if file.has_extension(&["rs"]) {
            findings.extend(too_long(file, text));
            findings.extend(says_nothing(file, text));
            findings.extend(names_the_runtime(file, text));
        }
        findings
    })
    .collect()
}

fn too_long(file: &File, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let advice =
        "split it by what its parts are about, or move its tests to `tests.rs` in a folder of its name";
    (lines > LINES_MAX).then(|| {
        Finding::new("file-length", &file.path, format!("{lines} lines, more than {LINES_MAX}: {advice}"))
    })
}

fn unfinished(file: &File, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for word in UNFINISHED.iter().filter(|word| has_word(line, word)) {
            let advice = "finish it, or write down why it is as it is";
            findings.push(Finding::new("unfinished", &file.path, format!("`{word}`: {advice}")).line(at + 1));
        }
    }
    findings
}

/// Files, folders and inline modules.
fn says_nothing(file: &File, text: &str) -> Vec<Finding> {
    let advice = "name a module by what it is about";
    let finding =
        |name: &str| Finding::new("module-name", &file.path, format!("`{name}` says nothing: {advice}"));
    let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let mut findings: Vec<_> =
        path.split('/').filter(|part| EMPTY_NAMES.contains(part)).map(finding).collect();
    for (at, line) in text.lines().enumerate() {
        let opened = line.trim_start().strip_suffix('{').and_then(|it| it.split_once("mod "));
        if let Some((before, name)) = opened
            && (before.is_empty() || before.starts_with("pub"))
            && EMPTY_NAMES.contains(&name.trim())
        {
            findings.push(finding(name.trim()).line(at + 1));
        }
    }
    findings
}

/// Uses of the runtime's crates in code; a comment or a string may speak of it.
fn names_the_runtime(file: &File, text: &str) -> Vec<Finding> {
    if file.path.starts_with(RUNTIME_HOME) {
        return Vec::new();
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter(|(_, line)| uses_the_runtime(line))
        .map(|(at, _)| {
            let text =
                format!("only {RUNTIME_HOME} may name {RUNTIME}; use what that crate offers, or add to it");
            Finding::new("runtime", &file.path, text).line(at + 1)
        })
        .collect()
}

/// `wasmtime::…`, `wasmtime_wasi::…`, `use wasmtime…`, `extern crate wasmtime…`.
fn uses_the_runtime(line: &str) -> bool {
    line.match_indices(RUNTIME).any(|(at, _)| {
        let before = &line[..at];
        let after = line[at..].trim_start_matches(is_name);
        let starts_here = !before.ends_with(is_name);
        starts_here
            && (after.starts_with("::") || before.ends_with("use ") || before.ends_with("extern crate "))
    })
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let after = line[at + word.len()..].chars().next();
        !line[..at].ends_with(is_name) && (word.ends_with('(') || !after.is_some_and(is_name))
    })
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    fn check_one(path: &str, text: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn a_file_of_the_longest_length_ok() {
        assert!(check_one("a/src/lib.rs", &"x\n".repeat(LINES_MAX)).is_empty());
    }

    #[test]
    fn a_longer_file_fails() {
        let found = check_one("a/src/lib.rs", &"x\n".repeat(LINES_MAX + 1));
        assert!(found.concat().contains("701 lines, more than 700"), "{found:?}");
    }

    #[test]
    fn words_that_only_contain_a_banned_one_ok() {
        assert!(check_one("a/src/lib.rs", &format!("let {}S = 1;\n", UNFINISHED[0])).is_empty());
    }

    #[test]
    fn unfinished_code_fails_with_its_line() {
        for word in UNFINISHED {
            let found = check_one("a/src/lib.rs", &format!("fn f() {{}}\n    {word} later\n"));
            assert!(found.concat().contains("a/src/lib.rs:2: "), "{word}: {found:?}");
        }
    }

    #[test]
    fn a_module_about_something_ok() {
        assert!(check_one("a/src/utility_prices.rs", "mod typesetting {\n}\n").is_empty());
    }

    #[test]
    fn a_module_about_nothing_fails() {
        for path in ["a/src/util.rs", "a/src/helpers/mod.rs", "a/src/types/price.rs"] {
            assert!(check_one(path, "").concat().contains("says nothing"), "{path}");
        }
        let found = check_one("a/src/lib.rs", "pub(crate) mod common {\n}\n");
        assert!(found.concat().contains("a/src/lib.rs:1: `common` says nothing"), "{found:?}");
    }

    #[test]
    fn speaking_of_the_runtime_ok() {
        let text = format!(
            "// {RUNTIME}::Engine is not here\nlet pin = \"{RUNTIME}\";\nlet {RUNTIME}_version = 48;\n"
        );
        assert!(check_one("arena/engine/src/lib.rs", &text).is_empty());
        assert!(check_one("arena/sandbox/src/lib.rs", &format!("use {RUNTIME}::Engine;\n")).is_empty());
    }

    #[test]
    fn using_the_runtime_elsewhere_fails() {
        for line in ["use R::Engine;", "let e: R::Engine;", "R_wasi::p2()", "use R as w;", "extern crate R;"]
        {
            let found = check_one("arena/cli/src/lib.rs", &line.replace('R', RUNTIME));
            assert!(found.concat().contains("only arena/sandbox/ may name wasmtime"), "{line}: {found:?}");
        }
    }
}

//! What holds for every file: its size, its line ends, and that it does not say on whose machine it was
//! written.

use super::Finding;
use super::tree::{File, Tree};

const BYTES_MAX: usize = 300_000;
/// Where a program's exact output or somebody else's exact file is kept.
const VERBATIM: &[&str] = &["tests/golden/", "tests/vectors/"];
/// Names that stand for anybody's.
const ANYBODY: &[&str] = &["me", "user", "you"];
/// Starts of folders that belong to a person. Put together here, so that this file does not break its own
/// rule.
const PERSONAL: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("\\Us", "ers\\")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        findings.extend(too_large(file));
        let Some(text) = file.text() else { continue };
        findings.extend(machine_paths(file, text, &tree.root));
        if !VERBATIM.iter().any(|folder| file.path.starts_with(folder)) && !file.has_extension(&["snap"]) {
            findings.extend(line_ends(file, text));
        }
    }
    findings
}

fn too_large(file: &File) -> Option<Finding> {
    let bytes = file.bytes.len();
    let advice = "build it, make it smaller, or keep it elsewhere";
    (bytes > BYTES_MAX).then(|| {
        Finding::new("file-size", &file.path, format!("{bytes} bytes, more than {BYTES_MAX}: {advice}"))
    })
}

fn line_ends(file: &File, text: &str) -> Vec<Finding> {
    let finding = |text: &str| Finding::new("line-ends", &file.path, text);
    let mut findings: Vec<_> = text
        .split('\n')
        .enumerate()
        .filter(|(_, line)| line.ends_with(char::is_whitespace))
        .map(|(at, _)| finding("white space at the end of the line: remove it").line(at + 1))
        .collect();
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(finding("the last line has no end: add a newline"));
    }
    if text.ends_with("\n\n") {
        findings.push(finding("empty lines at the end: remove them"));
    }
    findings
}

fn machine_paths(file: &File, text: &str, root: &str) -> Vec<Finding> {
    // A checkout in `/src` would be found everywhere.
    let root = Some(root).filter(|path| path.matches(['/', '\\']).count() > 1);
    let names_a_machine = |line: &str| {
        root.is_some_and(|root| line.contains(root)) || PERSONAL.iter().any(|it| starts_in(line, it))
    };
    let lines = text.lines().enumerate().filter(|(_, line)| names_a_machine(line));
    lines
        .map(|(at, _)| {
            let text = "a path of somebody's machine: make it relative, or ask for it at run time";
            Finding::new("machine-path", &file.path, text).line(at + 1)
        })
        .collect()
}

/// Whether an absolute path to a person's folder is here; a URL or a relative path may go on with the same
/// letters.
fn starts_in(line: &str, folder: &str) -> bool {
    let goes_on = |before: &str| before.ends_with(|it: char| it.is_alphanumeric() || ".-_".contains(it));
    let drive = |before: &str| folder.starts_with('\\') && before.ends_with(':');
    let anybody = |after: &str| ANYBODY.iter().any(|name| after.split(['/', '\\']).next() == Some(name));
    line.match_indices(folder).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + folder.len()..]);
        (!goes_on(before) || drive(before)) && !anybody(after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    fn check_one(path: &str, text: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn a_plain_file_ok() {
        let anybody = format!("in {}me/project\n", PERSONAL[0]);
        for text in ["", "one\ntwo\n", "see https://example.org/home/page and a/home/b\n", &anybody] {
            assert_eq!(check_one("README.md", text), Vec::<String>::new());
        }
    }

    #[test]
    fn white_space_at_the_end_fails_with_its_line() {
        assert!(check_one("README.md", "one\ntwo \n").concat().contains("README.md:2: white space"));
        assert!(check_one("README.md", "one\r\n").concat().contains("README.md:1: white space"));
        assert!(check_one("README.md", "one").concat().contains("no end"));
        assert!(check_one("README.md", "one\n\n").concat().contains("empty lines"));
    }

    #[test]
    fn verbatim_output_ok() {
        assert!(check_one("tests/golden/play.txt", "col   \n").is_empty());
        assert!(check_one("tests/it/snapshots/help.snap", "col   \n").is_empty());
    }

    #[test]
    fn a_large_file_fails() {
        assert!(check_one("a.txt", &"123456789\n".repeat(30_000)).is_empty());
        assert!(check_one("a.txt", &"123456789\n".repeat(30_001)).concat().contains("300010 bytes"));
    }

    #[test]
    fn a_path_of_a_machine_fails() {
        for folder in PERSONAL {
            assert!(
                check_one("a.txt", &format!("in {folder}ann/x\n")).concat().contains("a.txt:1: "),
                "{folder}"
            );
        }
        assert!(check_one("a.txt", "in /checkout/of/arena/x\n").concat().contains("somebody's machine"));
    }
}

//! A published interface does not change under its version: README.md holds the hash of each.

use super::Finding;
use super::tree::Tree;
use crate::digests::sha256;

const RULE: &str = "wit";
const README: &str = "README.md";
const LINE: &str = "<!-- wit ";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let readme = tree.text(README).unwrap_or_default();
    let recorded: Vec<&str> = readme.lines().map(str::trim).filter(|line| line.starts_with(LINE)).collect();
    let mut findings = Vec::new();
    let mut found = Vec::new();
    for folder in tree.folders_in("wit") {
        let Some(interface) = Interface::read(tree, folder) else {
            let path = format!("wit/{folder}");
            findings.push(Finding::new(
                RULE,
                &path,
                "no file here starts with `package name:space@version;`",
            ));
            continue;
        };
        let line = interface.line();
        if !recorded.contains(&line.as_str()) {
            findings.push(interface.finding(&recorded, &line));
        }
        found.push(interface.id);
    }
    let known = |line: &str| found.iter().any(|id| line.starts_with(&format!("{LINE}{id} ")));
    for line in recorded.iter().filter(|line| !known(line)) {
        findings.push(Finding::new(RULE, README, format!("no interface is called so: remove `{line}`")));
    }
    findings
}

struct Interface {
    /// `arena:campus@0.1.0`.
    id: String,
    /// Of the folder's files, one after the other by name.
    digest: String,
}

impl Interface {
    fn read(tree: &Tree, folder: &str) -> Option<Self> {
        let prefix = format!("wit/{folder}/");
        let is_here = |path: &str| path.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('/'));
        let mut bytes = Vec::new();
        let mut id = None;
        for file in tree.files.iter().filter(|file| file.has_extension(&["wit"]) && is_here(&file.path)) {
            bytes.extend_from_slice(&file.bytes);
            id = id.or_else(|| package_id(file.text()?));
        }
        Some(Self { id: id?, digest: sha256(&bytes) })
    }

    fn line(&self) -> String {
        format!("{LINE}{} {} -->", self.id, self.digest)
    }

    fn finding(&self, recorded: &[&str], line: &str) -> Finding {
        let changed = recorded.iter().any(|it| it.starts_with(&format!("{LINE}{} ", self.id)));
        let text = if changed {
            format!(
                "{} changed; give it a new version, or, if it was never released, record `{line}`",
                self.id
            )
        } else {
            format!("{} is not in the compatibility table; add its row and the line `{line}`", self.id)
        };
        Finding::new(RULE, README, text)
    }
}

fn package_id(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("package "))?;
    Some(line.split(';').next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    const CAMPUS: &str = "// Units.\npackage arena:campus@0.1.0;\n";

    fn check_with(readme: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[("README.md", readme), ("wit/campus/campus.wit", CAMPUS)])))
    }

    fn line() -> String {
        format!("<!-- wit arena:campus@0.1.0 {} -->", sha256(CAMPUS.as_bytes()))
    }

    #[test]
    fn a_recorded_interface_ok() {
        assert_eq!(check_with(&format!("# Arena\n{}\n", line())), Vec::<String>::new());
    }

    #[test]
    fn an_interface_that_is_not_recorded_fails_with_the_line_to_add() {
        let found = check_with("# Arena\n");
        assert!(found.concat().contains(&line()), "{found:?}");
    }

    #[test]
    fn a_changed_interface_fails() {
        let found = check_with(&format!("<!-- wit arena:campus@0.1.0 {} -->\n", sha256(b"before")));
        assert!(found.concat().contains("arena:campus@0.1.0 changed"), "{found:?}");
    }

    #[test]
    fn a_line_about_no_interface_fails() {
        let found = check_with(&format!("{}\n<!-- wit arena:poker@1.0.0 sha256:00 -->\n", line()));
        assert!(found.concat().contains("remove `<!-- wit arena:poker@1.0.0"), "{found:?}");
    }

    #[test]
    fn a_folder_without_a_package_fails() {
        let tree = Tree::of(&[("wit/campus/campus.wit", "interface x {}\n")]);
        assert!(texts(&check(&tree)).concat().contains("no file here starts with"));
    }
}

//! Every crate takes the workspace's lints, and a crate's own `clippy.toml`, which replaces the one at the
//! root, repeats it.

use super::Finding;
use super::packages::Packages;
use super::tree::Tree;

const RULE: &str = "lints";
const CLIPPY: &str = "clippy.toml";

pub(crate) fn check(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let shared = tree.text(CLIPPY).unwrap_or_default();
    let shared: Vec<&str> =
        shared.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut findings = Vec::new();
    for package in &packages.ours {
        let manifest = format!("{}/Cargo.toml", package.folder);
        if tree.text(&manifest).is_some_and(|text| !takes_workspace_lints(text)) {
            findings.push(Finding::new(RULE, &manifest, "add `[lints]` with `workspace = true`"));
        }
        let own = format!("{}/{CLIPPY}", package.folder);
        let Some(text) = tree.text(&own) else { continue };
        for line in &shared {
            if !text.lines().any(|it| it == *line) {
                let advice = "this file replaces the one at the root";
                findings.push(Finding::new(RULE, &own, format!("repeat `{line}`: {advice}")));
            }
        }
    }
    findings
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let table: Option<toml::Table> = manifest.parse().ok();
    let lints = table.as_ref().and_then(|table| table.get("lints"));
    lints.and_then(|it| it.get("workspace")).and_then(toml::Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::ours;
    use super::super::texts;
    use super::*;

    fn check_with(manifest: &str, own: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("arena/engine/Cargo.toml", manifest),
            ("arena/engine/clippy.toml", own),
            ("clippy.toml", "# For all.\n\ntoo-many-lines-threshold = 70\n"),
        ]);
        let packages = Packages { ours: vec![ours("arena-engine", "arena/engine", &[])], others: Vec::new() };
        texts(&check(&tree, &packages))
    }

    #[test]
    fn workspace_lints_and_a_repeated_setting_ok() {
        let found = check_with(
            "[lints]\nworkspace = true\n",
            "too-many-lines-threshold = 70\ndisallowed-types = []\n",
        );
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn lints_of_its_own_fails() {
        let found = check_with("[package]\nname = \"x\"\n", "too-many-lines-threshold = 70\n");
        assert!(found.concat().contains("add `[lints]`"), "{found:?}");
    }

    #[test]
    fn a_setting_that_is_not_repeated_fails() {
        let found = check_with("[lints]\nworkspace = true\n", "too-many-lines-threshold = 90\n");
        assert!(found.concat().contains("repeat `too-many-lines-threshold = 70`"), "{found:?}");
    }
}

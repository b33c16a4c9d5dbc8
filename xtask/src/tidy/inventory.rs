//! Nothing lies about unlisted: every guest has a README and a digest, every scenario pack its line.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;
use crate::digests::Digests;

const GUESTS: &str = "guest-examples";
const DIGESTS: &str = "guest-examples/DIGESTS";
const PACKS: &str = "scenarios/README.md";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    [readmes(tree), digests(tree), packs(tree)].concat()
}

/// Every folder of a guest says what it shows.
fn readmes(tree: &Tree) -> Vec<Finding> {
    let paths = tree.folders_in(GUESTS).into_iter().map(|guest| format!("{GUESTS}/{guest}/README.md"));
    paths
        .filter(|path| tree.file(path).is_none())
        .map(|path| {
            Finding::new("guest-readme", &path, "it is missing: say in it what the strategy does and shows")
        })
        .collect()
}

/// For every compiler that has digests: of each guest one, and of nothing else.
fn digests(tree: &Tree) -> Vec<Finding> {
    let is_rust = |guest: &&str| tree.file(&format!("{GUESTS}/{guest}/Cargo.toml")).is_some();
    let guests: BTreeSet<&str> = tree.folders_in(GUESTS).into_iter().filter(is_rust).collect();
    let finding = |text: String| Finding::new("guest-digest", DIGESTS, text);
    let digests = match Digests::parse(tree.text(DIGESTS).unwrap_or_default()) {
        Ok(digests) => digests,
        Err(fault) => return vec![finding(fault.to_string())],
    };
    if digests.recorded().is_empty() && !guests.is_empty() {
        return vec![finding("no digest is recorded: cargo xtask bless".to_owned())];
    }
    let mut findings = Vec::new();
    for (commit, built) in digests.recorded() {
        let recorded: BTreeSet<&str> = built.keys().map(String::as_str).collect();
        for guest in guests.symmetric_difference(&recorded) {
            let what = if guests.contains(guest) { "has no digest" } else { "is no guest" };
            findings.push(finding(format!("`{guest}` {what} (rustc {commit}): cargo xtask bless")));
        }
    }
    findings
}

fn packs(tree: &Tree) -> Vec<Finding> {
    let list = tree.text(PACKS).unwrap_or_default();
    let names = tree.files.iter().filter_map(|file| {
        let name = file.path.strip_prefix("scenarios/")?.strip_suffix(".json")?;
        (!name.contains('/')).then_some(name)
    });
    names
        .filter(|name| !list.contains(&format!("`{name}`")) && !list.contains(&format!("({name}.json)")))
        .map(|name| {
            let text = format!("`{name}` is not listed: add its row, with where its prices come from");
            Finding::new("pack-list", PACKS, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    fn digest_line(guest: &str) -> String {
        format!("{} {guest} sha256:{}\n", "a".repeat(40), "0".repeat(64))
    }

    fn check_with(digests: &str, more: &[(&str, &str)]) -> Vec<String> {
        let guest = [
            ("guest-examples/DIGESTS", digests),
            ("guest-examples/idle/Cargo.toml", ""),
            ("guest-examples/idle/README.md", "# idle\n"),
        ];
        texts(&check(&Tree::of(&[&guest[..], more].concat())))
    }

    #[test]
    fn a_complete_guest_ok() {
        assert_eq!(check_with(&digest_line("idle"), &[]), Vec::<String>::new());
    }

    #[test]
    fn a_guest_of_another_language_needs_no_digest_ok() {
        let more = [("guest-examples/python/README.md", "# python\n"), ("guest-examples/python/idle.py", "")];
        assert_eq!(check_with(&digest_line("idle"), &more), Vec::<String>::new());
    }

    #[test]
    fn a_guest_without_readme_or_digest_fails() {
        let found = check_with(&digest_line("idle"), &[("guest-examples/obey/Cargo.toml", "")]).concat();
        assert!(found.contains("guest-examples/obey/README.md: it is missing"), "{found}");
        assert!(found.contains("`obey` has no digest"), "{found}");
    }

    #[test]
    fn a_digest_without_a_guest_or_no_digests_at_all_fails() {
        let found = check_with(&(digest_line("idle") + &digest_line("gone")), &[]).concat();
        assert!(found.contains("`gone` is no guest"), "{found}");
        assert!(check_with("", &[]).concat().contains("no digest is recorded"));
        assert!(check_with("nonsense\n", &[]).concat().contains("line 1 cannot be read"));
    }

    #[test]
    fn a_listed_pack_ok() {
        let packs =
            [("scenarios/two-spikes.json", ""), ("scenarios/README.md", "| `two-spikes` | ERCOT |\n")];
        assert_eq!(check_with(&digest_line("idle"), &packs), Vec::<String>::new());
    }

    #[test]
    fn a_pack_that_is_not_listed_fails() {
        let packs = [("scenarios/two-spikes.json", ""), ("scenarios/schema/pack.schema.json", "")];
        let found = check_with(&digest_line("idle"), &packs);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`two-spikes` is not listed"), "{found:?}");
    }
}

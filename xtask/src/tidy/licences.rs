//! Licences, sources and duplicate versions of our dependencies, by the lists in `deny.toml`. It is the part
//! of cargo-deny that needs no network, so that every machine can run it; `cargo xtask audit` runs the rest.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::Finding;
use super::packages::{Package, Packages};

const FILE: &str = "deny.toml";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn check(packages: &Packages, deny: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let allowed = strings(deny, "licenses", "allow");
    for package in &packages.others {
        let (name, version, licence) = (&package.name, &package.version, &package.licence);
        if !is_allowed(licence, &allowed) {
            let shown = if licence.is_empty() { "no licence" } else { licence };
            let advice =
                format!("do without it, or allow its licence in {FILE} if it may be linked into ours");
            findings.push(Finding::new("licences", FILE, format!("{name} {version} has {shown}: {advice}")));
        }
        if package.source != CRATES_IO {
            let text = format!("{name} {version} is not from crates.io: publish it there or do without it");
            findings.push(Finding::new("sources", FILE, text));
        }
    }
    findings.extend(duplicates(&packages.others, &skipped(deny)));
    findings
}

/// The platforms that we answer for.
pub(crate) fn targets(deny: &Table) -> Vec<String> {
    strings(deny, "graph", "targets").into_iter().map(str::to_owned).collect()
}

fn strings<'a>(deny: &'a Table, section: &str, key: &str) -> Vec<&'a str> {
    list(deny, section, key).iter().filter_map(Value::as_str).collect()
}

fn list<'a>(deny: &'a Table, section: &str, key: &str) -> &'a [Value] {
    deny.get(section).and_then(|it| it.get(key)).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `[bans] skip`: `{ crate = "name@version", reason = "…" }`, where the version may be cut short.
fn skipped(deny: &Table) -> Vec<(&str, &str)> {
    let entries = list(deny, "bans", "skip").iter();
    entries.filter_map(|entry| entry.get("crate")?.as_str()?.split_once('@')).collect()
}

fn duplicates(packages: &[Package], skipped: &[(&str, &str)]) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let covers =
        |entry: &(&str, &str), name: &str, version: &str| entry.0 == name && starts(version, entry.1);
    let mut findings = Vec::new();
    for (name, versions) in &versions {
        let is_skipped = |version: &&&str| skipped.iter().any(|entry| covers(entry, name, version));
        let left: Vec<&str> = versions.iter().filter(|version| !is_skipped(version)).copied().collect();
        if left.len() > 1 {
            let entry = format!("{{ crate = \"{name}@{}\", reason = \"…\" }}", left[0]);
            let text =
                format!("{name} is there as {}: use one, or list {entry} in [bans] skip", left.join(" and "));
            findings.push(Finding::new("duplicates", FILE, text));
        }
    }
    for entry in skipped {
        let used = |(name, found): (&&str, &BTreeSet<&str>)| {
            found.len() > 1 && found.iter().any(|version| covers(entry, name, version))
        };
        if !versions.iter().any(used) {
            let text =
                format!("{}@{} is no duplicate any more: remove it from [bans] skip", entry.0, entry.1);
            findings.push(Finding::new("duplicates", FILE, text));
        }
    }
    findings
}

/// `0.10` covers `0.10.9` and not `0.100.0`.
fn starts(version: &str, start: &str) -> bool {
    version.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '+', '-']))
}

/// Whether an SPDX expression can be satisfied with the allowed licences. `/` is how `OR` was once written.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = Words { left: spaced.split_whitespace().collect(), allowed };
    words.any_of() == Some(true) && words.left.is_empty()
}

/// A reader of one expression; every method takes what it understands from the front.
struct Words<'a> {
    left: Vec<&'a str>,
    allowed: &'a [&'a str],
}

impl Words<'_> {
    fn any_of(&mut self) -> Option<bool> {
        let mut met = self.all_of()?;
        while self.take("OR") {
            met |= self.all_of()?;
        }
        Some(met)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any_of()?;
            return self.take(")").then_some(met);
        }
        let mut name = self.next()?.to_owned();
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.next()?);
        }
        Some(self.allowed.contains(&name.as_str()))
    }

    fn next(&mut self) -> Option<&str> {
        if self.left.is_empty() { None } else { Some(self.left.remove(0)) }
    }

    fn take(&mut self, word: &str) -> bool {
        let here = self.left.first() == Some(&word);
        if here {
            self.left.remove(0);
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0 WITH LLVM-exception"]
        [bans]
        skip = [{ crate = "sha2@0.10", reason = "an older dependency" }]
    "#;

    fn other(name: &str, version: &str, licence: &str) -> Package {
        let text = |it: &str| it.to_owned();
        let (name, version, licence) = (text(name), text(version), text(licence));
        Package { name, version, licence, source: text(CRATES_IO), ..Package::default() }
    }

    fn check_all(others: &[Package]) -> Vec<String> {
        let old_sha2 = [other("sha2", "0.10.9", "MIT"), other("sha2", "0.11.1", "MIT")];
        let others = [others, &old_sha2].concat();
        let deny = DENY.parse().expect("the sample is TOML");
        texts(&check(&Packages { ours: Vec::new(), others }, &deny))
    }

    #[test]
    fn allowed_licences_and_listed_duplicates_ok() {
        assert_eq!(check_all(&[other("serde", "1.0.0", "MIT OR Apache-2.0")]), Vec::<String>::new());
    }

    #[test]
    fn another_licence_fails() {
        let found = check_all(&[other("gpl", "1.0.0", "GPL-3.0-only"), other("none", "1.0.0", "")]);
        assert!(found[0].contains("gpl 1.0.0 has GPL-3.0-only"), "{found:?}");
        assert!(found[1].contains("none 1.0.0 has no licence"), "{found:?}");
    }

    #[test]
    fn a_source_of_its_own_fails() {
        let package = Package { source: "git+https://example.org".into(), ..other("fork", "1.0.0", "MIT") };
        assert!(check_all(&[package]).concat().contains("fork 1.0.0 is not from crates.io"));
    }

    #[test]
    fn a_duplicate_fails_with_the_entry_to_add() {
        let found = check_all(&[other("syn", "2.0.1", "MIT"), other("syn", "3.0.0", "MIT")]);
        assert!(found.concat().contains(r#"{ crate = "syn@2.0.1", reason = "…" }"#), "{found:?}");
    }

    #[test]
    fn a_list_entry_without_a_duplicate_fails() {
        let found = duplicates(&[other("sha2", "0.10.9", "MIT")], &[("sha2", "0.10")]);
        assert!(texts(&found).concat().contains("sha2@0.10 is no duplicate any more"));
    }

    #[test]
    fn expressions_are_read_as_spdx_says() {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];
        let cases = [
            ("MIT", true),
            ("GPL-3.0-only OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("MIT AND GPL-3.0-only", false),
            ("(GPL-3.0-only OR MIT) AND Zlib", true),
            ("Zlib AND (GPL-3.0-only OR Apache-2.0)", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("", false),
        ];
        for (expression, expected) in cases {
            assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
        }
    }

    #[test]
    fn a_version_cut_short_covers_its_own_line_only() {
        assert!(starts("0.10.9", "0.10") && starts("1.0.0+x", "1.0.0"));
        assert!(!starts("0.100.0", "0.10"));
    }
}

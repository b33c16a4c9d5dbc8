//! Every page can be reached from README.md or ARCHITECTURE.md, every link leads somewhere, and
//! ARCHITECTURE.md knows every crate.

use std::collections::BTreeSet;

use super::Finding;
use super::packages::Packages;
use super::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// Pages that are written into other people's projects; their links are about those.
const TEMPLATES: &str = "templates";
const ENTRANCES: &[&str] = &["README.md", ARCHITECTURE];

pub(crate) fn check(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let missing = ENTRANCES.iter().filter(|path| tree.file(path).is_none());
    let mut findings: Vec<_> =
        missing.map(|path| Finding::new("docs", path, "it is missing: write it")).collect();
    findings.extend(unnamed_crates(tree, packages));
    findings.extend(dead_links(tree));
    findings.extend(unreachable_pages(tree));
    findings
}

fn unnamed_crates(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let Some(text) = tree.text(ARCHITECTURE) else { return Vec::new() };
    let is_named = |name: &str| {
        let is_name = |it: char| it.is_alphanumeric() || "-_/".contains(it);
        text.match_indices(name).any(|(at, _)| {
            let after = text[at + name.len()..].trim_start_matches('/');
            !text[..at].ends_with(is_name) && !after.starts_with(is_name)
        })
    };
    let unnamed = packages.ours.iter().filter(|it| !is_named(&it.name) && !is_named(&it.folder));
    unnamed
        .map(|package| {
            let text =
                format!("`{}` is not named: say what it is for and what it never knows", package.folder);
            Finding::new("docs", ARCHITECTURE, text)
        })
        .collect()
}

fn dead_links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in pages(tree) {
        for (line, target) in links(text) {
            let Some(target) = resolve(path, target) else {
                findings.push(dead(path, line, target, "leads out of the repository"));
                continue;
            };
            if !target.is_empty() && tree.file(&target).is_none() && !tree.has_folder(&target) {
                findings.push(dead(path, line, &target, "is not there"));
            }
        }
    }
    findings
}

fn dead(path: &str, line: usize, target: &str, why: &str) -> Finding {
    Finding::new("links", path, format!("`{target}` {why}: correct the link or remove it")).line(line)
}

/// A guest's README is listed by its folder.
fn unreachable_pages(tree: &Tree) -> Vec<Finding> {
    let reached = reach(tree);
    let is_guests = |path: &str| path.starts_with("guest-examples/") && path.matches('/').count() == 2;
    pages(tree)
        .filter(|(path, _)| !reached.contains(*path) && !is_guests(path))
        .map(|(path, _)| {
            let text = format!("no page leads here: link it from {}", ENTRANCES.join(" or "));
            Finding::new("docs", path, text)
        })
        .collect()
}

fn reach(tree: &Tree) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<String> = ENTRANCES.iter().map(|path| (*path).to_owned()).collect();
    while let Some(path) = ahead.pop() {
        let Some(text) = tree.text(&path) else { continue };
        if !reached.insert(path.clone()) {
            continue;
        }
        for target in links(text).into_iter().filter_map(|(_, target)| resolve(&path, target)) {
            let page = if tree.has_folder(&target) { format!("{target}/README.md") } else { target };
            if page.ends_with(".md") {
                ahead.push(page);
            }
        }
    }
    reached
}

fn pages(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let pages = tree.files.iter().filter(|file| file.has_extension(&["md"]) && is_ours(&file.path));
    pages.filter_map(|file| Some((file.path.as_str(), file.text()?)))
}

fn is_ours(path: &str) -> bool {
    !path.split('/').any(|part| part == TEMPLATES)
}

/// `[words](target)` outside of code blocks, with the line it is on; those that lead into the repository.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part.split([')', ' ', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') {
                links.push((at + 1, target));
            }
        }
    }
    links
}

/// The path from the root that a link on a page means; `None` if it leaves the root.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::ours;
    use super::super::texts;
    use super::*;

    fn check_with(readme: &str, architecture: &str, more: &[(&str, &str)]) -> Vec<String> {
        let files = [&[("README.md", readme), ("ARCHITECTURE.md", architecture)], more].concat();
        let ours = vec![ours("arena-engine", "arena/engine", &[])];
        texts(&check(&Tree::of(&files), &Packages { ours, others: Vec::new() }))
    }

    const KNOWS: &str = "`arena/engine` holds the games.\n";

    #[test]
    fn linked_pages_and_named_crates_ok() {
        let readme = "[how](CONTRIBUTING.md#bless), [packs](scenarios/), [web](https://example.org)\n\
                      ```text\n[x](gone.md)\n```\n";
        let more = [
            ("CONTRIBUTING.md", "[packs](./scenarios/README.md)\n"),
            ("scenarios/README.md", "[back](../README.md) [schema](schema)\n"),
            ("scenarios/schema/pack.schema.json", ""),
            ("guest-examples/idle/README.md", ""),
            ("arena/cli/templates/strategy/README.md", "[code](src/made-later.rs)\n"),
        ];
        assert_eq!(check_with(readme, KNOWS, &more), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_is_not_named_fails() {
        let found = check_with("", "`arena/engine-room` and arena-engines\n", &[]);
        assert!(found.concat().contains("`arena/engine` is not named"), "{found:?}");
    }

    #[test]
    fn a_dead_link_fails_with_its_line() {
        let found = check_with("one\n[x](gone.md)\n[y](../out.md)\n", KNOWS, &[]).concat();
        assert!(found.contains("README.md:2: `gone.md` is not there"), "{found}");
        assert!(found.contains("README.md:3: `../out.md` leads out"), "{found}");
    }

    #[test]
    fn a_page_nobody_links_fails() {
        let found = check_with("", KNOWS, &[("notes/plan.md", "")]);
        assert!(found.concat().contains("notes/plan.md: no page leads here"), "{found:?}");
    }

    #[test]
    fn missing_entrances_fails() {
        let found = texts(&check(&Tree::of(&[]), &Packages { ours: Vec::new(), others: Vec::new() }));
        assert_eq!(found.len(), 2, "{found:?}");
    }
}

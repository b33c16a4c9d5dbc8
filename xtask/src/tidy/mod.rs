//! House rules that no compiler knows. Each finding says where, which rule, and what to do.

mod arrows;
mod docs;
mod inventory;
mod licences;
mod lints;
mod packages;
mod sources;
mod text;
mod threats;
mod tree;
mod wit;

use std::fmt;

use crate::fault::{Fault, Outcome};
use crate::repo::Repo;
use crate::talk::{self, Tone};

use packages::Packages;
use tree::Tree;

/// One thing that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the root, with `/`; empty where it is about no file.
    path: String,
    line: Option<usize>,
    rule: &'static str,
    text: String,
}

/// What the rules look at.
struct House {
    tree: Tree,
    packages: Packages,
    /// `deny.toml`, which our own check and cargo-deny both read.
    deny: toml::Table,
}

const RULES: &[fn(&House) -> Vec<Finding>] = &[
    |house| arrows::check(&house.packages),
    |house| licences::check(&house.packages, &house.deny),
    |house| lints::check(&house.tree, &house.packages),
    |house| docs::check(&house.tree, &house.packages),
    |house| inventory::check(&house.tree),
    |house| sources::check(&house.tree),
    |house| text::check(&house.tree),
    |house| threats::check(&house.tree),
    |house| wit::check(&house.tree),
];

pub(crate) fn run(repo: &Repo) -> Outcome {
    let tree = Tree::read(&repo.root)?;
    let deny = tree.text("deny.toml").unwrap_or_default();
    let deny: toml::Table =
        deny.parse().map_err(|why| Fault::new(format!("cannot read deny.toml: {why}")))?;
    let packages = Packages::read(repo, &licences::targets(&deny))?;
    let house = House { tree, packages, deny };
    let mut findings: Vec<_> = RULES.iter().flat_map(|rule| rule(&house)).collect();
    findings.sort();
    for finding in &findings {
        talk::result(&finding.to_string());
    }
    match findings.len() {
        0 => {
            talk::note("tidy", &format!("{} files keep the house rules", house.tree.files.len()));
            Ok(())
        }
        1 => Err(Fault::new("1 thing is against the house rules")),
        many => Err(Fault::new(format!("{many} things are against the house rules"))),
    }
}

impl Finding {
    fn new(rule: &'static str, path: &str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, rule, text: text.into() }
    }

    /// About a line, counted from 1.
    fn line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", _) => {}
            (path, None) => write!(f, "{path}: ")?,
            (path, Some(line)) => write!(f, "{path}:{line}: ")?,
        }
        write!(f, "{} {}", self.text, talk::tint_result(Tone::Quiet, &format!("[{}]", self.rule)))
    }
}

#[cfg(test)]
fn texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

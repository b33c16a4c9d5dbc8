//! Who may depend on whom. The table is the one in ARCHITECTURE.md.

use super::Finding;
use super::packages::{Dependency, Package, Packages};

const RULE: &str = "arrows";
/// Every crate of the host.
const EVERYONE: &[&str] = &["*"];

/// Package → those of ours it may depend on. A package that is not here does not belong here.
const ARROWS: &[(&str, &[&str])] = &[
    ("arena-canon", &[]),
    ("arena-cow", &[]),
    ("arena-engine", &["arena-canon"]),
    ("arena-draw", &["arena-canon"]),
    ("arena-ledger", &["arena-canon", "arena-cow"]),
    ("arena-claims", &["arena-draw", "arena-ledger", "arena-canon", "arena-cow"]),
    ("arena-contests", &["arena-ledger", "arena-canon", "arena-cow"]),
    ("arena-tournament", &["arena-engine", "arena-draw", "arena-canon"]),
    ("arena-sandbox", &["arena-engine", "arena-canon"]),
    ("arena-store", &["arena-canon"]),
    ("arena-verifier", &["arena-engine", "arena-canon"]),
    ("arena-server", SERVER),
    ("arena-cli", EVERYONE),
    ("arena-sdk", &[]),
    ("arena-tests", EVERYONE),
    ("arena-benches", BENCHES),
    ("arena-browser-tests", &[]),
    ("xtask", &[]),
];

const BENCHES: &[&str] =
    &["arena-sandbox", "arena-engine", "arena-contests", "arena-claims", "arena-draw", "arena-canon"];

/// Everything but the sandbox: the server hands work to others.
const SERVER: &[&str] = &[
    "arena-store",
    "arena-tournament",
    "arena-claims",
    "arena-contests",
    "arena-ledger",
    "arena-draw",
    "arena-engine",
    "arena-canon",
    "arena-cow",
];

/// The only package that may name the runtime, so that changing it is a change in one folder.
const SANDBOX: &str = "arena-sandbox";
const RUNTIME: &str = "wasmtime";
/// All that a strategy author has to compile.
const SDK: (&str, &[&str]) = ("arena-sdk", &["wit-bindgen"]);

pub(crate) fn check(packages: &Packages) -> Vec<Finding> {
    packages.ours.iter().flat_map(|package| check_one(package, &packages.ours)).collect()
}

fn check_one(package: &Package, ours: &[Package]) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let finding = |text: String| Finding::new(RULE, &manifest, text);
    let mut findings = Vec::new();
    let path_name = name_of(&package.folder);
    if package.name != path_name {
        findings.push(finding(format!("a package is named by its path: call it `{path_name}`")));
    }
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        let name = &package.name;
        let advice = "give it a line in ARCHITECTURE.md and in ARROWS of xtask/src/tidy/arrows.rs";
        findings.push(finding(format!("`{name}` is not in the table of arrows; {advice}")));
        return findings;
    };
    let is_ours = |name: &str| ours.iter().any(|it| it.name == name);
    for dependency in &package.dependencies {
        let (from, to) = (&package.name, dependency.name.as_str());
        if is_ours(to) && !is_allowed(from, dependency, allowed) {
            findings
                .push(finding(format!("{from} -> {to} is not an allowed arrow; edit ARCHITECTURE.md first")));
        }
        if to.starts_with(RUNTIME) && from != SANDBOX {
            findings.push(finding(format!("only {SANDBOX} may depend on {to}; ask it for what you need")));
        }
        if *from == SDK.0 && !dependency.for_tests && !SDK.1.contains(&to) {
            findings.push(finding(format!("{from} may depend on {} only, not on {to}", SDK.1.join(", "))));
        }
    }
    findings
}

/// Nothing may depend on the tests or on this program, and only the composition root on the benches' bodies. The
/// verifier is run by pages; tests compare the server's answers with its.
fn is_allowed(from: &str, dependency: &Dependency, allowed: &[&str]) -> bool {
    let to = dependency.name.as_str();
    match to {
        "arena-tests" | "xtask" => false,
        "arena-verifier" => dependency.for_tests,
        "arena-benches" => ["arena-cli", "arena-tests"].contains(&from),
        _ => from == to || allowed == EVERYONE || allowed.contains(&to),
    }
}

/// `arena/engine` → `arena-engine`; a folder at the root gets `arena-` before it, but for `xtask`.
fn name_of(folder: &str) -> String {
    match folder {
        "xtask" => folder.to_owned(),
        _ if folder.contains('/') => folder.replace('/', "-"),
        _ => format!("arena-{folder}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::ours;
    use super::super::texts;
    use super::*;

    fn check_all(packages: &[Package]) -> Vec<String> {
        texts(&check(&Packages { ours: packages.to_vec(), others: Vec::new() }))
    }

    fn canon() -> Package {
        ours("arena-canon", "arena/canon", &["serde"])
    }

    #[test]
    fn allowed_arrows_ok() {
        let found = check_all(&[
            canon(),
            ours("arena-engine", "arena/engine", &["arena-canon", "dev:proptest"]),
            ours("arena-sandbox", "arena/sandbox", &["arena-engine", "wasmtime"]),
            ours("arena-cli", "arena/cli", &["arena-sandbox", "arena-engine", "arena-benches"]),
            ours("arena-benches", "benches", &["arena-sandbox"]),
            ours("arena-tests", "tests", &["dev:arena-cli", "dev:arena-sandbox"]),
            ours("arena-sdk", "sdk", &["wit-bindgen", "dev:proptest"]),
            ours("xtask", "xtask", &["serde_json"]),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_arrow_fails() {
        let found = check_all(&[
            canon(),
            ours("arena-store", "arena/store", &["arena-canon"]),
            ours("arena-engine", "arena/engine", &["arena-store"]),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("arena-engine -> arena-store is not an allowed arrow"), "{found:?}");
    }

    #[test]
    fn a_forbidden_arrow_for_tests_fails() {
        let found = check_all(&[
            ours("arena-sandbox", "arena/sandbox", &[]),
            ours("arena-server", "arena/server", &["dev:arena-sandbox"]),
        ]);
        assert!(found.concat().contains("arena-server -> arena-sandbox"), "{found:?}");
    }

    #[test]
    fn the_verifier_is_for_tests_only() {
        let verifier = ours("arena-verifier", "arena/verifier", &["arena-engine", "arena-canon"]);
        let server = |needs: &str| ours("arena-server", "arena/server", &[needs]);
        let engine = ours("arena-engine", "arena/engine", &[]);
        assert!(
            check_all(&[canon(), engine.clone(), verifier.clone(), server("dev:arena-verifier")]).is_empty()
        );
        let found = check_all(&[canon(), engine, verifier, server("arena-verifier")]);
        assert!(found.concat().contains("arena-server -> arena-verifier"), "{found:?}");
    }

    #[test]
    fn the_runtime_elsewhere_fails() {
        let found = check_all(&[ours("arena-cli", "arena/cli", &["wasmtime-wasi"])]);
        assert!(found.concat().contains("only arena-sandbox may depend on wasmtime-wasi"), "{found:?}");
    }

    #[test]
    fn a_heavy_sdk_fails() {
        let found = check_all(&[ours("arena-sdk", "sdk", &["serde"])]);
        assert!(found.concat().contains("not on serde"), "{found:?}");
    }

    #[test]
    fn a_package_of_another_name_or_unknown_fails() {
        let found = check_all(&[ours("engine", "arena/engine", &[])]);
        assert!(found.concat().contains("call it `arena-engine`"), "{found:?}");
        assert!(found.concat().contains("not in the table of arrows"), "{found:?}");
    }
}

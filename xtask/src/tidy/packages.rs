//! What `cargo metadata` says of our packages and of everything they are built with.

use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::repo::Repo;

/// Ours and others', for the platforms asked about.
pub(crate) struct Packages {
    pub(crate) ours: Vec<Package>,
    pub(crate) others: Vec<Package>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    /// Empty for a path.
    pub(crate) source: String,
    /// The folder of one of ours, relative to the root, with `/`.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `[dev-dependencies]`: for its tests, not for its users.
    pub(crate) for_tests: bool,
}

impl Packages {
    pub(crate) fn read(repo: &Repo, platforms: &[String]) -> Outcome<Self> {
        let mut run = repo.cargo(["metadata", "--format-version=1", "--all-features"]);
        for platform in platforms {
            run = run.args(["--filter-platform", platform]);
        }
        let metadata: Value = serde_json::from_str(&run.text()?)
            .map_err(|why| Fault::new(format!("cannot read the output of `cargo metadata`: {why}")))?;
        Ok(Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Value) -> Self {
        let root = metadata["workspace_root"].as_str().unwrap_or_default();
        let members = list(&metadata["workspace_members"]);
        let (ours, others): (Vec<_>, Vec<_>) =
            list(&metadata["packages"]).iter().partition(|package| members.contains(&package["id"]));
        let read = |packages: Vec<&Value>| packages.into_iter().map(|it| Package::read(it, root)).collect();
        Self { ours: read(ours), others: read(others) }
    }
}

impl Package {
    fn read(package: &Value, root: &str) -> Self {
        let manifest = text(&package["manifest_path"]).replace('\\', "/");
        let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or_default();
        let folder = folder.strip_prefix(&root.replace('\\', "/")).unwrap_or(folder);
        Self {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            source: text(&package["source"]),
            folder: folder.trim_start_matches('/').to_owned(),
            dependencies: list(&package["dependencies"]).iter().map(Dependency::read).collect(),
        }
    }
}

impl Dependency {
    fn read(dependency: &Value) -> Self {
        Self { name: text(&dependency["name"]), for_tests: dependency["kind"] == "dev" }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One of ours, with `name` as a dependency and `dev:name` as a dependency of its tests.
    pub(crate) fn ours(name: &str, folder: &str, dependencies: &[&str]) -> Package {
        let dependency = |text: &&str| match text.strip_prefix("dev:") {
            Some(name) => Dependency { name: name.to_owned(), for_tests: true },
            None => Dependency { name: (*text).to_owned(), for_tests: false },
        };
        Package {
            name: name.to_owned(),
            folder: folder.to_owned(),
            dependencies: dependencies.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    #[test]
    fn members_are_ours_and_the_rest_is_not() {
        let metadata = serde_json::json!({
            "workspace_root": "/checkout",
            "workspace_members": ["a"],
            "packages": [
                { "id": "a", "name": "arena-canon", "manifest_path": "/checkout/arena/canon/Cargo.toml",
                  "dependencies": [{ "name": "serde", "kind": null }, { "name": "insta", "kind": "dev" }] },
                { "id": "b", "name": "serde", "license": "MIT", "source": "registry+x", "manifest_path": "/r/Cargo.toml" },
            ],
        });
        let packages = Packages::from_metadata(&metadata);
        assert_eq!(packages.ours[0].folder, "arena/canon");
        assert_eq!(packages.ours[0].dependencies[1], Dependency { name: "insta".into(), for_tests: true });
        assert_eq!(packages.others[0].licence, "MIT");
    }
}

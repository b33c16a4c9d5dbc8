//! Where the sources of a build lie on this machine, and what a component calls these places.
//!
//! Panics and debug information name files. Were they named by where they lie here, the same source
//! would give other bytes in another folder, and a component would tell its author's folders.

use std::path::Path;

use super::cargo::{Metadata, Package};
use super::compiler::Compiler;
use crate::failure::Failure;

/// Folders of this machine with the names they get, the ones that take precedence last.
#[derive(Debug, Default)]
pub(crate) struct Places(Vec<Place>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    here: String,
    name: String,
}

impl Places {
    /// The workspace is the root of all names. A package elsewhere is called by its name and
    /// version, and the standard library as its makers call it.
    pub(super) fn of(metadata: &Metadata, compiler: &Compiler) -> Result<Self, Failure> {
        let mut places = Self::default();
        places.add(&metadata.workspace_root, String::new())?;
        places.add(&metadata.target_directory, "target".to_owned())?;
        for package in &metadata.packages {
            let folder = package.folder();
            if folder.starts_with(&metadata.workspace_root) {
                continue;
            }
            match (package.is_from_registry(), folder.parent()) {
                (true, Some(registry)) => places.add(registry, String::new())?,
                _ => places.add(folder, label(package))?,
            }
        }
        let library = compiler.sysroot.join("lib/rustlib/src/rust");
        places.add(&library, format!("/rustc/{}", compiler.commit))?;
        places.0.sort_by(|a, b| (a.here.len(), a).cmp(&(b.here.len(), b)));
        places.0.dedup();
        Ok(places)
    }

    fn add(&mut self, here: &Path, name: String) -> Result<(), Failure> {
        let here = here.to_str().ok_or_else(|| {
            Failure::usage("build a strategy", format_args!("the path `{}` is not UTF-8", here.display()))
                .hint("rename or move the folder")
        })?;
        self.0.push(Place { here: here.to_owned(), name });
        Ok(())
    }

    /// As flags for the compiler, which lets the last one that matches decide.
    pub(super) fn flags(&self) -> Vec<String> {
        self.0.iter().map(|place| format!("{FLAG}{}={}", place.here, place.name)).collect()
    }

    /// The places that `bytes` name all the same, because the source itself wrote them down.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> Vec<&str> {
        let is_in = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        // `/src` is in every path of a source: so short a place cannot be told from chance.
        let can_tell = |text: &str| text.len() >= 8;
        let mut found: Vec<&str> = Vec::new();
        for Place { here, .. } in &self.0 {
            // A folder within one that was found says nothing more.
            if !found.iter().any(|outer| here.starts_with(*outer)) && can_tell(here) && is_in(here) {
                found.push(here);
            }
        }
        found
    }
}

const FLAG: &str = "--remap-path-prefix=";

/// What `path` is called under the flags in `args`, by the compiler's own rule.
pub(super) fn renamed(path: &str, args: &[String]) -> String {
    let places = args.iter().filter_map(|arg| arg.strip_prefix(FLAG)?.rsplit_once('='));
    for (here, name) in places.rev() {
        if let Ok(rest) = Path::new(path).strip_prefix(here) {
            return Path::new(name).join(rest).to_string_lossy().into_owned();
        }
    }
    path.to_owned()
}

fn label(package: &Package) -> String {
    format!("{}-{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn metadata(root: &str) -> Metadata {
        let package = |name: &str, source: Option<&str>, folder: &str| Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            id: String::new(),
            source: source.map(str::to_owned),
            manifest_path: Path::new(folder).join("Cargo.toml"),
            dependencies: Vec::new(),
            targets: Vec::new(),
        };
        let registry = Some("registry+https://github.com/rust-lang/crates.io-index");
        Metadata {
            packages: vec![
                package("idle", None, &format!("{root}/idle")),
                package("arena-sdk", None, "/elsewhere/sdk"),
                package("wit-bindgen", registry, "/home/me/.cargo/registry/src/index/wit-bindgen-0.1.0"),
                package(
                    "forked",
                    Some("git+https://example.org/x"),
                    "/home/me/.cargo/git/checkouts/x/1/forked",
                ),
            ],
            workspace_members: Vec::new(),
            workspace_default_members: Vec::new(),
            workspace_root: root.into(),
            target_directory: Path::new(root).join("target"),
        }
    }

    fn names(root: &str) -> Vec<String> {
        let compiler =
            Compiler { sysroot: PathBuf::from("/rust"), commit: "abc".to_owned(), env: Vec::new() };
        let flags = Places::of(&metadata(root), &compiler).expect("UTF-8").flags();
        let files = [
            &format!("{root}/idle/src/lib.rs"),
            &format!("{root}/target/build/x/out/made.rs"),
            "/elsewhere/sdk/src/log.rs",
            "/home/me/.cargo/registry/src/index/wit-bindgen-0.1.0/src/rt.rs",
            "/home/me/.cargo/git/checkouts/x/1/forked/src/lib.rs",
            "/rust/lib/rustlib/src/rust/library/core/src/str.rs",
        ];
        files.iter().map(|file| renamed(file, &flags)).collect()
    }

    #[test]
    fn names_do_not_depend_on_where_the_workspace_lies() {
        let expected = [
            "idle/src/lib.rs",
            "target/build/x/out/made.rs",
            "arena-sdk-0.1.0/src/log.rs",
            "wit-bindgen-0.1.0/src/rt.rs",
            "forked-0.1.0/src/lib.rs",
            "/rustc/abc/library/core/src/str.rs",
        ];
        assert_eq!(names("/a"), expected);
        assert_eq!(names("/home/me/a much longer = path/🦀"), expected);
        assert_eq!(names("/elsewhere"), {
            let mut inside = expected;
            inside[2] = "sdk/src/log.rs";
            inside
        });
    }

    #[test]
    fn a_path_that_was_written_down_is_found_once() {
        let place = |here: &str| Place { here: here.to_owned(), name: String::new() };
        let places = Places(vec![
            place("/src"),
            place("/own/folder"),
            place("/own/folder/target"),
            place("/elsewhere"),
        ]);
        assert_eq!(places.found_in(b"..../own/folder/target/x....sdk/src/log.rs"), ["/own/folder"]);
        assert!(places.found_in(b"own/folder").is_empty());
    }
}

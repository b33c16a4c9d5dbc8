//! The SDK as every project gets it, out of this repository's `sdk/` and `wit/`.

macro_rules! repository {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path)))),+]
    };
}

/// Every file of `sdk/` and `wit/`, and the licences; a test compares the list with the folders.
const FILES: &[(&str, &str)] = &repository![
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "sdk/Cargo.toml",
    "sdk/README.md",
    "sdk/src/campus/assembly.rs",
    "sdk/src/campus/assembly/tests.rs",
    "sdk/src/campus/bindings.rs",
    "sdk/src/campus/component.rs",
    "sdk/src/campus/component/tests.rs",
    "sdk/src/campus/contract.rs",
    "sdk/src/campus/local_time.rs",
    "sdk/src/campus/mod.rs",
    "sdk/src/campus/observation.rs",
    "sdk/src/campus/observation/tests.rs",
    "sdk/src/campus/testing.rs",
    "sdk/src/experiment/bindings.rs",
    "sdk/src/experiment/component.rs",
    "sdk/src/experiment/mod.rs",
    "sdk/src/experiment/report.rs",
    "sdk/src/experiment/run.rs",
    "sdk/src/experiment/testing.rs",
    "sdk/src/lib.rs",
    "sdk/src/log.rs",
    "sdk/src/matrix/bindings.rs",
    "sdk/src/matrix/component.rs",
    "sdk/src/matrix/contract.rs",
    "sdk/src/matrix/mod.rs",
    "sdk/src/matrix/testing.rs",
    "sdk/src/panics.rs",
    "wit/campus/campus.wit",
    "wit/experiment/experiment.wit",
    "wit/matrix/matrix.wit",
];

/// What the SDK's manifest takes from the workspace.
const WORKSPACE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));

/// The files, below `vendor/`.
pub(super) fn files() -> impl Iterator<Item = (String, String)> {
    FILES.iter().map(|(path, text)| {
        let text = if *path == "sdk/Cargo.toml" { on_its_own(text, WORKSPACE) } else { (*text).to_owned() };
        (format!("vendor/{path}"), text)
    })
}

/// A manifest with the values of its workspace in place of `*.workspace = true`. The lints are left
/// out: they are for those who change the SDK.
fn on_its_own(manifest: &str, workspace: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in manifest.lines() {
        match line.strip_suffix(".workspace = true") {
            Some(key) => lines.extend(value_of(key, workspace).map(|value| format!("{key} = {value}"))),
            None => lines.push(line.to_owned()),
        }
    }
    let mut text = lines.join("\n").replace("[lints]\nworkspace = true\n\n", "");
    text.push('\n');
    text
}

/// A line of `[workspace.package]`, after the key.
fn value_of<'a>(key: &str, workspace: &'a str) -> Option<&'a str> {
    let section = workspace.lines().skip_while(|line| *line != "[workspace.package]").skip(1);
    let mut entries = section.take_while(|line| !line.starts_with('['));
    entries.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('=').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn files_in(root: &Path, folder: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(root.join(folder)).expect("it is in the repository") {
            let entry = entry.expect("it can be listed");
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true if path.ends_with("/target") => {}
                true => files_in(root, &path, found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn no_file_is_missing() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = vec!["LICENSE-APACHE".to_owned(), "LICENSE-MIT".to_owned()];
        files_in(&root, "sdk", &mut found);
        files_in(&root, "wit", &mut found);
        found.sort_unstable();
        let listed: Vec<_> = FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(listed, found, "FILES in {} must list them all, in order", file!());
    }

    #[test]
    fn the_manifest_needs_no_workspace() {
        let (_, manifest) = files().find(|(path, _)| path == "vendor/sdk/Cargo.toml").expect("it is listed");
        assert!(!manifest.contains("workspace"), "{manifest}");
        assert!(manifest.contains("version = \"0.1.0\"\nedition = \"2024\"\n"), "{manifest}");
        assert!(manifest.contains("wit-bindgen = {"), "{manifest}");
    }
}

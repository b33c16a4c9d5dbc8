//! The files of the repository: what git tracks or would track, with their text.

use std::path::Path;

use crate::fault::{Fault, Outcome};
use crate::run::Run;

/// Every file, in the order of its path.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// Where the checkout lies: no file may say it.
    pub(crate) root: String,
}

pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Outcome<Self> {
        let mut paths = listed_by_git(root).unwrap_or_else(|| walked(root, Path::new("")));
        paths.sort_unstable();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let on_disk = root.join(&path);
            // Git also lists what was deleted and not yet committed.
            if on_disk.is_file() {
                let bytes = std::fs::read(&on_disk).map_err(Fault::at("read", &on_disk))?;
                files.push(File { path, bytes });
            }
        }
        Ok(Self { files, root: root.to_string_lossy().into_owned() })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.file(path).and_then(File::text)
    }

    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    }

    /// The folders directly below one, by name.
    pub(crate) fn folders_in(&self, path: &str) -> Vec<&str> {
        let mut names = Vec::new();
        for file in &self.files {
            let below = file.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('/'));
            names.extend(below.and_then(|rest| rest.split_once('/')).map(|(folder, _)| folder));
        }
        names.dedup();
        names
    }

    /// A tree for tests: `(path, text)`.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut files: Vec<_> = files
            .iter()
            .map(|(path, text)| File { path: (*path).to_owned(), bytes: text.as_bytes().to_vec() })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files, root: "/checkout/of/arena".to_owned() }
    }
}

impl File {
    /// `None` for anything that is not text.
    pub(crate) fn text(&self) -> Option<&str> {
        let binary = self.bytes.contains(&0);
        if binary { None } else { std::str::from_utf8(&self.bytes).ok() }
    }

    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let text = Run::new("git", root).args(args).text().ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

/// For a checkout without git: everything but hidden folders at the root and what builds leave behind.
fn walked(root: &Path, folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            if name != "target" && name != ".git" {
                paths.extend(walked(root, &path));
            }
        } else {
            paths.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_by_their_files() {
        let tree =
            Tree::of(&[("guests/idle/src/lib.rs", ""), ("guests/README.md", ""), ("guests/obey/a", "")]);
        assert_eq!(tree.folders_in("guests"), ["idle", "obey"]);
        assert!(tree.has_folder("guests/idle") && !tree.has_folder("guests/id"));
    }

    #[test]
    fn bytes_that_are_not_text_have_none() {
        let file = File { path: "a.bin".into(), bytes: vec![b'a', 0] };
        assert_eq!(file.text(), None);
    }
}

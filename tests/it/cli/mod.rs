//! The command line as a person or a script meets it: whole outputs, exit codes, and laws that hold
//! for every command.

mod check;
mod demo;
pub(crate) mod guests;
mod help;
mod packs;
mod paths;
mod play;
mod replay;
mod simulate;
mod streams;
mod verify;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use arena_cli::{Env, Exit, Io};

/// What one command came to.
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The whole of it, for a snapshot.
    pub(crate) fn told(&self) -> String {
        format!(
            "exit code {}\n----- stdout\n{}----- stderr\n{}",
            self.exit.code(),
            without_digests(&self.out),
            without_times(&without_digests(&self.err))
        )
    }

    /// The result as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}", self.out))
    }
}

/// `compiled … in 3.4 ms`, `played at 9 120 episodes/s`: how fast it was is nobody's result.
fn without_times(talk: &str) -> String {
    let timeless = |line: &str| match (line.rfind(" in "), line.ends_with(" ms"), line.find(" episodes/s")) {
        (Some(at), true, _) => format!("{} in [time]", &line[..at]),
        (_, _, Some(at)) => {
            let rate = line[..at].rfind(" at ").map_or(0, |word| word + " at ".len());
            format!("{}[rate]{}", &line[..rate], &line[at..])
        }
        _ => line.to_owned(),
    };
    talk.lines().map(|line| timeless(line) + "\n").collect()
}

/// What they are the digests of is compared elsewhere, byte for byte.
fn without_digests(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::new();
    while let Some(at) = rest.find("sha256:") {
        let (before, digest) = rest.split_at(at + "sha256:".len());
        shown.push_str(before);
        shown.push_str("[digest]");
        rest = digest.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
    }
    shown + rest
}

/// Runs `arena` in this process, without a terminal.
pub(crate) fn arena<S: Into<OsString>>(args: impl IntoIterator<Item = S>) -> Ran {
    arena_in(Env::default(), b"", args)
}

/// The same, elsewhere and with something to read.
pub(crate) fn arena_in<S: Into<OsString>>(env: Env, input: &[u8], args: impl IntoIterator<Item = S>) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("arena".into()).chain(args.into_iter().map(Into::into));
    let exit = arena_cli::run(args, &mut Io::new(input, &mut out, &mut err, env));
    let text = |bytes| String::from_utf8(bytes).expect("a command writes UTF-8");
    Ran { exit, out: text(out), err: text(err) }
}

/// A folder of one test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where a file of that name is, or would be.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file there.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::write(&path, content).expect("a file in a temporary folder");
        path
    }

    /// Names in it, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("a readable folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs a command line in which `{}` stands for this folder, and shows the folder as `{}`, too.
    pub(crate) fn arena(&self, line: &str) -> Ran {
        let here = self.path().to_str().expect("a temporary folder has a plain name");
        let mut ran = arena(line.split(' ').map(|word| word.replace("{}", here)));
        ran.out = ran.out.replace(here, "{}");
        ran.err = ran.err.replace(here, "{}");
        ran
    }
}

/// The files of the packs that are part of the product.
pub(crate) fn scenarios() -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(arena_tests::repository().join("scenarios")).expect("the packs are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

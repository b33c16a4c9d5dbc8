//! `guest-examples/DIGESTS`: what every guest's component hashes to, by compiler. Built components never are
//! committed.
//!
//! One line is `<rustc commit hash> <guest> sha256:<hex>`; a line that starts with `#` is a comment.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::fault::{Fault, Outcome};
use crate::toolchain::GuestToolchain;

/// Guest name → `sha256:…` of its component.
pub(crate) type Built = BTreeMap<String, String>;

/// The file, with its comments where they were.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests {
    comments: Vec<String>,
    by_commit: BTreeMap<String, Built>,
}

/// What a comparison with the file came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Match,
    /// Why the recorded digests say nothing about this build.
    NotCompared(String),
}

impl Digests {
    pub(crate) fn path(root: &Path) -> PathBuf {
        root.join("guest-examples/DIGESTS")
    }

    /// A missing file is an empty one: the first `bless` makes it.
    pub(crate) fn read(root: &Path) -> Outcome<Self> {
        let path = Self::path(root);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(why) => Err(Fault::at("read", &path)(why)),
        }
    }

    pub(crate) fn write(&self, root: &Path) -> Outcome {
        let path = Self::path(root);
        std::fs::write(&path, self.text()).map_err(Fault::at("write", &path))
    }

    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let mut digests = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.starts_with('#') {
                digests.comments.push(line.to_owned());
            } else if !line.trim().is_empty() {
                digests.add(line).ok_or_else(|| unreadable(at + 1, line))?;
            }
        }
        Ok(digests)
    }

    /// `None` for a line of another form, or a second line about the same thing.
    fn add(&mut self, line: &str) -> Option<()> {
        let words: Vec<_> = line.split(' ').collect();
        let [commit, guest, digest] = words[..] else { return None };
        let hex = |text: &str, length| text.len() == length && text.bytes().all(|it| it.is_ascii_hexdigit());
        if !hex(commit, 40) || !hex(digest.strip_prefix("sha256:")?, 64) {
            return None;
        }
        let built = self.by_commit.entry(commit.to_owned()).or_default();
        built.insert(guest.to_owned(), digest.to_owned()).is_none().then_some(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for comment in &self.comments {
            let _ = writeln!(text, "{comment}");
        }
        for (commit, built) in &self.by_commit {
            for (guest, digest) in built {
                let _ = writeln!(text, "{commit} {guest} {digest}");
            }
        }
        text
    }

    /// Compilers with their recorded guests.
    pub(crate) fn recorded(&self) -> &BTreeMap<String, Built> {
        &self.by_commit
    }

    /// Replaces what is recorded for this compiler.
    pub(crate) fn bless(&mut self, toolchain: &GuestToolchain, built: Built) -> Outcome {
        if !toolchain.is_published() {
            return Err(Fault::new(format!("digests are not recorded for {toolchain}"))
                .hint("record them with a compiler as its makers published it: see rust-toolchain.toml"));
        }
        if self.comments.is_empty() {
            self.comments
                .push("# <rustc commit hash> <guest> sha256:<hex> · written by `cargo xtask bless`".into());
        }
        self.by_commit.insert(toolchain.compiler.commit.clone(), built);
        Ok(())
    }

    /// Compares a build with what is recorded for its compiler.
    pub(crate) fn check(&self, toolchain: &GuestToolchain, pinned: &str, built: &Built) -> Outcome<Verdict> {
        let compiler = &toolchain.compiler;
        match self.by_commit.get(&compiler.commit).filter(|_| toolchain.is_published()) {
            Some(recorded) if recorded == built => Ok(Verdict::Match),
            Some(recorded) => Err(mismatch(compiler, &differences(recorded, built))),
            None if toolchain.is_pinned(pinned) => Err(Fault::new(format!(
                "guest-examples/DIGESTS has no digests for {compiler}, the pinned compiler"
            ))
            .hint("cargo xtask bless")),
            None => Ok(Verdict::NotCompared(self.not_compared(toolchain))),
        }
    }

    fn not_compared(&self, toolchain: &GuestToolchain) -> String {
        let commits: Vec<_> = self.by_commit.keys().map(|commit| commit.get(..9).unwrap_or(commit)).collect();
        let listed = if commits.is_empty() { "no compiler yet".to_owned() } else { commits.join(", ") };
        let note = if toolchain.is_published() { "" } else { ", not as its makers published it" };
        format!("digests are recorded for rustc {listed}; this is {}{note}: not compared", toolchain.compiler)
    }
}

/// Hashes the components of these guests in a folder.
pub(crate) fn measure(folder: &Path, guests: &[String]) -> Outcome<Built> {
    guests
        .iter()
        .map(|guest| {
            let path = folder.join(format!("{guest}.wasm"));
            let bytes = std::fs::read(&path).map_err(Fault::at("read", &path))?;
            Ok((guest.clone(), sha256(&bytes)))
        })
        .collect()
}

/// `sha256:` and 64 lower-case digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// One line for every guest whose digests are not the same on both sides.
pub(crate) fn differences(expected: &Built, found: &Built) -> Vec<String> {
    let mut names: Vec<_> = expected.keys().chain(found.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let shown = |side: &Built, name| side.get(name).map_or_else(|| "(none)".to_owned(), Clone::clone);
    names
        .into_iter()
        .filter(|name| expected.get(*name) != found.get(*name))
        .map(|name| format!("{name}: expected {}, got {}", shown(expected, name), shown(found, name)))
        .collect()
}

fn mismatch(compiler: &crate::toolchain::Compiler, differences: &[String]) -> Fault {
    Fault::new(format!(
        "guests built with {compiler} on {} are not those of guest-examples/DIGESTS\n  {}",
        compiler.host,
        differences.join("\n  ")
    ))
    .hint("if a guest, the SDK or the WIT was changed on purpose: cargo xtask bless")
}

fn unreadable(line: usize, text: &str) -> Fault {
    Fault::new(format!("guest-examples/DIGESTS line {line} cannot be read, or repeats another: {text}"))
        .hint("a line is `<rustc commit hash, 40 digits> <guest> sha256:<64 digits>`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::tests::published;
    use crate::toolchain::{Compiler, Library};

    const PINNED: &str = "1.95.0";

    fn built(guests: &[(&str, &[u8])]) -> Built {
        guests.iter().map(|(name, bytes)| ((*name).to_owned(), sha256(bytes))).collect()
    }

    fn recorded(guests: &[(&str, &[u8])]) -> Digests {
        let mut digests = Digests::default();
        digests.bless(&published(), built(guests)).expect("the sample compiler is published");
        digests
    }

    #[test]
    fn what_is_written_reads_back() {
        let digests = recorded(&[("idle", b"i"), ("peak-shaver", b"p")]);
        assert_eq!(Digests::parse(&digests.text()).expect("it was just written"), digests);
        assert_eq!(digests.text().lines().count(), 3, "a comment and two guests");
    }

    #[test]
    fn lines_of_another_form_fails() {
        let hex = "0".repeat(64);
        let commit = "a".repeat(40);
        let cases = [
            "idle sha256:00".to_owned(),
            format!("{commit} idle md5:{hex}"),
            format!("{commit} idle sha256:{hex} more"),
            format!("{commit} idle sha256:{hex}\n{commit} idle sha256:{hex}"),
        ];
        for case in cases {
            assert!(Digests::parse(&case).is_err(), "{case}");
        }
    }

    #[test]
    fn a_listed_compiler_ok() {
        let digests = recorded(&[("idle", b"i")]);
        let verdict = digests.check(&published(), PINNED, &built(&[("idle", b"i")])).expect("they match");
        assert_eq!(verdict, Verdict::Match);
    }

    #[test]
    fn a_listed_compiler_fails_with_the_guest_and_both_digests() {
        let digests = recorded(&[("idle", b"i"), ("obey", b"o")]);
        let found = built(&[("idle", b"changed"), ("obey", b"o")]);
        let text = digests.check(&published(), PINNED, &found).expect_err("they differ").to_string();
        for part in ["idle", &sha256(b"i"), &sha256(b"changed"), "59807616e", "bless"] {
            assert!(text.contains(part), "{part} is missing in:\n{text}");
        }
        assert!(!text.contains("obey"), "{text}");
    }

    #[test]
    fn a_guest_without_a_line_fails() {
        let found = built(&[("idle", b"i"), ("new", b"n")]);
        let text =
            recorded(&[("idle", b"i")]).check(&published(), PINNED, &found).expect_err("new").to_string();
        assert!(text.contains("new: expected (none)"), "{text}");
    }

    #[test]
    fn another_compiler_is_not_compared_and_says_so() {
        let compiler = Compiler { release: "1.96.0".into(), commit: "b".repeat(40), ..published().compiler };
        let other = GuestToolchain { compiler, ..published() };
        let verdict =
            recorded(&[("idle", b"i")]).check(&other, PINNED, &built(&[("idle", b"x")])).expect("no claim");
        let expected =
            "digests are recorded for rustc 59807616e; this is rustc 1.96.0 (bbbbbbbbb): not compared";
        assert_eq!(verdict, Verdict::NotCompared(expected.to_owned()));
    }

    /// The same commit hash, but the library was compiled here: no claim either way.
    #[test]
    fn a_rebuilt_compiler_is_not_compared() {
        let library = Library::FromSource { rustc: "/usr/bin/rustc".into(), linker: "/lld".into() };
        let other = GuestToolchain { library, ..published() };
        let verdict =
            recorded(&[("idle", b"i")]).check(&other, PINNED, &built(&[("idle", b"x")])).expect("no claim");
        assert!(matches!(verdict, Verdict::NotCompared(_)));
        assert!(Digests::default().bless(&other, Built::new()).is_err());
    }

    #[test]
    fn a_pinned_compiler_without_digests_fails() {
        assert!(Digests::default().check(&published(), PINNED, &Built::new()).is_err());
    }
}

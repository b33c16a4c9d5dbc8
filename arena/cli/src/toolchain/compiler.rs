//! Which Rust compiler builds a strategy here, and where its standard library comes from.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use arena_engine::Excerpt;

use super::TARGET;
use crate::exit::Exit;
use crate::failure::Failure;

/// Debian's compiler and the library source beside it, which together need no download.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";
/// Set when the standard library is compiled along with the strategy.
const BUILD_STD: &str = "CARGO_UNSTABLE_BUILD_STD";

const WHAT_TO_TYPE: &str = "with rustup (https://rustup.rs):  rustup target add wasm32-unknown-unknown
        on Debian, as root:               apt-get install rustc-web rust-web-src";

/// A compiler that can build for [`TARGET`].
#[derive(Debug)]
pub(super) struct Compiler {
    /// Where its libraries are.
    pub(super) sysroot: PathBuf,
    /// The commit it was built from; empty where it does not say.
    pub(super) commit: String,
    /// What cargo needs in its environment to use it. Nothing in the usual case.
    pub(super) env: Vec<(&'static str, OsString)>,
}

impl Compiler {
    /// The one that cargo would use in `folder`, else Debian's.
    pub(super) fn find(folder: &Path) -> Result<Self, Failure> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let answer = ask(&rustc, folder).map_err(|why| no_compiler(&rustc, &why))?;
        if has_target(&answer.sysroot) || std::env::var_os(BUILD_STD).is_some() {
            return Ok(answer.with_env(Vec::new()));
        }
        let linker = answer.sysroot.join("lib/rustlib").join(&answer.host).join("bin/rust-lld");
        if linker.exists()
            && Path::new(DEBIAN_RUSTC).exists()
            && Path::new(DEBIAN_LIBRARY).exists()
            && let Ok(debian) = ask(&DEBIAN_RUSTC.into(), folder)
        {
            return Ok(debian.with_env(std_from_source(linker)));
        }
        Err(no_target(&answer))
    }
}

/// What a compiler says of itself.
struct Answer {
    release: String,
    commit: String,
    host: String,
    sysroot: PathBuf,
}

impl Answer {
    fn with_env(self, env: Vec<(&'static str, OsString)>) -> Compiler {
        Compiler { sysroot: self.sysroot, commit: self.commit, env }
    }
}

fn ask(rustc: &OsString, folder: &Path) -> Result<Answer, String> {
    let said = |args: &[&str]| {
        let output = Command::new(rustc).args(args).current_dir(folder).stdin(Stdio::null()).output();
        match output {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(why) if why.kind() == ErrorKind::NotFound => Err("it is not installed".to_owned()),
            Err(why) => Err(why.to_string()),
        }
    };
    let about = said(&["-vV"])?;
    let field =
        |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
    Ok(Answer {
        release: field("release: "),
        commit: field("commit-hash: "),
        host: field("host: "),
        sysroot: said(&["--print", "sysroot"])?.trim_end().into(),
    })
}

/// An interrupted installation leaves an empty folder, so the target counts when its `core` is there.
fn has_target(sysroot: &Path) -> bool {
    let libraries = std::fs::read_dir(sysroot.join("lib/rustlib").join(TARGET).join("lib"));
    let is_core = |name: &OsString| name.to_string_lossy().starts_with("libcore-");
    libraries.into_iter().flatten().flatten().any(|entry| is_core(&entry.file_name()))
}

/// Debian packages no library for this target, but the source of one; and no linker for it, but the
/// other toolchain has that.
fn std_from_source(linker: PathBuf) -> Vec<(&'static str, OsString)> {
    vec![
        ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker.into()),
        (BUILD_STD, "std,panic_abort".into()),
        ("RUSTC", DEBIAN_RUSTC.into()),
        ("RUSTC_BOOTSTRAP", "1".into()),
    ]
}

fn no_compiler(rustc: &OsString, why: &str) -> Failure {
    let why = format!("`{}` cannot be used: {}", rustc.display(), Excerpt { text: why, max: 600 });
    Failure::new(Exit::Blocked, "build a strategy", why).hint("install Rust with rustup: https://rustup.rs")
}

fn no_target(answer: &Answer) -> Failure {
    let why = format!("rustc {} has no library for {TARGET}", answer.release);
    Failure::new(Exit::Blocked, "build a strategy", why).hint(WHAT_TO_TYPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_target_folder_is_not_an_installed_target() {
        let sysroot = tempfile::tempdir().expect("a folder");
        let libraries = sysroot.path().join("lib/rustlib").join(TARGET).join("lib");
        std::fs::create_dir_all(&libraries).expect("a folder");
        assert!(!has_target(sysroot.path()));
        std::fs::write(libraries.join("libcore-1234.rlib"), "").expect("a file");
        assert!(has_target(sysroot.path()));
    }

    #[test]
    fn without_the_target_the_commands_to_type_are_told() {
        let answer = Answer {
            release: "1.95.0".into(),
            commit: String::new(),
            host: String::new(),
            sysroot: PathBuf::new(),
        };
        let failure = no_target(&answer);
        assert_eq!(failure.exit(), Exit::Blocked);
        let text = failure.shown(crate::ink::Ink::NONE);
        for part in ["rustc 1.95.0", "rustup target add wasm32-unknown-unknown", "apt-get install rustc-web"]
        {
            assert!(text.contains(part), "{part} is missing in:\n{text}");
        }
    }
}

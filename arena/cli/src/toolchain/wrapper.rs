//! `arena` in front of rustc, where cargo runs it as `RUSTC_WRAPPER`.
//!
//! Cargo tells the compiler apart packages of the same name with `-C metadata`, a hash that reaches
//! every symbol and with it the order of functions. For a package outside the workspace it hashes
//! where that package lies, and for one that depends on a macro the machine that runs the macro. So
//! the hash is replaced, for strategies only, by one of what the package is.

use std::process::{Command, ExitCode};

use arena_canon::Digest;

use super::TARGET;
use super::places::renamed;

/// Set for cargo by a build; in the environment of rustc it says what this process is for.
pub(super) const ROLE: &str = "ARENA_STANDS_IN_FOR_RUSTC";

/// Runs the compiler if cargo started this process in its place; else does nothing.
pub fn stand_in_for_rustc() -> Option<ExitCode> {
    std::env::var_os(ROLE)?;
    let mut args = std::env::args_os().skip(1);
    let rustc = args.next()?;
    // Cargo passes UTF-8 only; what is not stays as it is.
    let args: Result<Vec<String>, _> = args.map(|arg| arg.into_string()).collect();
    let mut command = Command::new(rustc);
    match args {
        Ok(args) => command.args(settled(args, |name| std::env::var(name).unwrap_or_default())),
        Err(_) => command.args(std::env::args_os().skip(2)),
    };
    Some(hand_over(command))
}

#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "cargo shows what a compiler says there")]
fn hand_over(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let why = command.exec();
    eprintln!("error: cannot start {}: {why}", command.get_program().display());
    ExitCode::FAILURE
}

#[cfg(not(unix))]
#[expect(clippy::print_stderr, reason = "cargo shows what a compiler says there")]
fn hand_over(mut command: Command) -> ExitCode {
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: cannot start {}: {why}", command.get_program().display());
            ExitCode::FAILURE
        }
    }
}

/// The arguments with a hash of what is compiled in place of cargo's. What is compiled for the host,
/// macros and build scripts, stays as it is.
fn settled(args: Vec<String>, env: impl Fn(&str) -> String) -> Vec<String> {
    if !args.windows(2).any(|pair| pair[0] == "--target" && pair[1] == TARGET) {
        return args;
    }
    let metadata = format!("metadata={}", identity(&args, env));
    args.into_iter().map(|arg| if arg.starts_with("metadata=") { metadata.clone() } else { arg }).collect()
}

/// Cargo compiles a package for one target at most once per crate, crate type and set of features.
fn identity(args: &[String], env: impl Fn(&str) -> String) -> String {
    let mut what =
        vec![renamed(&env("CARGO_MANIFEST_DIR"), args), env("CARGO_PKG_NAME"), env("CARGO_PKG_VERSION")];
    for flag in ["--crate-name", "--crate-type", "--cfg"] {
        let mut values: Vec<_> = args
            .windows(2)
            .filter(|pair| pair[0] == flag)
            .map(|pair| format!("{flag} {}", pair[1]))
            .collect();
        values.sort_unstable();
        what.append(&mut values);
    }
    Digest::of(what.join("\n").as_bytes()).to_string()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cargo says when it compiles a package that lies at `folder`.
    fn compile(folder: &str, target: &str, more: &str) -> Vec<String> {
        let line = format!(
            "--crate-name sdk src/lib.rs --crate-type lib {more} -C metadata=0123 -C extra-filename=-45 \
             --target {target} --remap-path-prefix={folder}=sdk-0.1.0"
        );
        let args = line.split_whitespace().map(str::to_owned).collect();
        settled(args, |name| match name {
            "CARGO_MANIFEST_DIR" => folder.to_owned(),
            "CARGO_PKG_NAME" => "sdk".to_owned(),
            _ => "0.1.0".to_owned(),
        })
    }

    fn metadata(args: &[String]) -> &str {
        args.iter().find_map(|arg| arg.strip_prefix("metadata=")).expect("it is there")
    }

    #[test]
    fn a_hash_does_not_depend_on_the_folder() {
        let (one, other) = (compile("/a/sdk", TARGET, ""), compile("/b/c/sdk", TARGET, ""));
        assert_eq!(metadata(&one), metadata(&other));
        assert_ne!(metadata(&one), "0123");
        assert!(one.contains(&"extra-filename=-45".to_owned()), "files stay where cargo looks for them");
    }

    #[test]
    fn a_hash_depends_on_what_is_compiled() {
        let (plain, feature) = (compile("/a", TARGET, ""), compile("/a", TARGET, "--cfg feature=\"x\""));
        assert_ne!(metadata(&plain), metadata(&feature));
    }

    #[test]
    fn macros_for_the_host_stay_as_they_are() {
        assert_eq!(metadata(&compile("/a", "x86_64-unknown-linux-gnu", "")), "0123");
    }
}

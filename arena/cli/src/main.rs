//! The binary `arena`; everything is in the library, so that a test needs no process.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(exit) = arena_cli::stand_in_for_rustc() {
        return exit;
    }
    arena_cli::run(std::env::args_os(), &mut arena_cli::Io::of_this_process()).into()
}

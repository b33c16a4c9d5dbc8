//! Known vulnerabilities of our dependencies, by cargo-deny. Not a part of `test`: its answer changes with
//! the day and needs the network, and a test run must say tomorrow what it says today.

use crate::fault::{Fault, Outcome};
use crate::repo::Repo;

pub(crate) fn run(repo: &Repo) -> Outcome {
    if repo.cargo(["deny", "--version"]).text().is_err() {
        return Err(Fault::new("cargo-deny is not installed").hint("cargo install --locked cargo-deny"));
    }
    repo.cargo(["deny", "check"]).pass()
}

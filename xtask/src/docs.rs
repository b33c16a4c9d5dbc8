//! The API documentation, where every warning is an error: a broken link is a broken promise.

use crate::fault::Outcome;
use crate::repo::Repo;

/// Packages that nobody reads about: the tests, the benches and this one.
const NOT_PUBLIC: [&str; 4] = ["arena-tests", "arena-browser-tests", "arena-benches", "xtask"];

pub(crate) fn build(repo: &Repo, open: bool) -> Outcome {
    let open: &[&str] = if open { &["--open"] } else { &[] };
    repo.cargo(["doc", "--workspace", "--no-deps"])
        .args(NOT_PUBLIC.into_iter().flat_map(|name| ["--exclude", name]))
        .args(open)
        .env("RUSTDOCFLAGS", "-D warnings")
        .pass()
}

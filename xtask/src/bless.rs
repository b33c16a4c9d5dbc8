//! Rewrites what is generated and committed: guest digests, JSON Schemas, golden files, snapshots of the
//! command line.

use crate::fault::{Fault, Outcome};
use crate::guests;
use crate::repo::{Profile, Repo};
use crate::run::Run;
use crate::setup;
use crate::talk;
use crate::verifier;

pub(crate) fn run(repo: &Repo) -> Outcome {
    if repo.ci {
        return Err(Fault::new("nothing is blessed with CI set: a check may not rewrite what it checks"));
    }
    let toolchain = setup::ensure(repo)?;
    verifier::build(repo, &toolchain)?;
    // Admission compares guests with the interfaces as it spells them out, so those come first.
    repo.cargo(["test", "--package", "arena-sandbox", "--lib", "interface"])
        .env("ARENA_BLESS", "1")
        .pass()
        .ok();
    let arena = repo.build_arena(Profile::Dev)?;
    guests::build_and_record(repo, &toolchain, &arena)?;
    // The tests that compare with a committed file write it instead when they see these.
    repo.cargo(["test", "--workspace", "--lib", "--bins", "--tests"])
        .env("ARENA_BLESS", "1")
        .env("INSTA_UPDATE", "always")
        .pass()?;
    show_changes(repo);
    Ok(())
}

/// What there is to review. A checkout without git has nothing to show.
fn show_changes(repo: &Repo) {
    let changed = Run::new("git", &repo.root).args(["status", "--short"]).text().unwrap_or_default();
    if changed.is_empty() {
        talk::note("bless", "nothing changed");
    } else {
        talk::note("bless", "done; read every change before you commit it:");
        talk::result(changed.trim_end());
    }
}

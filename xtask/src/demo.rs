//! The first thing a newcomer sees: every example strategy plays every scenario pack.

use crate::fault::{Fault, Outcome};
use crate::guests;
use crate::repo::{Profile, Repo};
use crate::run::Run;
use crate::setup;
use crate::talk;

const EPISODES: &str = "target/demo/episodes";

pub(crate) fn run(repo: &Repo) -> Outcome {
    let toolchain = setup::ensure(repo)?;
    if !repo.arena(Profile::Release)?.exists() {
        talk::note("arena", "building it for release, some minutes the first time");
    }
    let arena = repo.build_arena(Profile::Release)?;
    guests::build_and_compare(repo, &toolchain, &arena)?;
    forget_last_demo(repo)?;
    Run::new(arena, &repo.root)
        .args(["demo", "--strategies", "target/guests", "--packs", "scenarios", "--logs", EPISODES])
        .pass()
}

/// The folder is counted in the last line, so it holds this demo's episodes only.
fn forget_last_demo(repo: &Repo) -> Outcome {
    let folder = repo.root.join(EPISODES);
    match std::fs::remove_dir_all(&folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(Fault::at("empty", &folder)(why)),
        _ => Ok(()),
    }
}

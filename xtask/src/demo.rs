//! The first thing a newcomer sees: every example strategy plays every scenario pack, and eleven meet in
//! a tournament.

use crate::digests::sha256;
use crate::fault::{Fault, Outcome};
use crate::guests;
use crate::repo::{Profile, Repo};
use crate::run::Run;
use crate::setup;
use crate::talk;
use crate::verifier;

const EPISODES: &str = "target/demo/episodes";
const TOURNAMENT: &str = "target/demo/axelrod";
const PLAN: &str = "tournaments/axelrod.toml";
/// Written by the tests, which run a debug build.
const GOLDEN: &str = "tests/golden/episodes.txt";

pub(crate) fn run(repo: &Repo) -> Outcome {
    let toolchain = setup::ensure(repo)?;
    verifier::build(repo, &toolchain)?;
    if !repo.arena(Profile::Release)?.exists() {
        talk::note("arena", "building it for release, some minutes the first time");
    }
    let arena = repo.build_arena(Profile::Release)?;
    guests::build_and_compare(repo, &toolchain, &arena)?;
    forget(repo, EPISODES)?;
    Run::new(&arena, &repo.root)
        .args(["demo", "--strategies", "target/guests", "--packs", "scenarios", "--logs", EPISODES])
        .pass()?;
    compare_logs(repo)?;
    tournament(repo, &arena)
}

/// A whole tournament, and its verification as a stranger would do it.
fn tournament(repo: &Repo, arena: &std::path::Path) -> Outcome {
    forget(repo, TOURNAMENT)?;
    talk::note("tournament", PLAN);
    Run::new(arena, &repo.root).args(["tournament", "run", PLAN, "--out", TOURNAMENT]).pass()?;
    Run::new(arena, &repo.root).args(["verify", TOURNAMENT]).pass()
}

/// A release build on this machine writes the bytes a debug build wrote on another.
fn compare_logs(repo: &Repo) -> Outcome {
    let golden = repo.root.join(GOLDEN);
    let text = std::fs::read_to_string(&golden).map_err(Fault::at("read", &golden))?;
    let (mut equal, mut other) = (0, 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [log, strategy, digest] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(Fault::new(format!("{GOLDEN}: not a log and two digests: `{line}`")));
        };
        let path = repo.root.join(EPISODES).join(log);
        let bytes = std::fs::read(&path).map_err(Fault::at("read", &path))?;
        if !String::from_utf8_lossy(&bytes).contains(strategy) {
            other += 1;
        } else if sha256(&bytes) == format!("sha256:{digest}") {
            equal += 1;
        } else {
            return Err(Fault::new(format!("{EPISODES}/{log} is not the log recorded in {GOLDEN}")));
        }
    }
    if other > 0 {
        talk::note(
            "recorded logs",
            &format!("{other} do not apply: their strategies are from another compiler"),
        );
    }
    talk::note("recorded logs", &format!("{equal} equal, byte for byte: {GOLDEN}"));
    Ok(())
}

/// What is there is counted and compared, so a folder holds this demo's files only.
fn forget(repo: &Repo, last: &str) -> Outcome {
    let folder = repo.root.join(last);
    match std::fs::remove_dir_all(&folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(Fault::at("empty", &folder)(why)),
        _ => Ok(()),
    }
}

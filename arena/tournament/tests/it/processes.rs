//! Worker processes that end in the middle of their work. Jobs go out in bunches; still only the match that
//! ends its worker is to blame.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::Pack;
use arena_tournament::{CampusSeat, Class, Local, MatchId, MatrixSeat, Plan, Roster, WorkerCommand, serve};

use super::natives::{self, Natives, files, in_process, json, plan, play, secret};

/// Where a worker finds out what to do: the run's folder, the match that ends it, and a file which says
/// that it has done so, if once is enough.
const ENVIRONMENT: [&str; 3] = ["ARENA_TEST_FOLDER", "ARENA_TEST_MATCH", "ARENA_TEST_ONCE"];

/// Ends the process when a match is seated.
struct Ending {
    inner: Natives,
    seed: Digest,
    once: Option<PathBuf>,
}

impl Roster for Ending {
    fn pack(&mut self, sha256: Digest) -> Result<Arc<Pack>, HostFault> {
        self.inner.pack(sha256)
    }

    fn campus(
        &mut self,
        strategy: Digest,
        match_seed: Digest,
        seat: usize,
        pack: &Pack,
    ) -> Result<Box<dyn CampusSeat>, HostFault> {
        self.inner.campus(strategy, match_seed, seat, pack)
    }

    fn matrix(
        &mut self,
        strategy: Digest,
        match_seed: Digest,
        seat: usize,
    ) -> Result<Box<dyn MatrixSeat>, HostFault> {
        if match_seed == self.seed && self.once.as_ref().is_none_or(|file| File::create_new(file).is_ok()) {
            std::process::abort();
        }
        self.inner.matrix(strategy, match_seed, seat)
    }
}

#[test]
#[ignore = "it is a worker, which other tests start as a process"]
#[expect(clippy::disallowed_methods, reason = "a test's arguments are not its own; its environment is")]
fn a_worker() {
    let [Some(folder), Some(id), once] = ENVIRONMENT.map(std::env::var_os) else { return };
    let id: MatchId = id.to_string_lossy().parse().expect("a match");
    let once = once.filter(|file| !file.is_empty()).map(PathBuf::from);
    let mut roster = Ending { inner: Natives::default(), seed: secret().match_seed(id), once };
    // What a test prints itself would be in the way on its standard output.
    let mut output = OpenOptions::new().write(true).open("/dev/fd/3").expect("a pipe");
    serve(&mut std::io::stdin(), &mut output, &mut roster, Path::new(&folder)).ok();
}

/// This program as a worker that ends itself at `id`.
fn command(folder: &Path, id: MatchId, once: &Path) -> WorkerCommand {
    let [root, ends, marker] = ENVIRONMENT;
    let script = format!(
        "exec env {root}=\"$1\" {ends}=\"$2\" {marker}=\"$3\" \"$0\" processes::a_worker --exact --ignored \
         3>&1 >/dev/null 2>&1"
    );
    let program = std::env::current_exe().expect("a test has a path");
    let arguments =
        ["-c".into(), script.into(), program.into(), folder.into(), id.to_string().into(), once.into()];
    WorkerCommand { program: "sh".into(), arguments: arguments.into() }
}

/// 84 short games.
fn many() -> Plan {
    plan("matrix", &natives::NAMES[..6], "self_play = true\nrepetitions = 4")
}

#[test]
fn a_match_that_ends_its_worker_is_the_one_that_is_named() {
    for (workers, id) in [(1, 1), (1, 40), (2, 84), (3, 33)] {
        let folder = tempfile::tempdir().expect("a folder");
        let id = MatchId(id);
        let mut local = Local::start(command(folder.path(), id, Path::new("")), workers).expect("started");
        let ended = play(folder.path(), &many(), &mut local).expect("played");
        assert_eq!(ended.ending.class, Class::Stalled, "{}", ended.ending.reason);
        assert_eq!(ended.ending.matchup, Some(id), "{workers} workers: {}", ended.ending.reason);
        assert!(ended.ending.reason.contains("worker_lost"), "{}", ended.ending.reason);
        let completed = &json(folder.path(), "receipt.json")["matchups"]["completed"];
        assert!(completed.as_u64() < Some(id.0.into()), "{completed} before {id}");
    }
}

#[test]
fn a_worker_that_ends_once_costs_nothing_but_time() {
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &many(), &mut in_process()).expect("played");
    let expected = files(expected.path());
    for (workers, id) in [(1, 1), (1, 50), (2, 70), (4, 84)] {
        let (folder, marker) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let command = command(folder.path(), MatchId(id), &marker.path().join("ended"));
        let mut local = Local::start(command, workers).expect("started");
        let ended = play(folder.path(), &many(), &mut local).expect("played");
        assert_eq!(ended.ending.class, Class::Success, "{}", ended.ending.reason);
        assert!(marker.path().join("ended").is_file(), "no worker ended");
        assert_eq!(files(folder.path()), expected, "{workers} workers, ended at {id}");
    }
}

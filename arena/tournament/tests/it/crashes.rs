//! A run that is interrupted anywhere and taken up again leaves the bytes of one that was not.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use arena_tournament::{Class, Executor, Finished, InProcess, Job, Run, RunFault};

use super::natives::{self, Natives, TestClock, files, in_process, plan, play, resume};

/// Finishes that many jobs, and then the machine is gone.
struct Crashes {
    inner: InProcess<Natives>,
    left: usize,
}

impl Executor for Crashes {
    fn window(&self) -> usize {
        4
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.inner.submit(job)
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        if self.left == 0 {
            return Err(RunFault::Executor("the machine is gone".to_owned()));
        }
        let finished = self.inner.next(within)?;
        self.left -= usize::from(finished.is_some());
        Ok(finished)
    }
}

fn the_plan() -> arena_tournament::Plan {
    plan("matrix", &["cooperator", "lucky", "talker", "panics-3"], "self_play = true\nrepetitions = 3")
}

fn uninterrupted() -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = play(folder.path(), &the_plan(), &mut in_process()).expect("played");
    assert_eq!(ended.ending.class, Class::Success);
    files(folder.path())
}

#[test]
fn an_executor_that_is_lost_after_any_match_stalls_and_the_run_goes_on() {
    let expected = uninterrupted();
    for left in 0..30 {
        let folder = tempfile::tempdir().expect("a folder");
        let mut crashes = Crashes { inner: in_process(), left };
        let ended = play(folder.path(), &the_plan(), &mut crashes).expect("a receipt");
        assert_eq!(ended.ending.class, Class::Stalled, "after {left}");
        assert_eq!(resume(folder.path(), &mut in_process()).expect("resumed").ending.class, Class::Success);
        assert_eq!(files(folder.path()), expected, "after {left}");
    }
}

/// What a kill at any moment can leave: any prefix of what a run does to its folder. The steps of a
/// batch are: temporary files, renames, journal lines; and at the end scorecard, identities, receipt.
#[test]
fn every_state_a_kill_can_leave_is_a_resume_point() {
    let expected = uninterrupted();
    let journal = &expected["/journal.ndjson"];
    let lines: Vec<&[u8]> = journal.split_inclusive(|byte| *byte == b'\n').collect();
    let records: Vec<&String> = expected.keys().filter(|name| name.starts_with("matches/")).collect();
    for journaled in [0, 1, 7, lines.len() - 1, lines.len()] {
        for renamed in [journaled, (journaled + 3).min(lines.len()), lines.len()] {
            for torn in [0, 1, 40] {
                let folder = tempfile::tempdir().expect("a folder");
                begin(folder.path());
                for name in &records[..renamed] {
                    put(folder.path(), name, &expected[*name]);
                    let guest = name.replace("matches/", "guest/");
                    if let Some(said) = expected.get(&guest) {
                        put(folder.path(), &guest, said);
                    }
                }
                let mut chain = lines[..journaled].concat();
                chain.extend(lines.get(journaled).map_or(&[][..], |line| &line[..torn.min(line.len() - 1)]));
                put(folder.path(), "journal.ndjson", &chain);
                put(folder.path(), "matches/m00030.json.tmp", b"{\"digest\":\"ab");
                put(folder.path(), "scorecard.json.tmp", b"{\n\"schema\": ");
                let ended = resume(folder.path(), &mut in_process()).expect("resumed");
                assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
                assert_eq!(files(folder.path()), expected, "{journaled} {renamed} {torn}");
            }
        }
    }
}

/// The state of a run that has set up its folder and played nothing.
fn begin(root: &Path) {
    let plan = the_plan();
    let clock = TestClock::default();
    let run = Run::create(
        root,
        natives::frozen(&plan),
        &natives::secret(),
        &natives::inputs(&plan),
        &natives::pins(),
        &clock,
    );
    assert!(run.expect("set up").is_ok());
}

fn put(root: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(root.join(name.trim_start_matches('/')), bytes).expect("written");
}

#[test]
fn a_record_that_is_missing_is_played_again_and_must_be_the_same() {
    let expected = uninterrupted();
    let folder = tempfile::tempdir().expect("a folder");
    play(folder.path(), &the_plan(), &mut in_process()).expect("played");
    for id in ["m00001", "m00017", "m00030"] {
        std::fs::remove_file(folder.path().join(format!("matches/{id}.json"))).expect("removed");
    }
    let ended = resume(folder.path(), &mut in_process()).expect("resumed");
    assert_eq!(ended.ending.class, Class::Success);
    assert_eq!(files(folder.path()), expected);
}

#[test]
fn two_runners_do_not_share_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    begin(folder.path());
    let first = Run::resume(folder.path(), &natives::pins()).expect("opened");
    assert!(first.is_ok());
    let second = Run::resume(folder.path(), &natives::pins());
    assert!(matches!(second, Err(RunFault::Locked { .. })));
    drop(first);
    assert!(Run::resume(folder.path(), &natives::pins()).expect("opened").is_ok());
}

//! Workers, servers and coordinators that are lost in mid-run: nothing is lost with them, and nothing
//! counts twice.

use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use arena_tournament::{Class, Executor, Finished, Job, Plan, RunFault, Scenario};

use super::raw::{Raw, truth};
use super::server::Server;
use super::{Does, StopAtEnd, coordinator, jobs, options, start, worker, worker_options};
use crate::natives::{files, in_process, plan, play, resume};

const SLOW: Does = Does::Takes(Duration::from_millis(25));

fn the_plan() -> Plan {
    plan("matrix", &["cooperator", "lucky", "talker", "panics-3"], "self_play = true\nrepetitions = 4")
}

fn job_of(plan: &Plan) -> Job {
    jobs(plan).swap_remove(0)
}

/// Lets something happen to the machines when so many jobs are finished.
struct Then<E, F> {
    inner: E,
    after: usize,
    then: Option<F>,
}

impl<E: Executor, F: FnOnce()> Executor for Then<E, F> {
    fn window(&self) -> usize {
        self.inner.window()
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.inner.submit(job)
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        let finished = self.inner.next(within)?;
        self.after = self.after.saturating_sub(usize::from(finished.is_some()));
        if self.after == 0
            && let Some(then) = self.then.take()
        {
            then();
        }
        Ok(finished)
    }

    fn committed(&mut self, ids: &[arena_tournament::MatchId]) -> Result<(), RunFault> {
        self.inner.committed(ids)
    }

    fn stop(&mut self) {
        self.inner.stop();
    }

    fn complaints(&mut self) -> Vec<String> {
        self.inner.complaints()
    }
}

#[test]
fn what_dead_workers_had_is_played_by_others() {
    let Some(server) = Server::start("what_dead_workers_had_is_played_by_others") else { return };
    let plan = the_plan();
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &plan, &mut in_process()).expect("played");
    let folder = tempfile::tempdir().expect("a folder");
    let nats = coordinator(&server, &plan).expect("a coordinator");
    let raw = Raw::connect(&server, nats.run());
    // It takes a job and is never heard of again.
    let taken = std::thread::spawn(move || raw.take_job());
    let stop = AtomicBool::new(false);
    let dead = std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let dead = [1, 3].map(|at| worker(scope, worker_options(&server, "dies"), Does::Dies(at), &stop));
        let living = || drop(worker(scope, worker_options(&server, "lives"), SLOW, &stop));
        let mut nats = Then { inner: nats, after: 2, then: Some(living) };
        let ended = play(folder.path(), &plan, &mut nats).expect("played");
        assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
        assert_eq!(nats.complaints(), Vec::<String>::new());
        dead.map(|worker| worker.join().is_err())
    });
    assert_eq!(dead, [true, true], "both died in a match");
    assert!(taken.join().is_ok(), "one took a job and kept it");
    assert_eq!(files(folder.path()), files(expected.path()));
}

#[test]
fn a_match_that_takes_longer_than_the_wait_is_played_once() {
    let Some(server) = Server::start("a_match_that_takes_longer_than_the_wait_is_played_once") else {
        return;
    };
    let plan = plan("matrix", &["cooperator", "defector"], "");
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let long = Does::Takes(Duration::from_millis(3_500));
        let workers = ["one", "two"].map(|name| worker(scope, worker_options(&server, name), long, &stop));
        let ended = play(folder.path(), &plan, &mut nats).expect("played");
        assert_eq!(ended.ending.class, Class::Success);
        drop(_stop);
        let played = workers.map(|worker| worker.join().expect("it ends").begun);
        assert_eq!(played.iter().sum::<u32>(), 1, "{played:?}");
    });
}

#[test]
fn a_server_that_is_killed_and_started_again_loses_nothing() {
    let Some(mut server) = Server::start("a_server_that_is_killed_and_started_again_loses_nothing") else {
        return;
    };
    let plan = the_plan();
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &plan, &mut in_process()).expect("played");
    let folder = tempfile::tempdir().expect("a folder");
    let nats = coordinator(&server, &plan).expect("a coordinator");
    let workers = ["one", "two"].map(|name| worker_options(&server, name));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        for options in workers {
            worker(scope, options, SLOW, &stop);
        }
        let (tell, killed) = std::sync::mpsc::channel();
        let server = &mut server;
        scope.spawn(move || {
            for () in killed {
                server.kill();
                std::thread::sleep(Duration::from_millis(1_500));
                server.restart();
            }
        });
        let again = tell.clone();
        let once = Then { inner: nats, after: 5, then: Some(move || tell.send(()).expect("heard")) };
        let mut twice = Then { inner: once, after: 20, then: Some(move || again.send(()).expect("heard")) };
        let ended = play(folder.path(), &plan, &mut twice).expect("played");
        assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
        assert_eq!(twice.complaints(), Vec::<String>::new());
    });
    assert_eq!(files(folder.path()), files(expected.path()));
}

#[test]
fn a_server_that_stays_away_ends_the_patience_of_all() {
    let Some(mut server) = Server::start("a_server_that_stays_away_ends_the_patience_of_all") else { return };
    let plan = the_plan();
    let mut options = options(server.address());
    options.patience = Duration::from_secs(1);
    let mut nats = start(options, &plan).expect("a coordinator");
    let mut options = worker_options(&server, "one");
    options.patience = Duration::from_secs(1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let worker = worker(scope, options, SLOW, &stop);
        std::thread::sleep(Duration::from_millis(500));
        server.kill();
        let began = Instant::now();
        let why = loop {
            match nats.next(Duration::from_secs(1)) {
                Ok(None) => assert!(began.elapsed() < Duration::from_secs(60), "it waits for ever"),
                Ok(Some(finished)) => panic!("{finished:?}"),
                Err(why) => break why.to_string(),
            }
        };
        assert!(why.contains("asking for results failed for 1 s"), "{why}");
        let why = worker.join().expect("it ends").worked.expect_err("it gives up").to_string();
        assert!(why.contains("looking for runs failed for 1 s"), "{why}");
        nats.submit(&job_of(&plan)).expect("it is on its way");
        let why = nats.next(Duration::ZERO).expect_err("nobody takes it").to_string();
        assert!(why.contains("giving out a job failed for 1 s"), "{why}");
        let began = Instant::now();
        nats.stop();
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        assert!(nats.complaints()[0].contains("is still there"), "what is left is told of");
    });
}

#[test]
fn a_run_whose_coordinator_was_killed_is_taken_up_again() {
    let Some(server) = Server::start("a_run_whose_coordinator_was_killed_is_taken_up_again") else { return };
    let plan = the_plan();
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &plan, &mut in_process()).expect("played");
    let folder = tempfile::tempdir().expect("a folder");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        for name in ["one", "two"] {
            worker(scope, worker_options(&server, name), SLOW, &stop);
        }
        let mut first = Command::new(std::env::current_exe().expect("a program"))
            .args(["--ignored", "--exact", "nats::losses::process_of_a_coordinator"])
            .env(SERVER, server.url(""))
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let began = Instant::now();
        while std::fs::read_dir(folder.path().join("matches")).map_or(0, Iterator::count) < 9 {
            assert!(began.elapsed() < Duration::from_secs(60), "it does not play");
            std::thread::sleep(Duration::from_millis(5));
        }
        let why = coordinator(&server, &plan).err().expect("refused").to_string();
        assert!(why.contains("another coordinator is at work on run"), "{why}");
        first.kill().expect("it can be killed");
        first.wait().expect("it ends");
        assert!(!folder.path().join("receipt.json").exists(), "it was killed too late");
        let mut second = coordinator(&server, &plan).expect("a coordinator");
        let ended = resume(folder.path(), &mut second).expect("resumed");
        assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
    });
    assert_eq!(files(folder.path()), files(expected.path()));
}

const SERVER: &str = "ARENA_TEST_NATS_SERVER";
const FOLDER: &str = "ARENA_TEST_NATS_FOLDER";

#[test]
#[ignore = "it is started, and killed, by another test"]
#[allow(clippy::disallowed_methods, reason = "a test's process is told by its environment what to do")]
fn process_of_a_coordinator() {
    let (Ok(server), Ok(folder)) = (std::env::var(SERVER), std::env::var(FOLDER)) else { return };
    let plan = the_plan();
    let mut nats = start(options(server.parse().expect("an address")), &plan).expect("a coordinator");
    play(folder.as_ref(), &plan, &mut nats).expect("played");
}

#[test]
fn a_job_that_is_acknowledged_and_never_told_of_is_given_out_again() {
    let Some(server) = Server::start("a_job_that_is_acknowledged_and_never_told_of_is_given_out_again")
    else {
        return;
    };
    let plan = plan("matrix", &["cooperator", "defector"], "");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let raw = Raw::connect(&server, nats.run());
    let job = job_of(&plan);
    nats.submit(&job).expect("given out");
    raw.acknowledge(&raw.take_job());
    let began = Instant::now();
    let finished = loop {
        if let Some(finished) = nats.next(Duration::from_secs(1)).expect("no fault") {
            break finished;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "it is never missed");
    };
    assert!(finished.result.expect_err("a failure").contains("worker_lost"));
    nats.submit(&job).expect("given out again");
    let _taken = raw.take_job();
    raw.tell_record(&job, "honest", &truth(&job));
    let finished = nats.next(Duration::from_secs(10)).expect("no fault").expect("a result");
    assert!(finished.result.is_ok());
}

#[test]
fn results_are_acknowledged_when_they_last_and_not_before() {
    let Some(server) = Server::start("results_are_acknowledged_when_they_last_and_not_before") else {
        return;
    };
    let plan = plan("matrix", &["cooperator", "talker"], "");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let raw = Raw::connect(&server, nats.run());
    let job = job_of(&plan);
    nats.submit(&job).expect("given out");
    for worker in ["one", "two", "one"] {
        raw.tell_record(&job, worker, &truth(&job));
    }
    let finished = nats.next(Duration::from_secs(10)).expect("no fault").expect("a result");
    // Longer than the server waits before it delivers again: nothing new comes of it.
    let until = Instant::now() + Duration::from_millis(2_500);
    while Instant::now() < until {
        assert!(nats.next(Duration::from_millis(200)).expect("no fault").is_none(), "a duplicate counts");
    }
    assert_eq!(raw.results(), Some(3));
    nats.committed(&[finished.id]).expect("acknowledged");
    raw.tell_record(&job, "late", &truth(&job));
    assert!(nats.next(Duration::from_millis(500)).expect("no fault").is_none());
    raw.all_acknowledged();
    assert_eq!(nats.complaints(), Vec::<String>::new());
}

#[test]
fn a_fault_that_a_worker_tells_is_a_failure_of_the_host() {
    let Some(server) = Server::start("a_fault_that_a_worker_tells_is_a_failure_of_the_host") else { return };
    let plan = plan("matrix", &["cooperator", "defector"], "");
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let fails = worker(scope, worker_options(&server, "full"), Does::Fails, &stop);
        let ended = play(folder.path(), &plan, &mut nats).expect("a receipt");
        assert_eq!(ended.ending.class, Class::Stalled);
        let reason = &ended.ending.reason;
        assert!(
            reason.contains("failed 3 times") && reason.contains("full") && reason.contains("no room"),
            "{reason}"
        );
        drop(_stop);
        assert_eq!(fails.join().expect("it ends").worked.expect("it worked").faults, 3);
    });
}

#[test]
fn a_job_that_takes_its_workers_with_it_is_given_up() {
    let Some(server) = Server::start("a_job_that_takes_its_workers_with_it_is_given_up") else { return };
    let plan = plan("matrix", &["cooperator", "defector"], "");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let raw = Raw::connect(&server, nats.run());
    nats.submit(&job_of(&plan)).expect("given out");
    assert!(nats.next(Duration::ZERO).expect("no fault").is_none());
    for _ in 0..5 {
        raw.take_job();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        worker(scope, worker_options(&server, "sixth"), Does::Dies(1), &stop);
        let finished = nats.next(Duration::from_secs(20)).expect("no fault").expect("a result");
        let why = finished.result.expect_err("a failure");
        assert!(why.contains("worker_lost: 5 workers were lost"), "{why}");
    });
}

#[test]
fn what_is_not_what_its_digest_says_is_not_played() {
    let Some(server) = Server::start("what_is_not_what_its_digest_says_is_not_played") else { return };
    for (game, names) in [("matrix", ["cooperator", "defector"]), ("campus", ["copycat", "lucky"])] {
        let plan = plan(game, &names, "");
        let mut nats = coordinator(&server, &plan).expect("a coordinator");
        let raw = Raw::connect(&server, nats.run());
        let job = job_of(&plan);
        let other = match &job.matchup.scenario {
            Scenario::Matrix(_) => job.strategies[1],
            Scenario::Campus(pin) => pin.sha256,
        };
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _stop = StopAtEnd(&stop);
            worker(scope, worker_options(&server, "careful"), Does::Plays, &stop);
            let cases = [
                (&b"other"[..], &b"other"[..], "is not what its digest says"),
                (b"other", b"these", "is not what the store says of it"),
                (b"other", b"longer than it is", "misses a piece"),
                (b"longer than it is", b"other", "is not what the store says of it"),
            ];
            for (bytes, said, expected) in cases {
                raw.put(&other.to_string(), bytes, said);
                nats.submit(&job).expect("given out");
                let finished = nats.next(Duration::from_secs(20)).expect("no fault").expect("a result");
                let why = finished.result.expect_err("a failure");
                assert!(why.contains(expected), "{why}");
            }
        });
    }
}

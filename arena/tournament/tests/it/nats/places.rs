//! The same bytes, wherever matches are played.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arena_tournament::{Class, Executor, Plan, PlannedScenarios, verify};

use super::raw::Raw;
use super::server::Server;
use super::{Does, Ended, StopAtEnd, coordinator, jobs, options, start, worker, worker_options};
use crate::natives::{self, files, in_process, pins, plan, play};

/// Plays `plan` with two workers, and compares all files with those of one process.
fn compare(server: &Server, plan: &Plan) {
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), plan, &mut in_process()).expect("played");
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = coordinator(server, plan).expect("a coordinator");
    let raw = Raw::connect(server, nats.run());
    let stop = AtomicBool::new(false);
    let played = std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let workers = ["one", "two"].map(|name| {
            let options = worker_options(server, name);
            worker(scope, options, Does::Takes(Duration::from_millis(2)), &stop)
        });
        let ended = play(folder.path(), plan, &mut nats).expect("played");
        assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
        stop.store(true, Ordering::Relaxed);
        workers.map(|worker| {
            let Ended { worked, said, .. } = worker.join().expect("it ends well");
            assert_eq!(said, [format!("takes part in run {}", nats.run())]);
            worked.expect("it worked")
        })
    });
    assert_eq!(files(folder.path()), files(expected.path()));
    let matchups = natives::frozen(plan).matchups.len() as u64;
    assert_eq!(played.iter().map(|worked| worked.matches).sum::<u64>(), matchups, "{played:?}");
    assert!(played.iter().all(|worked| worked.matches > 0 && worked.faults == 0), "{played:?}");
    assert_eq!(nats.complaints(), Vec::<String>::new());
    assert_eq!((raw.work(), raw.results(), raw.stored()), (None, None, None), "nothing is left");
    let verification = verify(folder.path(), &pins()).expect("readable").expect("it holds");
    let ids = verification.choose(None, 0);
    let replayed = verification.replay(&ids, &mut in_process(), &mut |_| {}).expect("replayed");
    assert_eq!(replayed.expect("the same").replayed as u64, matchups);
}

#[test]
fn two_workers_give_the_bytes_of_one_process() {
    let Some(server) = Server::start("two_workers_give_the_bytes_of_one_process") else { return };
    compare(&server, &plan("matrix", &natives::NAMES[..7], "self_play = true\nrepetitions = 2"));
    compare(&server, &plan("campus", &["copycat", "talker", "panics-3", "lucky", "no-start"], ""));
}

#[test]
fn a_record_that_is_too_large_for_a_message_goes_through_the_store() {
    let Some(server) = Server::start("a_record_that_is_too_large_for_a_message_goes_through_the_store")
    else {
        return;
    };
    let plan = long_plan(40_000);
    compare(&server, &plan);
    // And is not there any more once it lasts.
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let raw = Raw::connect(&server, nats.run());
    let before = raw.stored();
    let job = &jobs(&plan)[0];
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        worker(scope, worker_options(&server, "one"), Does::Plays, &stop);
        nats.submit(job).expect("given out");
        let finished = nats.next(Duration::from_secs(20)).expect("no fault").expect("a result");
        assert!(finished.result.is_ok(), "{:?}", finished.result);
        assert!(raw.stored() > before, "the record is in the store");
        nats.committed(&[finished.id]).expect("acknowledged");
        assert_eq!(raw.stored(), before);
        raw.all_acknowledged();
    });
}

/// A plan whose records are large.
fn long_plan(rounds: u32) -> Plan {
    let mut plan = plan("matrix", &["lucky", "talker", "copycat"], "");
    let PlannedScenarios::Matrix { rounds: few, .. } = &mut plan.scenarios else { panic!("another game") };
    *few = rounds;
    plan
}

#[test]
fn a_worker_of_another_build_is_kept_out() {
    let Some(server) = Server::start("a_worker_of_another_build_is_kept_out") else { return };
    let plan = plan("matrix", &["cooperator", "defector"], "");
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let (stop, stop_other) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (_stop, _stop_other) = (StopAtEnd(&stop), StopAtEnd(&stop_other));
        let mut options = worker_options(&server, "other");
        options.pins.wasmtime = "47.0.0".to_owned();
        let other = worker(scope, options, Does::Plays, &stop_other);
        std::thread::sleep(Duration::from_millis(1500));
        stop_other.store(true, Ordering::Relaxed);
        let Ended { worked, said, .. } = other.join().expect("it ends");
        let why = format!(
            "run {} is not taken: it is frozen for wasmtime 0; this host has wasmtime 47.0.0",
            nats.run()
        );
        assert_eq!((worked.expect("it worked").matches, said), (0, vec![why]));
        worker(scope, worker_options(&server, "one"), Does::Plays, &stop);
        let ended = play(folder.path(), &plan, &mut nats).expect("played");
        assert_eq!(ended.ending.class, Class::Success);
    });
}

#[test]
fn a_worker_plays_in_every_run_or_in_one() {
    let Some(server) = Server::start("a_worker_plays_in_every_run_or_in_one") else { return };
    let plans = [plan("matrix", &["cooperator", "defector"], ""), plan("matrix", &["lucky", "copycat"], "")];
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let mut runs = plans.each_ref().map(|plan| coordinator(&server, plan).expect("a coordinator"));
        let mut only = worker_options(&server, "only");
        only.run = Some(runs[1].run().clone());
        let only = worker(scope, only, Does::Plays, &stop);
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let ended = play(folders[1].path(), &plans[1], &mut runs[1]).expect("played");
        assert_eq!(ended.ending.class, Class::Success);
        worker(scope, worker_options(&server, "every"), Does::Plays, &stop);
        let ended = play(folders[0].path(), &plans[0], &mut runs[0]).expect("played");
        assert_eq!(ended.ending.class, Class::Success);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(only.join().expect("it ends").worked.expect("it worked").matches, 1);
    });
}

#[test]
fn who_may_not_come_in_is_told_at_once() {
    let arguments = ["--user", "amy", "--pass", "s3cr@t"];
    let Some(server) = Server::start_with("who_may_not_come_in_is_told_at_once", &arguments) else { return };
    let plan = plan("matrix", &["cooperator", "defector"], "");
    for who in ["", "amy:wrong@", "token@"] {
        let mut options = options(server.address());
        options.server = server.url(who).parse().expect("an address");
        let began = std::time::Instant::now();
        let why = start(options, &plan).err().expect("refused").to_string();
        assert!(why.contains("refuses us") && !why.contains("wrong"), "{why}");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
    let mut options = options(server.address());
    options.server = server.url("amy:s3cr%40t@").parse().expect("an address");
    start(options, &plan).expect("let in");
}

#[test]
fn a_server_that_wants_tls_is_refused_by_name() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        use std::io::Write;
        for stream in listener.incoming().flatten() {
            (&stream).write_all(b"INFO {\"server_id\":\"x\",\"tls_required\":true}\r\n").ok();
        }
    });
    let options =
        arena_tournament::NatsOptions::new(format!("nats://127.0.0.1:{port}").parse().expect("one"));
    let why = start(options, &plan("matrix", &["cooperator", "defector"], "")).err().expect("refused");
    assert!(why.to_string().contains("wants TLS, which is not supported"), "{why}");
}

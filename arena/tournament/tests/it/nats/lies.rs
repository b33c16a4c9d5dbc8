//! Workers that do not tell the truth: what they tell is checked, settled by playing, and never counts
//! in silence.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arena_canon::Digest;
use arena_tournament::{Body, Class, Done, Executor, Finished, Job, MatchId, MoveValidation, Nats, RunFault};
use serde_json::{Value, json};

use super::raw::{Raw, Record, carried, lie, message, sealed, told, truth};
use super::server::Server;
use super::{Does, StopAtEnd, coordinator, jobs, worker, worker_options};
use crate::natives::{files, in_process, plan, play};

const SECONDS: Duration = Duration::from_secs(10);

fn job() -> Job {
    jobs(&the_plan()).swap_remove(0)
}

fn the_plan() -> arena_tournament::Plan {
    // The talker is in every match, so that there is always a guest file.
    let matrix = "kind = \"gauntlet\"\nchallengers = [0]\nself_play = true";
    plan("matrix", &["talker", "copycat", "defector"], matrix)
}

/// A coordinator that gave out `job`, and a client beside it.
fn given_out(server: &Server, job: &Job) -> (Nats, Raw) {
    let mut nats = coordinator(server, &the_plan()).expect("a coordinator");
    nats.submit(job).expect("given out");
    let raw = Raw::connect(server, nats.run());
    (nats, raw)
}

fn digest(finished: Option<Finished>) -> String {
    match finished.expect("something came").result {
        Ok(Done::Match { digest, .. }) => digest.to_string(),
        other => panic!("{other:?}"),
    }
}

fn next(nats: &mut Nats) -> Option<Finished> {
    nats.next(SECONDS).expect("no fault")
}

fn nothing_more(nats: &mut Nats) {
    let more = nats.next(Duration::from_millis(1_500)).expect("no fault");
    assert!(more.is_none(), "{more:?}");
}

fn named(nats: &mut Nats, worker: &str) {
    let complaints = nats.complaints();
    assert_eq!(complaints, [format!("worker `{worker}` told of m00001 what is not what is played here")]);
}

#[test]
fn a_lie_looks_like_the_truth_and_is_not_it() {
    let job = job();
    let (truth, lie) = (truth(&job), lie(&job));
    assert_ne!(truth.digest(), lie.digest());
    assert!(arena_tournament::Record::read(&lie.bytes, &job, None).is_ok(), "it holds by itself");
}

#[test]
fn a_lie_after_the_truth_is_named_and_nothing_else() {
    let Some(server) = Server::start("a_lie_after_the_truth_is_named_and_nothing_else") else { return };
    let job = job();
    for late in [false, true] {
        let (mut nats, raw) = given_out(&server, &job);
        raw.tell_record(&job, "honest", &truth(&job));
        assert_eq!(digest(next(&mut nats)), truth(&job).digest());
        if late {
            nats.committed(&[MatchId(1)]).expect("acknowledged");
        }
        raw.tell_record(&job, "liar", &lie(&job));
        nothing_more(&mut nats);
        named(&mut nats, "liar");
        nats.committed(&[MatchId(1)]).expect("acknowledged");
        raw.all_acknowledged();
    }
}

#[test]
fn a_lie_before_the_truth_is_taken_back() {
    let Some(server) = Server::start("a_lie_before_the_truth_is_taken_back") else { return };
    let job = job();
    let (mut nats, raw) = given_out(&server, &job);
    raw.tell_record(&job, "liar", &lie(&job));
    assert_eq!(
        digest(next(&mut nats)),
        lie(&job).digest(),
        "one word is believed as long as it stands alone"
    );
    raw.tell_record(&job, "honest", &truth(&job));
    assert_eq!(digest(next(&mut nats)), truth(&job).digest());
    raw.tell_record(&job, "honest too", &truth(&job));
    nothing_more(&mut nats);
    named(&mut nats, "liar");
    raw.tell_record(&job, "liar again", &lie(&job));
    nothing_more(&mut nats);
    named(&mut nats, "liar again");
}

#[test]
fn of_two_lies_neither_counts() {
    let Some(server) = Server::start("of_two_lies_neither_counts") else { return };
    let job = job();
    let (mut nats, raw) = given_out(&server, &job);
    let text = String::from_utf8(truth(&job).bytes).expect("text");
    let other = Record { bytes: fuel_of_one_more(&text), ..truth(&job) };
    raw.tell_record(&job, "liar", &lie(&job));
    assert_eq!(digest(next(&mut nats)), lie(&job).digest());
    raw.tell_record(&job, "other", &other);
    assert_eq!(digest(next(&mut nats)), truth(&job).digest());
    let mut complaints = nats.complaints();
    complaints.sort();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(complaints[0].contains("`liar`") && complaints[1].contains("`other`"), "{complaints:?}");
}

/// The record of a match whose first seat used a little more fuel.
fn fuel_of_one_more(text: &str) -> Vec<u8> {
    let mut record: Value = serde_json::from_str(text).expect("a record");
    let turns = record["fuel"][0]["turns"].as_array().expect("turns").iter();
    let turns: u64 = turns.map(|fuel| fuel.as_u64().expect("fuel")).sum();
    record["fuel"][0]["brief"] = 11.into();
    record["fuel"][0]["total"] = (turns + 11).into();
    sealed(&record.to_string())
}

#[test]
fn what_does_not_hold_by_itself_is_refused_and_named() {
    let Some(server) = Server::start("what_does_not_hold_by_itself_is_refused_and_named") else { return };
    let job = job();
    let (mut nats, raw) = given_out(&server, &job);
    let truth = truth(&job);
    let guest = truth.guest.clone().expect("a talker talks");
    let text = String::from_utf8(truth.bytes.clone()).expect("text");
    let other = |from: &str, to: &str| Record { bytes: sealed(&text.replacen(from, to, 1)), ..truth.clone() };
    let told_of = |record: &Record, member: &str, value: Value| {
        let mut told = told(record);
        told[member] = value;
        told
    };
    let good = truth.bytes.as_slice();
    let unsealed = text.replacen("\"repetition\":1", "\"repetition\":2", 1).into_bytes();
    let unsealed = Record { bytes: unsealed, ..truth.clone() };
    let moved = other("\"scores\":[", "\"scores\":[1");
    let elsewhere = other("\"id\":\"m00001\"", "\"id\":\"m00002\"");
    let more = json!({ "bytes": 1_u64 << 40, "sha256": Digest::of(b""), "stored": true });
    let cases: [(&str, Value, &[u8], &[u8]); 9] = [
        ("another digest", told_of(&truth, "digest", json!(Digest::of(b"x"))), good, &guest),
        ("no seal", told_of(&unsealed, "digest", json!(truth.digest())), &unsealed.bytes, &guest),
        ("other points", told(&moved), &moved.bytes, &guest),
        ("another matchup", told(&elsewhere), &elsewhere.bytes, &guest),
        ("no guest file", told_of(&truth, "guest", Value::Null), good, b""),
        ("another guest file", told_of(&truth, "guest", carried(b"{}", false)), good, b"{}"),
        ("no such object", told_of(&truth, "record", carried(good, true)), b"", &guest),
        ("a huge object", told_of(&truth, "record", more), b"", &guest),
        ("a violation", json!({ "is": "violation", "violation": { "seat": 0, "turn": 1 } }), b"", b""),
    ];
    for (what, told, record, guest) in cases {
        raw.tell(&job, "broken", &told, record, guest);
        let finished = next(&mut nats).expect("something came");
        let why = finished.result.expect_err(what);
        assert!(why.contains("`broken`"), "{what}: {why}");
        assert!(nats.complaints().concat().contains("`broken` told of m00001"), "{what}");
        nats.submit(&job).expect("given out again");
    }
    for junk in [&b""[..], b"\0\0\0\x02{}", b"\xff\xff\xff\xff", b"\0\0\0\x0cnot an answer"] {
        raw.send(MatchId(1), junk);
        assert!(next(&mut nats).expect("something came").result.is_err());
        assert!(nats.complaints()[0].contains("cannot be read"));
        nats.submit(&job).expect("given out again");
    }
    // Of a match that nobody asked for, nothing is heard.
    let nobodys =
        json!({ "frozen_sha256": job.frozen_sha256, "id": "m00099", "worker": "w", "told": told(&truth) });
    raw.send(MatchId(99), &message(&nobodys, good, &guest));
    raw.tell_record(&job, "honest", &truth);
    assert_eq!(digest(next(&mut nats)), truth.digest());
    nats.committed(&[MatchId(1)]).expect("acknowledged");
    raw.all_acknowledged();
}

#[test]
fn one_worker_cannot_end_a_run_by_its_word() {
    let Some(server) = Server::start("one_worker_cannot_end_a_run_by_its_word") else { return };
    let mut job = job();
    job.move_validation = MoveValidation::Block;
    let (mut nats, raw) = given_out(&server, &job);
    let violation = json!({ "is": "violation", "violation": { "seat": 0, "turn": 1 } });
    raw.tell(&job, "liar", &violation, b"", b"");
    assert_eq!(digest(next(&mut nats)), truth(&job).digest());
    named(&mut nats, "liar");
}

#[test]
fn a_violation_that_is_one_ends_the_run() {
    let Some(server) = Server::start("a_violation_that_is_one_ends_the_run") else { return };
    let rest = "[protocol]\nmove_validation = \"block\"";
    let plan = plan("campus", &["overasks", "copycat"], rest);
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        worker(scope, worker_options(&server, "one"), Does::Plays, &stop);
        let ended = play(folder.path(), &plan, &mut nats).expect("a receipt");
        assert_eq!(ended.ending.class, Class::Blocked, "{:?}", ended.ending);
    });
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &plan, &mut in_process()).expect("played");
    assert_eq!(files(folder.path()), files(expected.path()));
}

/// Tells what is written down, in that order.
struct Script(VecDeque<Finished>);

impl Executor for Script {
    fn window(&self) -> usize {
        8
    }

    fn submit(&mut self, _: &Job) -> Result<(), RunFault> {
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<Finished>, RunFault> {
        Ok(self.0.pop_front())
    }
}

fn finished(job: &Job, record: &Record) -> Finished {
    let digest = record.digest().parse().expect("a digest");
    let used = arena_tournament::Record::read(&record.bytes, job, None).expect("it holds by itself").used();
    let body = Body::Here { record: record.bytes.clone(), guest: record.guest.clone() };
    Finished { id: job.matchup.id, result: Ok(Done::Match { digest, used, body }) }
}

#[test]
fn what_is_taken_back_in_time_does_not_count_and_later_it_blocks() {
    let plan = the_plan();
    let jobs = jobs(&plan);
    let truths = || jobs.iter().map(|job| finished(job, &truth(job)));
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &plan, &mut Script(truths().collect())).expect("played");
    // The second is told falsely, and taken back before the first, which it waits for, is there.
    let in_time = [finished(&jobs[1], &lie(&jobs[1])), finished(&jobs[1], &truth(&jobs[1]))].into_iter();
    let in_time = in_time.chain(truths().filter(|it| it.id != MatchId(2)));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = play(folder.path(), &plan, &mut Script(in_time.collect())).expect("played");
    assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
    assert_eq!(files(folder.path()), files(expected.path()));
    // The first counts as soon as it is there.
    let late = TwoBatches {
        first: Some(finished(&jobs[0], &lie(&jobs[0]))),
        then: Script(truths().collect()),
        pause: true,
    };
    let folder = tempfile::tempdir().expect("a folder");
    let ended = play(folder.path(), &plan, &mut { late }).expect("a receipt");
    assert_eq!(ended.ending.class, Class::Blocked, "{:?}", ended.ending);
    assert_eq!(ended.ending.matchup, Some(MatchId(1)));
    assert!(!folder.path().join("scorecard.json").exists());
}

/// One result; nothing for a moment; and then the others.
struct TwoBatches {
    first: Option<Finished>,
    then: Script,
    pause: bool,
}

impl Executor for TwoBatches {
    fn window(&self) -> usize {
        8
    }

    fn submit(&mut self, _: &Job) -> Result<(), RunFault> {
        Ok(())
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        match self.first.take() {
            Some(finished) => Ok(Some(finished)),
            None if std::mem::take(&mut self.pause) => Ok(None),
            None => self.then.next(within),
        }
    }
}

#[test]
fn a_lying_worker_among_honest_ones_does_not_get_through() {
    let Some(server) = Server::start("a_lying_worker_among_honest_ones_does_not_get_through") else { return };
    // Its lies are told of jobs that an honest worker plays, too: it never acknowledges one.
    let plan = the_plan();
    let expected = tempfile::tempdir().expect("a folder");
    play(expected.path(), &plan, &mut in_process()).expect("played");
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = coordinator(&server, &plan).expect("a coordinator");
    let raw = Raw::connect(&server, nats.run());
    let second = jobs(&plan).swap_remove(1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        let (scope, server, stop) = (scope, &server, &stop);
        scope.spawn(move || {
            // The run waits for the first, so that the second does not count yet.
            let first = raw.take_job();
            let _second = raw.take_job();
            raw.tell_record(&second, "liar", &lie(&second));
            std::thread::sleep(Duration::from_millis(300));
            raw.tell_record(&second, "honest", &truth(&second));
            std::thread::sleep(Duration::from_millis(300));
            drop(first);
            worker(scope, worker_options(server, "honest"), Does::Plays, stop);
        });
        let ended = play(folder.path(), &plan, &mut nats).expect("played");
        assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
    });
    assert_eq!(files(folder.path()), files(expected.path()));
}

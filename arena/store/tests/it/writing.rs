//! Commands: what is carried out, what is refused, who is told.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use arena_store::{Draft, DraftFault, Event, Failed, JOURNAL, Options, Store, StoreFault};
use serde_json::json;

use super::tally::{
    AT_MS, Answer, Command, Refusal, Tally, add, did, failed, open, open_with, sums, sums_table, tables,
};

#[test]
fn the_state_is_the_fold_of_the_journal_and_a_restart_folds_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for n in 1..=10 {
        assert_eq!(did(&store, add(if n % 2 == 0 { "even" } else { "odd" }, n)), n);
    }
    let before = sums(&store);
    assert_eq!(before, [("even".to_owned(), 30), ("odd".to_owned(), 25)].into());
    assert_eq!(sums_table(&store), before);
    drop(store);
    let store = open(folder.path());
    assert_eq!(sums(&store), before);
    assert_eq!(did(&store, add("odd", 1)), 11);
}

/// Nobody waits for the disk, and once the store is closed there is nothing left that waits for it: the log beside the
/// database is empty, and a copy of the database alone has everything.
#[test]
fn commits_that_were_not_waited_for_are_all_there_when_the_store_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open_with(folder.path(), Options { is_durable: false, ..Options::default() }).expect("open");
    for n in 1..=300 {
        assert_eq!(did(&store, add("a", n)), n);
    }
    let head = store.journal().head().expect("read");
    drop(store);
    let log = folder.path().join(format!("{JOURNAL}-wal"));
    assert!(!log.exists() || log.metadata().expect("about it").len() == 0);
    let copy = tempfile::tempdir().expect("a folder");
    std::fs::copy(folder.path().join(JOURNAL), copy.path().join(JOURNAL)).expect("copy");
    let store = open(copy.path());
    assert_eq!(store.journal().head().expect("read"), head);
    assert_eq!(sums(&store), [("a".to_owned(), 300 * 301 / 2)].into());
}

#[test]
fn a_refused_command_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    did(&store, add("a", 1));
    let before = (store.journal().head().expect("read"), sums(&store), sums_table(&store));
    assert!(matches!(failed(&store, add("zero", 0)), Failed::Refused(Refusal::Zero)));
    assert!(matches!(failed(&store, Command::Panic), Failed::Panicked(why) if why == "on purpose"));
    let unknown = failed(&store, Command::Unknown);
    let said = unknown.to_string();
    assert_eq!(said, "event 2 is `tally.unknown` version 1, which this arena does not know");
    let vote = |of: &str| Command::Vote { by: "a".to_owned(), of: of.to_owned() };
    assert!(matches!(failed(&store, vote("a")), Failed::Refused(Refusal::SelfVote)));
    let went_on = Command::VoteAndGoOn { by: "a".to_owned(), of: "a".to_owned() };
    assert!(matches!(failed(&store, went_on), Failed::Panicked(_)));
    assert_eq!((store.journal().head().expect("read"), sums(&store), sums_table(&store)), before);
    assert_eq!(did(&store, vote("b")), 2);
}

#[test]
fn an_event_that_cannot_be_folded_is_taken_back_and_the_writer_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    did(&store, add("a", 1));
    let Failed::Storage(fault) = failed(&store, Command::Unfit) else { panic!("another failure") };
    assert!(matches!(*fault, StoreFault::Unfit { seq: 2, .. }), "{fault}");
    assert_eq!(did(&store, add("a", 2)), 2);
    assert_eq!(sums(&store), [("a".to_owned(), 3)].into());
}

#[test]
fn what_is_no_event_is_not_appended() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let draft = |at_ms, topic: &str, kind: &str, text: &str| {
        Command::Raw(Draft::new(at_ms, topic, kind, 1, &json!({ "text": text })))
    };
    let long = "x".repeat(arena_store::BODY_BYTES_MAX);
    for wrong in [
        draft(AT_MS, "", "tally.added", ""),
        draft(AT_MS, "Topic", "tally.added", ""),
        draft(AT_MS, "a\"b", "tally.added", ""),
        draft(AT_MS, &"t".repeat(129), "tally.added", ""),
        draft(AT_MS, "t", "sealed", ""),
        draft(AT_MS, "t", "tally added", ""),
        draft(1 << 53, "t", "tally.added", ""),
        draft(AT_MS, "t", "tally.added", &long),
    ] {
        let Failed::Storage(fault) = failed(&store, wrong.clone()) else { panic!("{wrong:?}") };
        assert!(matches!(*fault, StoreFault::Draft(_)), "{wrong:?}: {fault}");
    }
    assert_eq!(store.journal().head().expect("read").seq, 0);
    let limit = arena_store::BODY_BYTES_MAX;
    let body = DraftFault::Body { bytes: limit + 11, limit };
    let Failed::Storage(fault) = failed(&store, draft(AT_MS, "t", "tally.added", &long)) else { panic!() };
    assert_eq!(fault.to_string(), body.to_string());
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let second = open_with(folder.path(), Options::default());
    assert!(matches!(second, Err(StoreFault::Locked { .. })));
    drop(store);
    drop(open(folder.path()));
}

#[test]
fn commits_are_told_before_their_answers_and_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (told, heard) = channel();
    let on_commit = Box::new(move |events: &[Event]| {
        let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
        told.send(seqs).expect("somebody listens");
    });
    let store = open_with(folder.path(), Options { on_commit, ..Options::default() }).expect("it opens");
    for n in 1..=20 {
        let seq = did(&store, add("a", n));
        assert_eq!(heard.try_recv(), Ok(vec![seq]), "told by the time of the answer");
        assert!(store.journal().event(seq).expect("read").is_some());
    }
    failed(&store, add("a", 0));
    assert!(heard.try_recv().is_err(), "nothing was appended");
}

#[test]
fn many_submitters_each_get_their_own_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let seqs = Arc::new(Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for thread in 0..16_u64 {
            let (store, seqs) = (store.clone(), Arc::clone(&seqs));
            scope.spawn(move || {
                for n in 0..25 {
                    let name = format!("{thread}-{n}");
                    if n % 5 == 4 {
                        assert!(matches!(failed(&store, add(&name, 0)), Failed::Refused(Refusal::Zero)));
                        continue;
                    }
                    let seq = did(&store, add(&name, 1));
                    let event = store.journal().event(seq).expect("read").expect("there");
                    assert_eq!(event.topic, format!("tally/{name}"));
                    seqs.lock().expect("whole").push(seq);
                }
            });
        }
    });
    let mut seqs = seqs.lock().expect("whole").clone();
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=320).collect::<Vec<_>>());
    assert_eq!(sums(&store).len(), 320);
}

#[test]
fn a_full_queue_is_told_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (release, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let options = Options {
        queue_max: 2,
        batch_max: 1,
        on_commit: Box::new(move |_| {
            // Until the other end is gone.
            let _ = wait.lock().expect("whole").recv();
        }),
        ..Options::default()
    };
    let store = open_with(folder.path(), options).expect("it opens");
    // The first is committed and held in its callback; two may wait.
    let mut pending = vec![store.submit(add("a", 1))];
    while store.journal().head().expect("read").seq == 0 {
        thread::yield_now();
    }
    pending.extend([store.submit(add("a", 1)), store.submit(add("a", 1))]);
    assert!(matches!(failed(&store, add("a", 1)), Failed::Busy { waiting: 2 }));
    drop(release);
    for pending in pending {
        pending.wait().expect("it waited its turn");
    }
    assert_eq!(sums(&store), [("a".to_owned(), 3)].into());
}

#[test]
fn an_answer_is_a_future_for_any_executor() {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut pending = std::pin::pin!(store.submit(add("a", 1)));
    let answer = loop {
        match pending.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => break answer,
            Poll::Pending => thread::park(),
        }
    };
    assert_eq!(answer.expect("it succeeds"), Answer::Seq(1));
}

#[test]
fn a_journal_with_events_that_are_not_known_is_not_written_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    did(&store, add("a", 1));
    did(&store, Command::Book { sha256: store.blobs().put(b"x").expect("put"), bytes: 1 });
    drop(store);
    let older = Tally { newest: 1, ..Tally::default() };
    let Err(fault) = Store::open(folder.path(), older, tables(), Options::default()) else {
        panic!("opened")
    };
    assert_eq!(fault.to_string(), "event 2 is `tally.added` version 2, which this arena does not know");
    // It is to be read all the same, and the one who knows goes on.
    assert_eq!(arena_store::Journal::open(folder.path()).expect("opens").head().expect("read").seq, 2);
    did(&open(folder.path()), add("a", 1));
}

#[test]
fn a_callback_that_panics_does_not_end_the_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let on_commit = Box::new(|events: &[Event]| assert_ne!(events[0].seq, 1, "on purpose"));
    let store = open_with(folder.path(), Options { on_commit, ..Options::default() }).expect("it opens");
    store.execute(add("a", 1), |_| panic!("on purpose"));
    assert_eq!(did(&store, add("a", 1)), 2);
}

#[test]
fn the_last_clone_may_go_on_the_writers_own_thread() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let (told, heard) = channel();
    let last = store.clone();
    store.execute(add("a", 1), move |answer| {
        drop(last);
        told.send(answer.is_ok()).expect("somebody listens");
    });
    drop(store);
    assert_eq!(heard.recv(), Ok(true));
}

/// The log beside the database is moved into it while commits go on, and does not grow with the journal.
#[test]
fn the_log_is_bounded_while_commits_never_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let log = folder.path().join(format!("{}-wal", arena_store::JOURNAL));
    let body = json!({ "text": "x".repeat(200_000) });
    // Whoever catches up is nearly always within a transaction, and there are several of them.
    let read = Arc::new(AtomicBool::new(false));
    let catch_up = |_| {
        let (journal, read) = (store.journal().clone(), Arc::clone(&read));
        thread::spawn(move || {
            while !read.load(Ordering::Acquire) {
                let mut at = 0;
                while let Some(last) = journal.after(at, 8).expect("readable").last().map(|event| event.seq) {
                    at = last;
                }
            }
        })
    };
    let readers: Vec<_> = (0..4).map(catch_up).collect();
    let mut waiting = std::collections::VecDeque::new();
    for _ in 0..400 {
        let draft = arena_store::Draft::new(AT_MS, "tally", "tally.added", 1, &body);
        waiting.push_back(store.submit(Command::Raw(draft)));
        if waiting.len() > 3 {
            waiting.pop_front().expect("one").wait().expect("it succeeds");
        }
    }
    drop(waiting);
    let bytes = std::fs::metadata(&log).expect("there").len();
    // 80 MB were written.
    assert!(bytes < 64 << 20, "{bytes}");
    read.store(true, Ordering::Release);
    readers.into_iter().for_each(|reader| reader.join().expect("it reads"));
    drop(store);
    assert_eq!(std::fs::metadata(&log).map_or(0, |about| about.len()), 0);
}

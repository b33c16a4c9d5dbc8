//! A full disk: whoever asked is told, nothing half is left, and the writer goes on when there is room.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use arena_store::rusqlite::{self, Connection};
use arena_store::{Event, Failed, Options, Pending, Projection, Store, Wanted, verify};

use super::tally::{Answer, Command, SumsTable, Tally, add, did, failed, open, open_with, sums, sums_table};

fn limited(root: &std::path::Path) -> Store<Tally> {
    open_with(root, Options { pages_max: Some(60), ..Options::default() }).expect("it opens")
}

#[test]
fn a_full_disk_costs_the_commands_that_do_not_fit_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = limited(folder.path());
    let mut expected = std::collections::BTreeMap::new();
    let mut refused = 0;
    while refused < 200 {
        let pending: Vec<_> = (0..50).map(|n| (n, store.submit(add(&format!("{n:0100}"), n + 1)))).collect();
        for (n, pending) in pending {
            match pending.wait() {
                Ok(_) => *expected.entry(format!("{n:0100}")).or_default() += n + 1,
                Err(Failed::Storage(fault)) => {
                    assert!(fault.to_string().contains("full"), "{fault}");
                    refused += 1;
                }
                Err(why) => panic!("{why}"),
            }
        }
    }
    assert!(!expected.is_empty());
    assert_eq!(sums(&store), expected, "memory is what is on disk");
    assert_eq!(sums_table(&store), expected);
    let report = verify(folder.path(), &Wanted::default()).expect("looked at");
    assert!(report.is_sound(), "{:?}", report.findings);
    // What writes nothing is still answered.
    assert!(matches!(failed(&store, Command::Panic), Failed::Panicked(_) | Failed::Storage(_)));
    drop(store);
    let store = open(folder.path());
    assert_eq!(sums(&store), expected);
    did(&store, add("room-again", 1));
}

#[test]
fn a_batch_that_cannot_be_committed_is_taken_back_from_memory_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = limited(folder.path());
    did(&store, add("first", 1));
    // Many in one batch, so that those before the one that does not fit were folded already.
    let mut lost = 0;
    for round in 0..40 {
        let pending: Vec<_> = (0..40).map(|n| store.submit(add(&format!("{round}-{n:0200}"), 1))).collect();
        let answers: Vec<_> = pending.into_iter().map(Pending::wait).collect();
        lost += answers.iter().filter(|answer| answer.is_err()).count();
        let seqs = answers.iter().filter_map(|answer| match answer {
            Ok(Answer::Seq(seq)) => Some(*seq),
            _ => None,
        });
        for seq in seqs {
            assert!(store.journal().event(seq).expect("read").is_some(), "an answer is a promise");
        }
        let head = store.journal().head().expect("read");
        assert_eq!(sums(&store).values().sum::<u64>(), head.seq);
    }
    assert!(lost > 0);
}

/// A constraint that is looked at only when a transaction is committed.
struct Deferred;

impl Projection for Deferred {
    fn name(&self) -> &'static str {
        "deferred"
    }
    fn version(&self) -> u32 {
        1
    }
    fn tables(&self) -> &'static str {
        "CREATE TABLE p_deferred (
            voter TEXT PRIMARY KEY,
            choice TEXT NOT NULL REFERENCES p_deferred DEFERRABLE INITIALLY DEFERRED
        ) STRICT"
    }
    fn apply(&self, db: &Connection, event: &Event) -> rusqlite::Result<()> {
        let body = event.json().unwrap_or_default();
        let row = (body["by"].as_str(), body["of"].as_str());
        let is_vote = event.kind == "tally.voted";
        if is_vote { db.execute("INSERT INTO p_deferred VALUES (?1, ?2)", row).map(|_| ()) } else { Ok(()) }
    }
}

#[test]
fn a_commit_that_fails_is_told_to_its_whole_batch_and_the_state_is_folded_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (release, wait) = channel::<()>();
    let (wait, (told, heard)) = (Mutex::new(wait), channel());
    let on_commit = Box::new(move |events: &[Event]| {
        told.send(events[events.len() - 1].seq).expect("somebody listens");
        let _ = wait.lock().expect("whole").recv();
    });
    let tables: Vec<Box<dyn Projection>> = vec![Box::new(SumsTable { version: 1 }), Box::new(Deferred)];
    let options = Options { on_commit, ..Options::default() };
    let store = Store::open(folder.path(), Tally::default(), tables, options).expect("it opens");
    let first = store.submit(add("a", 1));
    assert_eq!(heard.recv(), Ok(1));
    // The writer is held, so all of these are one batch.
    let vote = Command::Vote { by: "amy".to_owned(), of: "nobody".to_owned() };
    let batch = [add("a", 2), add("b", 3), vote, add("zero", 0)].map(|command| store.submit(command));
    drop(release);
    assert_eq!(first.wait().expect("committed before"), Answer::Seq(1));
    for pending in batch {
        let Err(Failed::Storage(fault)) = pending.wait() else { panic!("its commit cannot have succeeded") };
        assert!(fault.to_string().contains("FOREIGN KEY"), "{fault}");
    }
    assert_eq!(sums(&store), [("a".to_owned(), 1)].into());
    assert_eq!(store.journal().head().expect("read").seq, 1);
    assert_eq!(did(&store, add("b", 4)), 2);
    assert_eq!(sums(&store), sums_table(&store));
    assert_eq!(heard.try_iter().collect::<Vec<_>>(), [2], "nobody was told of what was taken back");
    assert!(verify(folder.path(), &Wanted::default()).expect("looked at").is_sound());
}

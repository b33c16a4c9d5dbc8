//! Readers and the writer never wait for each other, and nobody sees what is not on disk.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use arena_store::rusqlite::{self, Connection};
use arena_store::{Event, Options, Projection, Store};

use super::tally::{Sums, Tally, add, did, failed, open};

/// Holds the writer in the middle of a transaction: it says that it is there, and waits until it may go on.
struct Held {
    there: Mutex<Sender<u64>>,
    go_on: Mutex<Receiver<bool>>,
}

impl Projection for Held {
    fn name(&self) -> &'static str {
        "held"
    }

    fn version(&self) -> u32 {
        1
    }

    fn tables(&self) -> &'static str {
        "CREATE TABLE p_held (seq INTEGER PRIMARY KEY) STRICT"
    }

    fn apply(&self, _: &Connection, event: &Event) -> rusqlite::Result<()> {
        self.there.lock().expect("whole").send(event.seq).expect("somebody listens");
        match self.go_on.lock().expect("whole").recv() {
            Ok(true) => Ok(()),
            _ => Err(rusqlite::Error::QueryReturnedNoRows),
        }
    }
}

fn held() -> (tempfile::TempDir, Store<Tally>, Receiver<u64>, Sender<bool>) {
    let folder = tempfile::tempdir().expect("a folder");
    let ((there, is_there), (go, go_on)) = (channel(), channel());
    let tables: Vec<Box<dyn Projection>> =
        vec![Box::new(Held { there: Mutex::new(there), go_on: Mutex::new(go_on) })];
    let store = Store::open(folder.path(), Tally::default(), tables, Options::default()).expect("it opens");
    (folder, store, is_there, go)
}

fn seen(store: &Store<Tally>, name: &str) -> Option<u64> {
    store.look(|Sums(sums)| sums.get(name).copied()).expect("there is a state")
}

#[test]
fn a_look_in_the_middle_of_a_transaction_does_not_wait_and_sees_what_is_on_disk() {
    let (_folder, store, is_there, go) = held();
    let first = store.submit(add("a", 1));
    assert_eq!(is_there.recv(), Ok(1));
    assert_eq!(seen(&store, "a"), None, "it is not on disk");
    go.send(true).expect("it waits");
    first.wait().expect("it succeeds");
    assert_eq!(seen(&store, "a"), Some(1), "seen by whoever was answered");
    let second = store.submit(add("a", 10));
    assert_eq!(is_there.recv(), Ok(2));
    assert_eq!(seen(&store, "a"), Some(1));
    go.send(false).expect("it waits");
    second.wait().expect_err("it was held up");
    assert_eq!(seen(&store, "a"), Some(1), "nothing of what failed");
    let third = store.submit(add("a", 100));
    assert_eq!(is_there.recv(), Ok(2));
    go.send(true).expect("it waits");
    third.wait().expect("it succeeds");
    assert_eq!(seen(&store, "a"), Some(101));
}

#[test]
fn a_state_that_is_kept_stays_as_it_is_and_holds_nobody_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    did(&store, add("a", 1));
    let kept = store.state().expect("there is a state");
    // In the middle of a look, too.
    store
        .look(|Sums(sums)| {
            assert_eq!(did(&store, add("a", 2)), 2);
            failed(&store, add("a", 0));
            assert_eq!(sums["a"], 1);
        })
        .expect("there is a state");
    assert_eq!((kept.0["a"], seen(&store, "a")), (1, Some(3)));
    drop(store);
    assert_eq!((kept.0["a"], Arc::strong_count(&kept)), (1, 1), "nobody else has it");
}

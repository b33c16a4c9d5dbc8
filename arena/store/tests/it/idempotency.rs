//! The same request twice has one effect and one answer.

use arena_canon::Digest;
use arena_store::{Failed, KEPT_FOR_MS, Options, Slot};

use super::tally::{AT_MS, Answer, Command, Refusal, did, failed, kept, open, open_with, sums};

fn once(key: &str, request: &[u8], at_ms: u64, n: u64) -> Command {
    let slot = Slot {
        scope: "amy POST /tally".to_owned(),
        key: key.to_owned(),
        request_sha256: Digest::of(request),
    };
    Command::AddOnce { slot, at_ms, name: "a".to_owned(), n }
}

#[test]
fn a_request_sent_again_is_answered_and_not_done_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    assert_eq!(did(&store, once("k", b"one", AT_MS, 5)), 1);
    for _ in 0..2 {
        let again = store.submit(once("k", b"one", AT_MS + 1, 5)).wait().expect("answered");
        assert_eq!(again, Answer::Replayed(kept(1)));
    }
    let other = failed(&store, once("k", b"two", AT_MS, 6));
    assert!(matches!(other, Failed::Refused(Refusal::KeyReused)));
    // Another key, and the same key of somebody else, are other requests.
    assert_eq!(did(&store, once("l", b"one", AT_MS, 5)), 2);
    let Command::AddOnce { mut slot, at_ms, name, n } = once("k", b"one", AT_MS, 5) else { panic!() };
    slot.scope = "ben POST /tally".to_owned();
    assert_eq!(did(&store, Command::AddOnce { slot, at_ms, name, n }), 3);
    drop(store);
    let store = open(folder.path());
    let again = store.submit(once("k", b"one", AT_MS + 2, 5)).wait().expect("answered");
    assert_eq!(again, Answer::Replayed(kept(1)));
    assert_eq!(sums(&store), [("a".to_owned(), 15)].into());
}

#[test]
fn an_answer_is_kept_for_a_day_by_the_times_of_the_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    did(&store, once("k", b"one", AT_MS, 1));
    let last = store.submit(once("k", b"one", AT_MS + KEPT_FOR_MS - 1, 1)).wait().expect("answered");
    assert_eq!(last, Answer::Replayed(kept(1)));
    assert_eq!(did(&store, once("k", b"two", AT_MS + KEPT_FOR_MS, 1)), 2);
    // Old rows go with new ones.
    for n in 0..10 {
        did(&store, once(&format!("old-{n}"), b"", AT_MS, 1));
    }
    did(&store, once("new", b"", AT_MS + 3 * KEPT_FOR_MS, 1));
    let rows = store
        .journal()
        .read(|db| db.query_row("SELECT count(*) FROM idempotency", [], |row| row.get::<_, i64>(0)));
    assert_eq!(rows.expect("read"), 1);
}

#[test]
fn a_refused_command_keeps_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    assert!(matches!(failed(&store, once("k", b"", AT_MS, 0)), Failed::Refused(Refusal::Zero)));
    assert_eq!(did(&store, once("k", b"", AT_MS, 3)), 1);
}

#[test]
fn two_of_one_batch_have_one_effect() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open_with(folder.path(), Options::default()).expect("it opens");
    let pending: Vec<_> = (0..50).map(|_| store.submit(once("k", b"one", AT_MS, 7))).collect();
    let answers: Vec<_> = pending.into_iter().map(|it| it.wait().expect("answered")).collect();
    assert_eq!(answers.iter().filter(|it| **it == Answer::Seq(1)).count(), 1);
    assert_eq!(answers.iter().filter(|it| **it == Answer::Replayed(kept(1))).count(), 49);
    assert_eq!(sums(&store), [("a".to_owned(), 7)].into());
}

//! The journal itself: append-only for everybody, private, and readable beside its writer.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use arena_store::rusqlite::Connection;
use arena_store::{JOURNAL, Journal, Options, StoreFault};

use super::tally::{Command, add, did, open, open_with, sums};

#[test]
fn nobody_changes_an_event_with_sql() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for n in 1..=3 {
        did(&store, add("a", n));
    }
    let db = Connection::open(folder.path().join(JOURNAL)).expect("it opens");
    let columns = "seq, at_ms, topic, kind, version, body, salt, content_sha256, prev, hash";
    for (sql, why) in [
        ("UPDATE events SET body = x'7b7d' WHERE seq = 2", "append-only"),
        ("UPDATE events SET seq = 9 WHERE seq = 3", "append-only"),
        ("DELETE FROM events WHERE seq = 3", "append-only"),
        ("DELETE FROM events", "append-only"),
        (
            &format!("INSERT OR REPLACE INTO events SELECT {columns} FROM events WHERE seq = 2"),
            "not the next event",
        ),
        (
            &format!("REPLACE INTO events SELECT 3, {} FROM events WHERE seq = 3", &columns[5..]),
            "not the next event",
        ),
        (
            &format!("INSERT INTO events SELECT 5, {} FROM events WHERE seq = 3", &columns[5..]),
            "not the next event",
        ),
        (
            &format!("INSERT INTO events SELECT 4, {} FROM events WHERE seq = 3", &columns[5..]),
            "not the next event",
        ),
        (
            &format!("INSERT INTO events SELECT NULL, {} FROM events WHERE seq = 3", &columns[5..]),
            "not the next event",
        ),
        (
            "INSERT INTO events SELECT * FROM events WHERE seq = 3
             ON CONFLICT DO UPDATE SET body = x'7b7d'",
            "not the next event",
        ),
    ] {
        let refused = db.execute_batch(sql).expect_err(sql).to_string();
        assert!(refused.contains(why), "{sql}: {refused}");
    }
    drop(db);
    assert!(arena_store::verify(folder.path(), &Default::default()).expect("looked at").is_sound());
    did(&store, add("a", 4));
    assert_eq!(sums(&store), [("a".to_owned(), 10)].into());
}

#[test]
fn a_reader_sees_commits_and_cannot_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let journal = Journal::open(folder.path()).expect("it opens");
    assert_eq!(journal.after(0, 10).expect("read"), []);
    for n in 1..=5 {
        did(&store, add(if n == 3 { "b" } else { "a" }, n));
    }
    let seqs = |events: Vec<arena_store::Event>| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    assert_eq!(seqs(journal.after(1, 3).expect("read")), [2, 3, 4]);
    assert_eq!(seqs(journal.after(5, 3).expect("read")), [0_u64; 0]);
    assert_eq!(seqs(journal.after(u64::MAX, 3).expect("read")), [0_u64; 0]);
    assert_eq!(seqs(journal.after_about("tally/a", 1, 2).expect("read")), [2, 4]);
    assert_eq!(journal.event(6).expect("read"), None);
    let event = journal.event(3).expect("read").expect("there");
    assert_eq!((event.topic.as_str(), event.body.as_slice()), ("tally/b", &br#"{"n":3,"name":"b"}"#[..]));
    assert_eq!(journal.head().expect("read"), store.journal().head().expect("read"));
    let write = journal.read(|db| db.execute("DELETE FROM p_sums", []));
    assert!(write.expect_err("refused").to_string().contains("readonly"));
    // The writer is gone and the reader is not.
    drop(store);
    assert_eq!(journal.after(0, 10).expect("read").len(), 5);
}

#[test]
fn the_files_are_their_owners_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("data/arena");
    let store = open(&root);
    let sha256 = store.blobs().put(b"content").expect("put");
    did(&store, Command::Book { sha256, bytes: 7 });
    let mut looked_at = 0;
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).expect("there").permissions().mode() & 0o777, 0o700, "{folder:?}");
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            looked_at += 1;
            assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600, "{path:?}");
        }
    }
    assert_eq!(looked_at, 4, "the database, its log, its index, a blob");
}

#[test]
fn what_is_no_journal_of_ours_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let why = |fault: StoreFault| fault.to_string();
    assert!(why(Journal::open(&root.join("none")).expect_err("none")).contains("no such folder"));
    assert!(why(Journal::open(root).expect_err("none")).contains("it has no journal.sqlite"));
    let path = root.join(JOURNAL);
    fs::write(&path, "").expect("written");
    assert!(why(Journal::open(root).expect_err("none")).contains("set-up was not finished"));
    // A database of somebody else's.
    fs::remove_file(&path).expect("removed");
    Connection::open(&path).and_then(|db| db.execute_batch("CREATE TABLE theirs (a)")).expect("made");
    assert!(why(Journal::open(root).expect_err("theirs")).contains("application id 0"));
    let refused = open_with(root, Options::default()).err().expect("refused");
    assert!(why(refused).contains("application id 0"));
    fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink("/etc/passwd", &path).expect("linked");
    assert!(why(Journal::open(root).expect_err("a link")).contains("not a regular file"));
    assert!(open_with(root, Options::default()).is_err());
}

#[test]
fn tables_of_a_newer_arena_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(open(folder.path()));
    let db = Connection::open(folder.path().join(JOURNAL)).expect("it opens");
    db.pragma_update(None, "user_version", 99).expect("set");
    drop(db);
    let expected = "written by a newer arena: the tables have version 99, this one knows up to 2";
    assert_eq!(open_with(folder.path(), Options::default()).err().expect("refused").to_string(), expected);
    assert_eq!(Journal::open(folder.path()).expect_err("refused").to_string(), expected);
}

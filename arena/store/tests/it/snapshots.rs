//! Snapshots are a cache: what is wrong with one costs time, never truth.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arena_canon::Digest;
use arena_store::rusqlite::Connection;
use arena_store::{JOURNAL, Options, SNAPSHOTS, SnapshotNote, Store, StoreFault};

use super::tally::{Tally, add, did, sums, tables};

const EVENTS: u64 = 45;

type Notes = Arc<Mutex<Vec<SnapshotNote>>>;

fn places(root: &Path) -> Vec<u64> {
    let files = fs::read_dir(root.join(SNAPSHOTS)).expect("a folder");
    let mut places: Vec<u64> = files
        .map(|file| file.expect("a file").path())
        .map(|path| path.file_stem().and_then(|stem| stem.to_str()?.parse().ok()).expect("a place"))
        .collect();
    places.sort_unstable();
    places
}

fn path(root: &Path, seq: u64) -> PathBuf {
    root.join(SNAPSHOTS).join(format!("{seq:020}.snapshot"))
}

fn open_as(root: &Path, domain: Tally) -> (Store<Tally>, Notes) {
    let notes = Notes::default();
    let kept = Arc::clone(&notes);
    let on_note = Arc::new(move |note: &SnapshotNote| kept.lock().expect("it").push(note.clone()));
    let options = Options { snapshot_every: 10, on_note, ..Options::default() };
    (Store::open(root, domain, tables(), options).expect("it opens"), notes)
}

fn open(root: &Path) -> (Store<Tally>, Notes) {
    open_as(root, Tally::default())
}

/// A journal of [`EVENTS`] events with two snapshots, the last of which is at its end.
fn filled(root: &Path) {
    let (store, _) = open(root);
    for n in 1..=EVENTS {
        did(&store, add("a", n));
        if n == 40 {
            store.snapshot().expect("written");
        }
    }
}

fn right() -> std::collections::BTreeMap<String, u64> {
    [("a".to_owned(), (1..=EVENTS).sum::<u64>())].into()
}

fn told(notes: &Notes) -> Vec<String> {
    notes.lock().expect("it").iter().map(ToString::to_string).collect()
}

/// Changes the bytes of a snapshot and gives it the digest that they have then: whole, but not what was written.
fn forge(path: &Path, forge: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("read");
    bytes.truncate(bytes.len() - 32);
    forge(&mut bytes);
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(digest.as_bytes());
    fs::write(path, bytes).expect("written");
}

/// Puts another state in, in place of one that is as long as `old`.
fn restate(path: &Path, old: &str, new: &str) {
    forge(path, |bytes| {
        let at = bytes.len() - old.len() - 8;
        assert!(bytes.ends_with(old.as_bytes()));
        bytes.truncate(at);
        bytes.extend_from_slice(&(new.len() as u64).to_be_bytes());
        bytes.extend_from_slice(new.as_bytes());
    });
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let at = bytes.windows(from.len()).position(|window| window == from).expect("it is in there");
    bytes[at..at + to.len()].copy_from_slice(to);
}

fn tamper(root: &Path, sql: &str) {
    let db = Connection::open(root.join(JOURNAL)).expect("it opens");
    db.execute_batch("DROP TRIGGER events_no_update; DROP TRIGGER events_no_delete").expect("changed");
    assert!(db.execute(sql, []).expect("changed") > 0);
}

#[test]
fn two_are_kept_and_a_restart_starts_from_the_newest() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    assert_eq!(places(root), [40, 45]);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&root.join(SNAPSHOTS)), mode(&path(root, 45))), (0o700, 0o600));
    // What a snapshot says is believed as long as it is whole: that it is used shows.
    forge(&path(root, 45), |bytes| replace(bytes, br#"{"a":1035}"#, br#"{"a":9999}"#));
    let (store, notes) = open(root);
    assert_eq!(sums(&store), [("a".to_owned(), 9_999)].into());
    assert_eq!(*notes.lock().expect("it"), [SnapshotNote::Used { seq: 45, left_out: 0, after: 0 }]);
}

#[test]
fn they_are_taken_while_commands_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, notes) = open(folder.path());
    for n in 1..=400 {
        did(&store, add("a", n));
    }
    // Whoever asks for one waits for the one that is being written.
    store.snapshot().expect("written");
    drop(store);
    let written = notes.lock().expect("it").len();
    assert!((3..=50).contains(&written), "{:?}", told(&notes));
    let (store, notes) = open(folder.path());
    assert_eq!(sums(&store), [("a".to_owned(), 80_200)].into());
    assert_eq!(*notes.lock().expect("it"), [SnapshotNote::Used { seq: 400, left_out: 0, after: 0 }]);
    assert_eq!(places(folder.path()).len(), 2);
}

#[test]
fn a_change_of_any_byte_costs_the_snapshot_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    fs::remove_file(path(root, 40)).expect("removed");
    let whole = fs::read(path(root, 45)).expect("read");
    for at in (0..whole.len()).chain([usize::MAX]) {
        let mut bytes = whole.clone();
        match bytes.get_mut(at) {
            Some(byte) => *byte ^= 1 << (at % 8),
            None => bytes.push(0),
        }
        fs::write(path(root, 45), &bytes).expect("written");
        let (store, notes) = open(root);
        assert_eq!(sums(&store), right(), "byte {at}");
        let told = told(&notes);
        assert!(told.len() == 1 && told[0].contains("removed: it is damaged"), "byte {at}: {told:?}");
        store.snapshot().expect("written");
        drop(store);
    }
    for length in [0, 1, 17, 31, 32, 33, whole.len() / 2, whole.len() - 1] {
        fs::write(path(root, 45), &whole[..length]).expect("written");
        let (store, notes) = open(root);
        assert_eq!((sums(&store), told(&notes).len()), (right(), 1), "{length} bytes");
    }
}

#[test]
fn one_that_is_whole_and_cannot_be_used_is_removed_with_its_reason() {
    let moved = |root: &Path, to: u64| fs::rename(path(root, 45), path(root, to)).expect("renamed");
    type Spoil<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Spoil<'_>); 8] = [
        ("another build wrote it", &|root| {
            forge(&path(root, 45), |bytes| replace(bytes, b"tally-1", b"tally-0"));
        }),
        ("it has another format", &|root| {
            forge(&path(root, 45), |bytes| replace(bytes, b"arena.snapshot.1", b"arena.snapshot.2"));
        }),
        ("it has another format", &|root| forge(&path(root, 45), |bytes| bytes.push(0))),
        ("it has another format", &|root| forge(&path(root, 45), |bytes| bytes.truncate(60))),
        ("it has another format", &|root| {
            // As many places as no memory has.
            let at = 17 + 8 + "tally-1".len() + 8 + 32;
            forge(&path(root, 45), |bytes| bytes[at..at + 8].copy_from_slice(&u64::MAX.to_be_bytes()));
        }),
        ("it stands at 45, not where its name says", &|root| moved(root, 99)),
        ("the domain makes nothing of it", &|root| {
            forge(&path(root, 45), |bytes| replace(bytes, br#"{"a":1035}"#, br#"["a",1035]"#));
        }),
        ("it cannot be read: it is no file", &|root| {
            fs::remove_file(path(root, 45)).expect("removed");
            std::os::unix::fs::symlink(root.join(JOURNAL), path(root, 45)).expect("linked");
        }),
    ];
    for (why, spoil) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        filled(root);
        spoil(root);
        let (store, notes) = open(root);
        assert_eq!(sums(&store), right(), "{why}");
        let told = told(&notes);
        let why = if why.contains("no file") { "it cannot be read" } else { why };
        assert!(told[0].contains(&format!("removed: {why}")), "{why}: {told:?}");
        assert!(told[1].contains("snapshot at event 40,") && told[1].contains("and 5 after"), "{told:?}");
        did(&store, add("a", 1));
    }
}

#[test]
fn one_from_which_the_rest_does_not_follow_is_removed_and_everything_is_folded() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    fs::remove_file(path(root, 45)).expect("removed");
    // What comes after it goes beyond the largest number, which the domain takes badly.
    restate(&path(root, 40), r#"{"a":820}"#, r#"{"a":18446744073709551615}"#);
    let (store, notes) = open(root);
    assert_eq!(sums(&store), right());
    let told = told(&notes);
    assert!(
        told.len() == 1 && told[0].contains("event 41") && told[0].contains("cannot be folded"),
        "{told:?}"
    );
}

/// A name that nobody can remove is passed over, at every start.
#[test]
fn one_that_cannot_be_removed_is_in_nobodys_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    fs::create_dir(path(root, 50)).expect("a folder in its place");
    fs::create_dir(root.join(SNAPSHOTS).join(format!("{:020}.tmp", 51))).expect("another");
    fs::write(root.join(SNAPSHOTS).join("+0000000000000000060.snapshot"), "no place").expect("written");
    for _ in 0..2 {
        let (store, notes) = open(root);
        assert_eq!(sums(&store), right());
        let notes = notes.lock().expect("it").clone();
        assert!(
            matches!(&notes[..], [SnapshotNote::Dropped { seq: 50, why }, SnapshotNote::Used { seq: 45, .. }]
                if why.contains("cannot be removed")),
            "{notes:?}"
        );
    }
}

#[test]
fn a_journal_that_was_written_anew_below_it_is_not_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    // A longer history of its own, under the old snapshots.
    let other = folder.path().join("other");
    let (store, _) = open(&other);
    for n in 1..=60 {
        did(&store, add("b", n));
    }
    drop(store);
    for ending in ["", "-wal", "-shm"] {
        let from = other.join(format!("{JOURNAL}{ending}"));
        let to = root.join(format!("{JOURNAL}{ending}"));
        let _ = fs::remove_file(&to);
        if from.exists() {
            fs::copy(from, to).expect("copied");
        }
    }
    let (store, notes) = open(root);
    assert_eq!(sums(&store), [("b".to_owned(), 1_830)].into());
    let told = told(&notes);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|it| it.ends_with("the journal has another event at its place")), "{told:?}");
    // A shorter one: the snapshots are of a future that never was.
    drop(store);
    tamper(root, "DELETE FROM events WHERE seq > 20");
    let (store, notes) = open(root);
    assert_eq!((sums(&store), notes.lock().expect("it").len()), ([("b".to_owned(), 210)].into(), 1));
}

#[test]
fn one_of_other_rules_is_not_used_and_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path());
    let other = Tally { discriminator: "tally-2", ..Tally::default() };
    let (store, notes) = open_as(folder.path(), other);
    assert_eq!((sums(&store), notes.lock().expect("it").len()), (right(), 2));
    store.snapshot().expect("written");
    assert_eq!(places(folder.path()), [45]);
}

#[test]
fn what_a_killed_writer_left_of_one_goes_and_the_one_before_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    // Killed at any byte of it, before it has its name.
    let whole = fs::read(path(root, 45)).expect("read");
    fs::remove_file(path(root, 45)).expect("removed");
    for length in [0, 20, whole.len() - 1, whole.len()] {
        let half = root.join(SNAPSHOTS).join(format!("{:020}.tmp", 45));
        fs::write(&half, &whole[..length]).expect("written");
        let (store, notes) = open(root);
        assert_eq!(*notes.lock().expect("it"), [SnapshotNote::Used { seq: 40, left_out: 0, after: 5 }]);
        assert_eq!(sums(&store), right());
        assert!(!half.exists());
        drop(store);
        fs::remove_file(path(root, 45)).expect("the end of the writer wrote it");
    }
    // What is nobody's stays, and is in nobody's way.
    fs::write(root.join(SNAPSHOTS).join("notes.txt"), "mine").expect("written");
    assert_eq!(sums(&open(root).0), right());
}

#[test]
fn what_a_snapshot_leaves_out_is_folded_again_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let split = || Tally { counts_votes: true, ..Tally::default() };
    let (store, _) = open_as(root, split());
    for n in 1..=15 {
        did(&store, add("a", n));
        did(&store, super::tally::Command::Vote { by: format!("voter-{n}"), of: "b".to_owned() });
    }
    let expected = store.state().expect("it").0.clone();
    drop(store);
    let (store, notes) = open_as(root, split());
    let state = store.state().expect("it").0.clone();
    assert_eq!((state.get("votes of b"), state.get("a")), (Some(&15), Some(&120)));
    assert_eq!(state, expected);
    assert_eq!(*notes.lock().expect("it"), [SnapshotNote::Used { seq: 30, left_out: 15, after: 0 }]);
    // What came after it is left out of the next one, too.
    did(&store, super::tally::Command::Vote { by: "late".to_owned(), of: "b".to_owned() });
    store.snapshot().expect("written");
    drop(store);
    let (store, notes) = open_as(root, split());
    assert_eq!(store.state().expect("it").0.get("votes of b"), Some(&16));
    assert_eq!(*notes.lock().expect("it"), [SnapshotNote::Used { seq: 31, left_out: 16, after: 0 }]);
    drop(store);
    // An edited event among them is found; the snapshot does not hide it.
    tamper(root, "UPDATE events SET at_ms = 1 WHERE seq = 4");
    let options = Options::default();
    let refused = Store::open(root, split(), tables(), options).err();
    assert!(matches!(refused, Some(StoreFault::Broken { seq: 4, .. })), "{refused:?}");
}

/// The start takes what is before the snapshot as it is, and finds out afterwards.
#[test]
fn an_edited_event_below_a_snapshot_is_told_and_the_next_start_refuses() {
    for (sql, seq) in [
        ("UPDATE events SET at_ms = 1 WHERE seq = 4", 4),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 44", 44),
        ("DELETE FROM events WHERE seq = 9", 10),
        ("DELETE FROM events WHERE seq < 45", 45),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        filled(root);
        tamper(root, sql);
        let (store, notes) = open(root);
        assert_eq!(sums(&store), right());
        let since = std::time::Instant::now();
        while !places(root).is_empty() && since.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // What is made of such a journal from now on is nothing to begin from.
        did(&store, add("a", 1));
        assert!(store.snapshot().is_err(), "{sql}");
        drop(store);
        assert!(places(root).is_empty(), "{sql}");
        let notes = notes.lock().expect("it").clone();
        assert!(
            matches!(notes[1], SnapshotNote::Broken { seq: found, .. } if found == seq),
            "{sql}: {notes:?}"
        );
        let refused = Store::open(root, Tally::default(), tables(), Options::default()).err();
        assert!(
            matches!(refused, Some(StoreFault::Broken { seq: found, .. }) if found == seq),
            "{refused:?}"
        );
    }
}

/// What cannot be read follows nothing: a damaged page is told, too.
#[test]
fn an_event_below_a_snapshot_that_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    filled(root);
    tamper(root, "UPDATE events SET kind = CAST(x'ff' AS TEXT) WHERE seq = 9");
    let (store, notes) = open(root);
    let since = std::time::Instant::now();
    while !places(root).is_empty() && since.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(store);
    let notes = notes.lock().expect("it").clone();
    assert!(
        matches!(&notes[1], SnapshotNote::Broken { why, .. } if why.contains("cannot be read")),
        "{notes:?}"
    );
    assert!(Store::open(root, Tally::default(), tables(), Options::default()).is_err());
}

#[test]
fn a_start_is_not_waited_for_to_be_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path());
    for _ in 0..20 {
        let (store, notes) = open(folder.path());
        drop(store);
        assert_eq!(*notes.lock().expect("it"), [SnapshotNote::Used { seq: 45, left_out: 0, after: 0 }]);
    }
}

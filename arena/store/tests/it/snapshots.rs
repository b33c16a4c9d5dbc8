//! Snapshots are a cache: what is wrong with one costs time, never truth.

use arena_store::rusqlite::Connection;
use arena_store::{JOURNAL, Options, Store};

use super::tally::{Tally, add, did, open_with, sums, tables};

fn snapshots(root: &std::path::Path) -> Vec<(String, i64)> {
    let db = Connection::open(root.join(JOURNAL)).expect("it opens");
    let mut statement = db.prepare("SELECT discriminator, seq FROM snapshots ORDER BY seq").expect("read");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("read");
    rows.collect::<Result<_, _>>().expect("rows")
}

fn change(root: &std::path::Path, sql: &str) {
    let db = Connection::open(root.join(JOURNAL)).expect("it opens");
    assert!(db.execute(sql, []).expect("changed") > 0);
}

fn open(root: &std::path::Path) -> Store<Tally> {
    open_with(root, Options { snapshot_every: 10, ..Options::default() }).expect("it opens")
}

#[test]
fn two_are_kept_and_a_restart_starts_from_the_newest() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let store = open(root);
    for n in 1..=45 {
        did(&store, add("a", n));
    }
    drop(store);
    let kept = [("tally-1".to_owned(), 40), ("tally-1".to_owned(), 45)];
    assert_eq!(snapshots(root), kept);
    // What a snapshot says is believed as long as it is whole: that it is used shows.
    let forged = br#"{"a":1000000}"#;
    let sha256 = arena_canon::Digest::of(forged);
    change(
        root,
        &format!(
            "UPDATE snapshots SET bytes = CAST('{}' AS BLOB), sha256 = x'{sha256}' WHERE seq = 45",
            String::from_utf8_lossy(forged)
        ),
    );
    assert_eq!(sums(&open(root)), [("a".to_owned(), 1_000_000)].into());
}

#[test]
fn one_that_is_not_of_this_journal_or_not_whole_is_passed_over() {
    let right: std::collections::BTreeMap<_, _> = [("a".to_owned(), (1..=45).sum::<u64>())].into();
    for spoilt in [
        "UPDATE snapshots SET hash = zeroblob(32) WHERE seq = 45",
        "UPDATE snapshots SET bytes = CAST('{\"a\":7}' AS BLOB) WHERE seq = 45",
        "UPDATE snapshots SET seq = 41 WHERE seq = 45",
        "UPDATE snapshots SET seq = 99 WHERE seq = 45",
        "UPDATE snapshots SET hash = zeroblob(32)",
        "UPDATE snapshots SET bytes = x''",
        "UPDATE snapshots SET discriminator = 'tally-0'",
        "DELETE FROM snapshots",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        for n in 1..=45 {
            did(&store, add("a", n));
        }
        drop(store);
        change(folder.path(), spoilt);
        let store = open(folder.path());
        assert_eq!(sums(&store), right, "{spoilt}");
        did(&store, add("a", 1));
    }
}

#[test]
fn one_of_other_rules_is_not_used_and_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for n in 1..=12 {
        did(&store, add("a", n));
    }
    drop(store);
    change(folder.path(), "UPDATE snapshots SET bytes = CAST('{}' AS BLOB)");
    let other = Tally { discriminator: "tally-2", ..Tally::default() };
    let store = Store::open(folder.path(), other, tables(), Options::default()).expect("it opens");
    assert_eq!(sums(&store), [("a".to_owned(), 78)].into());
    store.snapshot().expect("written");
    assert_eq!(snapshots(folder.path()), [("tally-2".to_owned(), 12)]);
}

//! Projections can be dropped and built again, and are when they change.

use arena_store::rusqlite::{self, Connection};
use arena_store::{Event, Options, Projection, Store, StoreFault};

use super::tally::{SumsTable, Tally, VotesTable, add, did, open, sums, sums_table};

#[test]
fn a_projection_that_is_built_again_is_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for n in 1..=200 {
        did(&store, add(&format!("{}", n % 7), n));
    }
    let before = sums_table(&store);
    assert_eq!(before, sums(&store));
    drop(store);
    let db = Connection::open(folder.path().join(arena_store::JOURNAL)).expect("it opens");
    db.execute_batch("UPDATE p_sums SET n = 0").expect("spoilt");
    drop(db);
    let store = open(folder.path());
    assert_ne!(sums_table(&store), before);
    store.rebuild("sums").expect("built");
    assert_eq!(sums_table(&store), before);
    did(&store, add("0", 1));
    assert_eq!(sums_table(&store), sums(&store));
    assert!(matches!(store.rebuild("none"), Err(StoreFault::Projection { .. })));
}

fn open_with(root: &std::path::Path, tables: Vec<Box<dyn Projection>>) -> Result<Store<Tally>, StoreFault> {
    Store::open(root, Tally::default(), tables, Options::default())
}

#[test]
fn a_changed_projection_is_built_anew_and_one_that_is_gone_is_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    did(&store, add("a", 5));
    drop(store);
    let tables = |store: &Store<Tally>| {
        let select = "SELECT name FROM sqlite_schema WHERE name LIKE 'p\\_%' ESCAPE '\\' ORDER BY name";
        let read = store.journal().read(|db| {
            db.prepare(select)?.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
        });
        read.expect("read")
    };
    let store = open_with(folder.path(), vec![Box::new(SumsTable { version: 3 })]).expect("it opens");
    assert_eq!(sums_table(&store), [("a".to_owned(), 15)].into());
    assert_eq!(tables(&store), ["p_sums", "p_sums__n"]);
    did(&store, add("b", 1));
    drop(store);
    // While it was not registered nothing was written to it, so it is built again, whole.
    drop(open_with(folder.path(), vec![Box::new(VotesTable)]).expect("it opens"));
    let store = open(folder.path());
    assert_eq!(sums_table(&store), [("a".to_owned(), 5), ("b".to_owned(), 1)].into());
    assert_eq!(tables(&store), ["p_sums", "p_sums__n", "p_votes"]);
}

struct Named(&'static str, &'static str);

impl Projection for Named {
    fn name(&self) -> &'static str {
        self.0
    }
    fn version(&self) -> u32 {
        1
    }
    fn tables(&self) -> &'static str {
        self.1
    }
    fn apply(&self, _: &Connection, _: &Event) -> rusqlite::Result<()> {
        Ok(())
    }
}

#[test]
fn projections_keep_to_their_own_names() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, tables) in [
        ("", ""),
        ("Sums", ""),
        ("a__b", ""),
        ("a; DROP TABLE events", ""),
        ("mine", "CREATE TABLE p_other (a)"),
        ("mine", "CREATE TABLE p_mine_too (a)"),
        ("mine", "CREATE TABLE p_mine (a); CREATE INDEX other ON p_mine (a)"),
        ("mine", "CREATE TABLE p_mine (a); CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END"),
    ] {
        let refused = open_with(folder.path(), vec![Box::new(Named(name, tables))]);
        assert!(matches!(refused.err(), Some(StoreFault::Projection { .. })), "{name}: {tables}");
    }
    let twice: Vec<Box<dyn Projection>> = vec![Box::new(Named("a", "")), Box::new(Named("a", ""))];
    assert!(matches!(open_with(folder.path(), twice).err(), Some(StoreFault::Projection { .. })));
    let ok = Named(
        "mine",
        "CREATE TABLE p_mine (a INTEGER PRIMARY KEY, b UNIQUE); CREATE VIEW p_mine__v AS SELECT a FROM p_mine",
    );
    let store = open_with(folder.path(), vec![Box::new(ok)]).expect("it opens");
    store.rebuild("mine").expect("built");
}

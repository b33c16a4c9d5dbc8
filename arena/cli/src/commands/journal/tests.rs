use std::path::Path;

use arena_canon::Digest;
use arena_store::rusqlite::Connection;
use arena_store::{Append, Domain, Draft, Event, JOURNAL, Options, Stop, Store, Unfit};
use serde_json::{Value, json};

use crate::{Env, Exit, Io};

/// Counts words; a word with a salt is sealed.
struct Words;

impl Domain for Words {
    type State = u64;
    type Command = (&'static str, Option<[u8; 32]>);
    type Answer = u64;
    type Refusal = ();

    fn initial(&self) -> u64 {
        0
    }
    fn knows(&self, kind: &str, version: u32) -> bool {
        (kind, version) == ("word.said", 1)
    }
    fn decide(&self, _: &u64, (word, salt): Self::Command, tx: &mut Append<'_>) -> Result<u64, Stop<()>> {
        let draft = Draft::new(1_767_225_600_000, "words", "word.said", 1, &json!({ "word": word }));
        tx.book_blob(Digest::of(word.as_bytes()), word.len() as u64, "text/plain")?;
        Ok(tx.append(salt.into_iter().fold(draft, Draft::sealed))?)
    }
    fn evolve(&self, words: &mut u64, _: &Event) -> Result<(), Unfit> {
        *words += 1;
        Ok(())
    }
    fn discriminator(&self) -> String {
        "words-1".to_owned()
    }
}

fn store(root: &Path) -> Store<Words> {
    let store = Store::open(root, Words, Vec::new(), Options::default()).expect("it opens");
    for (word, salt) in [("one", None), ("secret", Some([7; 32])), ("three", None)] {
        store.blobs().put(word.as_bytes()).expect("put");
        store.submit((word, salt)).wait().expect("said");
    }
    store
}

fn arena(root: &Path, line: &str) -> (Exit, String, String) {
    let line = line.replace("{}", root.to_str().expect("text"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut io = Io::new(std::io::empty(), &mut out, &mut err, Env::default());
    let exit = crate::run(line.split_whitespace().map(Into::into), &mut io);
    drop(io);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (exit, text(out), text(err))
}

#[test]
fn a_journal_at_work_is_verified_exported_and_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("data");
    let store = store(&root);
    let head = store.journal().head().expect("read");
    let (exit, out, _) = arena(folder.path(), "arena journal verify {}/data");
    assert_eq!(exit, Exit::Success, "{out}");
    assert!(out.contains("3 events · 1 sealed · 3 blobs"), "{out}");
    assert!(out.contains(&format!("head 3:{}", head.hash)), "{out}");
    let line = format!("arena journal verify {{}}/data --json --head 3:{}", head.hash);
    let (exit, out, _) = arena(folder.path(), &line);
    let told: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((exit, &told["verified"], &told["head"]["seq"]), (Exit::Success, &json!(true), &json!(3)));

    let (exit, public, _) = arena(folder.path(), "arena journal export {}/data");
    assert_eq!((exit, public.lines().count(), public.contains("secret")), (Exit::Success, 3, false));
    let (_, all, _) = arena(folder.path(), "arena journal export {}/data --sealed --since 1");
    assert_eq!((all.lines().count(), all.contains("secret")), (2, true));
    std::fs::write(folder.path().join("export.ndjson"), &public).expect("written");
    let line = format!("arena journal verify {{}}/export.ndjson --head 3:{}", head.hash);
    assert_eq!(arena(folder.path(), &line).0, Exit::Success);
    let edited = public.replace("three", "throw");
    std::fs::write(folder.path().join("export.ndjson"), edited).expect("written");
    let (exit, out, _) = arena(folder.path(), "arena journal verify {}/export.ndjson");
    assert_eq!(exit, Exit::Rejected);
    assert!(out.contains("event 3: its content has the digest"), "{out}");

    let (exit, out, _) = arena(folder.path(), "arena journal tail {}/data -n 2 --once");
    let lines: Vec<&str> = out.lines().map(str::trim_start).collect();
    assert_eq!((exit, lines.len()), (Exit::Success, 2));
    assert!(lines[0].starts_with("2 ") && lines[0].contains("sealed") && !out.contains("secret"), "{out}");
    let three = r#"3  2026-01-01T00:00:00.000Z  words  word.said  {"word":"three"}"#;
    assert_eq!(lines[1], three);
    let (_, out, _) = arena(folder.path(), "arena journal tail {}/data --since 0 --once --json");
    assert_eq!(out, public);
}

#[test]
fn a_backup_is_a_journal_and_goes_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder.path().join("data"));
    let (exit, out, _) = arena(folder.path(), "arena journal backup {}/data {}/copy");
    assert_eq!(exit, Exit::Success);
    assert!(out.contains("3 events · 3 blobs of 14 bytes"), "{out}");
    assert_eq!(arena(folder.path(), "arena journal verify {}/copy").0, Exit::Success);
    // The keys of a server stay where they are, and that is told.
    std::fs::create_dir(folder.path().join("data/keys")).expect("made");
    std::fs::write(folder.path().join("data/keys/log"), "a key").expect("written");
    let (_, _, err) = arena(folder.path(), "arena journal backup {}/data {}/second");
    assert!(err.contains("keys are not copied"), "{err}");
    assert!(!folder.path().join("second/keys").exists());
    let (exit, _, err) = arena(folder.path(), "arena journal backup {}/data {}/copy");
    assert_eq!(exit, Exit::Usage, "{err}");
    assert!(err.contains("not empty"), "{err}");
    drop(store);
}

#[test]
fn an_edited_journal_is_refused_and_none_is_a_wrong_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("data");
    drop(store(&root));
    let db = Connection::open(root.join(JOURNAL)).expect("it opens");
    db.execute_batch("DROP TRIGGER events_no_update; UPDATE events SET at_ms = 1 WHERE seq = 2")
        .expect("edited");
    drop(db);
    let (exit, out, _) = arena(folder.path(), "arena journal verify {}/data");
    assert_eq!(exit, Exit::Rejected);
    assert!(out.contains("event 2: its content has the digest"), "{out}");
    for line in ["verify {}/none", "export {}/none", "tail {}/none", "backup {}/none {}/copy", "verify {}"] {
        let (exit, out, err) = arena(folder.path(), &format!("arena journal {line}"));
        assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{line}: {err}");
        assert!(err.contains("holds no journal"), "{line}: {err}");
    }
    std::fs::write(root.join(JOURNAL), "not a database ".repeat(100)).expect("written");
    assert_eq!(arena(folder.path(), "arena journal verify {}/data").0, Exit::Usage);
}

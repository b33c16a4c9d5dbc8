//! Whoever edits the database behind the store's back is found out.

use std::fs;

use arena_canon::Digest;
use arena_store::{Event, Head, JOURNAL, Report, Shown, StoreFault, Wanted, line, verify, verify_lines};

use super::tally::{Command, add, did, open, tamper};

fn filled(root: &std::path::Path) -> Vec<Event> {
    let store = open(root);
    for n in 1..=6 {
        did(&store, add("a", n));
    }
    did(&store, Command::AddSealed { name: "secret".to_owned(), n: 7, salt: [7; 32] });
    did(&store, add("b", 8));
    store.journal().after(0, 100).expect("read")
}

fn told(report: &Report) -> Vec<String> {
    report.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_journal_is_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = filled(folder.path());
    let heads = vec![Head { seq: 3, hash: events[2].hash }, Head { seq: 8, hash: events[7].hash }];
    let report = verify(folder.path(), &Wanted { heads, blobs: true, named: None }).expect("looked at");
    assert_eq!(told(&report), [""; 0]);
    assert_eq!((report.events, report.sealed, report.head.seq), (8, 1, 8));
}

#[test]
fn an_edited_event_is_found() {
    for (sql, seq, what) in [
        (
            "UPDATE events SET body = CAST('{\"n\":400,\"name\":\"a\"}' AS BLOB) WHERE seq = 4",
            4,
            "its content",
        ),
        ("UPDATE events SET at_ms = at_ms + 1 WHERE seq = 4", 4, "its content"),
        ("UPDATE events SET topic = 'tally/b' WHERE seq = 4", 4, "its content"),
        ("UPDATE events SET version = 2 WHERE seq = 4", 4, "its content"),
        ("UPDATE events SET kind = 'tally.voted' WHERE seq = 4", 4, "its content"),
        ("UPDATE events SET salt = zeroblob(32) WHERE seq = 4", 4, "its content"),
        ("UPDATE events SET salt = NULL WHERE seq = 7", 7, "its content"),
        ("UPDATE events SET content_sha256 = zeroblob(32) WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET prev = zeroblob(32) WHERE seq = 4", 4, "as the hash before it"),
        ("DELETE FROM events WHERE seq = 4", 5, "it comes after event 3"),
        ("DELETE FROM events WHERE seq = 1", 2, "it comes after event 0"),
        ("UPDATE events SET seq = 100 WHERE seq = 8", 100, "it comes after event 7"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        filled(folder.path());
        tamper(folder.path(), sql);
        let report = verify(folder.path(), &Wanted::default()).expect("looked at");
        let first = report.findings.iter().find(|finding| finding.seq.is_some()).expect(sql);
        assert_eq!(first.seq, Some(seq), "{sql}: {:?}", told(&report));
        assert!(first.message.contains(what), "{sql}: {first}");
        assert!(report.findings.len() <= 3, "{sql}: {:?}", told(&report));
    }
}

#[test]
fn a_writer_does_not_go_on_from_an_edited_event() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path());
    tamper(folder.path(), "UPDATE events SET at_ms = 1 WHERE seq = 4");
    let refused = super::tally::open_with(folder.path(), arena_store::Options::default());
    assert!(matches!(refused.err(), Some(StoreFault::Broken { seq: 4, .. })));
}

#[test]
fn only_a_hash_from_elsewhere_tells_of_a_missing_end_or_another_history() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = filled(folder.path());
    tamper(folder.path(), "DELETE FROM events WHERE seq > 5");
    assert!(verify(folder.path(), &Wanted::default()).expect("looked at").is_sound());
    let heads = |seq, hash| Wanted { heads: vec![Head { seq, hash }], ..Wanted::default() };
    let report = verify(folder.path(), &heads(8, events[7].hash)).expect("looked at");
    assert_eq!(told(&report), ["event 8: it is known from elsewhere, and it is not here"]);
    let report = verify(folder.path(), &heads(5, events[7].hash)).expect("looked at");
    assert!(told(&report)[0].contains("is known of it"), "{:?}", told(&report));
}

#[test]
fn missing_triggers_and_strange_ones_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    filled(folder.path());
    let db = arena_store::rusqlite::Connection::open(folder.path().join(JOURNAL)).expect("it opens");
    db.execute_batch(
        "DROP TRIGGER events_no_delete;
         CREATE TRIGGER strange AFTER INSERT ON events BEGIN SELECT 1; END;",
    )
    .expect("changed");
    let report = verify(folder.path(), &Wanted::default()).expect("looked at");
    assert_eq!(
        told(&report),
        [
            "`events_no_delete` of the tables is missing or another",
            "`strange` does not belong to the journal's tables"
        ]
    );
}

#[test]
fn a_torn_file_is_a_finding_and_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for n in 1..=20 {
        let pending: Vec<_> = (0..100).map(|m| store.submit(add(&format!("name-{n}-{m}"), n))).collect();
        assert!(pending.into_iter().all(|pending| pending.wait().is_ok()));
    }
    drop(store);
    let path = folder.path().join(JOURNAL);
    let whole = fs::read(&path).expect("read");
    assert!(whole.len() > 100_000, "{}", whole.len());
    let mut found = 0;
    for at in (5_000..whole.len()).step_by(whole.len() / 40) {
        let mut torn = whole.clone();
        for byte in &mut torn[at..(at + 64).min(whole.len())] {
            *byte ^= 0x5a;
        }
        fs::write(&path, torn).expect("written");
        // Some bytes are in tables that can be built again, or nowhere.
        found +=
            usize::from(!verify(folder.path(), &Wanted::default()).is_ok_and(|report| report.is_sound()));
    }
    assert!(found > 20, "{found}");
    fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    assert!(!verify(folder.path(), &Wanted::default()).is_ok_and(|report| report.is_sound()));
    fs::write(
        &path,
        b"not a database at all, but long enough to have a header of a hundred bytes, or about so much",
    )
    .expect("written");
    assert!(verify(folder.path(), &Wanted::default()).is_err());
}

fn exported(events: &[Event], shown: Shown) -> Vec<u8> {
    let lines = events.iter().flat_map(|event| [line(event, shown), b"\n".to_vec()].concat());
    lines.collect()
}

#[test]
fn an_export_is_checked_by_those_who_see_stubs_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = filled(folder.path());
    let heads = [Head { seq: 8, hash: events[7].hash }];
    for shown in [Shown::Public, Shown::All] {
        let text = exported(&events, shown);
        assert_eq!(String::from_utf8_lossy(&text).contains("secret"), shown == Shown::All);
        let report = verify_lines(text.as_slice(), &heads).expect("read");
        assert_eq!(told(&report), [""; 0]);
        assert_eq!((report.first_seq, report.events, report.sealed, report.head), (1, 8, 1, heads[0]));
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let value = arena_canon::json::read(line, arena_store::LINE_BYTES_MAX).expect("JSON");
            assert_eq!(arena_canon::json::canonical(&value), line, "canonical");
        }
    }
    // A part starts anywhere.
    let report = verify_lines(exported(&events[4..], Shown::Public).as_slice(), &heads).expect("read");
    assert_eq!((told(&report), report.first_seq, report.events), (Vec::new(), 5, 4));
    // What was sealed is what is disclosed later.
    let sealed = &events[6];
    let salt = sealed.salt.as_ref();
    let again =
        arena_store::content_sha256(sealed.at_ms, "tally/secret", "tally.added", 1, &sealed.body, salt);
    assert_eq!(again, sealed.content_sha256);
    let unsalted =
        arena_store::content_sha256(sealed.at_ms, "tally/secret", "tally.added", 1, &sealed.body, None);
    assert_ne!(unsalted, sealed.content_sha256);
}

#[test]
fn an_edited_export_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = filled(folder.path());
    let text = String::from_utf8(exported(&events, Shown::Public)).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().join("\n") + "\n";
    let zeros = Digest::from_bytes([0; 32]).to_string();
    let stub_hash = events[6].content_sha256.to_string();
    for (name, edited) in [
        ("a number", text.replacen("\"n\":3", "\"n\":4", 1)),
        ("a line less", without(3)),
        ("a stub's digest", text.replace(&stub_hash, &zeros)),
        ("a member more", text.replacen("\"version\":1}", "\"version\":1,\"z\":1}", 1)),
        ("a space", text.replacen("{\"at_ms\"", "{ \"at_ms\"", 1)),
        ("half a line", text[..text.len() - 10].to_owned()),
        ("no JSON", format!("{text}nothing\n")),
        ("a line twice", format!("{text}{}\n", lines[7])),
    ] {
        let report = verify_lines(edited.as_bytes(), &[]).expect("read");
        assert!(!report.is_sound(), "{name}");
        assert!(report.findings.len() <= 2, "{name}: {:?}", told(&report));
    }
    let endless = vec![b'x'; arena_store::LINE_BYTES_MAX + 10];
    assert!(told(&verify_lines(endless.as_slice(), &[]).expect("read"))[0].contains("more than"));
    let many = "x\n".repeat(1_000);
    let report = verify_lines(many.as_bytes(), &[]).expect("read");
    assert_eq!((report.findings.len(), report.more), (100, 900));
}

#[test]
fn blobs_that_are_named_have_to_be_booked() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let sha256 = store.blobs().put(b"text").expect("put");
    did(&store, Command::Book { sha256, bytes: 4 });
    let named = |event: &Event| {
        let body = event.json().expect("JSON");
        body["blob"].as_str().map(|text| text.parse().expect("a digest")).into_iter().collect()
    };
    let wanted = Wanted { named: Some(&named), blobs: true, ..Wanted::default() };
    assert!(verify(folder.path(), &wanted).expect("looked at").is_sound());
    let db = arena_store::rusqlite::Connection::open(folder.path().join(JOURNAL)).expect("it opens");
    db.execute_batch("DELETE FROM blobs_meta").expect("changed");
    let report = verify(folder.path(), &wanted).expect("looked at");
    assert_eq!(told(&report), [format!("event 1: it names blob {sha256}, which is not booked")]);
}

//! Contents under their digest: whole or not there, never edited, withheld for good.

use std::fs;
use std::io::Write;
use std::path::Path;

use arena_canon::Digest;
use arena_store::{BLOBS, BlobFault, Failed, Found, Options, StoreFault, Wanted, verify};

use super::tally::{Answer, Command, Refusal, did, failed, open};

fn path_of(root: &Path, sha256: Digest) -> std::path::PathBuf {
    let name = sha256.to_string();
    root.join(BLOBS).join(&name[..2]).join(name)
}

fn incoming(root: &Path) -> usize {
    fs::read_dir(root.join(BLOBS).join("incoming")).expect("a folder").count()
}

#[test]
fn a_blob_is_written_in_pieces_and_seen_when_it_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let blobs = store.blobs();
    let sha256 = Digest::of(b"one two");
    let mut writer = blobs.writer(7).expect("started");
    for piece in [&b"one"[..], b" ", b"two"] {
        writer.write_all(piece).expect("written");
        assert_eq!(blobs.read(sha256, 100).expect("read"), Found::Missing);
    }
    assert_eq!(writer.finish(Some(sha256)).expect("finished"), sha256);
    assert_eq!(blobs.read(sha256, 7).expect("read"), Found::Content(b"one two".to_vec()));
    assert!(matches!(blobs.read(sha256, 6), Err(BlobFault::TooLarge { limit: 6 })));
    // Once more is no trouble.
    assert_eq!(blobs.put(b"one two").expect("put"), sha256);
    assert_eq!(incoming(folder.path()), 0);
    assert_eq!(blobs.put(b"").expect("put"), Digest::of(b""));
    assert_eq!(blobs.read(Digest::of(b""), 0).expect("read"), Found::Content(Vec::new()));
}

#[test]
fn what_is_too_large_or_another_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let blobs = store.blobs();
    let mut writer = blobs.writer(4).expect("started");
    writer.write_all(b"1234").expect("fits");
    assert_eq!(writer.write(b"5").expect_err("too large").kind(), std::io::ErrorKind::FileTooLarge);
    assert!(matches!(writer.finish(None), Err(BlobFault::TooLarge { limit: 4 })));
    let mut writer = blobs.writer(4).expect("started");
    writer.write_all(b"1234").expect("fits");
    let expected = Digest::of(b"4321");
    let another = writer.finish(Some(expected)).expect_err("another");
    assert!(matches!(another, BlobFault::Another { found, .. } if found == Digest::of(b"1234")));
    drop(blobs.writer(4).expect("started"));
    assert_eq!(incoming(folder.path()), 0);
    for sha256 in [expected, Digest::of(b"1234"), Digest::of(b"12345")] {
        assert_eq!(blobs.read(sha256, 10).expect("read"), Found::Missing);
    }
}

#[test]
fn an_edited_blob_is_found_and_can_be_put_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let sha256 = store.blobs().put(b"content").expect("put");
    did(&store, Command::Book { sha256, bytes: 7 });
    let wanted = Wanted { blobs: true, ..Wanted::default() };
    for edited in [&b"Content"[..], b"conten", b"content and more", b""] {
        fs::write(path_of(folder.path(), sha256), edited).expect("edited");
        assert!(matches!(store.blobs().read(sha256, 100), Err(BlobFault::Damaged(it)) if it == sha256));
        let report = verify(folder.path(), &wanted).expect("looked at");
        assert_eq!(report.findings[0].to_string(), format!("blob {sha256} is damaged"));
        store.blobs().put(b"content").expect("put");
        assert!(verify(folder.path(), &wanted).expect("looked at").is_sound());
    }
    fs::remove_file(path_of(folder.path(), sha256)).expect("removed");
    let report = verify(folder.path(), &wanted).expect("looked at");
    assert_eq!(report.findings[0].to_string(), format!("blob {sha256} is missing"));
}

#[test]
fn nothing_but_a_regular_file_of_the_folder_is_a_blob() {
    let folder = tempfile::tempdir().expect("a folder");
    let outside = folder.path().join("outside");
    fs::write(&outside, b"content").expect("written");
    let root = folder.path().join("data");
    let store = open(&root);
    let sha256 = store.blobs().put(b"content").expect("put");
    let path = path_of(&root, sha256);
    // A link out of the folder is not followed, not even to the right content.
    fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink(&outside, &path).expect("linked");
    assert!(store.blobs().read(sha256, 100).is_err());
    // A pipe does not make the reader wait.
    fs::remove_file(&path).expect("removed");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_bits_truncate(0o600),
        0,
    )
    .expect("a pipe");
    assert!(matches!(store.blobs().read(sha256, 100), Err(BlobFault::Damaged(_))));
    // Even the folder of a shelf may not lead out.
    let shelf = path.parent().expect("a folder");
    fs::remove_dir_all(shelf).expect("removed");
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("made");
    std::os::unix::fs::symlink(&elsewhere, shelf).expect("linked");
    assert!(store.blobs().put(b"content").is_err());
    assert_eq!(fs::read_dir(&elsewhere).expect("a folder").count(), 0);
}

#[test]
fn what_a_killed_writer_left_goes_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let mut writer = store.blobs().writer(100).expect("started");
    writer.write_all(b"half").expect("written");
    std::mem::forget(writer);
    assert_eq!(incoming(folder.path()), 1);
    assert_eq!(store.blobs().read(Digest::of(b"half"), 100).expect("read"), Found::Missing);
    drop(store);
    let _store = open(folder.path());
    assert_eq!(incoming(folder.path()), 0);
}

#[test]
fn a_withheld_blob_is_gone_for_good_and_the_journal_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let sha256 = store.blobs().put(b"a leaked name").expect("put");
    let unbooked = failed(&store, Command::Withhold { sha256 });
    assert_eq!(unbooked.to_string(), format!("blob {sha256} is not booked"));
    assert!(matches!(store.blobs().read(sha256, 100).expect("read"), Found::Content(_)));
    did(&store, Command::Book { sha256, bytes: 13 });
    let head = store.journal().head().expect("read");
    did(&store, Command::Withhold { sha256 });
    // The file goes before the answer.
    let reason = "a name leaked".to_owned();
    assert_eq!(store.blobs().read(sha256, 100).expect("read"), Found::Withheld { reason: reason.clone() });
    assert!(!path_of(folder.path(), sha256).exists());
    assert_eq!(store.journal().blob(sha256).expect("read").expect("booked").withheld, Some(reason));
    assert!(matches!(store.blobs().put(b"a leaked name"), Err(BlobFault::Withheld(_))));
    let wanted = Wanted { blobs: true, heads: vec![head], ..Wanted::default() };
    let report = verify(folder.path(), &wanted).expect("looked at");
    assert_eq!((report.is_sound(), report.withheld, report.blobs, report.events), (true, 1, 0, 2));
    // Killed between the commit and the removal: the next start does it.
    drop(store);
    fs::remove_file(path_of(folder.path(), sha256).with_extension("withheld")).expect("removed");
    fs::write(path_of(folder.path(), sha256), b"a leaked name").expect("written");
    let report = verify(folder.path(), &wanted).expect("looked at");
    assert_eq!(report.findings[0].to_string(), format!("blob {sha256} is withheld, and still there"));
    let store = open(folder.path());
    assert!(matches!(store.blobs().read(sha256, 100).expect("read"), Found::Withheld { .. }));
    assert!(verify(folder.path(), &wanted).expect("looked at").is_sound());
}

#[test]
fn uploads_that_came_to_nothing_are_removed_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let put = |text: &str| store.blobs().put(text.as_bytes()).expect("put");
    let (booked, unbooked, withheld) = (put("booked"), put("unbooked"), put("withheld"));
    did(&store, Command::Book { sha256: booked, bytes: 6 });
    did(&store, Command::Book { sha256: withheld, bytes: 8 });
    did(&store, Command::Withhold { sha256: withheld });
    drop(store);
    // Not asked for, and not old enough.
    for unbooked_before_ms in [None, Some(1_000_000_000_000)] {
        let options = Options { unbooked_before_ms, ..Options::default() };
        let store = super::tally::open_with(folder.path(), options).expect("it opens");
        assert!(store.blobs().holds(unbooked).expect("looked for"));
    }
    let options = Options { unbooked_before_ms: Some(100_000_000_000_000), ..Options::default() };
    let store = super::tally::open_with(folder.path(), options).expect("it opens");
    let holds = |sha256| store.blobs().holds(sha256).expect("looked for");
    assert_eq!([booked, unbooked, withheld].map(holds), [true, false, false]);
    assert!(matches!(store.blobs().read(withheld, 100).expect("read"), Found::Withheld { .. }));
    let wanted = Wanted { blobs: true, ..Wanted::default() };
    assert!(verify(folder.path(), &wanted).expect("looked at").is_sound());
}

#[test]
fn a_reason_and_a_media_type_have_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let blobs = arena_store::Blobs::open(&folder.path().join(BLOBS)).expect("it opens");
    assert_eq!(blobs.reason(Digest::of(b"")).expect("read"), None);
    assert!(arena_store::Blobs::open(&folder.path().join("none")).is_err());
    let fault =
        StoreFault::TooLarge { what: "the reason", bytes: 2_000, limit: arena_store::REASON_BYTES_MAX };
    assert_eq!(fault.to_string(), "the reason has 2000 bytes; the limit is 1024");
    drop(store);
}

/// Every file of the folder, as bytes.
fn holds_bytes(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(next) = ahead.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                ahead.push(path);
            } else if fs::read(&path).expect("read").windows(bytes.len()).any(|window| window == bytes) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_blob_is_kept_with_its_command_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let holds = |text: &str| store.blobs().holds(Digest::of(text.as_bytes())).expect("looked for");
    did(&store, Command::Keep { text: "kept".to_owned() });
    assert!(holds("kept"));
    for text in ["refused", "panic"] {
        failed(&store, Command::Keep { text: text.to_owned() });
        assert!(!holds(text), "{text}");
    }
    // One that is booked by another command stays.
    let sha256 = store.blobs().put(b"refused").expect("put");
    did(&store, Command::Book { sha256, bytes: 7 });
    failed(&store, Command::Keep { text: "refused".to_owned() });
    assert!(holds("refused") && holds("kept"));
    let wanted = Wanted { blobs: true, ..Wanted::default() };
    let report = verify(folder.path(), &wanted).expect("looked at");
    assert_eq!((report.is_sound(), report.blobs), (true, 2));
    drop(store);
    assert_eq!(incoming(folder.path()), 0);
}

/// A writer that is killed while it commits leaves what it wrote: by the next start it is at its place, or nowhere.
#[test]
fn what_a_killed_command_wrote_is_gone_at_the_next_start_whatever_its_age() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let upload = store.blobs().put(b"an upload").expect("put");
    did(&store, Command::Keep { text: "committed".to_owned() });
    did(&store, Command::Keep { text: "withheld".to_owned() });
    did(&store, Command::Withhold { sha256: Digest::of(b"withheld") });
    drop(store);
    let pending = folder.path().join(BLOBS).join("pending");
    assert_eq!(fs::read_dir(&pending).expect("a folder").count(), 0);
    let aside = |text: &[u8]| pending.join(Digest::of(text).to_string());
    fs::write(aside(b"not committed"), b"not committed").expect("written");
    fs::write(pending.join("something else"), b"?").expect("written");
    let committed = Digest::of(b"committed");
    fs::rename(path_of(folder.path(), committed), aside(b"committed")).expect("renamed");
    // Whoever only reads finds what is committed.
    let wanted = Wanted { blobs: true, ..Wanted::default() };
    let report = verify(folder.path(), &wanted).expect("looked at");
    assert_eq!((report.is_sound(), report.blobs, report.withheld), (true, 1, 1), "{:?}", report.findings);
    fs::write(aside(b"withheld"), b"withheld").expect("written");
    // Uploads that are not booked yet are kept for a while; texts are not.
    let options = Options { unbooked_before_ms: Some(1_000_000_000_000), ..Options::default() };
    let store = super::tally::open_with(folder.path(), options).expect("it opens");
    assert_eq!(fs::read_dir(&pending).expect("a folder").count(), 0);
    for text in [b"not committed" as &[u8], b"withheld"] {
        assert_eq!(holds_bytes(&folder.path().join(BLOBS), text), Vec::<String>::new());
    }
    assert!(store.blobs().holds(upload).expect("looked for"));
    assert_eq!(store.blobs().read(committed, 100).expect("read"), Found::Content(b"committed".to_vec()));
    assert!(path_of(folder.path(), committed).exists());
    assert!(verify(folder.path(), &wanted).expect("looked at").is_sound());
}

/// Whatever came first, the bytes are booked as what must not be taken away with the other.
#[test]
fn of_two_uses_of_the_same_bytes_the_stronger_is_booked() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for (text, over_first) in [("one", true), ("two", false)] {
        let sha256 = store.blobs().put(text.as_bytes()).expect("put");
        let mut commands = vec![Command::BookOver { sha256, bytes: 3 }, Command::Book { sha256, bytes: 3 }];
        if !over_first {
            commands.reverse();
        }
        for command in commands {
            did(&store, command);
        }
        let meta = store.journal().blob(sha256).expect("read").expect("booked");
        assert_eq!(meta.media_type, "text/plain; of=another", "{text}");
    }
}

/// By the digest of a request a short text could be guessed.
#[test]
fn of_a_withheld_blob_not_even_the_digest_of_its_request_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let request = |text: &str| Digest::of_parts(&[b"POST /texts ", text.as_bytes()]);
    let slot = |key: &str, text: &str| arena_store::Slot {
        scope: "ann".to_owned(),
        key: key.to_owned(),
        request_sha256: request(text),
    };
    let once = |key: &str, text: &str| Command::KeepOnce { slot: slot(key, text), text: text.to_owned() };
    let store = open(folder.path());
    let replays =
        |key: &str, text: &str| matches!(store.submit(once(key, text)).wait(), Ok(Answer::Replayed(_)));
    for (key, text) in [("k1", "violet"), ("k2", "other")] {
        did(&store, once(key, text));
        assert!(replays(key, text));
    }
    did(&store, Command::Withhold { sha256: Digest::of(b"violet") });
    // At work, and not only after it.
    assert_eq!(holds_bytes(folder.path(), request("violet").as_bytes()), Vec::<String>::new());
    for text in ["violet", "other"] {
        let again = failed(&store, once("k1", text));
        assert!(matches!(again, Failed::Refused(Refusal::KeyReused)), "{text}: {again}");
    }
    assert!(replays("k2", "other"));
    drop(store);
    drop(open(folder.path()));
    for (what, bytes) in [("text", b"violet".to_vec()), ("request", request("violet").as_bytes().to_vec())] {
        assert_eq!(holds_bytes(folder.path(), &bytes), Vec::<String>::new(), "{what}");
    }
    assert_eq!(holds_bytes(folder.path(), request("other").as_bytes()).len(), 1);
}

/// A reader that is in the middle of something needs what it reads, and the log is emptied once it is done.
#[test]
fn a_reader_only_delays_that_the_digest_of_a_request_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let request_sha256 = Digest::of(b"POST /texts violet");
    let slot = arena_store::Slot { scope: "ann".to_owned(), key: "k1".to_owned(), request_sha256 };
    did(&store, Command::KeepOnce { slot, text: "violet".to_owned() });
    let reader =
        arena_store::rusqlite::Connection::open(folder.path().join(arena_store::JOURNAL)).expect("open");
    reader.execute_batch("BEGIN; SELECT count(*) FROM events;").expect("read");
    did(&store, Command::Withhold { sha256: Digest::of(b"violet") });
    assert_ne!(holds_bytes(folder.path(), request_sha256.as_bytes()), Vec::<String>::new());
    // Others need not wait for the reader.
    let started = std::time::Instant::now();
    for n in 1..=50 {
        did(&store, super::tally::add("meanwhile", n));
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    reader.execute_batch("COMMIT").expect("done");
    // Nobody asks for anything more.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !holds_bytes(folder.path(), request_sha256.as_bytes()).is_empty() {
        assert!(std::time::Instant::now() < until, "it stays");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn what_is_wrong_with_a_blob_is_told_with_the_event_that_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for text in ["one", "two", "three"] {
        did(&store, Command::Keep { text: text.to_owned() });
    }
    let [one, two, three] = [b"one" as &[u8], b"two", b"three"].map(Digest::of);
    did(&store, Command::Withhold { sha256: one });
    drop(store);
    fs::remove_file(path_of(folder.path(), two)).expect("removed");
    fs::write(path_of(folder.path(), three), b"thr33").expect("edited");
    let named = |event: &arena_store::Event| -> Vec<Digest> {
        let body = event.json().expect("JSON");
        body["blob"].as_str().map(|blob| blob.parse().expect("a digest")).into_iter().collect()
    };
    let wanted = Wanted { blobs: true, named: Some(&named), ..Wanted::default() };
    let report = verify(folder.path(), &wanted).expect("looked at");
    let mut told: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    told.sort();
    let expected = [format!("event 2: blob {two} is missing"), format!("event 3: blob {three} is damaged")];
    assert_eq!((told, report.withheld), (expected.to_vec(), 1));
}

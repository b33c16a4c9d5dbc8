//! Backups while the writer is at work.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use arena_store::{Found, Wanted, backup, verify};

use super::tally::{Command, add, did, open, sums};

/// Whatever fails, those who write end.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_backup_under_load_is_a_whole_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("data");
    let store = open(&root);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for submitter in 0..4 {
            let (store, stop) = (store.clone(), &stop);
            scope.spawn(move || {
                let mut n = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    n += 1;
                    if n.is_multiple_of(7) {
                        let text = format!("{submitter}-{n}");
                        let sha256 = store.blobs().put(text.as_bytes()).expect("put");
                        did(&store, Command::Book { sha256, bytes: text.len() as u64 });
                    } else {
                        did(&store, add("a", n));
                    }
                }
            });
        }
        let _ends = Ends(&stop);
        let mut last = 0;
        for n in 0..5 {
            while store.journal().head().expect("read").seq <= last {
                thread::sleep(std::time::Duration::from_millis(1));
            }
            thread::sleep(std::time::Duration::from_millis(40));
            let copy = folder.path().join(format!("copy-{n}"));
            let done = backup(&root, &copy).expect("copied");
            assert!(done.head.seq > last && done.faults.is_empty(), "{done:?}");
            last = done.head.seq;
            let report = verify(&copy, &Wanted { blobs: true, ..Wanted::default() }).expect("looked at");
            assert!(report.is_sound(), "{:?}", report.findings);
            assert_eq!((report.head, report.blobs), (done.head, done.blobs));
            let event = store.journal().event(last).expect("read").expect("there");
            assert_eq!(event.hash, done.head.hash, "it is a part of the original");
        }
    });
    // A copy is a store like any other.
    let copy = open(&folder.path().join("copy-4"));
    assert!(sums(&copy)["a"] > 0);
    did(&copy, add("a", 1));
}

#[test]
fn a_backup_goes_to_an_empty_folder_and_tells_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("data");
    let store = open(&root);
    let put = |text: &str| {
        let sha256 = store.blobs().put(text.as_bytes()).expect("put");
        did(&store, Command::Book { sha256, bytes: text.len() as u64 });
        sha256
    };
    let (good, leaked, damaged, missing) = (put("good"), put("leaked"), put("damaged"), put("missing"));
    did(&store, Command::Withhold { sha256: leaked });
    store.snapshot().expect("written");
    let file = |sha256: arena_canon::Digest| {
        root.join(arena_store::BLOBS).join(&sha256.to_string()[..2]).join(sha256.to_string())
    };
    fs::write(file(damaged), "DAMAGED").expect("written");
    fs::remove_file(file(missing)).expect("removed");
    let full = folder.path().join("full");
    fs::create_dir(&full).expect("made");
    fs::write(full.join("mine"), "").expect("written");
    assert!(backup(&root, &full).expect_err("refused").to_string().contains("not empty"));
    assert!(backup(&root, &root).is_err());
    assert!(backup(&folder.path().join("none"), &folder.path().join("copy")).is_err());
    let copy = folder.path().join("copy");
    let done = backup(&root, &copy).expect("copied");
    assert_eq!((done.blobs, done.withheld, done.faults.len()), (1, 1, 2), "{done:?}");
    let copied = arena_store::Blobs::open(&copy.join(arena_store::BLOBS)).expect("opens");
    assert_eq!(copied.read(good, 10).expect("read"), Found::Content(b"good".to_vec()));
    assert!(matches!(copied.read(leaked, 10).expect("read"), Found::Withheld { .. }));
}

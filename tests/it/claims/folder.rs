//! The folder of an instance: read while somebody writes, written by one at a time, and whole after whatever
//! ended a command.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use arena_cli::Exit;

use super::Lab;
use crate::cli::Folder;

fn listed() -> Lab {
    let mut lab = Lab::open();
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    lab
}

const READERS: [&str; 4] = [
    "claim show --dir {}/lab",
    "claim show c1 --json --dir {}/lab",
    "claim audit c1 --dir {}/lab",
    "verify {}/lab",
];

/// Another arena at work: it has the lock, half a line in the journal and half a blob.
#[test]
fn whoever_reads_needs_no_lock() {
    let lab = listed();
    let journal = lab.folder.at("lab/journal.ndjson");
    let mut writing = OpenOptions::new().append(true).open(&journal).expect("a journal");
    writing.lock().expect("nobody else has it");
    let before: Vec<String> = READERS.iter().map(|line| lab.folder.arena(line).out).collect();
    writing.write_all(b"{\"at\":\"18000").expect("written");
    std::fs::write(lab.folder.at("lab/blobs/.arena-AbCdEf.tmp"), "half").expect("written");
    for (line, before) in READERS.iter().zip(before) {
        let ran = lab.folder.arena(line);
        assert_eq!(ran.exit, Exit::Success, "{line}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out, before, "{line}");
    }
    let locked = lab.folder.arena("claim deposit 1 --as a --dir {}/lab");
    assert_eq!(locked.exit, Exit::Rejected);
    assert!(locked.err.contains("another arena is at work in it"), "{}", locked.err);
    drop(writing);
    assert_eq!(lab.folder.arena("claim deposit 1 --as a --dir {}/lab").exit, Exit::Success);
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

#[cfg(unix)]
#[test]
fn whoever_reads_changes_nothing() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let lab = listed();
    let places = ["lab", "lab/blobs", "lab/sealed", "lab/rounds", "lab/journal.ndjson", "lab/instance.json"];
    let changed = |place: &&str| {
        let about = std::fs::metadata(lab.folder.at(place)).expect("it is there");
        (about.mtime(), about.mtime_nsec(), about.len())
    };
    let before: Vec<_> = places.iter().map(changed).collect();
    let mode = |mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(lab.folder.at("lab"), permissions).expect("it is ours");
    };
    mode(0o555);
    for line in READERS {
        assert_eq!(lab.folder.arena(line).exit, Exit::Success, "{line}");
    }
    mode(0o755);
    assert_eq!(places.iter().map(changed).collect::<Vec<_>>(), before);
}

/// A long run does not keep others out: it reads, and the lock is only for what it adds to the journal.
#[test]
fn a_claim_can_be_run_while_another_command_has_the_lock() {
    let mut lab = Lab::open();
    let runner = {
        lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
        lab.claim("fund c1 3500 --as fay");
        lab.claim("assign c1");
        lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned()
    };
    lab.claim(&format!("accept c1 --as {runner}"));
    lab.claim(&format!("inputs c1 --as {runner}"));
    let other = File::open(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    other.lock().expect("nobody else has it");
    let line = format!("claim run c1 --as {runner} --dir {{}}/lab");
    let ran = lab.folder.arena(&line);
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
}

/// A set-up that was killed at any step is not in the way of the next.
#[test]
fn what_a_killed_init_leaves_is_not_in_the_way() {
    for beacon in ["test", "ecvrf-operator"] {
        let whole = Folder::new();
        let line = format!("claim init --name test-lab --beacon {beacon} --dir {{}}/lab");
        assert_eq!(whole.arena(&line).exit, Exit::Success);
        let again = whole.arena(&line);
        assert_eq!(again.exit, Exit::Usage, "{}", again.err);
        // Its last step makes it an instance.
        std::fs::remove_file(whole.at("lab/instance.json")).expect("removed");
        std::fs::write(whole.at("lab/.arena-AbCdEf.tmp"), "half").expect("written");
        assert_eq!(whole.arena("claim show --dir {}/lab").exit, Exit::Usage);
        let again = whole.arena(&line);
        assert_eq!(again.exit, Exit::Success, "{}", again.err);
        assert_eq!(whole.arena("verify {}/lab").exit, Exit::Success);
    }
}

/// Inputs that are no files: nobody waits for them, and no claim ends by them.
#[cfg(unix)]
#[test]
fn an_input_that_is_no_file_is_an_error_and_no_mismatch() {
    let mut lab = Lab::open();
    std::fs::create_dir(lab.folder.at("data")).expect("a folder");
    lab.folder.file("data/prices.csv", "1");
    std::fs::remove_file(lab.folder.at("manifest.json")).expect("the lab has one");
    lab.plain(
        "claim new {}/manifest.json --as sue --component {}/run.wasm --metric elo=1 --input {}/data/prices.csv --dir {}/lab",
    );
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --inputs {}/data --deposit 500 --as sue");
    lab.claim("fund c1 3500 --as fay");
    lab.claim("assign c1");
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    lab.claim(&format!("accept c1 --as {runner}"));
    let path = lab.folder.at("data/prices.csv");
    let refused = |why: &str| {
        for line in [
            format!("claim run c1 --as {runner} --inputs {{}}/data --dir {{}}/lab"),
            format!("claim inputs c1 --as {runner} --from {{}}/data --dir {{}}/lab"),
        ] {
            let ran = lab.folder.arena(&line);
            assert_eq!(ran.exit, Exit::Usage, "{line}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains(why), "{line}: {}", ran.err);
        }
    };
    std::fs::remove_file(&path).expect("removed");
    refused("no such file");
    std::fs::create_dir(&path).expect("made");
    refused("it is a folder");
    std::fs::remove_dir(&path).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo starts");
    assert!(made.success());
    refused("it is no regular file");
    // A blob that was changed is no mismatch either: the folder is damaged.
    let blob = lab.folder.at(&format!("lab/blobs/{}", arena_canon::Digest::of(b"1")));
    std::fs::write(&blob, "2").expect("written");
    let ran = lab.folder.arena(&format!("claim run c1 --as {runner} --dir {{}}/lab"));
    assert_eq!(ran.exit, Exit::Rejected, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("it was changed"), "{}", ran.err);
    assert_eq!(lab.show()["claims"][0]["phase"], "running");
}

/// A listed claim has everything that it pins in the folder, whatever happens in between.
#[test]
fn what_cannot_be_kept_is_not_listed() {
    let lab = Lab::open();
    let journal = std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    std::fs::remove_dir(lab.folder.at("lab/blobs")).expect("it is empty");
    lab.folder.file("lab/blobs", "no folder");
    let at = lab.now;
    let line = format!(
        "claim list c1 {{}}/manifest.json --component {{}}/run.wasm --deposit 500 --as sue --dir {{}}/lab --at {at}"
    );
    assert_ne!(lab.folder.arena(&line).exit, Exit::Success);
    assert_eq!(std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal"), journal);
    // Nor is anything kept of what is refused.
    std::fs::remove_file(lab.folder.at("lab/blobs")).expect("removed");
    std::fs::create_dir(lab.folder.at("lab/blobs")).expect("made");
    assert_eq!(lab.folder.arena(&line.replace("500", "1")).exit, Exit::Rejected);
    assert_eq!(std::fs::read_dir(lab.folder.at("lab/blobs")).expect("a folder").count(), 0);
    assert_eq!(lab.folder.arena(&line).exit, Exit::Success);
}

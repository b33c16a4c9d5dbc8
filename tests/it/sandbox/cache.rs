//! Compiled strategies on disk: whatever happens to a file, a strategy plays the same.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_sandbox::{Game, Host, HostOptions, Seats, admit, admit_experiment, play};
use tempfile::TempDir;

use super::guest::{component, host, play_component};

fn cached(folder: &Path) -> HostOptions {
    HostOptions { cache: Some(folder.to_owned()), ..HostOptions::new(Seats::OnDemand) }
}

/// A folder nobody else may write.
fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn guest() -> Vec<u8> {
    component(
        "(module (func (export \"act\") (type $act) (i32.const 64)) (memory (export \"memory\") 1) (data (i32.const 64) \"\\00\\00\\00\\00\\00\\00\\f0\\3f\"))",
    )
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("readable").path()).collect()
}

/// Plays in a new host with that cache and compares with a host without one.
#[track_caller]
fn check_plays_the_same(folder: &Path) {
    let host = Host::new(&cached(folder)).expect("a host");
    let bytes = |host: &Host| play_component(host, &guest()).log.to_bytes();
    assert!(bytes(&host) == bytes(super::guest::host()));
}

#[test]
fn cold_and_warm_play_the_same() {
    let folder = folder();
    check_plays_the_same(folder.path());
    let kept = files(folder.path());
    assert_eq!(kept.len(), 1, "{kept:?}");
    let written = std::fs::metadata(&kept[0]).expect("a file").modified().expect("a time");
    check_plays_the_same(folder.path());
    let now = std::fs::metadata(&kept[0]).expect("a file").modified().expect("a time");
    assert_eq!(written, now, "the second use does not compile again");
}

/// What can happen to a file, and the folder keeps one whole file afterwards.
#[test]
fn a_damaged_file_is_compiled_anew() {
    let folder = folder();
    check_plays_the_same(folder.path());
    let path = files(folder.path()).pop().expect("one file");
    let whole = std::fs::read(&path).expect("a file");
    let cut = |length: usize| whole[..length].to_vec();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let end = whole.len();
    let damaged = [
        Vec::new(),
        cut(1),
        cut(31),
        cut(32),
        cut(33),
        cut(end / 2),
        cut(end - 1),
        flipped(0),
        flipped(31),
        flipped(32),
        flipped(100),
        flipped(end / 2),
        flipped(end - 1),
        [whole.as_slice(), b"more"].concat(),
        vec![0; end],
        b"\x7fELF".to_vec(),
    ];
    for (i, bytes) in damaged.into_iter().enumerate() {
        std::fs::write(&path, bytes).expect("writable");
        check_plays_the_same(folder.path());
        assert_eq!(files(folder.path()), std::slice::from_ref(&path), "damage {i}");
        assert!(std::fs::read(&path).expect("a file") == whole, "damage {i} is mended");
    }
}

#[test]
fn a_file_cannot_stand_for_another_strategy() {
    let folder = folder();
    let host = Host::new(&cached(folder.path())).expect("a host");
    play_component(&host, &component("(module (func (export \"brief\") (type $brief) unreachable))"));
    let [trapping] = files(folder.path()).try_into().expect("one file");
    check_plays_the_same(folder.path());
    let ours = files(folder.path()).into_iter().find(|path| *path != trapping).expect("another file");
    std::fs::copy(trapping, ours).expect("writable");
    check_plays_the_same(folder.path());
}

/// Whoever knows a strategy by its digest alone has what was admitted, or nothing.
#[test]
fn a_strategy_is_known_by_its_digest_once_it_was_compiled() {
    let folder = folder();
    let digest = Digest::of(&guest());
    let known = || Host::new(&cached(folder.path())).expect("a host").known(digest);
    assert!(known().is_none(), "nothing was compiled yet");

    let admitted = admit(&guest()).expect("admitted");
    Host::new(&cached(folder.path())).expect("a host").prepare(&admitted).expect("it compiles");
    let strategy = known().expect("it is in the cache");
    let loaded = super::guest::host().load(&admitted).expect("it compiles");
    let facts = |of: &arena_sandbox::Strategy| (of.digest(), of.game(), of.world(), of.linker());
    assert_eq!(facts(&strategy), facts(&loaded));
    let pack = super::guest::pack();
    let log = |of| play(of, &pack, super::guest::seed()).expect("no host fault").log.to_bytes();
    assert!(log(&strategy) == log(&loaded));

    let path = files(folder.path()).pop().expect("one file");
    let whole = std::fs::read(&path).expect("a file");
    for at in [0, 31, 32, 33, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).expect("writable");
        assert!(known().is_none(), "a flipped bit of byte {at}");
    }
}

/// What a strategy plays is told without its artefact, and by nothing that was not written for it.
#[test]
fn what_a_strategy_plays_is_kept_once_it_was_compiled() {
    let folder = folder();
    let digest = Digest::of(&guest());
    let plays = || Host::new(&cached(folder.path())).expect("a host").plays(digest);
    assert_eq!(plays(), None, "nothing was compiled yet");

    let host = Host::new(&cached(folder.path())).expect("a host");
    host.prepare(&admit(&guest()).expect("admitted")).expect("it compiles");
    assert_eq!(host.plays(digest), Some(Game::Campus));
    assert_eq!(plays(), Some(Game::Campus));
    assert_eq!(host.plays(Digest::of(b"another")), None);

    let path = files(folder.path()).pop().expect("one file");
    let whole = std::fs::read(&path).expect("a file");
    for at in 32..65 {
        for bit in [1, 2, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= bit;
            std::fs::write(&path, bytes).expect("writable");
            assert_eq!(plays(), None, "bit {bit} of byte {at}");
        }
        std::fs::write(&path, &whole[..at]).expect("writable");
        assert_eq!(plays(), None, "cut at {at}");
    }
    std::fs::write(&path, &whole).expect("writable");
    let another = Digest::of(b"another");
    let name = path.file_name().expect("a name").to_string_lossy();
    let other_path = path.with_file_name(name.replace(&digest.to_string(), &another.to_string()));
    std::fs::copy(&path, other_path).expect("writable");
    assert_eq!(Host::new(&cached(folder.path())).expect("a host").plays(another), None, "a copy");
}

#[test]
fn without_a_cache_a_strategy_is_known_to_its_host_alone() {
    let folder = folder();
    let bytes = component("(module (func (export \"act\") (type $act) unreachable))");
    let admitted = admit(&bytes).expect("admitted");
    let without_cache = HostOptions { cache: None, ..cached(folder.path()) };
    let host = Host::new(&without_cache).expect("a host");
    host.prepare(&admitted).expect("it compiles");
    assert!(host.known(admitted.digest()).is_some(), "the host itself keeps it");
    assert!(Host::new(&without_cache).expect("a host").known(admitted.digest()).is_none());
}

#[test]
fn a_compiled_experiment_is_no_strategy() {
    let folder = folder();
    let bytes = crate::experiment::guest::component("(module (memory (export \"memory\") 1))");
    let admitted = admit_experiment(&bytes).expect("an experiment");
    let host = Host::new(&cached(folder.path())).expect("a host");
    assert!(host.load_experiment(&admitted).is_ok());
    assert_eq!(files(folder.path()).len(), 1, "it is kept");
    assert!(host.known(admitted.digest()).is_none());
}

#[test]
fn a_folder_may_be_deleted_at_any_time() {
    let folder = folder();
    let inner = folder.path().join("cache");
    let host = Host::new(&cached(&inner)).expect("a host");
    std::fs::remove_dir(&inner).expect("an empty folder");
    play_component(&host, &guest());
    assert_eq!(files(&inner).len(), 1);
}

#[test]
fn what_stands_in_a_files_place_is_not_followed() {
    let folder = folder();
    check_plays_the_same(folder.path());
    let path = files(folder.path()).pop().expect("one file");
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).expect("movable");
    std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
    check_plays_the_same(folder.path());
    assert!(std::fs::symlink_metadata(&path).expect("a file").is_file(), "the link is replaced");
}

#[test]
fn a_folder_that_others_may_write_is_refused() {
    for mode in [0o777, 0o775, 0o757, 0o1777] {
        let folder = folder();
        let shared = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), shared).expect("our own folder");
        let fault = Host::new(&cached(folder.path())).err().expect("refused").to_string();
        assert!(fault.contains("can be written by others"), "{mode:o}: {fault}");
    }
}

#[test]
fn a_cache_that_is_no_folder_is_a_host_fault() {
    let folder = folder();
    let file = folder.path().join("a file");
    std::fs::write(&file, "x").expect("writable");
    let fault = Host::new(&cached(&file)).err().expect("refused").to_string();
    assert!(fault.contains("opening the cache"), "{fault}");
}

#[test]
fn the_same_digest_is_compiled_once() {
    let admitted = admit(&guest()).expect("admitted");
    let (first, second) = (host().load(&admitted).expect("loads"), host().load(&admitted).expect("loads"));
    assert_eq!(first.digest(), second.digest());
}

//! What the integration tests share.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ stands in the repository").to_owned()
}

/// Every scenario pack the product ships, by name, with the bytes of its file.
pub fn packs() -> Vec<(String, Vec<u8>)> {
    files_in(&repository().join("scenarios"), "json")
}

/// Every example strategy that was built, by name, with its component.
///
/// # Panics
///
/// When none is built, with the command that builds them.
pub fn guests() -> Vec<(String, Vec<u8>)> {
    let built = files_in(&repository().join("target/guests"), "wasm");
    assert!(!built.is_empty(), "no guest is built; build them with `cargo xtask guests`");
    built
}

/// Those that play `game`, which their exports tell.
pub fn guests_of(game: &str) -> Vec<(String, Vec<u8>)> {
    let player = format!("arena:{game}/player@");
    let plays = |bytes: &[u8]| bytes.windows(player.len()).any(|part| part == player.as_bytes());
    guests().into_iter().filter(|(_, bytes)| plays(bytes)).collect()
}

/// The component of one example strategy.
///
/// # Panics
///
/// When it is not built, with the command that builds it.
pub fn guest(name: &str) -> Vec<u8> {
    let path = repository().join("target/guests").join(format!("{name}.wasm"));
    std::fs::read(path)
        .unwrap_or_else(|_| panic!("the guest `{name}` is not built; build it with `cargo xtask guests`"))
}

/// Whether files that are compared are written instead.
pub fn blessing() -> bool {
    std::env::var_os("ARENA_BLESS").is_some_and(|value| value == "1")
}

/// Compares `text` with the committed file at `path`, relative to the repository; with `ARENA_BLESS=1`
/// writes it.
///
/// # Panics
///
/// When they differ, with the first line that does.
#[track_caller]
pub fn committed(path: &str, text: &str) {
    let file = repository().join(path);
    if blessing() {
        std::fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("a folder to write in");
        return std::fs::write(&file, text).unwrap_or_else(|why| panic!("{path}: {why}"));
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    if stored == text {
        return;
    }
    let mut lines = (1..).zip(stored.lines().map(Some).chain(std::iter::repeat(None)));
    let mut fresh = text.lines().map(Some).chain(std::iter::repeat(None));
    let differs = lines.find_map(|(n, old)| {
        let new = fresh.next().flatten();
        (old != new || old.is_none()).then_some((n, old, new))
    });
    let (line, old, new) = differs.unwrap_or_default();
    panic!(
        "{path} departs from what comes out now, first in line {line}:\n  committed: {}\n  now:       {}\n\
         if the change is meant, write it with `cargo xtask bless` and read the difference",
        old.unwrap_or("(nothing)"),
        new.unwrap_or("(nothing)")
    );
}

fn files_in(folder: &Path, extension: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}

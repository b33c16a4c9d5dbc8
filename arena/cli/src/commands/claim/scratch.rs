//! Folders that go away, also those of an arena that was killed at its work.
//!
//! Each is locked by whoever works in it, and a lock ends with its process. So the next one to make a folder removes
//! those that nobody holds any more.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

const PREFIX: &str = "arena-claim-";
/// A folder is locked right after it is made. One that is younger may not be yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder of one's own.
pub(super) struct Scratch {
    dir: TempDir,
    _lock: Option<File>,
}

impl Scratch {
    /// A new folder, where the system keeps what goes away.
    pub(super) fn new() -> io::Result<Self> {
        let base = std::env::temp_dir();
        sweep(&base, SystemTime::now());
        Self::within(&base)
    }

    fn within(base: &Path) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(base)?;
        // Where folders cannot be locked, they are not swept either.
        let lock = File::open(dir.path()).ok().filter(|folder| folder.try_lock().is_ok());
        Ok(Self { dir, _lock: lock })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes what others left behind. What cannot be removed stays, and nobody is told: it is no business of who runs.
fn sweep(base: &Path, now: SystemTime) {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let left: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .map(|entry| entry.path())
        .filter(|path| is_left(path, now))
        .collect();
    for path in left {
        let _ = fs::remove_dir_all(path);
    }
}

/// Whether a folder is one that nobody works in. A link is none.
fn is_left(path: &Path, now: SystemTime) -> bool {
    let about = fs::symlink_metadata(path);
    let age = about
        .ok()
        .filter(fs::Metadata::is_dir)
        .and_then(|about| now.duration_since(about.modified().ok()?).ok());
    age.is_some_and(|age| age >= YOUNG) && File::open(path).is_ok_and(|folder| folder.try_lock().is_ok())
}

#[cfg(all(test, unix))]
mod tests {
    use super::{PREFIX, Scratch, YOUNG, sweep};
    use std::fs;
    use std::time::SystemTime;

    /// What a killed arena left goes; what another works in, or has just made, or is no folder of ours, stays.
    #[test]
    fn what_nobody_holds_is_swept() {
        let base = tempfile::tempdir().expect("a folder");
        let at = |name: &str| base.path().join(format!("{PREFIX}{name}"));
        let held = Scratch::within(base.path()).expect("made");
        fs::create_dir_all(at("killed").join("run/records")).expect("made");
        fs::write(at("killed").join("run/frozen.json"), "{}").expect("written");
        fs::write(at("file"), "not a folder").expect("written");
        fs::create_dir(base.path().join("somebody-elses")).expect("made");
        std::os::unix::fs::symlink(base.path().join("somebody-elses"), at("link")).expect("linked");
        let later = SystemTime::now() + YOUNG;
        sweep(base.path(), later - YOUNG / 2);
        assert!(at("killed").exists(), "it may be about to be locked");
        sweep(base.path(), later);
        assert!(!at("killed").exists());
        for stays in [held.path().to_owned(), at("file"), at("link"), base.path().join("somebody-elses")] {
            assert!(stays.exists(), "{}", stays.display());
        }
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }
}

//! What is left of a run in the server's folder once its end is journaled.
//!
//! Receipt, scorecard, identities, commitments and frozen file are blobs by then, and so are the components. Only the
//! records of a success are read again, one match at a time; nothing of any other run is ever shown. A stalled run may
//! be started again, so all of it stays.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use arena_tournament::Class;

use crate::app::App;

/// The folder of the records, in that of a run.
const RECORDS: &str = "matches";

/// Removes what nobody needs any more. Broken off and done again, it comes to the same.
pub(super) fn clear(folder: &Path, class: Class) -> io::Result<()> {
    let keeps_records = match class {
        Class::Stalled => return Ok(()),
        Class::Success => true,
        Class::Blocked | Class::Exhausted => false,
    };
    gone(fs::remove_file(folder.with_extension("log")))?;
    if !keeps_records {
        return gone(fs::remove_dir_all(folder));
    }
    let entries = match fs::read_dir(folder) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // Links are not followed: what they lead to is not ours.
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == RECORDS => {}
            true => gone(fs::remove_dir_all(entry.path()))?,
            false => gone(fs::remove_file(entry.path()))?,
        }
    }
    Ok(())
}

/// Somebody was faster.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

/// Clears up after runs that ended while nobody could: the server was killed between. Folders of no tournament that is
/// over are left alone. Between two folders it is asked whether there is time for another.
pub(super) fn sweep(app: &App, goes_on: impl Fn() -> bool) {
    let over = app.look(|instance| {
        let over = instance.tournaments.over();
        over.map(|(number, class)| (app.floor.run_folder(number), class)).collect::<Vec<_>>()
    });
    clear_all(over.into_iter().flatten(), goes_on);
}

fn clear_all(over: impl IntoIterator<Item = (PathBuf, Class)>, goes_on: impl Fn() -> bool) {
    for (folder, class) in over {
        if !goes_on() {
            return;
        }
        // What cannot be removed now may be at the next start.
        let _ = clear(&folder, class);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run's folder, with its log beside it.
    fn run(root: &Path) -> PathBuf {
        let folder = root.join("t1");
        for name in ["matches/m00001.json", "guest/m00001.json", "components/a.wasm", "packs/b.json"] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        for name in ["frozen.json", "journal.ndjson", "receipt.json", "scorecard.md.tmp"] {
            fs::write(folder.join(name), name).unwrap();
        }
        fs::write(root.join("t1.log"), "it was played").unwrap();
        fs::write(root.join("t10.log"), "another's").unwrap();
        folder
    }

    #[test]
    fn what_stays_is_what_is_read_again() {
        for class in [Class::Success, Class::Stalled, Class::Blocked, Class::Exhausted] {
            let root = tempfile::tempdir().unwrap();
            let folder = run(root.path());
            // A second time there is nothing to do.
            for _ in 0..2 {
                clear(&folder, class).unwrap();
                let there = |name: &str| folder.join(name).exists();
                let is_stalled = class == Class::Stalled;
                assert_eq!(there("matches/m00001.json"), is_stalled || class == Class::Success, "{class:?}");
                for name in
                    ["guest", "components/a.wasm", "packs", "frozen.json", "receipt.json", "../t1.log"]
                {
                    assert_eq!(there(name), is_stalled, "{class:?}: {name}");
                }
                assert_eq!(folder.exists(), is_stalled || class == Class::Success);
                assert!(root.path().join("t10.log").exists());
            }
        }
    }

    #[test]
    fn who_stops_waits_for_one_folder_and_the_others_are_cleared_at_the_next_start() {
        let roots: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
        let over = || roots.iter().map(|root| (root.path().join("t1"), Class::Blocked));
        roots.iter().for_each(|root| drop(run(root.path())));
        let there = || over().filter(|(folder, _)| folder.exists()).count();
        let asked = std::cell::Cell::new(0);
        let stops_after = |folders: usize| {
            asked.set(0);
            clear_all(over(), || asked.replace(asked.get() + 1) < folders);
            there()
        };
        assert_eq!((stops_after(0), asked.get()), (4, 1));
        assert_eq!((stops_after(1), asked.get()), (3, 2));
        assert_eq!((stops_after(9), asked.get()), (0, 4));
    }

    #[test]
    fn a_link_is_removed_and_what_it_leads_to_is_not() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("kept"), "theirs").unwrap();
        let folder = run(root.path());
        fs::remove_dir_all(folder.join("packs")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.join("packs")).unwrap();
        clear(&folder, Class::Success).unwrap();
        assert!(!folder.join("packs").exists() && elsewhere.path().join("kept").exists());
    }
}

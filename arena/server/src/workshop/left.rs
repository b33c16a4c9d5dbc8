//! What is left of a run in the server's folder once its end is journaled.
//!
//! Receipt, scorecard, identities, commitments and frozen file are blobs by then, and so are the components. Only the
//! records of a success are read again, one match at a time; nothing of any other run is ever shown. A stalled run may
//! be started again, so all of it stays.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arena_tournament::Class;

use crate::app::App;

/// The folder of the records, in that of a run.
const RECORDS: &str = "matches";

/// Removes what nobody needs any more. Broken off and done again, it comes to the same. Before each file it is asked
/// whether there is time for it: whoever ends the server waits for one file, and not for a season's.
pub(super) fn clear(folder: &Path, class: Class, goes_on: &dyn Fn() -> bool) -> io::Result<()> {
    let keeps_records = match class {
        Class::Stalled => return Ok(()),
        Class::Success => true,
        Class::Blocked | Class::Exhausted => false,
    };
    let log = remove_file(&folder.with_extension("log"), goes_on)?;
    if log.is_break() {
        return Ok(());
    }
    if !keeps_records {
        return remove_folder(folder, goes_on).map(drop);
    }
    each_entry(folder, |path, is_folder| match is_folder {
        true if path.file_name().is_some_and(|name| name == RECORDS) => Ok(ControlFlow::Continue(())),
        true => remove_folder(path, goes_on),
        false => remove_file(path, goes_on),
    })
    .map(drop)
}

/// A break: there is no time for more.
type Removed = io::Result<ControlFlow<()>>;

/// A folder with all that is in it.
fn remove_folder(folder: &Path, goes_on: &dyn Fn() -> bool) -> Removed {
    let emptied = each_entry(folder, |path, is_folder| match is_folder {
        true => remove_folder(path, goes_on),
        false => remove_file(path, goes_on),
    })?;
    if emptied.is_continue() {
        gone(fs::remove_dir(folder))?;
    }
    Ok(emptied)
}

fn remove_file(path: &Path, goes_on: &dyn Fn() -> bool) -> Removed {
    if !goes_on() {
        return Ok(ControlFlow::Break(()));
    }
    gone(fs::remove_file(path))?;
    Ok(ControlFlow::Continue(()))
}

/// Does something to each entry of a folder. A folder that is not there has none.
fn each_entry(folder: &Path, mut what: impl FnMut(&Path, bool) -> Removed) -> Removed {
    let entries = match fs::read_dir(folder) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(ControlFlow::Continue(())),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // Links are not followed: what they lead to is not ours.
        let went_on = what(&entry.path(), entry.file_type()?.is_dir())?;
        if went_on.is_break() {
            return Ok(went_on);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Somebody was faster.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

/// Clears up after runs that ended while nobody could: the server was killed between. Folders of no tournament that is
/// over are left alone.
pub(super) fn sweep(app: &App, goes_on: &dyn Fn() -> bool) {
    let over = app.look(|instance| {
        let over = instance.tournaments.over();
        over.map(|(number, class)| (app.floor.run_folder(number), class)).collect::<Vec<_>>()
    });
    clear_all(over.into_iter().flatten(), goes_on);
}

fn clear_all(over: impl IntoIterator<Item = (PathBuf, Class)>, goes_on: &dyn Fn() -> bool) {
    for (folder, class) in over {
        if !goes_on() {
            return;
        }
        // What cannot be removed now may be at the next start.
        let _ = clear(&folder, class, goes_on);
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
                clear(&folder, class, &|| true).unwrap();
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

    /// Files below a folder.
    fn files(folder: &Path) -> usize {
        let Ok(entries) = fs::read_dir(folder) else { return 0 };
        let count = |path: PathBuf| if path.is_dir() { files(&path) } else { 1 };
        entries.map(|entry| count(entry.unwrap().path())).sum()
    }

    #[test]
    fn who_stops_waits_for_one_file_and_the_others_go_at_the_next_start() {
        for (class, kept) in [(Class::Blocked, 0), (Class::Exhausted, 0), (Class::Success, 1)] {
            let mut patience = 0;
            loop {
                let root = tempfile::tempdir().unwrap();
                let folder = run(root.path());
                for n in 0..50 {
                    fs::write(folder.join("guest").join(format!("m{n:05}.log")), "played").unwrap();
                }
                // The log beside the folder, and that of another run, which stays.
                let before = files(root.path()) - 1;
                let asked = std::cell::Cell::new(0);
                let goes_on = || asked.replace(asked.get() + 1) < patience;
                clear(&folder, class, &goes_on).unwrap();
                let left = files(root.path()) - 1;
                assert_eq!(before - left, patience.min(before - kept), "one file for each yes: {class:?}");
                assert!(asked.get() <= patience + 1, "a no is the end: {class:?}");
                let is_done = left == kept;
                clear(&folder, class, &|| true).unwrap();
                assert_eq!(files(root.path()) - 1, kept, "{class:?}");
                assert_eq!(folder.exists(), kept > 0);
                if is_done {
                    break;
                }
                patience += 7;
            }
            assert!(patience > 50);
        }
    }

    #[test]
    fn who_stops_begins_no_other_folder() {
        let roots: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
        let over = || roots.iter().map(|root| (root.path().join("t1"), Class::Blocked));
        roots.iter().for_each(|root| drop(run(root.path())));
        let touched = || roots.iter().filter(|root| !root.path().join("t1.log").exists()).count();
        clear_all(over(), &|| false);
        assert_eq!(touched(), 0);
        clear_all(over(), &|| touched() == 0);
        assert_eq!(touched(), 1);
        clear_all(over(), &|| true);
        assert!(over().all(|(folder, _)| !folder.exists()));
    }

    #[test]
    fn a_link_is_removed_and_what_it_leads_to_is_not() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("kept"), "theirs").unwrap();
        let folder = run(root.path());
        fs::remove_dir_all(folder.join("packs")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.join("packs")).unwrap();
        clear(&folder, Class::Success, &|| true).unwrap();
        assert!(!folder.join("packs").exists() && elsewhere.path().join("kept").exists());
    }
}

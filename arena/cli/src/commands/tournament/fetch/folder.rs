//! The folder that a run is fetched into: what may lie in it, what is missing, and how a file gets its name.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use arena_canon::{Digest, Hasher};
use arena_tournament::{Bundle, FROZEN, Part, RECEIPT, open_regular};
use rustix::fs::{FlockOperation, flock};

use crate::failure::Failure;
use crate::files::{plain, shown};
use crate::io::Io;

/// What a name ends with until its file is whole; verification passes over such names.
const TEMPORARY: &str = ".tmp";
/// The folders in that of a run.
const FOLDERS: [&str; 4] = ["matches", "guest", "packs", "components"];

/// The folder, locked for as long as this lives.
pub(super) struct Target {
    root: PathBuf,
    handle: File,
    was_made: bool,
    replaced: usize,
}

fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Failure {
    let doing = format!("{doing} `{}`", shown(path));
    move |why| Failure::usage(&doing, plain(&why))
}

impl Target {
    /// Opens the folder or makes it. What lies in it has to be of this very run.
    pub(super) fn open(root: &Path, bundle: &Bundle) -> Result<Self, Failure> {
        let was_made = !root.exists();
        fs::create_dir_all(root).map_err(cannot("make", root))?;
        let handle = File::open(root).map_err(cannot("open", root))?;
        let target = Self { root: root.to_owned(), handle, was_made, replaced: 0 };
        flock(&target.handle, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Failure::usage(format_args!("fetch into `{}`", shown(root)), "another command is at work in it")
                .hint("wait for it, or end it")
        })?;
        target.check(bundle)?;
        Ok(target)
    }

    /// Whether everything in it is of this run. What an interruption left half-written is removed.
    fn check(&self, bundle: &Bundle) -> Result<(), Failure> {
        let parts = bundle.parts().iter().map(|part| part.path.as_str());
        let known: BTreeSet<&str> =
            parts.chain(bundle.apart().iter().map(|file| file.path.as_str())).collect();
        for folder in [""].into_iter().chain(FOLDERS) {
            for name in self.names(folder)? {
                let whole = name.strip_suffix(TEMPORARY);
                let path = self.root.join(&name);
                let about = path.symlink_metadata().map_err(cannot("look at", &path))?;
                if about.is_dir() && FOLDERS.contains(&name.as_str()) {
                    continue;
                }
                if about.is_file() && whole.is_some_and(|name| known.contains(name)) {
                    fs::remove_file(&path).map_err(cannot("remove", &path))?;
                } else if !about.is_file() || !known.contains(name.as_str()) {
                    let why = format!("`{}` in it is no file of this run", shown(Path::new(&name)));
                    return Err(self.another(why));
                }
            }
        }
        let frozen = bundle.parts().iter().find(|part| part.path == FROZEN);
        let held = frozen.map(|part| self.holds(part)).transpose()?.unwrap_or(Held::Nothing);
        match held {
            Held::Another => Err(self.another("another run is in it".to_owned())),
            Held::Nothing | Held::Same => Ok(()),
        }
    }

    fn another(&self, why: String) -> Failure {
        let doing = format!("fetch into `{}`", shown(&self.root));
        Failure::usage(doing, why).hint("name a new folder with --out")
    }

    /// The names in one of its folders, as the receipt would list them.
    fn names(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let path = self.root.join(folder);
        match path.symlink_metadata() {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            // A link would lead out of the folder; it is refused when its own name is looked at.
            Ok(about) if !about.is_dir() && !folder.is_empty() => return Ok(Vec::new()),
            _ => {}
        }
        let listed = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let names = listed.map_err(cannot("read", &path))?.into_iter().map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if folder.is_empty() { name } else { format!("{folder}/{name}") }
        });
        Ok(names.collect())
    }

    /// The files that are not there, or are others than the receipt lists; the receipt itself apart.
    pub(super) fn missing(&mut self, bundle: &Bundle, io: &Io<'_>) -> Result<BTreeSet<usize>, Failure> {
        let bar = io.progress("checking", bundle.parts().len() as u64);
        let mut missing = BTreeSet::new();
        for (place, part) in bundle.parts().iter().enumerate() {
            bar.set_position(place as u64);
            let held = self.holds(part)?;
            if part.path == RECEIPT || held == Held::Same {
                continue;
            }
            self.replaced += usize::from(held == Held::Another);
            missing.insert(place);
        }
        bar.finish_and_clear();
        Ok(missing)
    }

    /// How many files were others than the receipt lists.
    pub(super) fn replaced(&self) -> usize {
        self.replaced
    }

    fn holds(&self, part: &Part) -> Result<Held, Failure> {
        let path = self.root.join(&part.path);
        let mut file = match open_regular(&path) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Held::Nothing),
            opened => opened.map_err(cannot("open", &path))?,
        };
        if file.metadata().map_err(cannot("look at", &path))?.len() != part.bytes {
            return Ok(Held::Another);
        }
        let (mut hasher, mut buffer) = (Hasher::new(), vec![0; 64 << 10]);
        loop {
            match file.read(&mut buffer).map_err(cannot("read", &path))? {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
        Ok(if hasher.digest() == part.sha256 { Held::Same } else { Held::Another })
    }

    /// Begins a file, under a temporary name.
    pub(super) fn begin(&self, part: &Part) -> Result<Arriving, Failure> {
        let path = self.root.join(&part.path);
        let folder = path.parent().unwrap_or(&self.root);
        if folder != self.root {
            fs::create_dir_all(folder).map_err(cannot("make", folder))?;
        }
        let temporary = self.root.join(format!("{}{TEMPORARY}", part.path));
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o644).open(&temporary);
        let file = file.map_err(cannot("create", &temporary))?;
        Ok(Arriving { file, hasher: Hasher::new(), temporary, path })
    }

    /// Writes the receipt, once everything else lasts: a folder with one is whole.
    pub(super) fn finish(&self, receipt: &[u8]) -> Result<(), Failure> {
        self.sync().map_err(cannot("sync", &self.root))?;
        let part = Part {
            path: RECEIPT.to_owned(),
            sha256: Digest::of(receipt),
            bytes: receipt.len() as u64,
            at: 0,
        };
        let mut arriving = self.begin(&part)?;
        arriving.write(receipt)?;
        arriving
            .finish(part.sha256)?
            .map_err(|_| Failure::internal("write the receipt", "it was hashed twice"))?;
        self.sync().map_err(cannot("sync", &self.root))
    }

    #[cfg(target_os = "linux")]
    fn sync(&self) -> io::Result<()> {
        rustix::fs::syncfs(&self.handle).map_err(io::Error::from)
    }

    #[cfg(not(target_os = "linux"))]
    fn sync(&self) -> io::Result<()> {
        self.handle.sync_all()
    }

    /// Takes back folders that nothing came into.
    pub(super) fn leave(&self) {
        for folder in FOLDERS {
            fs::remove_dir(self.root.join(folder)).ok();
        }
        if self.was_made {
            fs::remove_dir(&self.root).ok();
        }
    }
}

/// What is there under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Same,
    Another,
}

/// A file on its way. It is gone if it does not come whole.
pub(super) struct Arriving {
    file: File,
    hasher: Hasher,
    temporary: PathBuf,
    path: PathBuf,
}

impl Arriving {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.hasher.update(bytes);
        let written = self.file.write_all(bytes);
        written.map_err(|why| {
            let doing = format!("write `{}`", shown(&self.path));
            Failure::internal(doing, plain(&why)).hint("make room, and run the same command again")
        })
    }

    /// Gives it its name if it has this digest; its own otherwise.
    pub(super) fn finish(self, sha256: Digest) -> Result<Result<(), Digest>, Failure> {
        let found = self.hasher.clone().digest();
        if found != sha256 {
            return Ok(Err(found));
        }
        fs::rename(&self.temporary, &self.path).map_err(cannot("rename", &self.temporary))?;
        Ok(Ok(()))
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        // After it got its name there is nothing of this one.
        fs::remove_file(&self.temporary).ok();
    }
}

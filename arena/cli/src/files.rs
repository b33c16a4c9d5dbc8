//! Reading within bounds and writing all or nothing. Whatever a path leads to, a command stays
//! within its memory, and nobody ever meets half a file.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use arena_engine::Excerpt;

use crate::exit::Exit;
use crate::failure::Failure;

/// The name of a file for a message, cut and escaped.
pub(crate) fn shown(path: &Path) -> String {
    Excerpt::line(&path.to_string_lossy()).to_string()
}

/// Why a file could not be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The system said so.
    Io(io::Error),
    /// A folder.
    Folder,
    /// It has more bytes than are allowed; how many, if the system knows.
    TooLarge {
        /// Its size.
        bytes: Option<u64>,
        /// The most that is read.
        limit: u64,
    },
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(why) if why.kind() == io::ErrorKind::NotFound => write!(f, "no such file"),
            Self::Io(why) => write!(f, "{}", plain(why)),
            Self::Folder => write!(f, "it is a folder"),
            Self::TooLarge { bytes: Some(bytes), limit } => {
                write!(f, "it is {bytes} bytes; the limit is {limit}")
            }
            Self::TooLarge { bytes: None, limit } => write!(f, "it has more than {limit} bytes, the limit"),
        }
    }
}

impl Unread {
    /// The failure to read `what`, `path`.
    pub(crate) fn reading(self, what: &str, path: &Path) -> Failure {
        Failure::usage(format_args!("read {what} `{}`", shown(path)), self)
    }
}

/// The whole file, if it has at most `limit` bytes. A size that is known and too large is refused
/// before anything is read; a pipe or a device gives at most one byte more than the limit.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Unread> {
    let file = File::open(path).map_err(Unread::Io)?;
    let about = file.metadata().map_err(Unread::Io)?;
    if about.is_dir() {
        return Err(Unread::Folder);
    }
    if about.is_file() && about.len() > limit {
        return Err(Unread::TooLarge { bytes: Some(about.len()), limit });
    }
    read_stream(file, limit)
}

/// The same of a file that is found by its name in a folder: what is no regular file there, or no link to one,
/// would make whoever reads wait.
pub(crate) fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, Unread> {
    let about = fs::metadata(path).map_err(Unread::Io)?;
    if !about.is_file() && !about.is_dir() {
        return Err(Unread::Io(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")));
    }
    read(path, limit)
}

/// The same of a file in somebody else's folder: a regular one, and no link out of it. A pipe would make
/// whoever reads wait for ever.
pub(crate) fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, Unread> {
    let file = arena_tournament::open_regular(path).map_err(Unread::Io)?;
    let bytes = file.metadata().map_err(Unread::Io)?.len();
    if bytes > limit {
        return Err(Unread::TooLarge { bytes: Some(bytes), limit });
    }
    read_stream(file, limit)
}

/// Everything a stream gives, if that is at most `limit` bytes.
pub(crate) fn read_stream(stream: impl Read, limit: u64) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    stream.take(limit + 1).read_to_end(&mut bytes).map_err(Unread::Io)?;
    if bytes.len() as u64 > limit {
        return Err(Unread::TooLarge { bytes: None, limit });
    }
    Ok(bytes)
}

/// Whether a file that is in the way may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays, and writing is refused.
    Keep,
    /// It stays, and that is fine if it has the very same content.
    KeepEqual,
    /// It goes.
    Replace,
}

impl Existing {
    pub(crate) fn replace_if(force: bool) -> Self {
        if force { Self::Replace } else { Self::Keep }
    }
}

/// Whether two names lead to one file, or would.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    let whole =
        |path: &Path| folder_of(path).canonicalize().ok().zip(path.file_name().map(ToOwned::to_owned));
    one == other || whole(one).is_some_and(|one| Some(one) == whole(other))
}

/// Says early that `path` could not be written: before work is done for it.
pub(crate) fn may_write(path: &Path, existing: Existing) -> Result<(), Failure> {
    let cannot = |why: &str| Err(writing(path, Exit::Usage, why));
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => cannot("it is a folder"),
        Ok(about) if !about.is_file() => cannot("it is not a regular file"),
        Ok(_) if existing != Existing::Replace => Err(in_the_way(path)),
        _ if !folder_of(path).is_dir() => {
            let folder = shown(folder_of(path));
            let failure = writing(path, Exit::Usage, format_args!("there is no folder `{folder}`"));
            Err(failure.hint("create it first"))
        }
        _ => Ok(()),
    }
}

/// Writes `path` in one step: a temporary file beside it, synced, then renamed. Whatever goes
/// wrong, the old file or none is there, never half of the new one.
pub(crate) fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), Failure> {
    write_as(path, bytes, existing, Mode::Shared)
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Whom the user's mask lets.
    Shared,
    /// Its owner.
    Private,
}

fn write_as(path: &Path, bytes: &[u8], existing: Existing, mode: Mode) -> Result<(), Failure> {
    if existing == Existing::KeepEqual && holds(path, bytes) {
        return Ok(());
    }
    may_write(path, existing)?;
    let failed = |why: io::Error| match why.kind() {
        io::ErrorKind::AlreadyExists => in_the_way(path),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotFound => {
            writing(path, Exit::Usage, plain(&why)).hint("is the folder writable?")
        }
        _ => writing(path, Exit::Internal, plain(&why)),
    };
    let folder = folder_of(path);
    let mut file = temporary(folder, mode).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    match existing {
        Existing::Keep | Existing::KeepEqual => file.persist_noclobber(path),
        Existing::Replace => file.persist(path),
    }
    .map_err(|refused| failed(refused.error))?;
    sync_folder(folder).map_err(failed)
}

/// Writes `path` like [`write`], for its owner's eyes alone.
pub(crate) fn write_private(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), Failure> {
    write_as(path, bytes, existing, Mode::Private)
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && about.len() == bytes.len() as u64)
        && fs::read(path).is_ok_and(|found| found == bytes)
}

/// Whether `path` is meant as a folder: it is one, or it ends as one.
pub(crate) fn names_a_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// Makes the folder `path` and those it is in, unless they are there.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path)
        .map_err(|why| Failure::usage(format_args!("make folder `{}`", shown(path)), plain(&why)))
}

/// `path`, or the file `name` in it where it is a folder.
pub(crate) fn in_folder(path: &Path, name: impl FnOnce() -> String) -> PathBuf {
    if names_a_folder(path) { path.join(name()) } else { path.to_owned() }
}

/// `text` as a part of a file name that works everywhere and stays in its folder.
pub(crate) fn as_name(text: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let name: String = text.chars().map(|letter| if safe(letter) { letter } else { '-' }).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "pack".to_owned() } else { name.to_owned() }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// How the name of a file begins and ends that is not whole yet.
const TEMPORARY: (&str, &str) = (".arena-", ".tmp");

/// Whether a file bears a name of one that is not whole yet.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(TEMPORARY.0.as_bytes()) && name.ends_with(TEMPORARY.1.as_bytes())
}

fn temporary(folder: &Path, mode: Mode) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the user's mask leaves of it, as for any other new file.
        let bits = if mode == Mode::Private { 0o600 } else { 0o666 };
        builder.permissions(fs::Permissions::from_mode(bits));
    }
    builder.tempfile_in(folder)
}

/// The rename itself must survive a crash, too.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn writing(path: &Path, exit: Exit, why: impl fmt::Display) -> Failure {
    Failure::new(exit, format_args!("write `{}`", shown(path)), why)
}

fn in_the_way(path: &Path) -> Failure {
    writing(path, Exit::Usage, "it exists already").hint("choose another name, or replace it with --force")
}

/// What the system says, as a fragment: no capital, no "(os error 28)", no path that is told
/// anyway.
pub(crate) fn plain(why: &io::Error) -> String {
    let text = why.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_to_its_limit_and_not_beyond() {
        assert_eq!(read_stream(&b"12345"[..], 5).expect("fits"), b"12345");
        let endless = io::repeat(0);
        assert!(matches!(read_stream(endless, 5), Err(Unread::TooLarge { bytes: None, limit: 5 })));
    }

    #[test]
    fn a_file_is_written_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.json");
        write(&path, b"one", Existing::Keep).expect("written");
        assert_eq!(write(&path, b"two", Existing::Keep).expect_err("in the way").exit(), Exit::Usage);
        assert_eq!(fs::read(&path).expect("there"), b"one");
        write(&path, b"two", Existing::Replace).expect("replaced");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [folder.path(), Path::new("/dev/null"), &folder.path().join("missing/log.json")] {
            assert_eq!(write(path, b"x", Existing::Replace).expect_err("refused").exit(), Exit::Usage);
        }
    }

    #[test]
    fn names_stay_in_their_folder() {
        for (text, name) in [
            ("two-spikes", "two-spikes"),
            ("../../etc/passwd", "-..-etc-passwd"),
            ("a b/é", "a-b--"),
            ("..", "pack"),
        ] {
            assert_eq!(as_name(text), name);
        }
    }
}

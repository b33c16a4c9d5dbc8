mod lock;
mod name;
mod template;
mod vendor;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::commands::Output;
use crate::commands::build::quoted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, shown};
use crate::ink::Tone;
use crate::io::Io;

/// Make a new strategy project that builds
///
/// A Rust package with a small strategy that plays, its unit tests, and the SDK beside it in vendor/,
/// so that it needs no other file of Arena's.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Name of the package: lower-case letters, digits, - and _
    name: String,

    /// The project's folder [default: NAME]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,

    /// The game it is for
    #[arg(long, value_enum, default_value = "campus")]
    game: Game,

    #[command(flatten)]
    output: Output,
}

/// What a project can be started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Game {
    /// A data-centre campus on a stressed grid
    Campus,
    /// The iterated 2×2 game
    Matrix,
}

const AFTER_HELP: &str = "\
Examples:
  arena new my-strategy
  arena new my-strategy --game matrix
  arena new my-strategy --path ~/arena/first";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    name::check(&args.name)?;
    let folder = args.path.clone().unwrap_or_else(|| args.name.clone().into());
    let files = project(&args.name, args.game);
    create(&folder, &files)?;
    let path = shown(&folder);
    if args.output.json {
        let names: Vec<_> = files.iter().map(|(name, _)| name).collect();
        io.print_json(&json!({ "name": args.name, "path": path, "files": names }));
        return Ok(Exit::Success);
    }
    let count = format!("{} files", files.len());
    io.print(format_args!("{path}  {}", io.ink().paint(Tone::Quiet, count)));
    io.talk("next:");
    io.talk(format_args!("  cd {}", quoted(&path)));
    io.talk("  cargo test");
    io.talk("  arena build");
    match args.game {
        Game::Campus => io.talk(format_args!("  arena play two-spikes target/{}.wasm --watch", args.name)),
        Game::Matrix => io.talk(format_args!("  arena check target/{}.wasm", args.name)),
    }
    Ok(Exit::Success)
}

/// Every file of a project: its path, with `/`, and its text.
fn project(name: &str, game: Game) -> Vec<(String, String)> {
    let mut files = template::files(name, game);
    files.push(("Cargo.lock".to_owned(), lock::of(name)));
    files.extend(vendor::files());
    files
}

/// Makes the folder with all of its files, or nothing: they are written elsewhere and moved.
fn create(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let doing = || format!("make the project `{}`", shown(folder));
    let existing = existing(folder).map_err(|why| Failure::usage(doing(), why))?;
    let failed = |why: io::Error| match why.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Failure::internal(doing(), files::plain(&why))
        }
        _ => Failure::usage(doing(), files::plain(&why)).hint("is the folder around it writable?"),
    };
    let around = match folder.parent() {
        Some(around) if !around.as_os_str().is_empty() => around,
        _ => Path::new("."),
    };
    let beside = if existing == Existing::Empty { folder } else { around };
    fs::create_dir_all(beside).map_err(failed)?;
    let unfinished = unfinished_in(beside).map_err(failed)?;
    for (name, text) in files {
        let path = unfinished.path().join(name);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(failed)?;
    }
    match existing {
        Existing::Empty => move_into(folder, unfinished.path()).map_err(failed)?,
        Existing::Nothing => {
            fs::rename(unfinished.path(), folder).map_err(failed)?;
            // There is nothing left to remove.
            let _ = unfinished.keep();
        }
    }
    Ok(())
}

/// Fills a folder that somebody may stand in, so that it cannot be replaced.
fn move_into(folder: &Path, finished: &Path) -> io::Result<()> {
    for entry in fs::read_dir(finished)? {
        let entry = entry?;
        fs::rename(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
enum Existing {
    Nothing,
    Empty,
}

/// What is there already, unless it is in the way.
fn existing(folder: &Path) -> Result<Existing, String> {
    match fs::symlink_metadata(folder) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Existing::Nothing),
        Err(why) => Err(files::plain(&why)),
        Ok(about) if !about.is_dir() => Err("it exists, and is no folder".to_owned()),
        Ok(_) => match fs::read_dir(folder).map(|mut entries| entries.next()) {
            Err(why) => Err(files::plain(&why)),
            Ok(None) => Ok(Existing::Empty),
            Ok(Some(_)) => Err("it exists, and is not empty".to_owned()),
        },
    }
}

/// A folder that goes away again unless it is kept.
fn unfinished_in(around: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".arena-new-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the user's mask leaves of it, as for any other new folder.
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(around)
}

#[cfg(test)]
mod tests;

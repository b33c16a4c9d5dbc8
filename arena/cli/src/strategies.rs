//! From a file to a strategy that can be seated.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_engine::limits::V1;
use arena_sandbox::{
    Admitted, AdmittedExperiment, EXPERIMENT_WORLD, Game, Host, HostOptions, LoadError, Refusal, Rejection,
    Seats, Strategy, admit, admit_experiment,
};
use arena_tournament::Component;
use rustix::fs::Access;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Unread};
use crate::io::Io;

/// A sandbox for this process, with the cache of compiled strategies if there can be one.
pub(crate) fn host(seats: Seats, io: &mut Io<'_>) -> Result<Host, Failure> {
    host_of(HostOptions::new(seats), io)
}

/// The same with options of its own.
pub(crate) fn host_of(mut options: HostOptions, io: &mut Io<'_>) -> Result<Host, Failure> {
    options.cache = io.env().cache.clone().filter(|folder| can_be_made(folder));
    if options.cache.is_some() {
        match Host::new(&options) {
            Ok(host) => return Ok(host),
            Err(fault) => io.warn(format_args!("strategies are compiled anew: {fault}")),
        }
        options.cache = None;
    }
    Ok(Host::new(&options)?)
}

/// A home that is read-only or missing is no reason not to play.
fn can_be_made(folder: &Path) -> bool {
    let home = folder.parent().unwrap_or(folder);
    std::fs::create_dir_all(home).is_ok()
        && rustix::fs::access(home, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Why there is no strategy.
pub(crate) enum Refused {
    /// The file cannot be read.
    Unread(Unread),
    /// It is an experiment, which plays no game.
    Experiment(AdmittedExperiment),
    /// It is no component that may play.
    Rejected(Rejection),
}

/// The component in a file, if it is admitted. Nothing is compiled.
pub(crate) fn read(path: &Path) -> Result<Admitted, Refused> {
    read_bytes(path).and_then(|bytes| admitted(&bytes))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Refused> {
    files::read(path, V1.component_bytes_max).map_err(|unread| match unread {
        Unread::TooLarge { .. } => Refused::Rejected(too_large(&unread)),
        _ => Refused::Unread(unread),
    })
}

fn admitted(bytes: &[u8]) -> Result<Admitted, Refused> {
    admit(bytes).map_err(|rejection| {
        admit_experiment(bytes).map_or(Refused::Rejected(rejection), Refused::Experiment)
    })
}

/// What admission would say, had anybody read the whole file.
fn too_large(unread: &Unread) -> Rejection {
    let message = format!("{unread} (limits {})", V1.version);
    let hint = Some("build with `opt-level = \"s\"` and `strip = \"debuginfo\"`".to_owned());
    Rejection { refusals: vec![Refusal { code: "admit.too_large", message, hint }] }
}

/// The strategy in a file, compiled.
pub(crate) fn load(host: &Host, path: &Path) -> Result<Strategy, Failure> {
    let admitted = read(path).map_err(|refused| unread(path, refused))?;
    host.load(&admitted).map_err(|error| unloaded(path, error))
}

/// The component in a file with its bytes: it can be seated anywhere. One that was admitted and compiled
/// before is not looked into again.
pub(crate) fn component(host: &Host, path: &Path) -> Result<(Component, Vec<u8>), Failure> {
    let bytes = read_bytes(path).map_err(|refused| unread(path, refused))?;
    let sha256 = Digest::of(&bytes);
    if let Some(game) = host.plays(sha256) {
        return Ok((Component { sha256, world: game.world().to_owned() }, bytes));
    }
    let admitted = admitted(&bytes).map_err(|refused| unread(path, refused))?;
    host.prepare(&admitted).map_err(|error| unloaded(path, error))?;
    Ok((Component { sha256, world: admitted.world().to_owned() }, bytes))
}

fn unread(path: &Path, refused: Refused) -> Failure {
    match refused {
        Refused::Unread(unread) => unread.reading("strategy", path),
        Refused::Rejected(rejection) => rejected(path, &rejection),
        Refused::Experiment(_) => {
            let doing = format!("play `{}`", files::shown(path));
            let why = format!("it is an experiment ({EXPERIMENT_WORLD}), which plays no game");
            Failure::new(Exit::Rejected, doing, why).hint("claims run experiments, see `arena claim --help`")
        }
    }
}

fn unloaded(path: &Path, error: LoadError) -> Failure {
    match error {
        LoadError::Rejected(rejection) => rejected(path, &rejection),
        LoadError::Host(fault) => fault.into(),
    }
}

/// The strategy in a file, compiled, if it plays the campus game.
pub(crate) fn load_campus(host: &Host, path: &Path) -> Result<Strategy, Failure> {
    let strategy = load(host, path)?;
    match strategy.game() {
        Game::Campus => Ok(strategy),
        Game::Matrix => {
            let why = "it plays the matrix game, which has no scenario packs";
            let hint = "matrix strategies meet in a tournament, see `arena tournament --help`; \
                        `arena check` tells what a call costs";
            Err(Failure::usage(format_args!("play `{}` on a pack", files::shown(path)), why).hint(hint))
        }
    }
}

/// Every strategy in a folder, by name.
pub(crate) fn in_folder(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |why: std::io::Error| {
        Failure::usage(format_args!("read folder `{}`", files::shown(folder)), Unread::Io(why))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|found| found == extension) && path.is_file() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let why = format!("it has no .{extension} file");
        return Err(Failure::usage(format_args!("use folder `{}`", files::shown(folder)), why));
    }
    paths.sort();
    Ok(paths)
}

fn rejected(path: &Path, rejection: &Rejection) -> Failure {
    let doing = format!("play `{}`", files::shown(path));
    let details = rejection.refusals.iter().flat_map(refusal);
    Failure::new(Exit::Rejected, doing, "it is refused").details(details)
}

/// The lines of one refusal.
pub(crate) fn refusal(refusal: &Refusal) -> Vec<String> {
    let hint = refusal.hint.iter().map(|hint| format!("  hint: {hint}"));
    std::iter::once(format!("{}: {}", refusal.code, refusal.message)).chain(hint).collect()
}

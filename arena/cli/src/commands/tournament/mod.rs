//! Tournaments: freeze a plan, run it, take it up again, look at it, fetch one from a server.

mod fetch;
mod freeze;
mod inputs;
mod progress;
mod resume;
mod run;
mod secret;
mod show;
mod table;
mod verify;

use std::path::{Path, PathBuf};

use arena_sandbox::WASMTIME_VERSION;
use arena_tournament::{Class, Pins, RunFault};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

pub(crate) use inputs::parts;
pub(crate) use verify::{Checked, Given, Replayed, names, verify};

/// Who beats whom: a frozen matrix, hidden identities, one scorecard
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Freeze(freeze::Args),
    Run(run::Args),
    Resume(resume::Args),
    Show(show::Args),
    Fetch(fetch::Args),
    Secret(secret::Args),
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament run tournaments/axelrod.toml
  arena tournament resume .outline/loops/axelrod/20261130T174500Z-7c1e0b44
  arena tournament show run --svg matrix.svg
  arena tournament fetch https://arena.example/tournaments/t1 --out t1
  arena verify run --all";

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Freeze(args) => freeze::run(args, io),
        Command::Run(args) => run::run(args, io),
        Command::Resume(args) => resume::run(args, io),
        Command::Show(args) => show::run(args, io),
        Command::Fetch(args) => fetch::run(args, io),
        Command::Secret(args) => secret::run(args, io),
    }
}

/// What this host pins into a tournament.
pub(crate) fn pins() -> Pins {
    Pins { limits_version: arena_engine::limits::V1.version, wasmtime: WASMTIME_VERSION.to_owned() }
}

/// Where runs are kept unless the caller says otherwise: deleting the folder undoes the run.
fn home(slug: &str) -> PathBuf {
    Path::new(".outline/loops").join(slug)
}

/// The exit code of a terminal class.
fn exit_of(class: Class) -> Exit {
    match class {
        Class::Success => Exit::Success,
        Class::Stalled => Exit::Stalled,
        Class::Blocked => Exit::Blocked,
        Class::Exhausted => Exit::Exhausted,
    }
}

fn failed(doing: &str, fault: RunFault) -> Failure {
    let not_found = |source: &std::io::Error| source.kind() == std::io::ErrorKind::NotFound;
    let asked_for = |verb: &str| ["open", "make", "lock"].contains(&verb);
    match fault {
        RunFault::Locked { .. } => Failure::usage(doing, fault).hint("wait for the other runner, or end it"),
        RunFault::NoRun { .. } => Failure::usage(doing, fault),
        RunFault::Damaged { .. } => Failure::new(Exit::Blocked, doing, fault),
        RunFault::Io { ref source, doing: verb, .. } if not_found(source) && asked_for(verb) => {
            Failure::usage(doing, fault)
        }
        RunFault::Io { .. } | RunFault::Executor(_) => Failure::internal(doing, fault),
    }
}

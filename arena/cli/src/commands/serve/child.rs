use std::ffi::OsString;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit, getppid, setrlimit};

use crate::commands::dispatch;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// What a server has done in a process of its own: look at components, and play tournaments
#[derive(Debug, clap::Subcommand)]
#[command(after_help = AFTER_HELP)]
pub(crate) enum Command {
    Admit(AdmitArgs),
    Play(PlayArgs),
}

const AFTER_HELP: &str = "\
Examples:
  arena workshop admit my.wasm
  arena workshop play run";

/// Compile and probe a component within limits, as `arena check --json` does
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  arena workshop admit my.wasm")]
pub(crate) struct AdmitArgs {
    /// The component
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Seconds of CPU time that it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    cpu_seconds: u64,

    #[command(flatten)]
    parent: Parent,
}

/// Take up a run and play it to its end within limits, as `arena tournament resume` does
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  arena workshop play run")]
pub(crate) struct PlayArgs {
    /// The run's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Worker processes
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: u16,

    #[command(flatten)]
    parent: Parent,
}

/// Whose process this is.
#[derive(Debug, clap::Args)]
struct Parent {
    /// The server's process: this one ends when that one does
    #[arg(long, value_name = "PID")]
    server: Option<i32>,
}

/// Memory that a process may write to when it compiles one component, and when it plays. What is only reserved, such
/// as the room behind a memory of 32 bits, does not count, so the address space is no measure of it.
const ADMIT_BYTES: u64 = 2 << 30;
const PLAY_BYTES: u64 = 4 << 30;
/// Largest file that any of them writes.
const FILE_BYTES: u64 = 1 << 30;
/// Open files.
const FILES: u64 = 1_024;

pub(crate) fn run(command: &Command, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let words: Vec<OsString> = match command {
        Command::Admit(args) => {
            args.parent.bind()?;
            limit(&[(Resource::Cpu, args.cpu_seconds.max(1)), (Resource::Data, ADMIT_BYTES)])?;
            vec!["arena".into(), "check".into(), "--json".into(), "--".into(), args.file.clone().into()]
        }
        Command::Play(args) => {
            args.parent.bind()?;
            limit(&[(Resource::Data, PLAY_BYTES)])?;
            let workers = args.workers.to_string();
            let verb = ["arena", "tournament", "resume", "--json", "--workers", workers.as_str(), "--"];
            verb.into_iter().map(OsString::from).chain([args.folder.clone().into()]).collect()
        }
    };
    dispatch(&words, io)
}

/// Limits that this process and those it starts cannot lift again.
fn limit(own: &[(Resource, u64)]) -> Result<(), Failure> {
    let shared = [(Resource::Core, 0), (Resource::Fsize, FILE_BYTES), (Resource::Nofile, FILES)];
    for (resource, most) in own.iter().copied().chain(shared) {
        let before = rustix::process::getrlimit(resource).maximum;
        let most = Some(before.map_or(most, |before| before.min(most)));
        let limited = setrlimit(resource, Rlimit { current: most, maximum: most });
        limited.map_err(|why| Failure::internal(format_args!("limit {resource:?}"), why))?;
    }
    Ok(())
}

impl Parent {
    /// Ends with the server, however that ends.
    fn bind(&self) -> Result<(), Failure> {
        let Some(server) = self.server else { return Ok(()) };
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, set_parent_process_death_signal};
            let bound = set_parent_process_death_signal(Some(Signal::KILL));
            bound.map_err(|why| Failure::internal("end with the server", why))?;
        }
        // It may have ended before it could be bound to.
        if getppid().map(|parent| parent.as_raw_nonzero().get()) == Some(server) {
            return Ok(());
        }
        Err(Failure::internal("work for the server", "it is gone"))
    }
}

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arena_sandbox::{Host, HostOptions, Seats};
use arena_tournament::{FolderShelf, NatsAddress, Roster, RunKey, Shelf, WorkerOptions, serve};

use crate::commands::tournament;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;
use crate::roster::SandboxRoster;
use crate::strategies;

/// Play matchups for tournaments that are run elsewhere
///
/// Takes jobs from a NATS server with JetStream, as `arena tournament run --executor nats://…` hands them
/// out, plays them in the sandbox and hands back the records. Every object is checked against its digest
/// before it is used. Ends when it is interrupted; what it was at is then given to another.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The server: nats://[user:password@|token@]host[:port]
    #[arg(long, value_name = "URL", required = true)]
    nats: Option<NatsAddress>,

    /// Take part in this run only: the first 16 digits of its frozen digest
    #[arg(long, value_name = "HEX16")]
    run: Option<RunKey>,

    /// What this worker is called in complaints [default: the host's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Matches that are played at once [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    slots: Option<u16>,

    /// Seconds that the server may be away before the worker gives up
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,

    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Examples:
  arena worker --nats nats://127.0.0.1:4222
  arena worker --nats nats://arena:secret@tournaments.example --name basement --slots 4
  arena tournament run tournaments/axelrod.toml --executor nats://127.0.0.1:4222";

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Play what a tournament of this machine hands over on stdin
    #[command(hide = true)]
    Local(LocalArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  arena worker local --folder run")]
struct LocalArgs {
    /// The run's folder
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,

    /// Folder for compiled strategies
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match (&args.command, &args.nats) {
        (Some(Command::Local(args)), _) => local(args, io),
        (None, Some(server)) => nats(args, server, io),
        (None, None) => Err(Failure::usage("start a worker", "it is not said where its work comes from")),
    }
}

/// Jobs of a server, until the process is ended.
fn nats(args: &Args, server: &NatsAddress, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let slots = args.slots.map_or(cores, usize::from);
    let seats = u32::try_from(2 * slots + 2).unwrap_or(u32::MAX);
    let host = Arc::new(strategies::host(Seats::Pooled(seats), io)?);
    let options = WorkerOptions {
        server: server.clone(),
        name: args.name.clone().unwrap_or_else(host_name),
        run: args.run.clone(),
        slots,
        pins: tournament::pins(),
        patience: Duration::from_secs(args.patience),
    };
    let roster =
        |shelf: Box<dyn Shelf>| -> Box<dyn Roster> { Box::new(SandboxRoster::new(Arc::clone(&host), shelf)) };
    let never = AtomicBool::new(false);
    let worked = arena_tournament::work(&options, &roster, &never, &mut |line| io.talk(line));
    let worked = worked.map_err(|fault| Failure::internal("work for the server", fault))?;
    io.print(format_args!("{} matches played, {} faults of this host", worked.matches, worked.faults));
    Ok(Exit::Success)
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "worker".to_owned() } else { name.to_owned() }
}

/// One match after the other, until the coordinator is done or gone.
fn local(args: &LocalArgs, io: &mut Io<'_>) -> Result<Exit, Failure> {
    die_with_the_coordinator();
    // Both seats of a match, and room for the next.
    let mut options = HostOptions::new(Seats::Pooled(4));
    options.cache.clone_from(&args.cache);
    let host = Host::new(&options).or_else(|_| {
        options.cache = None;
        Host::new(&options)
    })?;
    let mut roster = SandboxRoster::new(Arc::new(host), Box::new(FolderShelf::new(&args.folder)));
    let (mut input, mut output) = io.streams();
    match serve(&mut input, &mut output, &mut roster, &args.folder) {
        Ok(()) => Ok(Exit::Success),
        Err(why) if why.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(why) => Err(Failure::internal("serve the coordinator", files::plain(&why))),
    }
}

/// A coordinator that is killed cannot say so; the end of stdin is seen only between two matches.
#[cfg(target_os = "linux")]
fn die_with_the_coordinator() {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // Without it, the worker ends after its match.
    set_parent_process_death_signal(Some(Signal::KILL)).ok();
}

#[cfg(not(target_os = "linux"))]
fn die_with_the_coordinator() {}

use std::path::PathBuf;
use std::sync::Arc;

use arena_sandbox::{Host, HostOptions, Seats};
use arena_tournament::{FolderShelf, serve};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;
use crate::roster::SandboxRoster;

/// Play matchups for somebody else's tournament
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Play what a tournament of this machine hands over on stdin
    #[command(hide = true)]
    Local(LocalArgs),
}

#[derive(Debug, clap::Args)]
struct LocalArgs {
    /// The run's folder
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,

    /// Folder for compiled strategies
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match &args.command {
        Some(Command::Local(args)) => local(args, io),
        None => Err(Failure::usage("start a worker", "it is not said where its work comes from")),
    }
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

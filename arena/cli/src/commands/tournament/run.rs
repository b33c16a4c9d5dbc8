use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use arena_sandbox::Seats;
use arena_tournament::{
    Class, Ended, Executor, FolderShelf, FrozenFile, Halted, InProcess, Local, Nats, NatsAddress,
    NatsOptions, RECEIPT, Run, WorkerCommand, run_id, worker_arguments,
};
use serde_json::json;

use super::progress::Progress;
use super::{exit_of, failed, home, inputs, pins, table};
use crate::clock::SystemClock;
use crate::commands::Output;
use crate::commands::play::quoted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::ink::Tone;
use crate::io::Io;
use crate::roster::SandboxRoster;
use crate::strategies;

/// Play a tournament to exactly one terminal class
///
/// A plan is frozen first. Records, journal, scorecard and receipt go to one folder, which is yours
/// alone until the identities are disclosed; deleting it undoes the run. The same frozen file and secret
/// give the same bytes, whatever the number of workers.
///
/// The exit code is that of the terminal class: 0 success, 10 stalled, 11 blocked, 12 exhausted.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A plan (TOML), or a frozen tournament (JSON)
    #[arg(value_name = "PLAN.toml|frozen.json")]
    tournament: PathBuf,

    /// Folder of the run, new or empty [default: .outline/loops/SLUG/RUN_ID]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The secret's file [default: `secret` beside the frozen file, or a new one for a plan]
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,

    /// Folder with the components and packs of a frozen tournament, found by their digests
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,

    #[command(flatten)]
    executor: ExecutorArgs,

    #[command(flatten)]
    output: Output,
}

/// Where matchups are played.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ExecutorArgs {
    /// Worker processes [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,

    /// Where matchups are played: `local`, or a NATS server that hands them to `arena worker --nats`
    #[arg(long, value_name = "local|nats://…", default_value = "local")]
    executor: Place,
}

/// Where matchups are played.
#[derive(Debug, Clone)]
enum Place {
    Local,
    Nats(NatsAddress),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "local" {
            return Ok(Self::Local);
        }
        text.parse().map(Self::Nats).map_err(|why| format!("`local`, or the address of a NATS server: {why}"))
    }
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament run tournaments/axelrod.toml
  arena tournament run tournaments/campus.toml --workers 2 --out run
  arena tournament run frozen/frozen.json --secret frozen/secret
  arena tournament run tournaments/axelrod.toml --executor nats://127.0.0.1:4222
  arena tournament resume run";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let secret = args.secret.as_deref();
    let setup = if inputs::is_frozen(&args.tournament) {
        inputs::from_frozen(&args.tournament, secret, args.files.as_deref())?
    } else {
        inputs::from_plan(&args.tournament, secret, io)?
    };
    let clock = SystemClock::new();
    let root = match &args.out {
        Some(out) => out.clone(),
        None => home(&setup.frozen.document().slug).join(run_id(setup.frozen.sha256(), &clock)),
    };
    let description = describe(&setup.frozen);
    // Worker processes begin beside the set-up: they look into the folder when they have a job. It is this thread that
    // starts them, since they end with the one that did.
    let workers = workers(&args.executor, &root, io);
    let (local, created) = std::thread::scope(|scope| {
        let set_up = || Run::create(&root, setup.frozen, &setup.secret, &setup.inputs, &pins(), &clock);
        let created = scope.spawn(set_up);
        let local = workers.map(begin).transpose();
        (local, created.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let run = created.map_err(|fault| failed("set up the run", fault))?;
    let local = local.map_err(|failure| {
        let folder = quoted(&files::shown(&root));
        failure.hint(format_args!("the run is set up: arena tournament resume {folder}"))
    })?;
    io.talk(description);
    play(run, local, &args.executor, args.output, io)
}

fn describe(frozen: &FrozenFile) -> String {
    let (matchups, strategies) = (frozen.document().matchups.len(), frozen.document().strategies.len());
    let digest = frozen.sha256().short();
    format!("frozen    {digest}… {matchups} matchups, identities hidden, {strategies} strategies")
}

/// Plays a run, or ends one that cannot begin, and tells how it ended. Workers may have begun already.
pub(super) fn play(
    run: Result<Run, Halted>,
    begun: Option<Local>,
    executor: &ExecutorArgs,
    output: Output,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let clock = SystemClock::new();
    let ended = |fault| failed("end the run", fault);
    let (root, outcome) = match run {
        Err(halted) => (halted.root().to_owned(), halted.end(&clock).map_err(ended)?),
        Ok(run) => {
            let root = run.root().to_owned();
            let rounds = run.frozen().game == arena_tournament::Game::Matrix;
            let mut executor: Box<dyn Executor> = match begun {
                Some(local) => Box::new(local),
                None => start(executor, &run, io)?,
            };
            let mut progress = Progress::new(io, rounds);
            let outcome = run.play(executor.as_mut(), &mut progress, &clock);
            (root, outcome.map_err(ended)?)
        }
    };
    tell(&root, &outcome, output, io)?;
    Ok(exit_of(outcome.ending.class))
}

/// Workers of a server, or worker processes of this program; in a test, which has none, this process.
fn start(args: &ExecutorArgs, run: &Run, io: &mut Io<'_>) -> Result<Box<dyn Executor>, Failure> {
    let root = run.root();
    if let Place::Nats(server) = &args.executor {
        let mut shelf = FolderShelf::new(root);
        let roster = Box::new(roster(root, io)?);
        let nats = Nats::start(NatsOptions::new(server.clone()), run.frozen(), &mut shelf, roster);
        let nats = nats.map_err(|fault| failed("hand out the matchups", fault))?;
        io.talk(format_args!("waiting for workers of run {}: arena worker --nats {server}", nats.run()));
        return Ok(Box::new(nats));
    }
    Ok(match workers(args, root, io) {
        Some(workers) => Box::new(begin(workers)?),
        None => Box::new(InProcess::new(roster(root, io)?)),
    })
}

/// How many worker processes play the run in `root`, and how each is started, if it is they that play.
fn workers(args: &ExecutorArgs, root: &Path, io: &Io<'_>) -> Option<(WorkerCommand, usize)> {
    let (Place::Local, Some(program)) = (&args.executor, io.env().program.clone()) else { return None };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut arguments = worker_arguments(root);
    if let Some(cache) = &io.env().cache {
        arguments.extend(["--cache".into(), cache.into()]);
    }
    Some((WorkerCommand { program, arguments }, args.workers.map_or(cores, usize::from)))
}

fn begin((command, count): (WorkerCommand, usize)) -> Result<Local, Failure> {
    Local::start(command, count).map_err(|fault| failed("start the workers", fault))
}

/// The strategies of a run, seated in this process.
fn roster(root: &Path, io: &mut Io<'_>) -> Result<SandboxRoster, Failure> {
    let host = Arc::new(strategies::host(Seats::Pooled(4), io)?);
    Ok(SandboxRoster::new(host, Box::new(FolderShelf::new(root))))
}

fn tell(root: &Path, outcome: &Ended, output: Output, io: &mut Io<'_>) -> Result<(), Failure> {
    let ending = &outcome.ending;
    let receipt = files::shown(&root.join(RECEIPT));
    if output.json {
        let mut told = serde_json::to_value(&outcome.receipt)
            .map_err(|why| Failure::internal("write the result", why))?;
        if let Some(members) = told.as_object_mut() {
            // Thousands of lines that are in the file.
            members.remove("files");
        }
        io.print_json(&json!({ "folder": files::shown(root), "receipt": told }));
        return Ok(());
    }
    if ending.class == Class::Success {
        table::show(&table::rows(&outcome.standings)?, io);
    }
    let tone = if ending.class == Class::Success { Tone::Good } else { Tone::Bad };
    let class = io.ink().paint(tone, format!("{:<9}", ending.class.name()));
    let reason = arena_engine::Excerpt { text: &ending.reason, max: 600 };
    let at = ending.matchup.map_or_else(String::new, |id| format!(" at {id}"));
    io.print(format_args!("{class}{at} {reason}"));
    for mismatch in &ending.mismatches {
        io.print(format_args!("  {}", arena_engine::Excerpt { text: mismatch, max: 300 }));
    }
    io.print(format_args!("receipt   {receipt}"));
    let folder = quoted(&files::shown(root));
    match ending.class {
        Class::Success | Class::Exhausted => io.talk(format_args!("next: arena verify {folder}")),
        Class::Stalled => io.talk(format_args!("next: arena tournament resume {folder}")),
        Class::Blocked => {}
    }
    Ok(())
}

//! One file per command: its arguments with their help, and what it does.

mod agent;
mod bench;
mod build;
mod chain;
mod check;
mod claim;
mod completions;
mod contest;
mod demo;
mod draw;
mod exit_codes;
mod journal;
mod key;
mod limits;
mod new;
mod pack;
mod play;
mod replay;
mod schema;
mod serve;
mod sprint;
mod tournament;
mod verify;
mod worker;

use std::ffi::{OsStr, OsString};

use arena_engine::Excerpt;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::{Colour, Ink};
use crate::io::Io;

/// Untrusted strategies as WebAssembly components, against deterministic turn-based games.
///
/// A strategy is admitted, compiled once, and plays turn by turn under a fuel budget. What counts can be
/// derived again by anybody: an episode's score, a tournament's scorecard, a draw, a claim's settlement.
#[derive(Debug, Parser)]
#[command(name = "arena", version, arg_required_else_help = true, disable_help_subcommand = false)]
#[command(after_help = AFTER_HELP)]
struct Cli {
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    color: Colour,

    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  arena pack list                          the built-in packs
  arena play two-spikes my.wasm --watch    one episode, turn by turn
  arena check my.wasm                      would it be admitted?
  arena help exit-codes                    what the exit codes say

Results go to stdout, talk to stderr. NO_COLOR turns colours off; ARENA_CACHE names the folder
for compiled strategies (else XDG_CACHE_HOME/arena, else ~/.cache/arena).";

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Args),
    Build(build::Args),
    Check(check::Args),
    Play(play::Args),
    Replay(replay::Args),
    Verify(verify::Args),
    #[command(subcommand)]
    Pack(pack::Command),
    #[command(subcommand)]
    Draw(draw::Command),
    #[command(subcommand)]
    Tournament(tournament::Command),
    #[command(subcommand)]
    Sprint(sprint::Command),
    #[command(subcommand)]
    Contest(contest::Command),
    Worker(worker::Args),
    Runner(Box<agent::Runner>),
    Challenger(Box<agent::Challenger>),
    Party(Box<agent::Party>),
    #[command(hide = true)]
    Rerun(agent::rerun::Args),
    Serve(serve::Args),
    #[command(subcommand, hide = true)]
    Workshop(serve::Workshop),
    #[command(subcommand)]
    Claim(claim::Command),
    #[command(subcommand)]
    Key(key::Command),
    #[command(subcommand)]
    Journal(journal::Command),
    Bench(bench::Args),
    Demo(demo::Args),
    Limits(limits::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    ExitCodes(exit_codes::Args),
}

/// How a command shows its result.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Output {
    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The whole command line as `clap` knows it, for help, completions and tests.
pub fn command() -> clap::Command {
    let styles = Styles::styled()
        .header(AnsiColor::Yellow.on_default().bold())
        .usage(AnsiColor::Yellow.on_default().bold())
        .literal(AnsiColor::Green.on_default())
        .placeholder(AnsiColor::Cyan.on_default());
    Cli::command().styles(styles).long_version(long_version())
}

fn long_version() -> String {
    format!(
        "{}\nengine {}, limits {}, wasmtime {}",
        env!("CARGO_PKG_VERSION"),
        arena_engine::ENGINE_VERSION,
        arena_engine::limits::V1.version,
        arena_sandbox::WASMTIME_VERSION
    )
}

/// Runs what `args` say.
pub(crate) fn dispatch(args: &[OsString], io: &mut Io<'_>) -> Result<Exit, Failure> {
    let matches = command().term_width(io.columns().min(100)).try_get_matches_from(args);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(asked) => return Ok(told(&asked, io)),
    };
    match &cli.command {
        Command::New(args) => new::run(args, io),
        Command::Build(args) => build::run(args, io),
        Command::Check(args) => check::run(args, io),
        Command::Play(args) => play::run(args, io),
        Command::Replay(args) => replay::run(args, io),
        Command::Verify(args) => verify::run(args, io),
        Command::Pack(command) => pack::run(command, io),
        Command::Draw(command) => draw::run(command, io),
        Command::Tournament(command) => tournament::run(command, io),
        Command::Sprint(command) => sprint::run(command, io),
        Command::Contest(command) => contest::run(command, io),
        Command::Worker(args) => worker::run(args, io),
        Command::Runner(args) => agent::run_runner(args, io),
        Command::Challenger(args) => agent::run_challenger(args, io),
        Command::Party(args) => agent::run_party(args, io),
        Command::Rerun(args) => agent::rerun::run(args, io),
        Command::Serve(args) => serve::run(args, io),
        Command::Workshop(command) => serve::work(command, io),
        Command::Claim(command) => claim::run(command, io),
        Command::Key(command) => key::run(command, io),
        Command::Journal(command) => journal::run(command, io),
        Command::Bench(args) => bench::run(args, io),
        Command::Demo(args) => demo::run(args, io),
        Command::Limits(args) => limits::run(args, io),
        Command::Schema(args) => schema::run(args, io),
        Command::Completions(args) => completions::run(args, io),
        Command::ExitCodes(args) => exit_codes::run(args, io),
    }
}

/// Help and version are results; a command line that cannot be read is talk.
fn told(asked: &clap::Error, io: &mut Io<'_>) -> Exit {
    let is_result = !asked.use_stderr();
    let text = asked.render();
    let text = if is_result && io.ink() != Ink::NONE { text.ansi().to_string() } else { text.to_string() };
    if is_result {
        io.print(text.trim_end());
        Exit::Success
    } else {
        // It repeats what was typed, and a shell's glob may have typed it.
        for line in text.trim_end().lines() {
            io.talk(Excerpt { text: line, max: 1_000 });
        }
        Exit::Usage
    }
}

/// `--color` as it stands on the command line: it also counts where the rest cannot be read.
pub(crate) fn colour_wanted(args: &[OsString]) -> Colour {
    let mut wanted = Colour::default();
    for (i, arg) in args.iter().enumerate() {
        let value = match arg.to_str() {
            Some("--color") => args.get(i + 1).and_then(|value| value.to_str()),
            Some(arg) => arg.strip_prefix("--color="),
            None => None,
        };
        if let Some(colour) = value.and_then(|value| Colour::from_str(value, false).ok()) {
            wanted = colour;
        }
        if arg == OsStr::new("--") {
            break;
        }
    }
    wanted
}

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use arena_canon::Digest;
use arena_engine::campus::{EpisodeLog, RawAction};
use arena_engine::limits::V1;
use arena_engine::{During, ForfeitRecord};
use arena_sandbox::{Played, Seats, SeedError};
use serde_json::{Value, json};

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::packs::{self, Named};
use crate::strategies;
use crate::view::chart::Chart;
use crate::view::{blocks, forfeit, lines, outcome, svg, turns};
use crate::yardstick;

/// Let a strategy play a scenario pack in the sandbox
///
/// Prints every turn with what was asked, what was granted and the limit that bit, then the score.
/// A strategy that traps, runs out of fuel or cannot be read forfeits: the rest is played with empty
/// actions, the log is written all the same, and the exit code is 3.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A pack's file, or the name of a built-in pack
    pack: OsString,

    /// The strategy: a WebAssembly component
    strategy: PathBuf,

    /// Seed of the strategy's randomness: an integer or 64 hexadecimal digits
    #[arg(long, default_value = "0", value_parser = seed)]
    seed: Seed,

    /// Write the episode's log into this file, or under a name of its own into this folder
    #[arg(long, value_name = "OUT")]
    log: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    /// Show turn by turn, and a chart at the end
    #[arg(long, conflicts_with = "json")]
    watch: bool,

    /// Draw a chart: `ascii` below the table, `svg` into a file named after the pack, or `svg=FILE`
    #[arg(long, value_name = "KIND")]
    chart: Option<ChartKind>,

    /// Show what the strategy logged
    #[arg(long)]
    guest_log: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena play two-spikes my.wasm
  arena play two-spikes my.wasm --watch
  arena play two-spikes my.wasm --log episodes/ --chart svg=episode.svg
  arena play my-pack.json my.wasm --seed 7 --json";

/// A seed as it was typed, and what it stands for.
#[derive(Debug, Clone)]
struct Seed {
    typed: String,
    digest: Digest,
}

fn seed(typed: &str) -> Result<Seed, SeedError> {
    Ok(Seed { typed: typed.to_owned(), digest: arena_sandbox::seed(typed)? })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ChartKind {
    Ascii,
    Svg(Option<PathBuf>),
}

impl FromStr for ChartKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            None if text == "ascii" => Ok(Self::Ascii),
            None if text == "svg" => Ok(Self::Svg(None)),
            Some(("svg", path)) if !path.is_empty() => Ok(Self::Svg(Some(path.into()))),
            _ => Err("a chart is `ascii`, `svg` or `svg=FILE`"),
        }
    }
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if let Some(out) = &args.log {
        if files::names_a_folder(out) {
            files::make_folder(out)?;
        } else {
            files::may_write(out, Existing::replace_if(args.force))?;
        }
    }
    let named = packs::find(&args.pack)?;
    named.warn(io);
    let host = strategies::host(Seats::OnDemand, io)?;
    let strategy = strategies::load_campus(&host, &args.strategy)?;
    let played = arena_sandbox::play(&strategy, &named.pack, args.seed.digest)?;
    let kept = keep(args, &named, &played, io)?;
    let best = yardstick::best_at(&named.pack, &played.log.settlement);
    tell_guest_log(args, &played.log, io);
    if args.output.json {
        io.print_json(&result(&played, best, &kept));
    } else {
        show(args, &named, &played, best, &kept, io);
    }
    Ok(if played.forfeit.is_some() { Exit::Forfeited } else { Exit::Success })
}

/// What was written, and the digest of the log whether it was written or not.
struct Kept {
    sha256: Digest,
    log: Option<PathBuf>,
    chart: Option<PathBuf>,
    /// What the strategy was given on the turn it forfeited.
    observation: Option<PathBuf>,
    /// What it had asked for until then.
    actions: Option<PathBuf>,
}

/// Writes what was asked for. Every name is looked at before the first file is written; a name made
/// from the content may be there already.
fn keep(args: &Args, named: &Named, played: &Played, io: &mut Io<'_>) -> Result<Kept, Failure> {
    let in_folder = args.log.as_deref().is_some_and(files::names_a_folder);
    let existing = match (args.force, in_folder) {
        (true, _) => Existing::Replace,
        (false, true) => Existing::KeepEqual,
        (false, false) => Existing::Keep,
    };
    let bytes = played.log.to_bytes();
    let sha256 = Digest::of(&bytes);
    let pack_name = files::as_name(&named.pack.document().pack_id);
    let mut kept = Kept { sha256, log: None, chart: None, observation: None, actions: None };
    let mut writes: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    if let Some(out) = &args.log {
        let path = files::in_folder(out, || format!("{pack_name}-{}.json", sha256.short()));
        writes.push((path.clone(), bytes));
        kept.log = Some(path);
    }
    if let Some(ChartKind::Svg(path)) = &args.chart {
        let path = path.clone().unwrap_or_else(|| format!("{pack_name}.svg").into());
        let drawing = svg::draw(&Chart::of_episode(&played.log, &named.pack));
        writes.push((path.clone(), drawing.into_bytes()));
        kept.chart = Some(path);
    }
    if let (Some(log), Some(chart)) = (&kept.log, &kept.chart)
        && files::same_place(log, chart)
    {
        let doing = format!("write `{}`", files::shown(chart));
        return Err(Failure::usage(doing, "the log and the chart have the same name"));
    }
    for (path, _) in &writes {
        let named_by_content = in_folder && kept.chart.as_ref() != Some(path);
        if !args.force && !named_by_content {
            files::may_write(path, Existing::Keep)?;
        }
    }
    for (path, bytes) in &writes {
        files::write(path, bytes, existing)?;
    }
    if let (Some(path), Some(forfeit)) = (kept.log.clone(), &played.forfeit) {
        evidence(&path, forfeit, &played.log, args.force, &mut kept, io);
    }
    Ok(kept)
}

/// Beside the log of a forfeit: what the strategy was given, and what it had asked for so far. The log
/// says all of it, so a file in the way of these is only told.
fn evidence(
    log_path: &Path,
    forfeit: &ForfeitRecord,
    log: &EpisodeLog,
    force: bool,
    kept: &mut Kept,
    io: &mut Io<'_>,
) {
    let existing = if force { Existing::Replace } else { Existing::KeepEqual };
    let mut write = |path: PathBuf, bytes: Vec<u8>| match files::write(&path, &bytes, existing) {
        Ok(()) => Some(path),
        Err(failure) => {
            io.warn(failure.message());
            None
        }
    };
    let beside = |suffix: &str| {
        let mut name = log_path.file_stem().unwrap_or_default().to_owned();
        name.push(suffix);
        log_path.with_file_name(name)
    };
    let turn = forfeit.turn as usize;
    if let Some(turn) = log.turns.get(turn).filter(|_| forfeit.during == During::Turn) {
        let path = beside(&format!("-turn{}.json", forfeit.turn));
        kept.observation = write(path, pretty(&json!(turn.observation)));
    }
    let actions: Vec<&RawAction> = log.turns.iter().take(turn).map(|turn| &turn.action).collect();
    let path = beside("-actions.json");
    kept.actions = write(path, pretty(&json!(actions)));
}

fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// What the strategy logged is talk: it is never part of the score.
fn tell_guest_log(args: &Args, log: &EpisodeLog, io: &mut Io<'_>) {
    let Some(run) = log.run.as_ref().filter(|_| args.guest_log) else { return };
    for line in &run.log {
        io.talk(forfeit::guest_line(line));
    }
    if run.log_dropped_bytes > 0 {
        io.warn(format_args!("{} bytes of the strategy's log were dropped", run.log_dropped_bytes));
    }
}

fn result(played: &Played, best: Option<f64>, kept: &Kept) -> Value {
    let log = &played.log;
    let fuel_max = log.run.as_ref().and_then(|run| run.fuel.iter().max());
    let shown = |path: &Option<PathBuf>| path.as_deref().map(files::shown);
    json!({
        "pack_id": log.pack_id,
        "pack_version": log.pack_version,
        "pins": log.pins,
        "strategy_sha256": log.run.as_ref().map(|run| run.strategy_sha256),
        "seed": log.run.as_ref().map(|run| run.seed),
        "settlement": log.settlement,
        "best_usd_per_mwh_at_this_relief": best,
        "forfeit": played.forfeit,
        "turn_fuel_max": fuel_max,
        "memory_bytes_max": played.memory_bytes,
        "log": { "sha256": kept.sha256, "path": shown(&kept.log) },
        "chart": shown(&kept.chart),
        "observation": shown(&kept.observation),
        "actions": shown(&kept.actions),
    })
}

fn show(args: &Args, named: &Named, played: &Played, best: Option<f64>, kept: &Kept, io: &mut Io<'_>) {
    let (ink, columns, log) = (io.ink(), io.columns(), &played.log);
    for line in lines::dotted(&outcome::header(log, &named.pack), columns) {
        io.print(ink.paint(Tone::Quiet, line));
    }
    let delay = delay(args, log.turns.len(), io);
    for line in turns::table(log, &named.pack, played.forfeit.as_ref()).lines(io.row_columns(), ink) {
        io.print(line);
        if let Some(delay) = delay {
            io.flush();
            std::thread::sleep(delay);
        }
    }
    if args.watch || args.chart == Some(ChartKind::Ascii) {
        io.print("");
        for line in blocks::draw(&Chart::of_episode(log, &named.pack), columns, ink) {
            io.print(line);
        }
    }
    io.print("");
    if let Some(forfeit) = &played.forfeit {
        show_forfeit(args, forfeit, log, kept, io);
    }
    let mut facts = outcome::facts(log, &named.pack, &V1, best);
    if let Some(path) = &kept.log {
        facts.add("log", files::shown(path));
    }
    facts.add(if kept.log.is_some() { "" } else { "log" }, format!("sha256:{}", kept.sha256));
    if let Some(path) = &kept.chart {
        facts.add("chart", files::shown(path));
    }
    for line in facts.lines(columns, ink) {
        io.print(line);
    }
}

fn show_forfeit(args: &Args, forfeit: &ForfeitRecord, log: &EpisodeLog, kept: &Kept, io: &mut Io<'_>) {
    for line in forfeit::lines(forfeit, log, io.ink()) {
        io.print(line);
    }
    if let Some(path) = &kept.observation {
        io.print(format_args!("it was given: {}", files::shown(path)));
    }
    let pack = arena_engine::Excerpt::line(&args.pack.to_string_lossy()).to_string();
    match &kept.actions {
        Some(path) => {
            let (pack, actions) = (quoted(&pack), quoted(&files::shown(path)));
            io.print(format_args!("replay: arena replay --pack {pack} --actions {actions}"));
        }
        None => {
            let (pack, strategy) = (quoted(&pack), quoted(&files::shown(&args.strategy)));
            let seed =
                if args.seed.typed == "0" { String::new() } else { format!(" --seed {}", args.seed.typed) };
            io.print(format_args!("keep it: arena play {pack} {strategy}{seed} --log FILE"));
        }
    }
    io.print("the rest was played with empty actions");
    io.print("");
}

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._-/+:@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Somebody is watching: slow enough to see, never longer than some seconds in all.
fn delay(args: &Args, turns: usize, io: &Io<'_>) -> Option<Duration> {
    let watched = args.watch && io.env().out_is_terminal;
    watched.then(|| Duration::from_millis(120).min(Duration::from_secs(6) / turns.max(1) as u32))
}

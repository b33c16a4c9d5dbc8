use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arena_engine::Excerpt;
use arena_engine::campus::hindsight::Frontier;
use arena_engine::campus::{self, MetricId, Settlement};
use arena_sandbox::{Game, Seats, Strategy};
use serde_json::{Value, json};

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::packs::{self, Named};
use crate::strategies::{self, Refused};
use crate::view::numbers::{count, counted, grouped};
use crate::view::outcome::stars;
use crate::view::table::{Cell, Column, Table};
use crate::yardstick;

/// Let every strategy of a folder play every pack of another, and verify every log
///
/// Strategies of other games are passed over.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Folder with the strategies (*.wasm)
    #[arg(long, value_name = "DIR")]
    strategies: PathBuf,

    /// Folder with the packs (*.json)
    #[arg(long, value_name = "DIR")]
    packs: PathBuf,

    /// Folder for the logs; files of the same name are replaced
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena demo --strategies target/guests --packs scenarios --logs target/demo/episodes
  arena demo --strategies mine/ --packs scenarios --logs logs --json";

/// A strategy and what it did.
struct Contender {
    name: String,
    path: PathBuf,
    strategy: Strategy,
    episodes: Vec<Outcome>,
}

/// One episode, as far as the table needs it.
struct Outcome {
    log: PathBuf,
    settlement: Settlement,
    closeness: Option<f64>,
    turn_fuel_max: u64,
    forfeited: bool,
    replays: bool,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let packs = read_packs(&args.packs, io)?;
    let mut contenders = load(&args.strategies, io)?;
    let frontiers = prove(&packs, io);
    files::make_folder(&args.logs)?;
    let mut playing = Duration::ZERO;
    let episodes = contenders.len() * packs.len();
    let bar = io.progress("episodes", episodes as u64);
    let mut names = BTreeSet::new();
    for contender in &mut contenders {
        for (named, frontier) in packs.iter().zip(&frontiers) {
            let mut outcome = play(contender, named, &args.logs, &mut names, &mut playing)?;
            outcome.closeness = frontier.as_ref().and_then(|it| it.closeness(&outcome.settlement));
            contender.episodes.push(outcome);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let rate = (episodes as f64 / playing.as_secs_f64()) as u64;
    io.talk(format_args!("episodes  {episodes} of {episodes} · played at {} episodes/s", count(rate)));
    contenders.sort_by_key(|contender| std::cmp::Reverse(contender.merit()));
    if args.output.json {
        io.print_json(&contenders.iter().map(|contender| contender.json(&packs)).collect::<Vec<_>>());
    } else {
        show(args, &contenders, &packs, io);
    }
    let outcomes = || contenders.iter().flat_map(|contender| &contender.episodes);
    let replays = if outcomes().all(|outcome| outcome.replays) { Exit::Success } else { Exit::Rejected };
    let acted = if outcomes().any(|outcome| outcome.forfeited) { Exit::Forfeited } else { Exit::Success };
    Ok(replays.or_worse(acted))
}

/// The built-in ones in their own order, then the rest by name.
fn read_packs(folder: &Path, io: &mut Io<'_>) -> Result<Vec<Named>, Failure> {
    let paths = strategies::in_folder(folder, "json")?;
    let mut packs = paths.iter().map(|path| packs::from_file(path)).collect::<Result<Vec<_>, _>>()?;
    packs.iter().for_each(|pack| pack.warn(io));
    packs.sort_by_key(|named| packs::position(&named.pack.document().pack_id));
    Ok(packs)
}

/// The best that was possible on each pack.
fn prove(packs: &[Named], io: &mut Io<'_>) -> Vec<Option<Frontier>> {
    let bar = io.progress("optima", packs.len() as u64);
    let prove = |named: &Named| {
        let frontier = yardstick::of(&named.pack);
        bar.inc(1);
        frontier
    };
    let frontiers = packs.iter().map(prove).collect();
    bar.finish_and_clear();
    frontiers
}

fn load(folder: &Path, io: &mut Io<'_>) -> Result<Vec<Contender>, Failure> {
    let paths = strategies::in_folder(folder, "wasm")?;
    let host = strategies::host(Seats::Pooled(1), io)?;
    let bar = io.progress("strategies", paths.len() as u64);
    let mut contenders = Vec::with_capacity(paths.len());
    let mut passed_over = 0;
    for path in paths {
        let other = match strategies::read(&path) {
            Ok(admitted) => admitted.game() != Game::Campus,
            Err(refused) => matches!(refused, Refused::Experiment(_)),
        };
        if other {
            passed_over += 1;
            continue;
        }
        let strategy = strategies::load(&host, &path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        contenders.push(Contender { name, path, strategy, episodes: Vec::new() });
        bar.inc(1);
    }
    bar.finish_and_clear();
    if passed_over > 0 {
        io.talk(format_args!("{} of other games passed over", counted(passed_over, "component")));
    }
    if contenders.is_empty() {
        let why = "no strategy in it plays the campus game";
        return Err(Failure::usage(format_args!("use folder `{}`", files::shown(folder)), why));
    }
    Ok(contenders)
}

/// Plays, writes the log, reads it back and replays it.
fn play(
    contender: &Contender,
    named: &Named,
    logs: &Path,
    names: &mut BTreeSet<String>,
    playing: &mut Duration,
) -> Result<Outcome, Failure> {
    let seed = arena_sandbox::seed("0").map_err(|why| Failure::internal("make a seed", why))?;
    let started = Instant::now();
    let played = arena_sandbox::play(&contender.strategy, &named.pack, seed)?;
    *playing += started.elapsed();
    let pack_id = &named.pack.document().pack_id;
    let mut name = files::as_name(&format!("{}-{pack_id}", contender.name));
    while !names.insert(name.clone()) {
        name.push('+');
    }
    let log = logs.join(format!("{name}.json"));
    files::write(&log, &played.log.to_bytes(), Existing::Replace)?;
    let written = files::read(&log, campus::DOCUMENT_BYTES_MAX as u64);
    let written = written.map_err(|unread| unread.reading("log", &log))?;
    let fuel = played.log.run.as_ref().and_then(|run| run.fuel.iter().copied().max());
    Ok(Outcome {
        replays: campus::verify(&written, &named.pack).is_ok(),
        closeness: None,
        turn_fuel_max: fuel.unwrap_or_default(),
        forfeited: played.forfeit.is_some(),
        settlement: played.log.settlement,
        log,
    })
}

impl Contender {
    /// Stars first, then closeness in millionths.
    fn merit(&self) -> (u32, i64) {
        let stars = self.episodes.iter().map(|outcome| u32::from(outcome.settlement.stars)).sum();
        (stars, (self.closeness().unwrap_or_default() * 1e6) as i64)
    }

    fn closeness(&self) -> Option<f64> {
        mean(self.episodes.iter().filter_map(|outcome| outcome.closeness))
    }

    fn relief(&self) -> Option<f64> {
        mean(self.episodes.iter().filter_map(|outcome| {
            outcome.settlement.metrics.iter().find(|metric| metric.id == MetricId::ReliefShare)?.value
        }))
    }

    fn turn_fuel_max(&self) -> u64 {
        self.episodes.iter().map(|outcome| outcome.turn_fuel_max).max().unwrap_or_default()
    }

    fn json(&self, packs: &[Named]) -> Value {
        let episodes = self.episodes.iter().zip(packs).map(|(outcome, named)| {
            json!({
                "pack_id": named.pack.document().pack_id,
                "stars": outcome.settlement.stars,
                "metrics": outcome.settlement.metrics,
                "closeness": outcome.closeness,
                "turn_fuel_max": outcome.turn_fuel_max,
                "forfeited": outcome.forfeited,
                "replays": outcome.replays,
                "log": files::shown(&outcome.log),
            })
        });
        json!({
            "strategy": Excerpt::line(&self.name).to_string(),
            "sha256": self.strategy.digest(),
            "closeness": self.closeness(),
            "relief": self.relief(),
            "turn_fuel_max": self.turn_fuel_max(),
            "episodes": episodes.collect::<Vec<_>>(),
        })
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

fn show(args: &Args, contenders: &[Contender], packs: &[Named], io: &mut Io<'_>) {
    let mut columns = vec![Column::left("strategy").after(0)];
    columns.extend(packs.iter().map(|named| Column::left(packs::short(&named.pack.document().pack_id))));
    columns.extend(["vs best", "relief", "fuel/turn"].map(Column::right));
    columns.push(Column::left("replay"));
    let mut table = Table::new(columns);
    for contender in contenders {
        table.push(row(contender));
        let forfeits = contender.episodes.iter().filter(|outcome| outcome.forfeited).count();
        if forfeits > 0 {
            table.note(Cell::toned(Tone::Bad, counted(forfeits as u64, "forfeit")));
        }
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    let outcomes = || contenders.iter().flat_map(|contender| &contender.episodes);
    let logs = counted(outcomes().count() as u64, "log");
    let broken = outcomes().filter(|outcome| !outcome.replays).count();
    let verdict = match broken {
        0 => "every one replays to its score".to_owned(),
        some => format!("{some} do not replay to their score"),
    };
    io.print(format_args!("{logs} in {} · {verdict}", files::shown(&args.logs)));
    for outcome in outcomes().filter(|outcome| !outcome.replays) {
        io.print(format_args!("  {}", files::shown(&outcome.log)));
    }
    if let Some(best) = contenders.first() {
        let path = crate::commands::play::quoted(&files::shown(&best.path));
        io.talk(format_args!("next: arena play two-spikes {path} --watch"));
    }
}

fn row(contender: &Contender) -> Vec<Cell> {
    let mut cells: Vec<Cell> =
        vec![Cell::toned(Tone::Strong, Excerpt { text: &contender.name, max: 24 }.to_string())];
    cells.extend(contender.episodes.iter().map(|outcome| {
        let tone = if outcome.settlement.stars == 0 { Tone::Quiet } else { Tone::Warn };
        Cell::toned(tone, stars(outcome.settlement.stars))
    }));
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| grouped(value, 2));
    cells.extend([
        optional(contender.closeness()).into(),
        optional(contender.relief()).into(),
        count(contender.turn_fuel_max()).into(),
    ]);
    cells.push(match contender.episodes.iter().all(|outcome| outcome.replays) {
        true => Cell::toned(Tone::Good, "ok"),
        false => Cell::toned(Tone::Bad, "no"),
    });
    cells
}

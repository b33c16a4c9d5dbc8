use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use arena_benches as bodies;
use arena_engine::HostFault;
use arena_sandbox::{Floor, Game, Host, HostOptions, MatrixFloor, Seats, Strategy, admit};
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::strategies;
use crate::view::table::{Column, Table};

/// Measure how fast this machine plays
///
/// The same bodies as `cargo bench`. Machines are noisy, so compare figures of one run with one
/// another: the last column is each figure against the one it is to be compared with.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Measure this strategy too: its seats, and its episodes of `two-spikes`, or its games of 200
    /// rounds against itself
    #[arg(long, value_name = "FILE")]
    strategy: Option<PathBuf>,

    /// Time for each figure, in milliseconds
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    millis: u64,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena bench
  arena bench --strategy my.wasm
  arena bench --millis 2000 --json";

/// One figure: the median over the samples of one run.
struct Figure {
    name: String,
    median_ns: f64,
    /// Index of the figure it is compared with.
    against: Option<usize>,
}

struct Bench<'i, 'o> {
    io: &'i mut Io<'o>,
    each: Duration,
    figures: Vec<Figure>,
}

/// Samples of a figure; an odd number, so that the median is one of them.
const SAMPLES: u32 = 15;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let own = match &args.strategy {
        Some(path) => Some(strategies::load(&strategies::host(Seats::Pooled(16), io)?, path)?),
        None => None,
    };
    let mut bench = Bench { io, each: Duration::from_millis(args.millis), figures: Vec::new() };
    native(&mut bench);
    sandboxed(&mut bench)?;
    matrix(&mut bench)?;
    loading(&mut bench)?;
    if let Some(strategy) = &own {
        given(&mut bench, strategy)?;
    }
    let figures = bench.figures;
    let resident = resident()?;
    if args.output.json {
        let times: Vec<_> = figures.iter().map(|figure| figure.json(&figures)).collect();
        io.print_json(&json!({ "figures": times, "seats": SEATS, "resident_bytes": resident }));
    } else {
        show(&figures, io);
        if let Some(bytes) = resident {
            let mib = bytes as f64 / f64::from(1 << 20);
            io.print(format_args!("{SEATS} live seats take {mib:.1} MiB of resident memory"));
        }
    }
    Ok(Exit::Success)
}

/// Seats that are alive at once for the figure of memory.
const SEATS: u32 = 1_000;

fn resident() -> Result<Option<u64>, Failure> {
    let host = Host::new(&HostOptions::new(Seats::Pooled(SEATS)))?;
    let logging = strategy(&host, &bodies::logging_component())?;
    Ok(bodies::resident_bytes(&logging, SEATS)?)
}

fn native(bench: &mut Bench<'_, '_>) {
    for (name, _) in bodies::PACKS {
        let pack = bodies::pack(name);
        let actions = bodies::actions(&pack);
        let log = bodies::parsed_log(&actions);
        let played = bench.measure(format!("native turn, {name}"), pack.turns(), None, || {
            black_box(bodies::native_episode(&pack, &actions));
        });
        bench.measure(format!("replayed turn, {name}"), pack.turns(), Some(played), || {
            black_box(bodies::replay_episode(&pack, &log));
        });
    }
}

fn sandboxed(bench: &mut Bench<'_, '_>) -> Result<(), Failure> {
    let pooled = Host::new(&HostOptions::new(Seats::Pooled(16)))?;
    let empty = strategy(&pooled, &bodies::empty_component())?;
    let logging = strategy(&pooled, &bodies::logging_component())?;
    let long = bodies::long_pack(10_000);
    let mut floor = Floor::new(&empty, &long)?;
    let floor = bench.try_measure("empty guest call", 1, None, || floor.call().map(drop))?;
    bench.try_measure("sandboxed turn", long.turns(), Some(floor), || {
        bodies::Turns::setup(&empty, &long)?.run()
    })?;
    let seat = bench.try_measure("seat, pooled", 1, None, || bodies::seat(&logging))?;
    let on_demand = Host::new(&HostOptions::new(Seats::OnDemand))?;
    let mapped = strategy(&on_demand, &bodies::logging_component())?;
    bench.try_measure("seat, on demand", 1, Some(seat), || bodies::seat(&mapped))?;
    for pack in [bodies::pack("two-spikes"), bodies::long_pack(288)] {
        let name = format!("sandboxed episode, {} turns", pack.turns());
        bench.try_measure(name, 1, None, || bodies::sandboxed_episode(&logging, &pack).map(drop))?;
    }
    Ok(())
}

fn matrix(bench: &mut Bench<'_, '_>) -> Result<(), Failure> {
    let host = Host::new(&HostOptions::new(Seats::Pooled(16)))?;
    let strategy = strategy(&host, &bodies::tit_for_tat_component())?;
    let (long, usual) = (bodies::matrix::rules(100_000), bodies::matrix::rules(200));
    let rounds = long.rounds();
    let native = "native matrix round";
    bench.try_measure(native, rounds, None, || bodies::matrix::native_game(&long).map(drop))?;
    let mut floor = MatrixFloor::new(&strategy, &long)?;
    let floor = bench.try_measure("matrix guest call", 1, None, || floor.call().map(drop))?;
    bench.try_measure("sandboxed matrix round, both seats", rounds, Some(floor), || {
        bodies::matrix::Rounds::setup(&strategy, &long)?.run()
    })?;
    let name = format!("sandboxed matrix game, {} rounds", usual.rounds());
    bench.try_measure(name, 1, None, || bodies::matrix::sandboxed_game(&strategy, &usual).map(drop))?;
    Ok(())
}

fn loading(bench: &mut Bench<'_, '_>) -> Result<(), Failure> {
    let cannot = |why| Failure::internal("make a folder for compiled strategies", why);
    let folder = tempfile::tempdir().map_err(cannot)?;
    let component = bodies::logging_component();
    let admitted = admit(&component).map_err(|why| Failure::internal("admit the bench's guest", why))?;
    let cached = HostOptions { cache: Some(folder.path().into()), ..HostOptions::new(Seats::OnDemand) };
    let load = |options: &HostOptions| -> Result<f64, Failure> {
        let host = Host::new(options)?;
        let started = Instant::now();
        host.load(&admitted).map_err(|why| Failure::internal("compile the bench's guest", why))?;
        Ok(nanoseconds(started.elapsed()))
    };
    load(&cached)?;
    let uncached = HostOptions::new(Seats::OnDemand);
    let name = format!("compile, {} bytes", component.len());
    let compiled = bench.samples(name, None, || load(&uncached))?;
    bench.samples("load from the disk cache".to_owned(), Some(compiled), || load(&cached))?;
    Ok(())
}

fn given(bench: &mut Bench<'_, '_>, strategy: &Strategy) -> Result<(), Failure> {
    match strategy.game() {
        Game::Campus => {
            let pack = bodies::pack("two-spikes");
            bench.try_measure("your strategy: seat", 1, None, || bodies::seat(strategy))?;
            let name = "your strategy: episode, 24 turns";
            bench.try_measure(name, 1, None, || bodies::sandboxed_episode(strategy, &pack).map(drop))?;
        }
        Game::Matrix => {
            let rules = bodies::matrix::rules(200);
            let name = "your strategy: game against itself, 200 rounds";
            bench
                .try_measure(name, 1, None, || bodies::matrix::sandboxed_game(strategy, &rules).map(drop))?;
        }
    }
    Ok(())
}

fn strategy(host: &Host, component: &[u8]) -> Result<Strategy, Failure> {
    let admitted = admit(component).map_err(|why| Failure::internal("admit the bench's guest", why))?;
    host.load(&admitted).map_err(|why| Failure::internal("compile the bench's guest", why))
}

impl Bench<'_, '_> {
    /// Times `body`, which does `units` of something, and keeps the median for one of them.
    fn measure(&mut self, name: String, units: u32, against: Option<usize>, mut body: impl FnMut()) -> usize {
        let result = self.try_measure(name, units, against, || {
            body();
            Ok(())
        });
        result.unwrap_or_default()
    }

    fn try_measure(
        &mut self,
        name: impl Into<String>,
        units: u32,
        against: Option<usize>,
        mut body: impl FnMut() -> Result<(), HostFault>,
    ) -> Result<usize, Failure> {
        let warm_up = Instant::now();
        let mut rounds = 0u32;
        while rounds == 0 || warm_up.elapsed() < self.each / 4 {
            body()?;
            rounds += 1;
        }
        let one = warm_up.elapsed() / rounds;
        let per_sample = (self.each / SAMPLES).as_nanos() / one.as_nanos().max(1);
        let per_sample = u32::try_from(per_sample).unwrap_or(u32::MAX).max(1);
        self.samples(name.into(), against, || {
            let started = Instant::now();
            for _ in 0..per_sample {
                body()?;
            }
            Ok(nanoseconds(started.elapsed()) / f64::from(per_sample) / f64::from(units))
        })
    }

    fn samples(
        &mut self,
        name: String,
        against: Option<usize>,
        mut sample: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<usize, Failure> {
        self.io.talk(format_args!("measuring {name}"));
        let samples: Result<Vec<f64>, Failure> = (0..SAMPLES).map(|_| sample()).collect();
        let mut samples = samples?;
        samples.sort_by(f64::total_cmp);
        let median_ns = samples[samples.len() / 2];
        self.figures.push(Figure { name, median_ns, against });
        Ok(self.figures.len() - 1)
    }
}

impl Figure {
    fn ratio(&self, all: &[Figure]) -> Option<f64> {
        let other = all.get(self.against?)?;
        Some(self.median_ns / other.median_ns)
    }

    fn json(&self, all: &[Figure]) -> serde_json::Value {
        let against = self.against.and_then(|i| all.get(i)).map(|other| &other.name);
        json!({
            "name": self.name,
            "median_ns": self.median_ns,
            "against": against,
            "ratio": self.ratio(all),
        })
    }
}

fn show(figures: &[Figure], io: &mut Io<'_>) {
    let heads = [Column::left("figure").after(0), Column::right("median"), Column::left("ratio")];
    let mut table = Table::new(heads);
    for figure in figures {
        let ratio = figure.against.and_then(|i| figures.get(i)).zip(figure.ratio(figures));
        let ratio = ratio.map(|(other, ratio)| format!("{ratio:.2} × {}", other.name));
        table.push([
            figure.name.as_str().into(),
            time(figure.median_ns).into(),
            ratio.unwrap_or_default().into(),
        ]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
}

fn nanoseconds(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e9
}

/// Three significant digits in the unit that suits.
fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

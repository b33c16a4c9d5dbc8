//! A load on one server in this process, over loopback sockets, with its limits raised.
//!
//! ```text
//! cargo run --release -p arena-server --example load -- [NAME=NUMBER …]
//! ```
//!
//! `connections=32` that each send one request after another, `seconds=5` for each measurement, `streams=1000`,
//! `players=1000`, `events=0` that the journal is to have at least before the server is started again on it, `reads=0`
//! more, of standings, whose memory is told in quarters. What is
//! measured, one after the other: reads of a page of standings, of another page and of a JSON document; durable writes,
//! each answered after it is on disk; actions of players, once each a second, and once as fast as they come; open event
//! streams, with a write each 100 ms, from the moment the write is sent to the moment its event has arrived at a
//! stream; and the restart. Server and load share the machine. A stream needs two descriptors (`ulimit -n`).

#![allow(clippy::print_stdout, reason = "a tool that prints figures")]

mod players;
mod stage;
mod streams;
mod wire;

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arena_canon::Digest;
use arena_contests::Moment;
use arena_server::auth::AdminToken;
use arena_server::{Config, Outside, Server, Setup};
use tokio::task::JoinHandle;

use crate::wire::{ADMIN, Connection, get, post};

type Failed = Box<dyn Error + Send + Sync>;

/// The machine's clock, set forth by hand; luck that is counted.
struct Machine {
    drawn: AtomicU64,
    forth_ms: AtomicI64,
}

impl Machine {
    fn set(&self, time: &str) -> Result<(), Failed> {
        let ms = time.parse::<Moment>()?.unix_ms();
        self.forth_ms.store(ms - machine_ms(), Ordering::SeqCst);
        Ok(())
    }
}

fn machine_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Outside for Machine {
    fn now(&self) -> Moment {
        Moment::from_unix_ms(machine_ms() + self.forth_ms.load(Ordering::SeqCst))
    }

    fn luck(&self) -> [u8; 64] {
        let n = self.drawn.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut luck = [0; 64];
        luck[..32].copy_from_slice(Digest::of_parts(&[b"a", &n]).as_bytes());
        luck[32..].copy_from_slice(Digest::of_parts(&[b"b", &n]).as_bytes());
        luck
    }
}

/// How much of what.
struct Plan {
    connections: usize,
    seconds: usize,
    streams: usize,
    players: usize,
    events: usize,
    reads: usize,
}

impl Plan {
    fn read() -> Result<Self, Failed> {
        let mut plan =
            Self { connections: 32, seconds: 5, streams: 1_000, players: 1_000, events: 0, reads: 0 };
        for given in std::env::args().skip(1) {
            let (name, number) =
                given.split_once('=').ok_or_else(|| format!("`{given}` is not NAME=NUMBER"))?;
            let (place, range) = match name {
                "connections" => (&mut plan.connections, 1..=1_024),
                "seconds" => (&mut plan.seconds, 1..=3_600),
                "streams" => (&mut plan.streams, 1..=10_000),
                "players" => (&mut plan.players, 1..=10_000),
                "events" => (&mut plan.events, 0..=10_000_000),
                "reads" => (&mut plan.reads, 0..=100_000_000),
                _ => return Err(format!("nothing is called `{name}`").into()),
            };
            *place = number.parse()?;
            if !range.contains(place) {
                return Err(format!("{name} is {place}, which is not {range:?}").into());
            }
        }
        Ok(plan)
    }

    fn config(&self) -> Config {
        let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
        let limits = &mut config.limits;
        for rate in [
            &mut limits.requests_per_minute,
            &mut limits.burst,
            &mut limits.anonymous_per_second,
            &mut limits.play_per_second,
            &mut limits.play_burst,
            &mut limits.submits_per_minute,
        ] {
            *rate = 100_000_000;
        }
        limits.streams_per_address = self.streams;
        limits.streams_max = self.streams;
        limits.connections_max = self.streams + self.players + 4_096;
        config
    }
}

/// A server that runs.
struct Running {
    address: SocketAddr,
    machine: Arc<Machine>,
    end: tokio::sync::oneshot::Sender<()>,
    task: JoinHandle<()>,
    /// How long it took to be ready.
    took: Duration,
}

impl Running {
    async fn start(folder: &Path, plan: &Plan) -> Result<Self, Failed> {
        let machine = Arc::new(Machine { drawn: AtomicU64::new(0), forth_ms: AtomicI64::new(0) });
        let setup = Setup {
            config: plan.config(),
            admin: AdminToken::new(ADMIN)?,
            outside: Arc::clone(&machine) as Arc<dyn Outside>,
            packs: vec![players::PACK.to_vec()],
            log: None,
        };
        let since = Instant::now();
        let server = Server::open(folder, setup)?;
        let took = since.elapsed();
        let doors = server.listen().await?;
        let address = doors.public.local_addr()?;
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(server.run(doors, async {
            let _ = ended.await;
        }));
        Ok(Self { address, machine, end, task, took })
    }

    async fn stop(self) -> Result<(), Failed> {
        let _ = self.end.send(());
        Ok(self.task.await?)
    }
}

fn main() -> Result<(), Failed> {
    let plan = Plan::read()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&plan))
}

async fn measure(plan: &Plan) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let running = Running::start(folder.path(), plan).await?;
    let (address, span) = (running.address, Duration::from_secs(plan.seconds as u64));
    let Plan { connections, seconds, streams, players, .. } = *plan;
    println!("{connections} connections, {seconds} s each, {streams} streams, {players} players");
    stage::play(address, &running.machine).await?;
    let standings = format!("/rounds/{}", stage::ROUND);
    let page = move |_, _| get(&format!("/rounds/{}", stage::ROUND));
    many(&format!("GET {standings} (standings of {} companies)", stage::COMPANIES), address, plan, page)
        .await?;
    for quarter in 1..=4 {
        let (each, hour) = (plan.reads.div_ceil(4 * connections), Duration::from_secs(3_600));
        if each > 0 {
            let what = format!("quarter {quarter} of {} reads", plan.reads);
            so_many(&what, address, (connections, hour, each), page).await?;
        }
    }
    many("GET /docs (page)", address, plan, |_, _| get("/docs")).await?;
    many("GET /problems/form (JSON)", address, plan, |_, _| get("/problems/form")).await?;
    many("POST an agent (durable)", address, plan, |worker, n| post(&format!("w{worker}-{n}"))).await?;
    let seats = players::seat(address, players).await?;
    let seats = players::paced(seats, span).await?;
    let seats = players::hurried(seats, span).await?;
    streams::follow(address, streams, span).await?;
    let seats = players::fill(seats, plan.events as u64).await?;
    drop(seats);
    let events = wire::head_of(address).await?;
    running.stop().await?;
    let again = Running::start(folder.path(), plan).await?;
    println!("restart with {events} events: {:.2} s, {}", again.took.as_secs_f64(), memory());
    again.stop().await
}

/// The same kind of request on many connections at once, until the time is over.
async fn many(
    what: &str,
    address: SocketAddr,
    plan: &Plan,
    request: impl Fn(usize, usize) -> String + Copy + Send + 'static,
) -> Result<(), Failed> {
    let span = Duration::from_secs(plan.seconds as u64);
    so_many(what, address, (plan.connections, span, usize::MAX), request).await
}

/// The same, until each connection has sent so many.
async fn so_many(
    what: &str,
    address: SocketAddr,
    (connections, span, most): (usize, Duration, usize),
    request: impl Fn(usize, usize) -> String + Copy + Send + 'static,
) -> Result<(), Failed> {
    let since = Instant::now();
    let workers: Vec<_> = (0..connections)
        .map(|worker| {
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await?;
                let mut times = Vec::new();
                for n in 0..most {
                    let sent = Instant::now();
                    if sent.duration_since(since) >= span {
                        break;
                    }
                    connection.exchange(&request(worker, n)).await?;
                    times.push(sent.elapsed());
                }
                Ok::<_, Failed>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await??);
    }
    tell(what, since.elapsed(), &mut times);
    Ok(())
}

/// One line of what was measured.
fn tell(what: &str, took: Duration, times: &mut [Duration]) {
    let rate = times.len() as f64 / took.as_secs_f64();
    println!("{what}: {rate:.0} a second, {}, {}", spread(times), memory());
}

fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
    let ms = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0);
    format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", ms(at(50)), ms(at(99)), ms(times.last()))
}

/// What this process has in memory, the load included.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or_else(|| "memory unknown".to_owned(), |kib| format!("{} MiB", kib / 1_024))
}

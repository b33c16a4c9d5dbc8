//! A load on one server in this process, over loopback sockets, with its limits raised.
//!
//! ```text
//! cargo run --release -p arena-server --example load -- [CONNECTIONS [SECONDS [STREAMS]]]
//! ```
//!
//! Defaults: 32 connections, 5 seconds, 1000 streams. Three things are measured, one after the other: reads of a page
//! and of a JSON document; durable writes, each answered after it is on disk; and open event streams, with a write
//! each 100 ms, from the moment the write is sent to the moment its event has arrived at a stream. Server and load
//! share the machine. A stream needs two descriptors (`ulimit -n`).

#![allow(clippy::print_stdout, reason = "a tool that prints figures")]

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arena_canon::Digest;
use arena_contests::Moment;
use arena_server::auth::AdminToken;
use arena_server::{Config, Outside, Server, Setup};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream};
use tokio::net::TcpStream;

type Failed = Box<dyn Error + Send + Sync>;

const ADMIN: &str = "8d1f0c7e5b3a29461f7e0d9c8b5a4321";
const BODY_BYTES_MAX: usize = 16 << 20;
const EVENT_EVERY: Duration = Duration::from_millis(100);

struct Machine(AtomicU64);

impl Outside for Machine {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn luck(&self) -> [u8; 64] {
        let n = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut luck = [0; 64];
        luck[..32].copy_from_slice(Digest::of_parts(&[b"a", &n]).as_bytes());
        luck[32..].copy_from_slice(Digest::of_parts(&[b"b", &n]).as_bytes());
        luck
    }
}

fn config(streams: usize) -> Config {
    let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let limits = &mut config.limits;
    for rate in [&mut limits.requests_per_minute, &mut limits.burst, &mut limits.anonymous_per_second] {
        *rate = 100_000_000;
    }
    limits.streams_per_address = streams.max(1);
    limits.streams_max = streams.max(1);
    limits.connections_max = streams + 4_096;
    config
}

fn main() -> Result<(), Failed> {
    let mut given = std::env::args().skip(1);
    let mut number = |default: usize, most: usize| -> Result<usize, Failed> {
        let number = given.next().map_or(Ok(default), |text| text.parse())?;
        if (1..=most).contains(&number) {
            Ok(number)
        } else {
            Err(format!("{number} is not 1 to {most}").into())
        }
    };
    let (connections, seconds, streams) = (number(32, 1_024)?, number(5, 300)?, number(1_000, 10_000)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(connections, Duration::from_secs(seconds as u64), streams))
}

async fn measure(connections: usize, span: Duration, streams: usize) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let outside = Arc::new(Machine(AtomicU64::new(0)));
    let admin = AdminToken::new(ADMIN)?;
    let setup = Setup { config: config(streams), admin, outside, packs: Vec::new(), log: None };
    let server = Server::open(folder.path(), setup)?;
    let doors = server.listen().await?;
    let address = doors.public.local_addr()?;
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(doors, async {
        let _ = ended.await;
    }));
    println!("{connections} connections, {} s each, {streams} streams", span.as_secs());
    many("GET /docs (page)", address, connections, span, |_, _| get("/docs")).await?;
    many("GET /problems/form (JSON)", address, connections, span, |_, _| get("/problems/form")).await?;
    many("POST an agent (durable)", address, connections, span, |worker, n| post(&format!("w{worker}-{n}")))
        .await?;
    follow(address, streams, span).await?;
    let _ = end.send(());
    running.await?;
    Ok(())
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: load\r\n\r\n")
}

fn post(name: &str) -> String {
    let body = format!("{{\"id\":\"{name}\",\"operator\":\"load\"}}");
    format!(
        "POST /api/v1/agents HTTP/1.1\r\nhost: load\r\nx-admin-token: {ADMIN}\r\ncontent-type: application/json\r\n\
         idempotency-key: {name}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends one request and reads its answer to the end.
async fn exchange(stream: &mut BufStream<TcpStream>, request: &str) -> Result<(), Failed> {
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let length = head(stream).await?.ok_or("an answer without a length")?;
    if length > BODY_BYTES_MAX {
        return Err(format!("an answer of {length} bytes").into());
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(())
}

/// Reads the head of an answer, which has to be a success; gives the length of its body, where it is told.
async fn head(stream: &mut BufStream<TcpStream>) -> Result<Option<usize>, Failed> {
    let (mut length, mut line) = (None, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err("the connection was closed".into());
        }
        let text = line.trim_end();
        if text.is_empty() {
            return Ok(length);
        }
        if text.starts_with("HTTP/") && !text.contains(" 20") {
            return Err(format!("answered with `{text}`").into());
        }
        if let Some((name, value)) = text.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse()?);
        }
    }
}

/// The same kind of request on many connections at once, until the time is over.
async fn many(
    what: &str,
    address: SocketAddr,
    connections: usize,
    span: Duration,
    request: impl Fn(usize, usize) -> String + Copy + Send + 'static,
) -> Result<(), Failed> {
    let since = Instant::now();
    let workers: Vec<_> = (0..connections)
        .map(|worker| {
            tokio::spawn(async move {
                let mut stream = BufStream::new(TcpStream::connect(address).await?);
                let mut times = Vec::new();
                for n in 0.. {
                    let sent = Instant::now();
                    if sent.duration_since(since) >= span {
                        break;
                    }
                    exchange(&mut stream, &request(worker, n)).await?;
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
    let rate = times.len() as f64 / since.elapsed().as_secs_f64();
    println!("{what}: {rate:.0} a second, {}", spread(&mut times));
    Ok(())
}

fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
    let ms = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0);
    format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", ms(at(50)), ms(at(99)), ms(times.last()))
}

type Sent = Arc<Mutex<BTreeMap<String, Instant>>>;

/// Open streams with a write from time to time, each of which has to arrive at every stream.
async fn follow(address: SocketAddr, streams: usize, span: Duration) -> Result<(), Failed> {
    let sent: Sent = Arc::default();
    let open = Arc::new(AtomicUsize::new(0));
    let events = usize::try_from(span.as_millis() / EVENT_EVERY.as_millis())?.max(1);
    let mut readers = Vec::new();
    for _ in 0..streams {
        let (sent, open) = (Arc::clone(&sent), Arc::clone(&open));
        readers.push(tokio::spawn(async move { listen(address, events, &sent, &open).await }));
    }
    let since = Instant::now();
    while open.load(Ordering::SeqCst) < streams {
        if since.elapsed() > Duration::from_secs(60) {
            return Err(format!("only {} streams opened", open.load(Ordering::SeqCst)).into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut stream = BufStream::new(TcpStream::connect(address).await?);
    let mut every = tokio::time::interval(EVENT_EVERY);
    for n in 0..events {
        every.tick().await;
        let name = format!("s-{n}");
        sent.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), Instant::now());
        exchange(&mut stream, &post(&name)).await?;
    }
    let mut times = Vec::new();
    for reader in readers {
        let read = tokio::time::timeout(Duration::from_secs(60), reader).await;
        times.extend(read.map_err(|_| "an event did not arrive at every stream")???);
    }
    println!("{streams} streams, {events} events: {} deliveries, {}", times.len(), spread(&mut times));
    Ok(())
}

/// One stream until it has had all events; how long each took.
async fn listen(
    address: SocketAddr,
    events: usize,
    sent: &Sent,
    open: &AtomicUsize,
) -> Result<Vec<Duration>, Failed> {
    let mut stream = BufStream::new(TcpStream::connect(address).await?);
    stream.write_all(get("/api/v1/events?topic=agents").as_bytes()).await?;
    stream.flush().await?;
    head(&mut stream).await?;
    open.fetch_add(1, Ordering::SeqCst);
    let (mut times, mut line) = (Vec::new(), String::new());
    while times.len() < events {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err("a stream was closed".into());
        }
        let Some(rest) = line.split("\"agent\":\"").nth(1).filter(|_| line.starts_with("data: ")) else {
            continue;
        };
        let name = rest.split('"').next().unwrap_or_default();
        let since = sent.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        times.push(since.ok_or_else(|| format!("nobody sent `{name}`"))?.elapsed());
    }
    Ok(times)
}

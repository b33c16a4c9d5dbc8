//! Open event streams with a write from time to time, each of which has to arrive at every stream.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::wire::{Connection, get, head_of, post};
use crate::{Failed, memory, spread};

const EVENT_EVERY: Duration = Duration::from_millis(100);

type Sent = Arc<Mutex<BTreeMap<String, Instant>>>;

pub(crate) async fn follow(address: SocketAddr, streams: usize, span: Duration) -> Result<(), Failed> {
    let sent: Sent = Arc::default();
    let open = Arc::new(AtomicUsize::new(0));
    let events = usize::try_from(span.as_millis() / EVENT_EVERY.as_millis())?.max(1);
    let since = head_of(address).await?;
    let mut readers = Vec::new();
    for _ in 0..streams {
        let (sent, open) = (Arc::clone(&sent), Arc::clone(&open));
        readers.push(tokio::spawn(async move { listen((address, since), events, &sent, &open).await }));
    }
    let since = Instant::now();
    while open.load(Ordering::SeqCst) < streams {
        if since.elapsed() > Duration::from_secs(60) {
            return Err(format!("only {} streams opened", open.load(Ordering::SeqCst)).into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut connection = Connection::open(address).await?;
    let mut every = tokio::time::interval(EVENT_EVERY);
    for n in 0..events {
        every.tick().await;
        let name = format!("s-{n}");
        sent.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), Instant::now());
        connection.exchange(&post(&name)).await?;
    }
    let mut times = Vec::new();
    for reader in readers {
        let read = tokio::time::timeout(Duration::from_secs(60), reader).await;
        times.extend(read.map_err(|_| "an event did not arrive at every stream")???);
    }
    let deliveries = times.len();
    println!(
        "{streams} streams, {events} events: {deliveries} deliveries, {}, {}",
        spread(&mut times),
        memory()
    );
    Ok(())
}

/// One stream until it has had all events; how long each took.
async fn listen(
    (address, since): (SocketAddr, u64),
    events: usize,
    sent: &Sent,
    open: &AtomicUsize,
) -> Result<Vec<Duration>, Failed> {
    let mut connection = Connection::open(address).await?;
    connection.send(&get(&format!("/api/v1/events?topic=agents&since={since}"))).await?;
    let (status, _) = connection.head().await?;
    if status != 200 {
        return Err(format!("a stream was answered with {status}").into());
    }
    open.fetch_add(1, Ordering::SeqCst);
    let (mut times, mut line) = (Vec::new(), String::new());
    while times.len() < events {
        if !connection.line(&mut line).await? {
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

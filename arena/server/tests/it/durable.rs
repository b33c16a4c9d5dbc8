//! A server is killed at any moment while many write: what was acknowledged is there, what was not is done once when
//! it is sent again, the chain holds, and a reader of the feed sees every event once.
//!
//! The server is a process of its own: this test binary, started again. `ARENA_KILLS` sets how often it is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arena_canon::Digest;
use arena_contests::Moment;
use arena_server::auth::AdminToken;
use arena_server::{Config, Outside, Server, Setup};
use arena_store::{Journal, Wanted, verify};
use serde_json::Value;

use crate::support::ADMIN;

const FOLDER: &str = "ARENA_DURABLE_FOLDER";
const WRITERS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(60);

/// This machine's clock; luck from it, for nobody is to be kept from guessing here.
struct Machine(AtomicU64);

impl Outside for Machine {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Moment::from_unix_ms(i64::try_from(since.as_millis()).unwrap())
    }

    fn luck(&self) -> [u8; 64] {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos().to_be_bytes();
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let process = std::process::id().to_be_bytes();
        let mut luck = [0; 64];
        for (half, label) in luck.chunks_mut(32).zip([b"a", b"b"]) {
            half.copy_from_slice(Digest::of_parts(&[label.as_slice(), &since, &count, &process]).as_bytes());
        }
        luck
    }
}

fn boundless() -> Config {
    let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let limits = &mut config.limits;
    (limits.requests_per_minute, limits.burst, limits.anonymous_per_second) =
        (1_000_000, 1_000_000, 1_000_000);
    config
}

/// Not a test by itself: the server that is killed. Without its folder it does nothing.
#[test]
fn a_server_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let admin = AdminToken::new(ADMIN).unwrap();
    let outside = Arc::new(Machine(AtomicU64::new(0)));
    let setup = Setup { config: boundless(), admin, outside, packs: Vec::new(), log: None };
    let server = Server::open(&folder.join("data"), setup).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let doors = server.listen().await.unwrap();
        let port = doors.public.local_addr().unwrap().port();
        std::fs::write(folder.join("port.new"), port.to_string()).unwrap();
        std::fs::rename(folder.join("port.new"), folder.join("port")).unwrap();
        // It does not outlive a test that went away.
        server.run(doors, tokio::time::sleep(4 * PATIENCE)).await;
    });
}

/// The process, killed when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Path) -> (Killed, u16) {
    let port = folder.join("port");
    let _ = std::fs::remove_file(&port);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["durable::a_server_that_is_killed", "--exact", "--nocapture"]).env(FOLDER, folder);
    let child = Killed(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if let Ok(text) = std::fs::read_to_string(&port) {
            return (child, text.parse().unwrap());
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("the server did not start");
}

/// What all threads know.
#[derive(Default)]
struct Shared {
    /// Where the server is; 0 while there is none.
    port: AtomicU16,
    ends: AtomicBool,
    /// Agents whose making was acknowledged.
    acknowledged: Mutex<BTreeSet<String>>,
    /// Answers that were those of an earlier request.
    replayed: AtomicU64,
    /// Ids of the feed, in the order in which they came.
    seen: Mutex<Vec<(u64, String)>>,
    /// How often the reader came again.
    connected: AtomicU64,
}

/// Makes one agent; whether it was acknowledged. No connection is a server that was killed.
fn make(port: u16, name: &str) -> Option<(u16, bool)> {
    let body = format!("{{\"id\":\"{name}\",\"operator\":\"hive\"}}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    // HTTP/1.0: the answer ends where the connection does.
    let head = format!(
        "POST /api/v1/agents HTTP/1.0\r\nhost: x\r\nx-admin-token: {ADMIN}\r\ncontent-type: application/json\r\n\
         idempotency-key: {name}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said).ok()?;
    let said = String::from_utf8(said).ok()?;
    let (head, body) = said.split_once("\r\n\r\n")?;
    let document: Value = serde_json::from_str(body).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    assert!(status != 201 || document["id"] == name, "{said}");
    Some((status, head.contains("idempotency-replayed: true")))
}

/// Makes one agent after the other; one that was not acknowledged is sent again until it is.
fn write(shared: &Shared, writer: usize) {
    for n in 0.. {
        let name = format!("w{writer}-{n}");
        loop {
            if shared.ends.load(Ordering::SeqCst) {
                return;
            }
            match make(shared.port.load(Ordering::SeqCst), &name) {
                Some((201, is_replay)) => {
                    shared.replayed.fetch_add(u64::from(is_replay), Ordering::SeqCst);
                    assert!(shared.acknowledged.lock().unwrap().insert(name));
                    break;
                }
                Some((503, _)) | None => thread::sleep(Duration::from_millis(2)),
                Some((status, _)) => panic!("{name} is answered with {status}"),
            }
        }
    }
}

/// Reads the feed; comes again with the last id whenever it breaks off. Only a whole frame was seen.
fn read(shared: &Shared) {
    while !shared.ends.load(Ordering::SeqCst) {
        let last = shared.seen.lock().unwrap().last().map_or(0, |(id, _)| *id);
        if follow(shared, last).is_none() {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn follow(shared: &Shared, last: u64) -> Option<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", shared.port.load(Ordering::SeqCst))).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
    let asked = format!("GET /api/v1/events HTTP/1.0\r\nhost: x\r\nlast-event-id: {last}\r\n\r\n");
    stream.write_all(asked.as_bytes()).ok()?;
    let (mut id, mut data, mut is_head) = (None, String::new(), true);
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line).ok()? == 0 || !line.ends_with('\n') {
            return None;
        }
        let text = line.trim_end();
        if is_head {
            assert!(!text.starts_with("HTTP/") || text.contains(" 200 "), "{text} after {last}");
            if text.is_empty() {
                is_head = false;
                shared.connected.fetch_add(1, Ordering::SeqCst);
            }
        } else if let Some(text) = text.strip_prefix("id: ") {
            id = text.parse().ok();
        } else if let Some(text) = text.strip_prefix("data: ") {
            data = text.to_owned();
        } else if text.is_empty()
            && let Some(id) = id.take()
        {
            shared.seen.lock().unwrap().push((id, std::mem::take(&mut data)));
        }
    }
}

/// As many lives of the server as it is killed, and one more, in which all is caught up; gives the place of the last
/// event that the reader was waited for.
fn live(folder: &Path, shared: &Shared, kills: usize, seed: u64) -> u64 {
    // Whatever fails, the threads end.
    struct End<'a>(&'a Shared);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.ends.store(true, Ordering::SeqCst);
        }
    }
    thread::scope(|scope| {
        let _end = End(shared);
        for writer in 0..WRITERS {
            scope.spawn(move || write(shared, writer));
        }
        scope.spawn(|| read(shared));
        let mut luck = seed;
        for _ in 0..kills {
            let (server, port) = start(folder);
            shared.port.store(port, Ordering::SeqCst);
            luck = luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            thread::sleep(Duration::from_micros((luck >> 33) % 150_000));
            drop(server);
        }
        let (_server, port) = start(folder);
        shared.port.store(port, Ordering::SeqCst);
        let acknowledged = || shared.acknowledged.lock().unwrap().len();
        let before = acknowledged();
        wait_until(|| acknowledged() > before + WRITERS);
        let head = Journal::open(&folder.join("data")).unwrap().head().unwrap().seq;
        wait_until(|| shared.seen.lock().unwrap().last().is_some_and(|(id, _)| *id >= head));
        head
    })
}

fn wait_until(is_done: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_done() && since.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_that_was_acknowledged_is_lost_however_often_it_is_killed() {
    let kills: usize = std::env::var("ARENA_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let shared = Shared::default();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let waited_for = live(folder.path(), &shared, kills, seed);
    let report = verify(&data, &Wanted { blobs: true, ..Wanted::default() }).unwrap();
    assert!(report.is_sound(), "seed {seed}: {:?}", report.findings);
    let journal = Journal::open(&data).unwrap();
    let made = made_in(&journal);
    let acknowledged = shared.acknowledged.lock().unwrap();
    for name in acknowledged.iter() {
        assert_eq!(made.get(name), Some(&1), "seed {seed}: `{name}` was acknowledged");
    }
    assert!(made.values().all(|count| *count == 1), "seed {seed}: {made:?}");
    let seen = shared.seen.lock().unwrap();
    assert!(waited_for > 0 && seen.len() as u64 >= waited_for, "seed {seed}: {} of {waited_for}", seen.len());
    for (place, (id, data)) in seen.iter().enumerate() {
        assert_eq!(*id, place as u64 + 1, "seed {seed}: the feed left out or repeated an event");
        let told: Value = serde_json::from_str(data).unwrap();
        let event = journal.event(*id).unwrap().expect("an event of the feed is in the journal");
        assert_eq!(told["hash"], event.hash.to_string(), "seed {seed}: event {id}");
    }
    let connected = shared.connected.load(Ordering::SeqCst);
    assert!(acknowledged.len() >= kills, "seed {seed}: {} writes in {kills} lives", acknowledged.len());
    assert!(
        connected as usize >= kills / 2,
        "seed {seed}: the reader came {connected} times in {kills} lives"
    );
    println!(
        "{kills} kills, {} acknowledged, {} of them on a second try, {} events, {connected} connections",
        acknowledged.len(),
        shared.replayed.load(Ordering::SeqCst),
        seen.len(),
    );
}

/// How often each agent was made known.
fn made_in(journal: &Journal) -> BTreeMap<String, usize> {
    let mut made = BTreeMap::new();
    let mut last = 0;
    loop {
        let events = journal.after(last, 1_000).unwrap();
        let Some(end) = events.last() else { return made };
        last = end.seq;
        for event in events.iter().filter(|event| event.kind == "agent.registered") {
            let body = event.json().unwrap();
            *made.entry(body["agent"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
}

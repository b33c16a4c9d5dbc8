//! How long a start takes with many rows in the journal.
//!
//! ```text
//! cargo run --release -p arena-server --example restart -- [ROWS]
//! ```
//!
//! A thousand players play episodes to their ends until the journal has a million rows, or as many as are wanted; then
//! the server is opened on it three times as it was left, with a snapshot, and three times without one, when it checks
//! the whole chain and folds every fact.

#![allow(clippy::print_stdout, reason = "a tool that prints figures")]

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arena_canon::Digest;
use arena_contests::Moment;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};
use arena_engine::campus::{MetricId, read_actions};
use arena_server::auth::{AdminToken, Scope, Viewer};
use arena_server::instance::claims::Genesis;
use arena_server::instance::episodes::{self, Measured, Outcome};
use arena_server::instance::{Command, Known, Request, agents};
use arena_server::play::Shelf;
use arena_server::{Answered, Config, Keeper, Outside, Sent, Server, Setup};
use arena_store::{Options, Pending, SNAPSHOTS, Store};
use serde_json::json;

type Failed = Box<dyn Error + Send + Sync>;
type Waiting = VecDeque<Pending<Answered, arena_server::problem::Problem>>;

const PACK: &[u8] = include_bytes!("../../../scenarios/two-spikes.json");
const TURNS: u32 = 24;
const PLAYERS: usize = 1_000;
/// Commands under way.
const AHEAD: usize = 900;

struct Still(AtomicU64);

impl Outside for Still {
    fn now(&self) -> Moment {
        Moment::from_unix_ms(1_796_000_000_000)
    }

    fn luck(&self) -> [u8; 64] {
        let n = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut luck = [0; 64];
        luck[..32].copy_from_slice(Digest::of_parts(&[b"a", &n]).as_bytes());
        luck[32..].copy_from_slice(Digest::of_parts(&[b"b", &n]).as_bytes());
        luck
    }
}

struct Filling {
    store: Store<Keeper>,
    outside: Still,
    waiting: Waiting,
}

impl Filling {
    fn send(&mut self, by: Viewer, command: Command) -> Result<(), Failed> {
        let request = Request { at: self.outside.now(), by, luck: self.outside.luck(), command };
        self.waiting.push_back(self.store.submit(Sent { request, slot: None }));
        self.settle(AHEAD)
    }

    /// Waits until no more than so many are under way.
    fn settle(&mut self, most: usize) -> Result<(), Failed> {
        while self.waiting.len() > most {
            let Some(pending) = self.waiting.pop_front() else { break };
            pending.wait().map_err(|why| format!("{why:?}"))?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Failed> {
    let rows: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let since = Instant::now();
    fill(folder.path(), rows)?;
    println!("{rows} rows written in {:.1} s", since.elapsed().as_secs_f64());
    for (what, has_snapshot) in [("from a snapshot", true), ("without one", false)] {
        for _ in 0..3 {
            if !has_snapshot {
                std::fs::remove_dir_all(folder.path().join(SNAPSHOTS))?;
            }
            start(folder.path(), what)?;
        }
    }
    Ok(())
}

fn start(folder: &std::path::Path, what: &str) -> Result<(), Failed> {
    let setup = Setup {
        config: Config::default(),
        admin: AdminToken::new("8d1f0c7e5b3a29461f7e0d9c8b5a4321")?,
        outside: Arc::new(Still(AtomicU64::new(0))),
        packs: vec![PACK.to_vec()],
        log: None,
    };
    let since = Instant::now();
    let server = Server::open(folder, setup)?;
    let took = since.elapsed();
    let seq = server.app().look(|instance| instance.seq).map_err(|why| format!("{why:?}"))?;
    println!("a start with {seq} rows, {what}: {:.2} s, {}", took.as_secs_f64(), memory());
    Ok(())
}

fn fill(folder: &std::path::Path, rows: u64) -> Result<(), Failed> {
    let known = Known {
        registry: Registry::v2().clone(),
        scanner: Scanner::new(&[], MARKERS)?,
        packs: Shelf::read(&[PACK.to_vec()])?,
        claims: Genesis::new("arena", false).ok_or("no instance of claims")?,
        log: arena_claims::envelope::SecretKey::from_seed(&[7; 32]),
    };
    let store = Store::open(folder, Keeper::new(Arc::new(known)), Vec::new(), Options::default())?;
    let mut filling = Filling { store, outside: Still(AtomicU64::new(1 << 32)), waiting: VecDeque::new() };
    let name = |n: usize| format!("player-{n}");
    let player =
        |n: usize| Viewer::Agent { id: name(n), operator: "load".to_owned(), scopes: [Scope::Play].into() };
    for n in 0..PLAYERS {
        let create = agents::Command::Create { id: name(n), operator: "load".to_owned() };
        filling.send(Viewer::Admin { name: "ada".to_owned() }, Command::Agents(create))?;
    }
    let mut first = 1;
    while filling.store.look(|instance| instance.seq)? < rows {
        for n in 0..PLAYERS {
            let (pack, version) = ("two-spikes".to_owned(), "0.1.0".to_owned());
            filling.send(player(n), Command::Episodes(episodes::Command::Join { pack, version }))?;
        }
        for turn in 0..TURNS {
            for n in 0..PLAYERS {
                filling.send(player(n), act(first + n, turn)?)?;
            }
            if filling.store.look(|instance| instance.seq)? >= rows {
                break;
            }
        }
        first += PLAYERS;
    }
    filling.settle(0)
}

/// An action; with the last turn an outcome, as a player's would be.
fn act(episode: usize, turn: u32) -> Result<Command, Failed> {
    let shed = [0.0, 0.5, 1.25, 2.0][episode % 4];
    let action =
        json!([{ "curtail_mw": shed, "battery_mw": 1.5 - shed, "diesel_mw": 0, "accept_offer": true }]);
    let action = read_actions(&action, 1)?.first().copied().unwrap_or_default();
    let end = (turn + 1 == TURNS).then(|| Outcome {
        log_sha256: Digest::of(&episode.to_be_bytes()),
        log_bytes: 40_000,
        stars: 2,
        metrics: [MetricId::CostUsdPerMwh, MetricId::ReliefShare]
            .map(|id| Measured { id, value: Some(0.75) }),
        clamps: 3,
    });
    Ok(Command::Episodes(episodes::Command::Act { episode: format!("e{episode}"), turn, action, end }))
}

/// What this process has in memory.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or_else(|| "memory unknown".to_owned(), |kib| format!("{} MiB", kib / 1_024))
}

//! Runs whose matches are played by workers that a NATS server knows: a real server, on the loopback.

mod lies;
mod losses;
mod places;
mod raw;
mod server;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::Pack;
use arena_tournament::{
    CampusSeat, Job, MatrixSeat, Nats, NatsAddress, NatsFault, NatsOptions, Plan, Roster, Run, RunFault,
    Shelf, Worked, WorkerOptions, work,
};

use super::natives::{self, Natives};
use server::Server;

/// Components and packs as the coordinator has them.
struct Inputs(arena_tournament::Inputs);

impl Shelf for Inputs {
    fn component(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        Ok(self.0.components[&sha256].clone())
    }

    fn pack(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        Ok(self.0.packs[&sha256].clone())
    }
}

fn options(server: NatsAddress) -> NatsOptions {
    let mut options = NatsOptions::new(server);
    options.ack_wait = Duration::from_secs(1);
    options.patience = Duration::from_secs(20);
    options.window = 8;
    options
}

/// A coordinator of `plan`. What a lost worker had is given to another after a second.
fn coordinator(server: &Server, plan: &Plan) -> Result<Nats, RunFault> {
    start(options(server.address()), plan)
}

fn start(options: NatsOptions, plan: &Plan) -> Result<Nats, RunFault> {
    let roster = Box::new(Natives::default());
    Nats::start(options, &natives::frozen(plan), &mut Inputs(natives::inputs(plan)), roster)
}

/// The jobs of `plan`, in order.
fn jobs(plan: &Plan) -> Vec<Job> {
    let folder = tempfile::tempdir().expect("a folder");
    let frozen = natives::frozen(plan);
    let (inputs, clock) = (natives::inputs(plan), natives::TestClock::default());
    let run = Run::create(folder.path(), &frozen, &natives::secret(), &inputs, &natives::pins(), &clock);
    let Ok(run) = run.expect("a run") else { panic!("it is halted") };
    frozen.matchups.iter().map(|matchup| run.jobs().job(&frozen, matchup)).collect()
}

/// What a worker does at its matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Plays,
    /// Takes so long for a match.
    Takes(Duration),
    /// Is gone in its match of that number.
    Dies(u32),
    /// Cannot seat anybody.
    Fails,
}

/// Fetches what it seats, like a worker on another machine.
struct Remote {
    shelf: Box<dyn Shelf>,
    fetched: BTreeSet<Digest>,
    does: Does,
    matches: Arc<AtomicU32>,
    inner: Natives,
}

impl Remote {
    fn seat(&mut self, of: Digest, seat: usize) -> Result<Digest, HostFault> {
        if !self.fetched.contains(&of) {
            assert_eq!(Digest::of(&self.shelf.component(of)?), of);
            self.fetched.insert(of);
        }
        if seat == 1 {
            return Ok(of);
        }
        let number = self.matches.fetch_add(1, Ordering::Relaxed) + 1;
        match self.does {
            Does::Plays => {}
            Does::Takes(time) => std::thread::sleep(time),
            Does::Dies(at) => assert!(number < at, "this worker dies here"),
            Does::Fails => return Err(HostFault { doing: "seating", source: "no room".into() }),
        }
        Ok(of)
    }
}

impl Roster for Remote {
    fn pack(&mut self, sha256: Digest) -> Result<Arc<Pack>, HostFault> {
        let pack = Pack::parse(&self.shelf.pack(sha256)?).expect("a pack");
        assert_eq!(pack.sha256(), sha256);
        Ok(pack)
    }

    fn campus(
        &mut self,
        of: Digest,
        seed: Digest,
        seat: usize,
        pack: &Pack,
    ) -> Result<Box<dyn CampusSeat>, HostFault> {
        let of = self.seat(of, seat)?;
        self.inner.campus(of, seed, seat, pack)
    }

    fn matrix(&mut self, of: Digest, seed: Digest, seat: usize) -> Result<Box<dyn MatrixSeat>, HostFault> {
        let of = self.seat(of, seat)?;
        self.inner.matrix(of, seed, seat)
    }
}

fn worker_options(server: &Server, name: &str) -> WorkerOptions {
    WorkerOptions {
        server: server.address(),
        name: name.to_owned(),
        run: None,
        slots: 1,
        pins: natives::pins(),
        patience: Duration::from_secs(20),
    }
}

/// How a worker ended.
struct Ended {
    worked: Result<Worked, NatsFault>,
    said: Vec<String>,
    /// Matches that it began.
    begun: u32,
}

/// A worker on a thread of its own. Its end is in what its thread gives.
fn worker<'s>(
    scope: &'s Scope<'s, '_>,
    options: WorkerOptions,
    does: Does,
    stop: &'s AtomicBool,
) -> ScopedJoinHandle<'s, Ended> {
    scope.spawn(move || {
        let matches = Arc::new(AtomicU32::new(0));
        let roster = |shelf| -> Box<dyn Roster> {
            Box::new(Remote {
                shelf,
                fetched: BTreeSet::new(),
                does,
                matches: Arc::clone(&matches),
                inner: Natives::default(),
            })
        };
        let mut said = Vec::new();
        let worked = work(&options, &roster, stop, &mut |line: &str| said.push(line.to_owned()));
        Ended { worked, said, begun: matches.load(Ordering::Relaxed) }
    })
}

/// Stops workers even where a test fails, so that it ends.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
